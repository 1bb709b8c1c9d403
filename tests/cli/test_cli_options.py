"""`tenter resize`: --mode, --like, --axes, --box, --linear-light and --no-premultiply give what the library gives."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, refused  # noqa: F401
from picture_helpers import read_picture, write_picture
from tenter._specs.modes import MODES as FILTERS
from tenter.cli.kept.orientation import stored_box, turn_back
from tenter.cli.main import main
from tenter.cli.picture import Picture
from tenter.conventions import PRESETS

Pixels = np.ndarray[Any, Any]


def resized(name: str, *options: Any, to: str = "") -> Pixels:
    out = f"out{to or Path(name).suffix}"
    assert main(["resize", name, out, *map(str, options), "--force"]) == 0
    return np.load(out) if out.endswith(".npy") else read_picture(Path(out)).pixels


def rgba(opaque: bool = False) -> Pixels:
    pixels = np.random.default_rng(3).integers(0, 256, (12, 10, 4), np.uint8)
    if opaque:
        pixels[..., 3] = 255
    Image.fromarray(pixels).save("rgba.png")
    return pixels


# ---- --mode, --like


@pytest.mark.parametrize("name", FILTERS)
def test_every_filter(name: str) -> None:
    x = np.asarray(Image.open("in.png"))
    for size in ((5, 7), (30, 11)):
        expected = tenter.resize(x, size, axes=(0, 1), mode=name)
        np.testing.assert_array_equal(resized("in.png", "--size", f"{size[1]}x{size[0]}", "--mode", name), expected)


def test_modes_are_filters_by_pytorchs_names() -> None:
    names = {"bilinear": "linear", "bicubic": "cubic"}
    for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos", "area"):
        same = resized("in.png", "--size", "7x5", "--mode", names.get(mode, mode))
        np.testing.assert_array_equal(resized("in.png", "--size", "7x5", "--mode", mode), same)
    for name, same in names.items():  # as in Python
        expected = resized("in.png", "--size", "7x5", "--mode", same)
        np.testing.assert_array_equal(resized("in.png", "--size", "7x5", "--mode", name), expected)


@pytest.mark.parametrize("like", PRESETS)
def test_every_library(like: str) -> None:
    x = np.asarray(Image.open("in.png"))
    for options, how in (
        ([], {}),
        (["--antialias"], {"antialias": True}),
        (["--mode", "nearest"], {"mode": "nearest"}),
    ):
        expected = tenter.resize(x, (5, 17), axes=(0, 1), like=like, **how)
        np.testing.assert_array_equal(resized("in.png", "--size", "17x5", "--like", like, *options), expected)


def test_the_default_of_pictures_is_near_pillows_lanczos() -> None:
    image = Image.open("in.png")
    theirs = np.asarray(image.resize((7, 5), Image.Resampling.LANCZOS)).astype(int)
    # Before version 13 Pillow summed another axis first, and overshoot was cut elsewhere.
    most = 1 if int(version("pillow").split(".")[0]) >= 13 else 4
    assert np.abs(resized("in.png", "--size", "7x5") - theirs).max() <= most
    np.testing.assert_array_equal(
        resized("in.png", "--size", "7x5"), resized("in.png", "--size", "7x5", "--mode", "lanczos")
    )
    linear = resized("in.png", "--size", "7x5", "--mode", "linear")
    np.testing.assert_array_equal(linear, resized("in.png", "--size", "7x5", "--like", "pillow"))


def test_the_default_of_arrays_leaves_no_range() -> None:
    np.save("edge.npy", x := np.repeat([0.0, 1.0], 20)[None].repeat(30, 0))
    for options in (["--size", "17x30"], ["--axes", "1", "--size", "17"]):
        expected = tenter.resize(x, 17, axes=1, antialias=True)
        np.testing.assert_array_equal(resized("edge.npy", *options), expected)
        assert expected.min() >= 0 and expected.max() < 1 + 1e-12


def test_a_filter_that_a_library_has_not(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "resize", "in.png", "out.png", "--scale", 2, "--like", "scipy", "--mode", "lanczos")
    assert "mode: expected one of nearest" in said


# ---- --axes


def test_axes_of_any_array() -> None:
    x = np.random.default_rng(0).random((3, 8, 9, 2))
    np.save("a.npy", x)
    for axes, size in (((1, 2), (4, 20)), ((-2, 1), (5, 3)), ((3,), (7,)), ((0, 1, 2, 3), (2, 3, 4, 5))):
        expected = tenter.resize(x, size, axes=axes, antialias=True)
        np.testing.assert_array_equal(resized("a.npy", "--axes", *axes, "--size", *size), expected)
        np.testing.assert_array_equal(resized("a.npy", "--size", *size, "--axes", *axes), expected)
    expected = tenter.resize(x, (12, 13), axes=(1, 2), mode="cubic", like="opencv")
    options = ("--axes", 1, 2, "--scale", 1.5, "--mode", "cubic", "--like", "opencv")
    np.testing.assert_array_equal(resized("a.npy", *options), expected)
    expected = tenter.resize(x, (4, 3), axes=(2, 1), box=((1, 5.5), (2, 8)), antialias=True)
    options = ("--axes", 2, 1, "--size", 4, 3, "--box", "6x4.5+2+1")
    np.testing.assert_array_equal(resized("a.npy", *options), expected)


def test_axes_stand_before_names_too() -> None:
    assert main(["resize", "--axes", "1", "--size", "7", "in.npy", "out.npy"]) == 0
    assert np.load("out.npy").shape == (3, 7)


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (["in.png", "out.png", "--axes", "0", "--size", "3"], "--axes: is for .npy files"),
        (["in.npy", "out.png", "--axes", "0", "--size", "3"], "--axes: is for .npy files"),
        (["in.npy", "out.npy", "--axes", "0", "1", "--size", "3"], "expected 2 arguments"),
        (
            ["in.npy", "out.npy", "--axes=0", "--size", "3", "4"],
            "--size: expected one number for each axis, 1 in all, got 2",
        ),
        (["in.npy", "out.npy", "--axes", "2", "--size", "3"], "axes: expected a dim of a 2-d input"),
        (["in.npy", "out.npy", "--axes", "0", "0", "--size", "3", "3"], "axes: expected each axis once"),
        (["in.npy", "out.npy", "--axes", "x", "--size", "3"], "--axes: expected numbers, as a .npy file names"),
        (["in.npy", "out.npy", "--axes", "xy", "--size", "3"], "--axes: expected a whole number, got 'xy'"),
        (["in.npy", "out.npy", "--axes", "0", "--size", "3", "--box", "1x1+0+0"], "--box: expected two axes"),
        (["in.npy", "out.npy", "--axes", "0", "--size", "3", "--linear-light"], "--linear-light: is for images"),
        (["in.npy", "out.npy", "--axes", "0", "--size", "2147483647"], "of memory here"),
        (["cube.npy", "out.npy", "--size", "3x3"], "--axes says which"),
    ],
)
def test_axes_refused(capsys: pytest.CaptureFixture[str], args: list[str], word: str) -> None:
    np.save("cube.npy", np.ones((2, 3, 4, 5)))
    np.save("in.npy", np.ones((3, 4000)))
    assert word in refused(capsys, "resize", *args)


# ---- --box


def test_box() -> None:
    x = np.asarray(Image.open("in.png"))
    expected = tenter.resize(x, (6, 5), axes=(0, 1), box=((1.5, 9), (2, 8.25)), antialias=True, mode="lanczos")
    np.testing.assert_array_equal(resized("in.png", "--size", "5x6", "--box", "6.25x7.5+2+1.5"), expected)
    assert resized("in.png", "--scale", 2, "--box", "6.25x7.5+2+1.5").shape == (15, 12, 3)
    np.testing.assert_array_equal(resized("in.png", "--scale", 1, "--box", "5x7+3+2"), x[2:9, 3:8])
    whole = resized("in.png", "--size", "5x6", "--box", "10x12+0+0")
    np.testing.assert_array_equal(whole, resized("in.png", "--size", "5x6"))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_box_is_of_the_picture_as_it_is_seen(orientation: int) -> None:
    seen = np.random.default_rng(0).integers(0, 256, (11, 7, 3), np.uint8)
    stored = np.ascontiguousarray(turn_back(seen, orientation))
    exif = Image.Exif()
    exif[274] = orientation
    Image.fromarray(stored).save("turned.png", exif=exif)
    out = resized("turned.png", "--scale", 1, "--box", "4x7+1+2")
    np.testing.assert_array_equal(out, seen[2:9, 1:5])
    out = resized("turned.png", "--size", "9x6", "--box", "4.25x6.5+1+2.5")
    expected = tenter.resize(seen, (6, 9), axes=(0, 1), box=((2.5, 9), (1, 5.25)), antialias=True, mode="lanczos")
    np.testing.assert_allclose(out.astype(int), expected, atol=1)  # half-way values may round up or down
    np.testing.assert_array_equal(resized("turned.png", "--size", "9x6", "--box", "4.25x6.5+1+2.5", to=".npy"), out)
    assert stored_box((0, 0, 11, 7), stored.shape[:2], orientation) == (0, 0, *stored.shape[:2])


@pytest.mark.parametrize(
    ("box", "word"),
    [
        (["5x0+0+5"], "expected a width and a height above 0, got '5x0+0+5'"),
        (["5x5+-1+0"], "expected WIDTHxHEIGHT+LEFT+TOP, such as 640x480+10+20, got '5x5+-1+0'"),
        (["5x5"], "expected WIDTHxHEIGHT+LEFT+TOP"),
        (["5x.+0+0"], "expected a number, got '.'"),
        (["nanx5+0+0"], "expected WIDTHxHEIGHT+LEFT+TOP"),
        (["5x12.5+0+0"], "across, of 12 and 10"),
        (["11x12+0+0"], "across, of 12 and 10"),
        (["1", "2", "9", "5"], "3x8+2+1 if they are top, left, bottom and right, 8x3+1+2 if they are left, top, right"),
        (["0", "0", "5"], "expected WIDTHxHEIGHT+LEFT+TOP, such as 640x480+10+20, got 0 0 5"),
    ],
)
def test_box_refused(capsys: pytest.CaptureFixture[str], box: list[str], word: str) -> None:
    assert word in refused(capsys, "resize", "in.png", "out.png", "--scale", 2, "--box", *box)


def test_a_scale_that_leaves_nothing_of_a_box(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "resize", "in.png", "out.png", "--scale", 0.5, "--box", "5x1.5+0+0")
    assert "leaves nothing of 5 x 1.5 (it would be 2 x 0)" in said


# ---- --linear-light, --no-premultiply


def test_linear_light() -> None:
    board = (np.indices((8, 8)).sum(0) % 2 * 255).astype(np.uint8)
    Image.fromarray(board).save("board.png")
    assert set(resized("board.png", "--size", "2x2", "--mode", "area").ravel()) == {128}
    assert set(resized("board.png", "--size", "2x2", "--mode", "area", "--linear-light").ravel()) == {188}
    nearest = resized("board.png", "--size", "3x3", "--mode", "nearest")
    np.testing.assert_array_equal(resized("board.png", "--size", "3x3", "--mode", "nearest", "--linear-light"), nearest)
    pixels = rgba()
    expected = tenter.image.resize(pixels, (5, 4), alpha=True, linear_light=True)
    np.testing.assert_array_equal(resized("rgba.png", "--size", "4x5", "--linear-light"), expected)
    np.save("four.npy", pixels)
    plain = tenter.image.resize(pixels, (5, 4), mode="linear", linear_light=True, alpha=False)
    np.testing.assert_array_equal(resized("four.npy", "--size", "4x5", "--linear-light"), plain)


def test_linear_light_of_what_is_no_srgb(capsys: pytest.CaptureFixture[str]) -> None:
    write_picture(Path("cmyk.tif"), Picture(rgba(), "CMYK"))
    said = refused(capsys, "resize", "cmyk.tif", "out.tif", "--scale", 2, "--linear-light")
    assert "this image is CMYK" in said
    np.save("ints.npy", np.ones((4, 4), np.int32))
    assert "got int32" in refused(capsys, "resize", "ints.npy", "out.npy", "--scale", 2, "--linear-light")


def test_no_premultiply() -> None:
    pixels = rgba()
    plain = tenter.resize(pixels, (5, 4), axes=(0, 1), antialias=True, mode="lanczos")
    np.testing.assert_array_equal(resized("rgba.png", "--size", "4x5", "--no-premultiply"), plain)
    assert not np.array_equal(resized("rgba.png", "--size", "4x5"), plain)
    opaque = tenter.resize(rgba(opaque=True), (5, 4), axes=(0, 1), antialias=True, mode="lanczos")
    np.testing.assert_array_equal(resized("rgba.png", "--size", "4x5"), opaque)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--mode", "bicubik"], "unknown value 'bicubik' (did you mean 'bicubic'?)"),
        (["--mode", "sharp"], "unknown value 'sharp'; known are nearest"),
        (["--like", "photoshop"], "unknown value 'photoshop'; known are torch"),
        (["--filter", "linear"], "--filter: --mode names the filter"),
        (["--mode", "area", "--antialias"], "area has none"),
        (["--mode", "nearest", "--antialias"], "nearest has none"),
        (["--mode", "lanczos", "--like", "opencv"], "--antialias or --no-antialias: one of them, as lanczos aliases"),
        (["--mode", "lanczos2", "--like", "torch"], "--antialias or --no-antialias: one of them, as lanczos2 aliases"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], options: list[str], word: str) -> None:
    assert word in refused(capsys, "resize", "in.png", "out.png", "--scale", 2, *options)


def test_lanczos_without_antialias() -> None:
    x = np.asarray(Image.open("in.png"))
    expected = tenter.resize(x, (5, 4), axes=(0, 1), mode="lanczos", antialias=False, like="pillow")
    out = resized("in.png", "--size", "4x5", "--mode", "lanczos", "--no-antialias")
    np.testing.assert_array_equal(out, expected)
