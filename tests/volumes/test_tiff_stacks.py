"""TIFF stacks: --axes by letters, labels by the nearest, distances between samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, ran, refused  # noqa: F401
from picture_helpers import run

tifffile = pytest.importorskip("tifffile")
VOLUME = np.random.default_rng(0).integers(0, 4000, (6, 20, 30), np.uint16)


def expected(array: np.ndarray[Any, Any], size: tuple[int, ...], axes: tuple[int, ...], **how: Any) -> Any:
    return tenter.resize(array, size, axes=axes, antialias=True, like="torch", **how)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_imagej(dtype: str, order: Any) -> None:
    volume = VOLUME.astype(dtype)
    about = {"axes": "ZYX", "spacing": 2.0, "unit": "um", "Info": "from a microscope"}
    with tifffile.TiffWriter("in.tif", byteorder=order, imagej=True) as writer:
        writer.write(volume, resolution=(4.0, 5.0), metadata=about)
    run("resize", "in.tif", "out.tif", "--axes", "z,y,x", "--size", 3, 10, 10)
    with tifffile.TiffFile("out.tif") as out:
        assert out.byteorder == order and out.series[0].axes == "ZYX" and out.series[0].dtype == dtype
        np.testing.assert_array_equal(out.asarray(), expected(volume, (3, 10, 10), (0, 1, 2)))
        assert out.imagej_metadata["spacing"] == 4.0 and out.imagej_metadata["unit"] == "um"
        assert out.imagej_metadata["Info"] == "from a microscope"
        x, y = (out.pages[0].tags[name].value for name in ("XResolution", "YResolution"))
        assert (x[0] / x[1], y[0] / y[1]) == pytest.approx((4 / 3, 2.5))


def test_ome() -> None:
    array = np.random.default_rng(1).integers(0, 255, (2, 4, 16, 12), np.uint8)
    about = {
        "axes": "CZYX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "um", "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "um",
        "PhysicalSizeZ": 2.0, "PhysicalSizeZUnit": "um", "Channel": {"Name": ["red", "green"], "Fluor": ["a", "b"]},
    }  # fmt: skip
    tifffile.imwrite("in.ome.tif", array, ome=True, metadata=about)
    done = ran("resize", "in.ome.tif", "out.ome.tif", "--axes", "z,y,x", "--size", 8, 8, 6)
    assert done.returncode == 0 and "not kept: OME annotations (Fluor)" in done.stdout
    with tifffile.TiffFile("out.ome.tif") as out:
        assert out.is_ome and out.series[0].axes == "CZYX"
        np.testing.assert_array_equal(out.asarray(), expected(array, (8, 8, 6), (1, 2, 3)))
        pixels = tifffile.xml2dict(out.ome_metadata)["OME"]["Image"]["Pixels"]
    assert [pixels[f"PhysicalSize{axis}"] for axis in "XYZ"] == [1.0, 0.5, 1.0]
    assert [channel["Name"] for channel in pixels["Channel"]] == ["red", "green"]


def test_a_stack_of_imagej_without_axes_is_resized_along_y_and_x() -> None:
    tifffile.imwrite("in.tif", VOLUME, imagej=True, metadata={"axes": "TYX", "finterval": 0.5})
    run("resize", "in.tif", "out.tif", "--fit", "15x15")
    with tifffile.TiffFile("out.tif") as out:
        np.testing.assert_array_equal(out.asarray(), expected(VOLUME, (10, 15), (1, 2)))
        assert out.imagej_metadata["finterval"] == 0.5 and out.imagej_metadata["frames"] == 6


def test_plain_pages_along_their_order() -> None:
    tifffile.imwrite("in.tif", VOLUME, photometric="minisblack", resolution=(10, 10), metadata=None)
    with tifffile.TiffFile("in.tif") as source:
        first = source.series[0].axes[0].lower()
    for axes in (f"{first},y,x", "0,1,2"):
        run("resize", "in.tif", "out.tif", "--axes", axes, "--size", 12, 10, 60, "--force")
        with tifffile.TiffFile("out.tif") as out:
            np.testing.assert_array_equal(out.asarray(), expected(VOLUME, (12, 10, 60), (0, 1, 2)))
            assert out.pages[0].tags["XResolution"].value == (20, 1) and out.pages[0].tags["YResolution"].value == (
                5,
                1,
            )


def test_pages_have_any_letter() -> None:
    pages = np.random.default_rng(1).integers(0, 9, (5, 8, 8)).astype(np.uint8)
    tifffile.imwrite("in.tif", pages)
    run("resize", "in.tif", "out.tif", "--axes", "z,y,x", "--size", 3, 13, 5, "--labels")
    expected = tenter.resize(pages, (3, 13, 5), axes=(0, 1, 2), mode="nearest-exact")
    np.testing.assert_array_equal(tifffile.imread("out.tif"), expected)


def test_labels_are_picked() -> None:
    labels = np.random.default_rng(2).integers(0, 3, (4, 8, 8)).astype(np.uint16) * 1000
    tifffile.imwrite("in.tif", labels, imagej=True, metadata={"axes": "ZYX"})
    run("resize", "in.tif", "out.tif", "--axes", "z,y,x", "--size", 3, 13, 5, "--labels")
    found = tifffile.imread("out.tif")
    np.testing.assert_array_equal(found, tenter.resize(labels, (3, 13, 5), axes=(0, 1, 2), mode="nearest-exact"))
    assert set(np.unique(found)) <= {0, 1000, 2000}


def test_between_stacks_and_arrays() -> None:
    tifffile.imwrite("in.tif", VOLUME, imagej=True, metadata={"axes": "ZYX"})
    run("resize", "in.tif", "out.npy", "--axes", "z,x", "--size", 3, 15)
    np.testing.assert_array_equal(np.load("out.npy"), expected(VOLUME, (3, 15), (0, 2)))
    np.save("in.npy", VOLUME)
    run("resize", "in.npy", "out.tif", "--axes", 0, 2, "--size", 3, 15)
    np.testing.assert_array_equal(tifffile.imread("out.tif"), expected(VOLUME, (3, 15), (0, 2)))


def test_colors_of_a_stack() -> None:
    array = np.random.default_rng(3).integers(0, 255, (3, 16, 12, 3), np.uint8)
    tifffile.imwrite("in.tif", array, imagej=True, metadata={"axes": "ZYXS"})
    run("resize", "in.tif", "out.tif", "--scale", 0.5)
    np.testing.assert_array_equal(tifffile.imread("out.tif"), expected(array, (8, 6), (1, 2)))


def test_a_dry_run_of_a_stack() -> None:
    tifffile.imwrite("in.tif", VOLUME, imagej=True, metadata={"axes": "ZYX"})
    done = ran("resize", "in.tif", "out.tif", "--axes", "z,y", "--size", 3, 5, "--dry-run")
    assert "axes z, y of length 3, 5" in done.stdout and "6, 20" in done.stdout and not Path("out.tif").exists()


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["in.tif", "out.tif", "--axes", "c,y", "--size", 2, 2], "--axes: expected some of z,y,x, got 'c'"),
        (["in.tif", "out.tif", "--axes", "z,y,x", "--size", 2, 2], "expected"),
        (["in.tif", "out.tif", "--axes", "7", "--size", 2], "axes: expected a dim"),
        (["in.tif", "out.tif", "--axes", "y,y", "--size", 2, 2], "axes: expected each axis once"),
        (["in.tif", "out.png", "--axes", "y,x", "--size", 2, 2], "--axes: is for .npy files and TIFF stacks"),
        (["in.tif", "out.tif", "--fit", 9, "--pad"], "--pad: is for images, this is a stack"),
        (["in.tif", "out.tif", "--fit", 9, "--pad", "--dry-run"], "--pad: is for images, this is a stack"),
        (["cut.tif", "out.tif", "--axes", "y,x", "--size", 2, 2], "cut.tif: is truncated or damaged"),
        (["text.tif", "out.tif", "--axes", "y,x", "--size", 2, 2], "is not an image that can be read"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], args: list[Any], word: str) -> None:
    tifffile.imwrite("in.tif", VOLUME, imagej=True, metadata={"axes": "ZYX"})
    Path("cut.tif").write_bytes(Path("in.tif").read_bytes()[:5000])
    Path("text.tif").write_text("no stack")
    assert word in refused(capsys, "resize", *args)
