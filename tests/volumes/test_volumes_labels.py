"""Labels of volumes by majority and by the nearest, and SciPy's splines of whole stacks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, refused  # noqa: F401
from tenter.cli.main import main
from volume_helpers import _as_a_process_of_its_own, elements, hidden, noise, ome, volume, zarr  # noqa: F401

tifffile = pytest.importorskip("tifffile")
SHAPE = (8, 40, 36)


def test_labels_by_area_are_those_of_the_largest_share_of_each_block() -> None:
    x = np.random.default_rng(0).integers(0, 4, (7, 13, 10), np.uint16)
    zarr.create_array("in.zarr", data=x, chunks=(4, 4, 4))
    want = tenter.resize(x, (7, 7, 4), mode="area", labels=True)
    for out, more in (("a.ome.zarr", []), ("b.ome.zarr", ["--threads", "1", "--chunks", "2,3,4"])):
        args = ["pyramid", "in.zarr", out, "--labels", "--mode", "area", "--factor", "1,2,3", "--levels", "1", *more]
        assert main(args) == 0
        np.testing.assert_array_equal(elements(f"{out}/1"), want)
    attributes = dict(zarr.open_group("a.ome.zarr").attrs)
    assert "image-label" in attributes["ome"]


@pytest.mark.parametrize("how", [["--mode", "linear"], ["--mode", "cubic", "--like", "scipy"], ["--mode", "area"]])
def test_labels_of_volumes_vote_as_those_in_memory(how: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    x = np.repeat(np.random.default_rng(0).integers(-2, 3, (5, 12, 9), np.int16), 3, 2)
    zarr.create_array("x.zarr", data=x, chunks=(3, 5, 8))
    np.save("x.npy", x)
    tifffile.imwrite("x.tif", x, imagej=True, metadata={"axes": "ZYX"})
    ome("said", x, "zyx", 3)
    said = zarr.open_group("said").attrs
    said["ome"] = {**said["ome"], "image-label": {}}
    size = (9, 7, 40)
    like = {"like": "scipy"} if "--like" in how else {}
    want = tenter.resize(x, size, mode=how[1], labels=True, **like)
    sized = ["--axes", "0,1,2", "--size", *map(str, size), *how]
    for name, more in (("x.zarr", ["--labels"]), ("x.npy", ["--labels", "--memory-limit", "1GiB"]), ("said/0", [])):
        out = f"{name.replace('/', '-')}.out{Path(name).suffix or '.zarr'}"
        assert main(["resize", name, out, *sized, *more]) == 0
        np.testing.assert_array_equal(np.load(out) if out.endswith(".npy") else elements(out), want)
    assert main(["resize", "x.tif", "out.tif", "--axes", "z,y,x", *sized[2:], "--labels"]) == 0
    np.testing.assert_array_equal(tifffile.imread("out.tif"), want)
    capsys.readouterr()
    np.save("floats.npy", x.astype(np.float32))
    assert "expected integers or bools with labels=True" in refused(
        capsys, "resize", "floats.npy", "f.npy", *sized, "--labels"
    )


def test_labels_are_the_nearest_by_themselves_and_a_name_may_follow() -> None:
    x = np.random.default_rng(0).integers(0, 4, (8, 8, 8), np.uint16)
    zarr.create_array("in.zarr", data=x, chunks=(4, 4, 4))
    assert main(["pyramid", "--labels", "in.zarr", "a.ome.zarr"]) == 0
    np.testing.assert_array_equal(elements("a.ome.zarr/1"), x[::2, ::2, ::2])


def test_scipys_zoom_of_order_3_needs_no_scipy() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    x = noise(SHAPE, "float32")
    np.save("x.npy", x)
    tifffile.imwrite("x.tif", x, imagej=True, metadata={"axes": "ZYX"})
    zarr.create_array("x.zarr", data=x, chunks=(3, 16, 16))
    want = ndimage.zoom(x.astype(np.float64), (2, 0.5, 1.25))  # by its defaults
    how = ["--axes", "0,1,2", "--scale", "2,0.5,1.25", "--like", "scipy", "--mode", "cubic"]
    close = {"rtol": 0, "atol": 1e-6 * np.abs(x).max()}
    assert main(["resize", "x.npy", "out.npy", *how]) == 0
    np.testing.assert_allclose(np.load("out.npy"), want, **close)
    assert main(["resize", "x.tif", "out.tif", "--axes", "z,y,x", *how[2:]]) == 0
    np.testing.assert_allclose(tifffile.imread("out.tif"), want, **close)
    assert main(["resize", "x.zarr", "out.zarr", *how]) == 0
    np.testing.assert_allclose(elements("out.zarr"), want, **close)


@pytest.mark.parametrize("format_", [2, 3])
def test_layers_of_webknossos_are_read_and_its_segmentations_are_labels(format_: int) -> None:
    x = np.random.default_rng(0).integers(0, 4, (1, 8, 8, 8), np.uint16)
    for layer in ("color", "cells"):
        ome(f"set/{layer}", x, "cxyz", format_)
        if format_ == 2:  # as webknossos writes it
            Path("set", layer, ".zgroup").write_text('{"zarr_format": "2"}')
    layers = [{"name": "color", "category": "color"}, {"name": "cells", "category": "segmentation"}]
    Path("set/datasource-properties.json").write_text(json.dumps({"dataLayers": layers}))
    for layer, kept in (("color", False), ("cells", True)):
        assert main(["resize", f"set/{layer}/0", f"{layer}.zarr", "--axes", "x,y,z", "--scale", "0.5"]) == 0
        assert main(["pyramid", f"set/{layer}", "--levels", "1"]) == 0
        for made in (elements(f"{layer}.zarr"), elements(f"set/{layer}/1")):
            assert (np.array_equal(made, x[:, ::2, ::2, ::2]) or np.array_equal(made, x[:, 1::2, 1::2, 1::2])) == kept
    Path("set/datasource-properties.json").write_text("{}")  # which says nothing of layers
    assert main(["pyramid", "set/color", "--levels", "1", "--force"]) == 0
