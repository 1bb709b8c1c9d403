"""Labels of volumes by majority and by the nearest, and SciPy's splines of whole stacks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cli_helpers import _inside, refused  # noqa: F401
from tenter.cli.main import main
from tenter.cli.volumes.votes import Votes, elect
from volume_helpers import _as_a_process_of_its_own, elements, hidden, noise, ome, volume, zarr  # noqa: F401

tifffile = pytest.importorskip("tifffile")
SHAPE = (8, 40, 36)


def test_labels_by_majority_are_the_most_frequent_of_each_block() -> None:
    x = np.random.default_rng(0).integers(0, 4, (7, 13, 10), np.uint16)
    zarr.create_array("in.zarr", data=x, chunks=(4, 4, 4))
    for out, more in (("a.ome.zarr", []), ("b.ome.zarr", ["--threads", "1", "--chunks", "2,3,4"])):
        args = ["pyramid", "in.zarr", out, "--labels", "majority", "--factor", "1,2,3", "--levels", "1", *more]
        assert main(args) == 0
        made = elements(f"{out}/1")
        assert made.shape == (7, 7, 4)
        for z, y, column in np.ndindex(made.shape):
            inside = [i for i in range(13) if y <= (i + 0.5) * 7 / 13 < y + 1]
            across = [i for i in range(10) if column <= (i + 0.5) * 4 / 10 < column + 1]
            votes = Counter(x[z, i, j] for i in inside for j in across)
            most = max(votes.values())
            assert made[z, y, column] == min(label for label, n in votes.items() if n == most)
    attributes = dict(zarr.open_group("a.ome.zarr").attrs)
    assert "image-label" in attributes["ome"]


@pytest.mark.parametrize(("n", "m"), [(10, 5), (10, 3), (7, 7), (1, 1), (33, 17), (101, 7)])
def test_every_voxel_votes_once(n: int, m: int) -> None:
    votes = Votes(n, m)
    starts = votes.starts(0, m)
    assert starts[0] == 0 and starts[-1] == n and np.diff(starts).min() >= 1 and np.diff(starts).max() <= votes.most
    x = np.random.default_rng(0).integers(0, 3, n).astype(np.int32)
    whole = elect({0: votes}, ((0, m),), x)
    for lo in range(m):
        assert elect({0: votes}, ((lo, lo + 1),), x[votes.reads(lo, lo + 1)]) == whole[lo]


def test_labels_are_the_nearest_by_themselves_and_a_name_may_follow() -> None:
    x = np.random.default_rng(0).integers(0, 4, (8, 8, 8), np.uint16)
    zarr.create_array("in.zarr", data=x, chunks=(4, 4, 4))
    for args in (["--labels", "in.zarr", "a.ome.zarr"], ["in.zarr", "b.ome.zarr", "--labels", "nearest"]):
        assert main(["pyramid", *args]) == 0
    for name in ("a", "b"):
        np.testing.assert_array_equal(elements(f"{name}.ome.zarr/1"), x[::2, ::2, ::2])


def test_scipys_zoom_of_order_3_is_scipys_itself(capsys: pytest.CaptureFixture[str]) -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    x = noise(SHAPE, "float32")
    np.save("x.npy", x)
    tifffile.imwrite("x.tif", x, imagej=True, metadata={"axes": "ZYX"})
    want = ndimage.zoom(x, (2, 0.5, 1.25))  # by its defaults
    how = ["--axes", "z,y,x", "--scale", "2,0.5,1.25", "--like", "scipy", "--mode", "cubic"]
    assert main(["resize", "x.npy", "out.npy", "--axes", "0,1,2", *how[2:]]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), want)
    assert main(["resize", "x.tif", "out.tif", *how]) == 0
    np.testing.assert_array_equal(tifffile.imread("out.tif"), want)
    volume("in.zarr", SHAPE)
    capsys.readouterr()
    for args in (["in.zarr", "no.zarr", *how], ["in.png", "no.png", "--scale", "2", *how[4:]]):
        assert "SciPy's splines of order 3 read whole axes; SciPy itself makes them" in refused(capsys, "resize", *args)


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
