"""`tenter resize`: sizes as people say them, of pictures as they are seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import ImageOps

import tenter
from cli_helpers import Image, _inside, ran, refused  # noqa: F401
from picture_helpers import read_picture
from roots import DOCS
from tenter.cli.kept.orientation import turn_back
from tenter.cli.main import main
from tenter.cli.options import read_options
from tenter.cli.parser import parse
from tenter.cli.target import find_target
from tenter.image import Fill, Fit

SHAPES = {"portrait": (40, 30), "landscape": (24, 36), "small": (5, 8)}


@pytest.fixture(autouse=True)
def _photos(_inside: None) -> None:
    """photos/: a portrait, a landscape, a small picture."""
    Path("photos").mkdir()
    for name, shape in SHAPES.items():
        pixels = np.random.default_rng(len(name)).integers(0, 256, (*shape, 3), np.uint8)
        Image.fromarray(pixels).save(f"photos/{name}.png")


def sizes(folder: str = "out") -> dict[str, tuple[int, int]]:
    """(height, width) of the results."""
    return {path.stem: Image.open(path).size[::-1] for path in Path(folder).iterdir()}


HALF = {"half": True}
CASES: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "fit": (["--fit", "20x16"], {"size": Fit((16, 20))}, "at most 20 x 16"),
    "fit a square": (["--fit", "20"], {"size": Fit(20)}, "at most 20 x 20"),
    "fit, enlarged": (["--fit=20X16", "--enlarge"], {"size": Fit((16, 20), enlarge=True)}, "at most 20 x 16"),
    "fit, padded": (
        ["--fit", "20x16", "--pad", "--background", "#727272"],
        {"size": Fit((16, 20), pad=114)},
        "20 x 16, padded",
    ),
    "fit, padded, enlarged": (
        ["--fit", "20", "--pad", "--enlarge", "--gravity", "northwest", "--background", "#ff8000"],
        {"size": Fit(20, True, (255, 128, 0), "northwest")},
        "20 x 20, padded (northwest)",
    ),
    "fill": (["--fill", "10x12"], {"size": Fill((12, 10))}, "10 x 12, cut to fit (center)"),
    "fill, south": (
        ["--fill", "10\u00d712", "--gravity", "south"],
        {"size": Fill((12, 10), "south")},
        "10 x 12, cut to fit (south)",
    ),
    "width": (["--width", "13"], {"size": (None, 13)}, "13 wide"),
    "height": (["--height", "13"], {"size": (13, None)}, "13 high"),
    "scale": (["--scale", "0.5"], HALF, "scale 0.5"),
    "scale in percent": (["--scale", "50%"], HALF, "scale 0.5"),
    "size in percent": (["--size", "50%"], HALF, "scale 0.5"),
    "size": (["--size", "9x7"], {"size": (7, 9)}, "9 x 7"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_way_is_the_librarys(capsys: pytest.CaptureFixture[str], case: str) -> None:
    options, how, words = CASES[case]
    assert main(["resize", *options, "photos", "out/", "--jobs", "1"]) == 0
    copied = " (1 copied as it is)" if words.startswith("at most") and "--enlarge" not in options else ""
    assert capsys.readouterr().out == f"3 done{copied}, 0 skipped, 0 failed; size: {words}\n"
    for name in SHAPES:
        x = np.asarray(Image.open(f"photos/{name}.png"))
        named = {"size": (x.shape[0] // 2, x.shape[1] // 2)} if how is HALF else how
        expected = tenter.image.resize(x, like="torch", mode="lanczos", antialias=True, **named)
        np.testing.assert_array_equal(np.asarray(Image.open(f"out/{name}.png")), expected)


def test_the_command_fits_and_says_so() -> None:
    done = ran("resize", "photos", "out/", "--fit", "16x16", "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert sizes() == {"portrait": (16, 12), "landscape": (11, 16), "small": (5, 8)}
    assert done.stdout == "3 done (1 copied as it is), 0 skipped, 0 failed; size: at most 16 x 16\n"
    done = ran("resize", "photos/portrait.png", "one.png", "--fill", "20x10")
    assert done.stdout == "one.png: 20 x 10 (from photos/portrait.png: 30 x 40)\n"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_sizes_are_of_the_picture_as_it_is_seen(orientation: int) -> None:
    seen = np.random.default_rng(0).integers(0, 256, (22, 14, 3), np.uint8)
    exif = Image.Exif()
    exif[274] = orientation
    Image.fromarray(np.ascontiguousarray(turn_back(seen, orientation))).save("turned.png", exif=exif)
    for options, how in (
        (["--width", "7"], {"size": (None, 7)}),
        (["--fit", "9x7"], {"size": Fit((7, 9))}),
        (["--fill", "9x5", "--gravity", "northeast"], {"size": Fill((5, 9), "northeast")}),
        (["--fill", "5x9", "--box", "11x18.5+2+1.5"], {"size": Fill((9, 5)), "box": ((1.5, 20), (2, 13))}),
    ):
        assert main(["resize", "turned.png", "out.png", *options, "--force"]) == 0
        made = read_picture(Path("out.png")).pixels
        expected = tenter.image.resize(seen, like="torch", mode="lanczos", antialias=True, **how)
        np.testing.assert_allclose(made.astype(int), expected, atol=2)  # each axis rounds, and which is first differs


def test_an_array_of_a_pictures_shape() -> None:
    x = np.random.default_rng(0).random((20, 30, 2))
    np.save("x.npy", x)
    assert main(["resize", "x.npy", "out.npy", "--fit", "10x10"]) == 0
    np.testing.assert_array_equal(np.load("out.npy"), tenter.resize(x, (7, 10), axes=(0, 1), antialias=True))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--fit", "big"], "--fit: expected WIDTHxHEIGHT, such as 1600x1200, got 'big'"),
        (["--fit", "16x"], "--fit: expected WIDTHxHEIGHT"),
        (["--fit", "0x4"], "--fit: expected a width of at least 1, got 0"),
        (["--fit", "4x99999999999"], "--fit: expected a height below 2147483648"),
        (["--fit", "-4"], "--fit: expected a height of at least 1, got -4"),
        (["--fill", "1.5x2"], "--fill: expected WIDTHxHEIGHT"),
        (["--size", "0x4"], "--size: expected a width of at least 1"),
        (["--width", "wide"], "--width: expected a whole number for the width, got 'wide'"),
        (["--height", "0"], "--height: expected a height of at least 1, got 0"),
        (["--scale", "0%"], "--scale: expected a finite number above 0, got 0%"),
        (["--scale", "%"], "--scale: expected a number"),
        (["--scale", "1e-400"], "--scale: expected a finite number above 0"),
        (["--percent", "50"], "--percent: --scale 50% or --scale 0.5 multiplies"),
        (["--long-edge", "50"], "--long-edge: --fit N is the largest size of at most N a side"),
        (["--scale", "50%%"], "--scale: expected a number"),
        (["--width", "3", "--height", "4"], "not allowed with"),
        (["--width", "3", "--enlarge"], "--enlarge: goes with --fit"),
        (["--fit", "3x4", "--gravity", "north"], "--gravity: goes with --fill"),
        (["--width", "3", "--pad"], "--pad: goes with --fit"),
        (["--letterbox", "3"], "--letterbox: --fit WxH is the image without bars; --pad adds them"),
        (["--fill", "3x4", "--gravity", "nort"], "unknown value 'nort' (did you mean 'north'?)"),
        (["--width", "2147483647"], "of memory here"),
        (["--fit", "5", "--axes", "0"], "--fit: is for images"),
        (["--size", "5x6", "--axes", "0", "1"], "--size: expected one number for each axis, in the order of --axes"),
    ],
)
def test_refused(capsys: pytest.CaptureFixture[str], options: list[str], word: str) -> None:
    np.save("tall.npy", np.zeros((50000, 1)))
    assert word in refused(capsys, "resize", "tall.npy", "out.npy", *options)


def test_a_volume_is_not_resized_along_its_first_axes(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("volume.npy", np.zeros((6, 7, 8)))
    np.save("stack.npy", np.zeros((2, 6, 7, 3)))
    for options in (["--size", "3x3"], ["--scale", "2"], ["--fit", "3x3"]):
        said = refused(capsys, "resize", "volume.npy", "out.npy", *options)
        assert "expected a size for each axis of an array of shape (6, 7, 8), or at most 4 channels; --axes 0 1" in said
        assert "--axes says which" in refused(capsys, "resize", "stack.npy", "out.npy", *options)
    assert main(["resize", "volume.npy", "out.npy", "--size", "3", "4", "--axes", "0", "1"]) == 0
    assert np.load("out.npy").shape == (3, 4, 8)
    assert ran("resize", "volume.npy", "more.npy", "--size", "3x3").returncode == 2


def test_the_table_of_sizes_in_the_documentation() -> None:
    page = (DOCS / "command-line.md").read_text()
    rows = [line for line in page.split("## Sizes")[1].split("##")[0].splitlines() if line.startswith("| `")]
    assert len(rows) == 6
    for row in rows:
        first, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        for option in first.replace("`", "").split(", "):
            options = read_options(parse(["resize", "a", "b", *option.split()]))
            for (height, width), cell in zip(((3000, 4000), (4000, 3000), (200, 300)), cells, strict=True):
                made_h, made_w = find_target((height, width), 1, options).after
                assert cell.startswith("as it is" if (made_h, made_w) == (height, width) else f"{made_w}x{made_h}"), row
                if "--enlarge" in cell:
                    larger = options._replace(wanted=options.wanted._replace(enlarge=True))
                    made_h, made_w = find_target((height, width), 1, larger).after
                    assert f"; {made_w}x{made_h} with" in cell, row


# ---- --pad


PADDED = {"L": 0, "RGB": (0, 0, 0), "LA": (0, 0), "RGBA": (0, 0, 0, 0)}


@pytest.mark.parametrize("mode", PADDED)
def test_padding_is_black_or_transparent_or_the_background(mode: str) -> None:
    x = np.random.default_rng(0).integers(0, 256, (31, 50, len(mode)), np.uint8)
    image = Image.frombytes(mode, (50, 31), x.tobytes())
    image.save("x.png")
    assert main(["resize", "x.png", "y.png", "--fit", "40x40", "--pad"]) == 0
    made = Image.open("y.png")
    assert made.mode == mode
    np.testing.assert_array_equal(made, ImageOps.pad(image, (40, 40), Image.Resampling.LANCZOS, PADDED[mode]))
    for color, kind, value in (("gray", mode.rstrip("A") or mode, 128), ("#ff8000", "RGB", (255, 128, 0))):
        assert main(["resize", "x.png", "z.png", "--fit", "40x40", "--pad", "--background", color, "--force"]) == 0
        made = Image.open("z.png")
        assert made.mode == kind and (np.asarray(made)[:7] == value).all()


def test_padding_lies_around_the_upright_image() -> None:
    x = np.random.default_rng(0).integers(0, 256, (31, 50, 3), np.uint8)
    exif = Image.Exif()
    for orientation in range(1, 9):
        exif[274] = orientation
        Image.fromarray(x).save("x.tif", exif=exif)
        sized = ["--fit", "40x37", "--force"]
        gravity = ["--pad", "--gravity", "northwest", "--background", "red"]
        assert main(["resize", "x.tif", "plain.tif", *sized]) == 0
        assert main(["resize", "x.tif", "padded.tif", *sized, *gravity]) == 0
        assert main(["resize", "x.tif", "stored.tif", *sized, *gravity, "--keep-orientation"]) == 0
        plain, padded = (np.asarray(Image.open(f"{name}.tif")) for name in ("plain", "padded"))
        assert padded.shape == (37, 40, 3) and padded[-1, -1].tolist() == [255, 0, 0]
        np.testing.assert_array_equal(padded[: len(plain), : plain.shape[1]], plain)
        np.testing.assert_array_equal(ImageOps.exif_transpose(Image.open("stored.tif")), padded)


def test_padding_of_deep_images_inks_palettes_and_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("deep.npy", np.full((30, 20, 3), 999, np.uint16))
    assert main(["resize", "deep.npy", "deep.png", "--fit", "25", "--pad", "--background", "#727272"]) == 0
    assert read_picture("deep.png").pixels[0, 0].tolist() == [114 * 257] * 3
    assert main(["resize", "deep.npy", "plain.npy", "--fit", "25", "--pad"]) == 0
    assert np.load("plain.npy")[3, :5].tolist() == [[0] * 3] * 4 + [[999] * 3]
    Image.new("CMYK", (20, 10), (9, 9, 9, 9)).save("inks.jpg")
    assert main(["resize", "inks.jpg", "colors.jpg", "--fit", "8", "--pad", "--background", "white"]) == 0
    assert Image.open("colors.jpg").mode == "RGB" and min(Image.open("colors.jpg").getpixel((0, 0))) > 240
    indexed = Image.new("P", (20, 10), 3)
    indexed.putpalette(bytes(range(30)))
    indexed.save("labels.png")
    sized = ["labels.png", "made.png", "--fit", "8", "--pad", "--labels"]
    assert main(["resize", *sized]) == 0
    assert np.unique(Image.open("made.png")).tolist() == [0, 3]
    capsys.readouterr()
    assert "this image is palette" in refused(
        capsys, "resize", *sized[:1], "red.png", *sized[2:], "--background", "red"
    )


def test_padded_outputs_have_their_size_before_they_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resize", "photos", "out-{width}x{height}/{stem}.png", "--fit", "9x8", "--pad", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.count("9 x 8") >= 3 and "out-9x8" in said
    assert main(["resize", "photos", "out/", "--fit", "9x8", "--pad", "--jobs", "1"]) == 0
    capsys.readouterr()
    assert main(["resize", "photos", "out/", "--fit", "9x8", "--pad", "--jobs", "1", "--update"]) == 0
    assert "3 skipped" in capsys.readouterr().out


# ---- --background


def laid_on(rgba: Any, color: tuple[int, ...]) -> Any:
    """In exact integers, rounded to the nearest, halves up."""
    x, full = rgba.astype(object), int(np.iinfo(rgba.dtype).max)
    behind = np.array([c * (full // 255) for c in color], object)
    return ((x[..., :-1] * x[..., -1:] + behind * (full - x[..., -1:]) + full // 2) // full).astype(rgba.dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_background(dtype: Any) -> None:
    rgba = np.random.default_rng(0).integers(0, np.iinfo(dtype).max + 1, (11, 9, 4), dtype)
    np.save("rgba.npy", rgba)
    for name, color in (("white", (255, 255, 255)), ("#102030", (16, 32, 48)), ("rgb(1, 2, 3)", (1, 2, 3))):
        assert main(["resize", "rgba.npy", "out.png", "--size", "9x11", "--background", name, "--force"]) == 0
        assert read_picture(Path("out.png")).kind == "RGB"
        np.testing.assert_array_equal(read_picture(Path("out.png")).pixels, laid_on(rgba, color))
    assert main(["resize", "rgba.npy", "half.png", "--size", "4x5", "--background", "white"]) == 0
    expected = tenter.resize(laid_on(rgba, (255, 255, 255)), (5, 4), axes=(0, 1), antialias=True, mode="lanczos")
    np.testing.assert_array_equal(read_picture(Path("half.png")).pixels, expected)


def test_background_of_gray_and_of_floats() -> None:
    gray = np.random.default_rng(0).integers(0, 256, (6, 5, 2), np.uint8)
    np.save("gray.npy", gray)
    assert main(["resize", "gray.npy", "out.png", "--scale", "1", "--background", "gray"]) == 0
    np.testing.assert_array_equal(read_picture(Path("out.png")).pixels, laid_on(gray, (128,))[..., 0])
    assert main(["resize", "gray.npy", "red.png", "--scale", "1", "--background", "red"]) == 0
    np.testing.assert_array_equal(read_picture(Path("red.png")).pixels, laid_on(gray[..., [0, 0, 0, 1]], (255, 0, 0)))
    np.save("floats.npy", (gray / 255).astype(np.float32))
    assert main(["resize", "floats.npy", "out.tif", "--scale", "1", "--background", "gray"]) == 0
    np.testing.assert_allclose(read_picture(Path("out.tif")).pixels * 255, laid_on(gray, (128,))[..., 0], atol=0.51)


def test_background_makes_a_jpeg_of_transparency(capsys: pytest.CaptureFixture[str]) -> None:
    pixels = np.zeros((8, 8, 4), np.uint8)
    Image.fromarray(pixels).save("clear.png")
    assert "no alpha" in refused(capsys, "resize", "clear.png", "out.jpg", "--scale", 2)
    done = ran("resize", "clear.png", "out.jpg", "--scale", 2, "--background", "#ff8000")
    assert (done.returncode, done.stderr) == (0, "")
    assert np.abs(np.asarray(Image.open("out.jpg")).astype(int) - (255, 128, 0)).max() <= 2
    for color in ("whit", "#12", "#11223344", "rgba(1,2,3,4)", ""):
        said = refused(capsys, "resize", "clear.png", "new.jpg", "--scale", 2, "--background", color)
        assert "--background: expected an opaque color" in said
    assert "from .npy to .npy" in refused(capsys, "resize", "in.npy", "o.npy", "--scale", 2, "--background", "red")
