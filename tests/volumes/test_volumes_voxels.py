"""Voxels that are no cubes: scales, factors and sizes for each axis, in OME-Zarr, OME-TIFF and ImageJ; stacks of TIFF to
zarr and back; dry runs and JSON."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, ran, refused  # noqa: F401
from tenter.cli.main import main
from tenter.cli.volumes.tiffs import open_tiff
from volume_helpers import _as_a_process_of_its_own, elements, hidden, noise, volume, zarr  # noqa: F401

tifffile = pytest.importorskip("tifffile")
UNIT = ["--voxel-size", "2,0.5,0.5", "--unit", "micrometer"]
SHAPE = (8, 40, 36)


def stack(kind: str, dtype: str = "uint16") -> Any:
    """in.tif: a stack with voxels of 2 x 0.5 x 0.25 micrometers, as a program writes it."""
    x = noise(SHAPE, dtype)
    if kind == "plain":
        with tifffile.TiffWriter("in.tif") as writer:
            for page in x:
                writer.write(page, photometric="minisblack", metadata=None, contiguous=False)
        return x
    how = {"compression": "zlib", "predictor": False} if kind == "OME, deflated" else {}
    if kind == "ImageJ":
        about = {"axes": "ZYX", "spacing": 2.0, "unit": "um"}
        tifffile.imwrite("in.tif", x, imagej=True, resolution=(4.0, 2.0), metadata=about)
        return x
    about = {"axes": "ZYX", "PhysicalSizeZ": 2.0, "PhysicalSizeY": 0.5, "PhysicalSizeX": 0.25}
    about |= {f"PhysicalSize{axis}Unit": "µm" for axis in "XYZ"}
    tifffile.imwrite("in.tif", x, ome=True, metadata=about, **how)
    return x


def scales(name: str) -> list[list[float]]:
    """Of each level of an OME-Zarr group, whose unit is micrometers."""
    attributes = dict(zarr.open_group(name, mode="r").attrs)
    entry = attributes.get("ome", attributes)["multiscales"][0]
    assert {axis["unit"] for axis in entry["axes"] if axis.get("type") == "space"} == {"micrometer"}
    return [level["coordinateTransformations"][0]["scale"] for level in entry["datasets"]]


def voxels_of_tiff(name: str) -> tuple[dict[str, float], str | None]:
    found = open_tiff(Path(name)).voxel
    (unit,) = set(map(found.units.get, found.sizes))
    return dict(found.sizes), unit


# ---- numbers for each axis


@pytest.mark.parametrize("scale", [["--scale", "1,0.5,0.25"], ["--scale", "1", "0.5", "0.25"], ["--scale=1,50%,0.25"]])
@pytest.mark.parametrize("axes", [["--axes", "z,y,x"], ["--axes", "0", "1", "2"]])
def test_a_scale_for_each_axis(scale: list[str], axes: list[str]) -> None:
    x = volume("in.zarr", SHAPE)
    np.save("in.npy", x)
    tifffile.imwrite("in.tif", x, imagej=True, metadata={"axes": "ZYX"})
    want = tenter.resize(x, (8, 20, 9), axes=(0, 1, 2), antialias=True)
    assert main(["resize", "in.zarr", "out.zarr", *scale, *axes]) == 0
    np.testing.assert_array_equal(elements("out.zarr"), want)
    if axes[1] == "0":
        assert main(["resize", *scale, "in.npy", "out.npy", *axes]) == 0
        np.testing.assert_array_equal(np.load("out.npy"), want)
    assert main(["resize", *axes, *scale, "in.tif", "out.tif"]) == 0
    np.testing.assert_array_equal(tifffile.imread("out.tif"), want)


def test_a_factor_for_each_axis() -> None:
    x = volume("in.zarr", SHAPE)
    assert main(["pyramid", "in.zarr", "out.ome.zarr", "--factor", "1,2,2", "--levels", "2"]) == 0
    for level, sizes in (("1", (8, 20, 18)), ("2", (8, 10, 9))):
        x = tenter.resize(x, sizes, axes=(0, 1, 2), mode="area", like="opencv")
        np.testing.assert_array_equal(elements(f"out.ome.zarr/{level}"), x)
    assert main(["pyramid", "in.zarr", "y.ome.zarr", "--factor", "4", "2", "--axes", "y,x", "--levels", "1"]) == 0
    assert elements("y.ome.zarr/1").shape == (8, 10, 18)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ["resize", "in.zarr", "out.zarr", "--scale", "1,0.5", "--axes", "z,y,x"],
            "one number for each axis, 3 in all",
        ),
        (["resize", "in.zarr", "out.zarr", "--scale", "1,0,1", "--axes", "z,y,x"], "--scale: expected a finite number"),
        (["resize", "in.png", "out.png", "--scale", "1,0.5"], "--scale: expected one number, got 1,0.5; --axes names"),
        (
            ["resize", "in.zarr", "out.zarr", "--spacing", "1,1,1", "--axes", "z,y,x"],
            "the voxel size of IN is not known",
        ),
        (
            ["resize", "in.png", "out.png", "--scale", "2", "--voxel-size", "1,1"],
            "are for arrays, whose axes --axes names",
        ),
        (
            ["resize", "in.zarr", "out.zarr", "--spacing", "1,0,1", "--axes", "z,y,x"],
            "--spacing: expected a finite number",
        ),
        (
            ["resize", "in.zarr", "out.zarr", "--scale", "1", "--axes", "z", "--unit", "nm"],
            "--unit: goes with --voxel-size",
        ),
        (
            ["resize", "in.zarr", "a", "b.zarr", "--scale", "1", "--axes", "z"],
            "one OUT for arrays on disk, got in.zarr, a, b",
        ),
        (
            ["pyramid", "in.zarr", "p.zarr", "--factor", "1,2"],
            "--factor: expected one number, or one for each of 3 axes",
        ),
        (["pyramid", "in.zarr", "p.zarr", "--factor", "1,1,1"], "one of them at least 2, got 1,1,1"),
        (["pyramid", "in.zarr", "p.zarr", "--voxel-size", "1,2"], "--voxel-size: expected one number for each axis, 3"),
        (["pyramid", "in.zarr", "p.zarr", "--unit", "nm"], "--unit: goes with --voxel-size"),
        (
            ["resize", "in.zarr", "o.tif", "--scale", "1", "--axes", "z", "--chunks", "1,1,1"],
            "--chunks: a .tif file has none",
        ),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], args: list[str], said: str) -> None:
    volume("in.zarr", SHAPE)
    assert said in refused(capsys, *args)


# ---- sizes of voxels


@pytest.mark.parametrize("kind", ["OME", "OME, deflated", "ImageJ"])
def test_voxels_of_a_stack_are_those_of_its_zarr_array_and_back(kind: str) -> None:
    x = stack(kind)
    assert main(["resize", "in.tif", "out.zarr", "--scale", "1,0.5,0.25", "--axes", "z,y,x", "--mode", "area"]) == 0
    want = tenter.resize(x, (8, 20, 9), axes=(0, 1, 2), mode="area")
    np.testing.assert_array_equal(elements("out.zarr/0"), want)
    assert scales("out.zarr") == [[2.0, 1.0, 1.0]]
    for back in ("back.ome.tif", "back.tif"):
        assert main(["resize", "out.zarr", back, "--scale", "1", "--axes", "z"]) == 0
        np.testing.assert_array_equal(tifffile.imread(back), want)
        sizes, unit = voxels_of_tiff(back)
        assert sizes == pytest.approx({"z": 2.0, "y": 1.0, "x": 1.0}) and unit == "micrometer"
        with tifffile.TiffFile(back) as file:
            assert (file.is_ome, file.is_imagej) == (("ome" in back), ("ome" not in back))
    assert not hidden()


@pytest.mark.parametrize("given", ["zarr", "npy", "plain TIFF", "ImageJ"])
def test_voxel_sizes_are_given_where_the_file_says_none_or_wrong_ones(given: str) -> None:
    name = "in.zarr"
    if given == "zarr":
        volume("in.zarr", SHAPE)
    elif given == "npy":
        np.save(name := "in.npy", noise(SHAPE))
    else:
        stack({"plain TIFF": "plain", "ImageJ": "ImageJ"}[given])
        name = "in.tif"
    assert main(["resize", name, "out.zarr", "--scale", "0.5", "--axes", "z,y,x", *UNIT]) == 0
    assert scales("out.zarr") == [[4.0, 1.0, 1.0]]
    assert main(["pyramid", name, "out.ome.zarr", "--factor", "2", "--levels", "1", *UNIT]) == 0
    assert scales("out.ome.zarr") == [[2.0, 0.5, 0.5], [4.0, 1.0, 1.0]]
    if name == "in.tif":
        assert main(["resize", name, "out.tif", "--scale", "0.5", "--axes", "z,y,x", *UNIT]) == 0
        assert voxels_of_tiff("out.tif") == ({"z": 4.0, "x": 1.0, "y": 1.0}, "micrometer")


def test_voxel_sizes_of_a_group_are_set_right_in_it() -> None:
    volume("plain.zarr", SHAPE)
    assert main(["pyramid", "plain.zarr", "in.zarr", "--levels", "1", "--voxel-size", "9,9,9", "--unit", "um"]) == 0
    assert main(["pyramid", "in.zarr", "--levels", "1", "--force", "--factor", "2", *UNIT]) == 0
    assert scales("in.zarr") == [[2.0, 0.5, 0.5], [4.0, 1.0, 1.0]]


@pytest.mark.parametrize("name", ["in.tif", "in.zarr", "in.npy"])
def test_spacing_makes_voxels_of_a_size(name: str) -> None:
    x = stack("OME")
    more: list[str] = []
    if name == "in.zarr":
        assert main(["resize", "in.tif", "in.zarr", "--scale", "1", "--axes", "z"]) == 0
    if name == "in.npy":
        np.save("in.npy", x)
        more = ["--voxel-size", "2,0.5,0.25"]
    axes = "z,y,x" if name != "in.npy" else "0,1,2"
    # 8 voxels of 2, 40 of 0.5, 36 of 0.25: 16, 20 and 9 micrometers
    want = tenter.resize(x, (16, 20, 9), axes=(0, 1, 2), antialias=True)
    for out in ("out.zarr", "out.npy" if name != "in.tif" else "out.tif"):
        assert main(["resize", name, out, "--spacing", "1,1,1", "--axes", axes, *more]) == 0
    made = tifffile.imread("out.tif") if name == "in.tif" else np.load("out.npy")
    np.testing.assert_array_equal(made, want)
    if name != "in.npy":
        assert scales("out.zarr") == [[1.0, 1.0, 1.0]]
    assert main(["resize", name, "odd.zarr", "--spacing", "1,3,100", "--axes", axes, *more]) == 0
    shape = zarr.open_group("odd.zarr")["0"].shape
    assert shape == (16, 7, 1)  # 20 / 3 and 9 / 100, to the nearest and at least 1
    assert dict(zarr.open_group("odd.zarr").attrs)["ome"]["multiscales"][0]["datasets"][0]["coordinateTransformations"][
        0
    ]["scale"] == pytest.approx([1.0, 20 / 7, 9.0])


@pytest.mark.parametrize(
    ("voxels", "halved"),
    [
        ("2,0.5,0.5", ["yx", "yx", "zyx", "zyx"]),
        pytest.param("1,1,1", ["zyx", "zyx"], marks=pytest.mark.slow),
        ("3,1,1", ["yx", "yx", "zyx"]),  # 3, 2, 2 are nearer to a cube than 3, 1, 1, and 3, 4, 4 than 3, 2, 2
        pytest.param("1.3,1,1", ["zyx", "zyx"], marks=pytest.mark.slow),
        ("1,1,8", ["zy", "zy", "zy", "zyx"]),
    ],
)
def test_levels_make_voxels_isotropic_first(voxels: str, halved: list[str]) -> None:
    zarr.create_array("in.zarr", shape=(64, 64, 64), chunks=(16, 16, 16), dtype="u1")
    args = ["pyramid", "in.zarr", "out.ome.zarr", "--voxel-size", voxels, "--unit", "um", "--levels", str(len(halved))]
    assert main(args) == 0
    for (before, after), letters in zip(pairwise(scales("out.ome.zarr")), halved, strict=True):
        assert "".join(name for name, a, b in zip("zyx", before, after) if b == 2 * a) == letters
        assert max(after) / min(after) <= max(before) / min(before) or max(after) / min(after) < 2


def test_a_thin_volume_ends() -> None:
    zarr.create_array("in.zarr", shape=(1, 1, 64), chunks=(1, 1, 4), dtype="u1")
    assert main(["pyramid", "in.zarr", "out.ome.zarr", "--voxel-size", "0.1,0.1,9", "--unit", "um"]) == 0
    assert len(scales("out.ome.zarr")) == 5


# ---- stacks


@pytest.mark.parametrize("limit", [[], ["--memory-limit", "210MiB", "--threads", "2"]])
@pytest.mark.parametrize("kind", ["plain", "OME", "OME, deflated", "ImageJ"])
def test_a_pyramid_of_a_stack(kind: str, limit: list[str]) -> None:
    x = stack(kind)
    assert main(["pyramid", "in.tif", "out.ome.zarr", "--factor", "2", "--levels", "1", *limit]) == 0
    np.testing.assert_array_equal(elements("out.ome.zarr/0"), x)
    half = tenter.resize(x, (4, 20, 18), axes=(0, 1, 2), mode="area", like="opencv")
    np.testing.assert_array_equal(elements("out.ome.zarr/1"), half)
    assert main(["pyramid", "in.tif", "--factor", "2", "--levels", "1"]) == 0
    assert Path("in.ome.zarr").is_dir()


@pytest.mark.parametrize("axes", ["TZCYX", "TCZYX", "ZCYX", "CYX", "TYX", "YX"])
def test_axes_of_a_stack_are_put_in_the_order_of_ome_zarr(axes: str) -> None:
    lengths = {"T": 2, "Z": 3, "C": 4, "Y": 10, "X": 12}
    x = noise(tuple(lengths[axis] for axis in axes), "uint8")
    tifffile.imwrite("in.tif", x, ome=True, metadata={"axes": axes})
    assert main(["pyramid", "in.tif", "out.ome.zarr", "--levels", "1", "--axes", "y,x"]) == 0
    order = [axes.index(axis) for axis in "TCZYX" if axis in axes]
    np.testing.assert_array_equal(elements("out.ome.zarr/0"), x.transpose(order))
    assert [axis["name"] for axis in dict(zarr.open_group("out.ome.zarr").attrs)["ome"]["multiscales"][0]["axes"]] == [
        axis.lower() for axis in "TCZYX" if axis in axes
    ]
    assert main(["resize", "out.ome.zarr", "back.tif", "--scale", "1", "--axes", "x"]) == 0
    np.testing.assert_array_equal(tifffile.imread("back.tif"), x.transpose(order))


def test_a_stack_that_is_cut_off_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("OME", "ImageJ", "plain", "OME, deflated"):
        stack(kind)
        data = Path("in.tif").read_bytes()
        Path("in.tif").write_bytes(data[: len(data) * 2 // 3])
        assert "in.tif" in refused(capsys, "resize", "in.tif", "out.zarr", "--scale", 1, "--axes", "y")


# ---- what is said


def test_a_dry_run_of_arrays_on_disk_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    stack("OME")
    before = sorted(Path().iterdir())
    run = ["resize", "in.tif", "out.zarr", "--scale", "1,0.5,0.25", "--axes", "z,y,x"]
    assert main([*run, "--dry-run"]) == 0
    assert capsys.readouterr().out == (
        "out.zarr: would be written: z 8, y 20, x 9; voxels 2 x 1 x 1 µm "
        "(from in.tif: z 8, y 40, x 36; voxels 2 x 0.5 x 0.25 µm)\n"
    )
    pyramid = ["pyramid", "in.tif", "p.ome.zarr", "--levels", "2", "--factor", "1,2,4"]
    assert main([*pyramid, "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  1: z 8, y 20, x 9; voxels 2 x 1 x 1 µm",
        "  2: z 8, y 10, x 3; voxels 2 x 2 x 3 µm",
    ]
    found = {}
    for args in (run, pyramid):
        assert main([*args, "--dry-run", "--json"]) == 0
        found[args[0]] = json.loads(capsys.readouterr().out)
    assert sorted(Path().iterdir()) == before
    assert (found["resize"]["planned"], found["resize"]["done"]) == (1, 0)
    assert found["resize"]["files"][0]["output_size"] == {"z": 8, "y": 20, "x": 9}
    for args in (run, pyramid):
        assert main([*args, "--json"]) == 0
        (made,) = json.loads(capsys.readouterr().out)["files"]
        (planned,) = found[args[0]]["files"]
        assert made["status"] == "done" and made["bytes_written"] > 0
        kept = {key: value for key, value in planned.items() if key != "status"}
        assert kept.items() <= made.items() and planned["status"] == "planned"
    assert made["arrays"][2] == {
        "path": "2", "size": {"z": 8, "y": 10, "x": 3}, "voxel_size": {"z": 2.0, "y": 2.0, "x": 3.0}, "unit": "micrometer",
    }  # fmt: skip
    assert "out.zarr: exists already" in refused_again(capsys, *run, "--dry-run")


def refused_again(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(list(args)) == 2
    return capsys.readouterr().err


def test_the_one_rate_is_of_what_is_written() -> None:
    volume("in.zarr", SHAPE)
    done = ran("resize", "in.zarr", "out.zarr", "--scale", "0.5", "--axes", "z,y,x")
    assert done.stdout.count("/s") == 1 and "B/s written, peak memory " in done.stdout
    assert done.stdout.endswith("; z 4, y 20, x 18\n")
