"""OME-Zarr and zarr of other programs: theirs is read, ours is read by them, and levels are `tenter.resize`'s.

Tests skip where a package is not installed: CONTRIBUTING.md names the commands that install all of them.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside  # noqa: F401
from tenter.cli.main import main
from volume_helpers import _as_a_process_of_its_own, elements, noise, ome, placed, said, zarr  # noqa: F401

pytestmark = pytest.mark.slow
SCALE = {"z": 2.0, "y": 0.5, "x": 0.5}
X = noise((2, 8, 32, 36))


def halves(x: Any, axes: tuple[int, ...], **how: Any) -> Any:
    return tenter.resize(x, tuple(-(-x.shape[k] // 2) for k in axes), axes=axes, **how)


def check_levels(name: str, paths: list[str], how: dict[str, Any]) -> None:
    """Every level is `tenter.resize` of the one before, along the axes that became shorter."""
    levels = [elements(f"{name}/{path}") for path in paths]
    for before, after in itertools.pairwise(levels):
        axes = tuple(k for k, (n, m) in enumerate(zip(before.shape, after.shape)) if n != m)
        assert axes and np.array_equal(after, tenter.resize(before, [after.shape[k] for k in axes], axes=axes, **how))


AREA: dict[str, Any] = {"mode": "area", "like": "opencv"}
NEAREST: dict[str, Any] = {"mode": "nearest", "like": "onnx"}


def of_ome_zarr_py(version: str) -> None:
    """vol.zarr: an image with labels, as ome-zarr-py writes it."""
    writer = pytest.importorskip("ome_zarr.writer")
    from ome_zarr.format import FormatV04, FormatV05

    format_ = {"0.4": FormatV04, "0.5": FormatV05}[version]()
    group = zarr.open_group("vol.zarr", mode="w", zarr_format=2 if version == "0.4" else 3)
    units = dict.fromkeys("zyx", "micrometer")
    how = {"fmt": format_, "scale_factors": [2], "axes_units": units, "scale": SCALE}
    writer.write_image(X, group, axes="czyx", **how)
    writer.write_labels(X[0] // 999, group, name="cells", axes="zyx", **how)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_images_and_labels_of_ome_zarr_py(version: str) -> None:
    of_ome_zarr_py(version)
    for path, how in (("vol.zarr", AREA), ("vol.zarr/labels/cells", NEAREST)):
        assert main(["pyramid", path, "--force", "--levels", "2"]) == 0
        entry = said(path)["multiscales"][0]
        check_levels(path, [level["path"] for level in entry["datasets"]], how)
        assert placed(path)[0][-3:] == list(SCALE.values())
        assert placed(path, 1)[0][-3:] == [2.0, 1.0, 1.0]
    assert main(["resize", "vol.zarr", "cubes.zarr", "--spacing", "1,1,1", "--axes", "z,y,x"]) == 0
    assert elements("cubes.zarr/0").shape == (2, 16, 16, 18)


@pytest.mark.parametrize("format_", [2, 3])
def test_ome_zarr_py_reads_ours_with_their_labels(format_: int) -> None:
    reader = pytest.importorskip("ome_zarr.reader")
    from ome_zarr.io import parse_url

    ome("vol.zarr", X, "czyx", format_, [1.0, *SCALE.values()], dict.fromkeys("zyx", "micrometer"))
    assert main(["pyramid", "vol.zarr", "--levels", "2"]) == 0
    np.save("cells.npy", cells := X[0] // 999)
    assert main(["pyramid", "cells.npy", "vol.zarr/labels/cells"]) == 0
    nodes = {node.zarr.basename(): node for node in reader.Reader(parse_url("vol.zarr"))()}
    assert set(nodes) == {"vol.zarr", "labels", "cells"}
    for name, full in (("vol.zarr", X), ("cells", cells)):
        node, path = nodes[name], "vol.zarr" if name == "vol.zarr" else "vol.zarr/labels/cells"
        assert len(node.data) == 3 and np.array_equal(node.data[0].compute(), full)
        for k, level in enumerate(node.data):
            assert np.array_equal(level.compute(), elements(f"{path}/{k}"))
            steps = said(path)["multiscales"][0]["datasets"][k]["coordinateTransformations"]
            assert node.metadata["coordinateTransformations"][k] == steps


def of_ngff_zarr(name: str, version: str, **how: Any) -> Any:
    ngff = pytest.importorskip("ngff_zarr")
    image = ngff.to_ngff_image(X, dims=list("czyx"), scale=SCALE, axes_units=dict.fromkeys("zyx", "micrometer"))
    made = ngff.to_multiscales(image, scale_factors=[2], chunks=8)
    ngff.to_ngff_zarr(name, made, version=version, **how)


@pytest.mark.parametrize(("version", "how"), [("0.4", {}), ("0.5", {}), ("0.5", {"chunks_per_shard": 2})])
def test_images_of_ngff_zarr(version: str, how: dict[str, Any]) -> None:
    of_ngff_zarr("vol.zarr", version, **how)
    first = said("vol.zarr")["multiscales"][0]["datasets"][0]["path"]
    assert np.array_equal(elements(f"vol.zarr/{first}"), X)
    assert main(["pyramid", "vol.zarr", "new.zarr", "--levels", "2"]) == 0
    check_levels("new.zarr", ["0", "1", "2"], AREA)
    assert placed("new.zarr", 1)[0] == [1.0, 2.0, 1.0, 1.0]
    assert main(["pyramid", "vol.zarr", "--levels", "2", "--force"]) == 0
    entry = said("vol.zarr")["multiscales"][0]
    check_levels("vol.zarr", [level["path"] for level in entry["datasets"]], AREA)


@pytest.mark.parametrize("axes", ["yx", "zyx", "czyx", "tczyx", "yxc", "xzy"])
@pytest.mark.parametrize("format_", [2, 3])
def test_ngff_zarr_validates_ours_by_the_published_schemas(format_: int, axes: str) -> None:
    ngff = pytest.importorskip("ngff_zarr")
    pytest.importorskip("jsonschema")
    x = noise(tuple({"t": 2, "c": 2, "z": 8, "y": 16, "x": 20}[n] for n in axes))
    how = {"dimension_names": list(axes)} if format_ == 3 else {"attributes": {"_ARRAY_DIMENSIONS": list(axes)}}
    zarr.create_array("in.zarr", data=x, chunks=tuple(min(8, n) for n in x.shape), zarr_format=format_, **how)
    sizes = ",".join("2" if n == "z" else "0.5" for n in axes if n in "zyx")
    assert main(["pyramid", "in.zarr", "out.zarr", "--levels", "1", "--voxel-size", sizes, "--unit", "um"]) == 0
    found = ngff.from_ngff_zarr("out.zarr", validate=True)
    assert [
        np.array_equal(image.data.compute(), elements(f"out.zarr/{k}")) for k, image in enumerate(found.images)
    ] == [True] * 2
    assert found.images[0].scale["y"] == 0.5 and found.images[1].scale["y"] == 1.0
    assert found.images[0].axes_units["y"] == "micrometer"


WEBKNOSSOS = {"2": {"data_format": "zarr", "shard": 16}, "3": {"data_format": "zarr3", "shard": 32}}


@pytest.mark.parametrize("format_", WEBKNOSSOS)
def test_layers_of_webknossos_and_it_reads_their_levels(format_: str) -> None:
    """Its arrays are of c, x, y, z, in the order of Fortran, and longer than what it shows of them."""
    wk = pytest.importorskip("webknossos")
    how, x = WEBKNOSSOS[format_], noise((64, 48, 32))
    size = wk.VoxelSize((4.0, 4.0, 40.0), wk.LengthUnit.NANOMETER)
    made = wk.Dataset("set", voxel_size_with_unit=size)
    for name, category, values in (("color", "color", x), ("cells", "segmentation", (x % 7).astype("u4"))):
        more = {"largest_segment_id": 7} if category == "segmentation" else {}
        box = wk.BoundingBox((0, 0, 0), (64, 48, 32))
        form, shard = how["data_format"], how["shard"]
        layer = made.add_layer(name, category, dtype=values.dtype, data_format=form, bounding_box=box, **more)
        mag = layer.add_mag(1, compress=True, chunk_shape=(16, 16, 16), shard_shape=(shard, shard, shard))
        mag.write(values)
        assert main(["pyramid", f"set/{name}", "--levels", "2"]) == 0
        check_levels(f"set/{name}", ["1", "2", "3"], NEAREST if category == "segmentation" else AREA)
        assert placed(f"set/{name}")[0] == [1.0, 4.0, 4.0, 40.0]
        assert placed(f"set/{name}", 2)[0] == [1.0, 16.0, 16.0, 40.0]
    properties = json.loads(Path("set/datasource-properties.json").read_text())
    for layer in properties["dataLayers"]:
        for path, factors in (("2", [2, 2, 1]), ("3", [4, 4, 1])):
            layer["mags"].append({**layer["mags"][0], "mag": factors, "path": f"./{layer['name']}/{path}"})
    Path("set/datasource-properties.json").write_text(json.dumps(properties))
    for name in ("color", "cells"):
        layer = wk.Dataset.open("set").get_layer(name)
        for factors, path in (((1, 1, 1), "1"), ((2, 2, 1), "2"), ((4, 4, 1), "3")):
            found = layer.get_mag(wk.Mag(factors)).read()
            assert np.array_equal(found, elements(f"set/{name}/{path}")[tuple(slice(n) for n in found.shape)])
    assert main(["resize", "set/color", "cubes.zarr", "--spacing", "40,40,40", "--axes", "x,y,z"]) == 0
    with tempfile.TemporaryDirectory() as whole:
        ours = wk.Dataset(f"{whole}/set", voxel_size_with_unit=wk.VoxelSize((40.0,) * 3))
        layer = ours.add_layer("color", "color", dtype="uint16", data_format=how["data_format"])
        found = layer.add_mag_from_zarrarray(1, Path("cubes.zarr/0").absolute(), extend_layer_bounding_box=False)
        layer.bounding_box = found.info.bounding_box
        cubes = elements("cubes.zarr/0")
        assert np.array_equal(layer.get_mag(1).read(), cubes) and cubes.shape[0] == 1


def of_spatialdata(version: str) -> None:
    """all.zarr: images of two and three dims, one with levels, one in other coordinates; and labels."""
    sd = pytest.importorskip("spatialdata")
    from spatialdata import models
    from spatialdata._io import format as formats
    from spatialdata.transformations import Scale

    to = {"global": Scale([0.5, 0.25], axes=("y", "x"))}
    images = {
        "levels": models.Image2DModel.parse(X[0, :3], dims=("c", "y", "x"), scale_factors=[2], chunks=(1, 16, 16)),
        "placed": models.Image2DModel.parse(X[0, :3], dims=("c", "y", "x"), transformations=to),
        "deep": models.Image3DModel.parse(X, dims=("c", "z", "y", "x")),
    }
    labels = {
        "cells": models.Labels2DModel.parse(X[0, 0] % 9, dims=("y", "x"), scale_factors=[2]),
        "nuclei": models.Labels3DModel.parse(X[0] % 9, dims=("z", "y", "x")),
    }
    of = {"0.4": formats.SpatialDataContainerFormatV01, "0.5": formats.SpatialDataContainerFormatV02}[version]
    sd.SpatialData(images=images, labels=labels).write("all.zarr", sdata_formats=of())


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_images_and_labels_of_spatialdata_and_it_reads_their_levels(version: str) -> None:
    of_spatialdata(version)
    import spatialdata as sd
    from spatialdata.transformations import get_transformation

    before = {name: get_transformation(sd.read_zarr("all.zarr")[name]) for name in ("placed",)}
    for kind, names in (("images", ("levels", "placed", "deep")), ("labels", ("cells", "nuclei"))):
        for name in names:
            path = f"all.zarr/{kind}/{name}"
            assert main(["pyramid", path, "--levels", "2", "--force"]) == 0
            paths = [level["path"] for level in said(path)["multiscales"][0]["datasets"]]
            assert len(paths) == 3
            check_levels(path, paths, AREA if kind == "images" else NEAREST)
            assert main(["resize", path, f"{name}.zarr", "--axes", "y,x", "--scale", "0.5"]) == 0
            assert main(["pyramid", path, f"{name}.ome.zarr", "--levels", "1"]) == 0
            check_levels(f"{name}.ome.zarr", ["0", "1"], AREA if kind == "images" else NEAREST)
    found = sd.read_zarr("all.zarr")
    for name in ("levels", "placed", "deep", "cells", "nuclei"):
        kind = "labels" if name in ("cells", "nuclei") else "images"
        paths = [level["path"] for level in said(f"all.zarr/{kind}/{name}")["multiscales"][0]["datasets"]]
        for k, path in enumerate(paths):
            assert np.array_equal(found[name][f"scale{k}"].image.values, elements(f"all.zarr/{kind}/{name}/{path}"))
    assert get_transformation(found["placed"]["scale0"].image) == before["placed"]


def of_bioformats2raw() -> None:
    """raw.zarr: as bioformats2raw writes it, by its documented layout: series in groups of numbers beside OME's XML,
    five dims, big-endian, one plane a chunk, keys with slashes. The program itself is of Java, and no registry of this
    machine has it."""
    import numcodecs

    root = zarr.create_group("raw.zarr", zarr_format=2, attributes={"bioformats2raw.layout": 3})
    root.create_group("OME", attributes={"series": ["0"]})
    Path("raw.zarr/OME/METADATA.ome.xml").write_text("<OME/>")
    axes: list[dict[str, str]] = [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"}]
    axes += [{"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"]
    levels, x = [], X[np.newaxis]
    for k in range(2):
        scale = [1.0, 1.0, 2.0, 0.5 * 2**k, 0.5 * 2**k]
        levels.append({"path": str(k), "coordinateTransformations": [{"type": "scale", "scale": scale}]})
    entry = {"name": "", "version": "0.4", "axes": axes, "datasets": levels, "metadata": {"method": "loci"}}
    series = root.create_group("0", attributes={"multiscales": [entry], "omero": {"channels": [{}, {}]}})
    for k in range(2):
        values = x[..., :: 2**k, :: 2**k]
        made = series.create_array(
            str(k), shape=values.shape, dtype=">u2", chunks=(1, 1, 1, 16, 16), fill_value=0,
            compressors=numcodecs.Blosc("lz4", 5, 1), chunk_key_encoding={"name": "v2", "separator": "/"},
        )  # fmt: skip
        made[...] = values


def test_series_in_the_layout_of_bioformats2raw(capsys: pytest.CaptureFixture[str]) -> None:
    of_bioformats2raw()
    assert main(["pyramid", "raw.zarr"]) == 2
    assert "is a group without multiscales metadata, such as raw.zarr/0 has" in capsys.readouterr().err
    assert main(["pyramid", "raw.zarr/0", "--levels", "2", "--force"]) == 0
    check_levels("raw.zarr/0", ["0", "1", "2"], AREA)
    assert [zarr.open_array(f"raw.zarr/0/{k}").dtype.str for k in range(3)] == [">u2"] * 3
    assert Path("raw.zarr/OME/METADATA.ome.xml").exists()
    reader = pytest.importorskip("ome_zarr.reader")
    from ome_zarr.io import parse_url

    found = next(iter(reader.Reader(parse_url("raw.zarr/0"))()))
    assert [np.array_equal(level.compute(), elements(f"raw.zarr/0/{k}")) for k, level in enumerate(found.data)] == [
        True
    ] * 3


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_fields_of_plates(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    writer = pytest.importorskip("ome_zarr.writer")
    from ome_zarr.format import FormatV04, FormatV05
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader

    format_ = {"0.4": FormatV04, "0.5": FormatV05}[version]()
    root = zarr.open_group("plate.zarr", mode="w", zarr_format=2 if version == "0.4" else 3)
    writer.write_plate_metadata(root, ["A"], ["1", "2"], ["A/1", "A/2"], fmt=format_)
    for column in "12":
        well = root.require_group("A").require_group(column)
        writer.write_well_metadata(well, ["0"], fmt=format_)
        writer.write_image(X[:, 0], well.require_group("0"), axes="cyx", fmt=format_, scale_factors=[2])
    for path in ("plate.zarr", "plate.zarr/A", "plate.zarr/A/1"):
        assert main(["pyramid", path]) == 2
        assert "/0 has" in capsys.readouterr().err
    for column in "12":
        path = f"plate.zarr/A/{column}/0"
        assert main(["pyramid", path, "--levels", "2", "--force"]) == 0
        check_levels(path, [level["path"] for level in said(path)["multiscales"][0]["datasets"]], AREA)
    found = next(iter(Reader(parse_url("plate.zarr"))()))
    assert found.data[0].shape[-2:] == (32, 72)  # both wells side by side
    assert np.array_equal(found.data[0].compute()[..., :36], X[:, 0])
