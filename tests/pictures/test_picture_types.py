"""Every type of picture file: what it is recognized by, what it holds, and the table of docs/file-formats.md."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import _inside, ran, refused  # noqa: F401
from picture_helpers import Image, by_opencv, pixels_of, read_picture, resized, run
from roots import ROOT
from tenter.cli.first_bytes import HEAD, type_of
from tenter.cli.formats import FORMATS, TYPES
from tenter.cli.main import main

sys.path.append(str(ROOT / "docs"))
MODES = {"gray": "L", "gray+alpha": "LA", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK"}
LOSSY = {"JPEG": 40.0, "WEBP": 40.0, "AVIF": 40.0, "HEIF": 40.0, "GIF": 60.0}  # mean differences of noise, in levels
TEN_GIGABYTES = 10 * 10**9


@pytest.mark.parametrize("type_", TYPES)
def test_each_kind_of_each_type(type_: str, tmp_path: Path) -> None:
    ending = ".tif" if type_ == "TIFF" else ".pgm" if type_ == "PPM" else TYPES[type_].endings[0]
    for kind in (kind for kind in TYPES[type_].kinds if kind in MODES):
        pixels = pixels_of(kind)
        Image.frombytes(MODES[kind], (26, 20), pixels.tobytes()).save("in.tif")
        run("resize", "in.tif", f"out{ending}", "--size", "31x9", "--force")
        with open(f"out{ending}", "rb") as file:
            assert type_of(file.read(HEAD), f"out{ending}") == type_
        with Image.open(f"out{ending}") as image:
            seen = np.asarray(image.convert(MODES[kind])).astype(int)
        far = np.abs(seen - resized(pixels).astype(int)).mean()
        assert far <= (LOSSY.get(type_, 0.0) if type_ != "GIF" or kind != "gray" else 0.0), (kind, far)
        # and it is read again, as the same kind of picture
        run("resize", f"out{ending}", "again.npy", "--size", "31x9", "--force")
        assert (
            np.abs(
                np.load("again.npy").astype(int).reshape(9, 31, -1)[..., :1] - seen.reshape(9, 31, -1)[..., :1]
            ).max()
            <= 1
        )


@pytest.mark.parametrize("ending", [*FORMATS, ".npy"])
def test_ten_gigabytes_that_are_no_picture_are_not_read(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is sparse, and longer than memory: reading it whole would take minutes, or fail."""
    name = f"large{ending}"
    Path(name).write_bytes(b"neither a picture nor an array")
    os.truncate(name, TEN_GIGABYTES)
    before = read_bytes()
    assert f"{name}: is " in refused(capsys, "resize", name, "out.png", "--scale", 2)
    assert read_bytes() - before < 1 << 20


def read_bytes() -> int:
    """How many bytes this process has read from files."""
    path = Path("/proc/self/io")
    if not path.exists():
        pytest.skip("the system does not count what is read")
    return int(path.read_text().split()[1])


def test_a_type_is_known_by_its_contents() -> None:
    Image.fromarray(pixels_of("RGB")).save("in.webp", lossless=True)
    Path("in.webp").rename("misnamed.jpg")
    run("resize", "misnamed.jpg", "out.png", "--size", "31x9")
    np.testing.assert_array_equal(np.asarray(Image.open("out.png")), resized(pixels_of("RGB")))


@pytest.mark.parametrize(
    "ending", sorted({".bmp", ".gif", ".webp", ".avif", ".jp2", ".ppm", ".pcx", ".sgi", ".qoi", ".tga"})
)
@pytest.mark.parametrize("keep", [0.1, 0.6])
def test_truncated_files_are_refused(ending: str, keep: float, capsys: pytest.CaptureFixture[str]) -> None:
    Image.fromarray(pixels_of("RGB")).resize((90, 70)).save(f"cut{ending}")
    data = Path(f"cut{ending}").read_bytes()
    Path(f"cut{ending}").write_bytes(data[: int(len(data) * keep)])
    refused(capsys, "resize", f"cut{ending}", "out.png", "--scale", 2)


def test_damaged_bytes_give_a_picture_or_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    image = Image.fromarray(pixels_of("RGB"))
    for ending in ("gif", "webp", "avif", "jp2", "bmp", "tif"):
        frames = {"save_all": True, "append_images": [image.rotate(90)]} if ending in ("gif", "webp", "tif") else {}
        image.save(f"d.{ending}", **frames)
        good = Path(f"d.{ending}").read_bytes()
        for _ in range(12):
            bad = bytearray(good)
            for place in rng.integers(0, min(len(bad), 400), 3):
                bad[place] = rng.integers(256)
            Path(f"d.{ending}").write_bytes(bad)
            assert main(["resize", f"d.{ending}", "out.tif", "--size", "5x5", "--force"]) in (0, 2)
    assert not list(Path().glob(".tenter*"))


# ---- palettes, black and white


@pytest.mark.parametrize("ending", ["png", "gif", "tif", "bmp", "pcx", "tga", "ico"])
@pytest.mark.parametrize("option", [["--labels"], ["--mode", "nearest-exact"]])
def test_palettes_are_kept_where_nothing_is_mixed(ending: str, option: list[str]) -> None:
    image = Image.fromarray(pixels_of("RGB")).quantize(16)
    image.save("in.png")
    run("resize", "in.png", f"out.{ending}", "--size", "52x40", *option)
    with Image.open(f"out.{ending}") as result:
        assert result.mode == "P"
        wanted = image.convert("RGB").resize((52, 40), Image.Resampling.NEAREST)
        np.testing.assert_array_equal(np.asarray(result.convert("RGB")), np.asarray(wanted))


@pytest.mark.parametrize("ending", ["png", "tif", "bmp", "pbm", "gif"])
def test_black_and_white_is_kept_where_nothing_is_mixed(ending: str) -> None:
    image = Image.fromarray(pixels_of("gray") > 127)
    image.save("in.png")
    run("resize", "in.png", f"out.{ending}", "--size", "52x40", "--labels")
    with Image.open(f"out.{ending}") as result:
        assert result.mode == ("L" if ending == "gif" else "1")
        np.testing.assert_array_equal(np.asarray(result).astype(bool), np.asarray(image).repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("kind", ["RGB", "gray"])
def test_colors_of_a_palette_and_black_and_white_vote(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    image = (
        Image.fromarray(pixels_of("RGB")).quantize(16) if kind == "RGB" else Image.fromarray(pixels_of("gray") > 127)
    )
    image.save("in.png")
    run("resize", "in.png", "out.png", "--size", "13x10", "--labels", "--mode", "area")
    with Image.open("out.png") as result:
        assert result.mode == image.mode
        wanted = tenter.resize(np.asarray(image), (10, 13), mode="area", labels=True)
        np.testing.assert_array_equal(np.asarray(result), wanted)
    Image.fromarray(pixels_of("RGB")).save("colors.png")
    capsys.readouterr()
    said = refused(capsys, "resize", "colors.png", "no.png", "--size", "13x10", "--labels", "--mode", "area")
    assert "expected one value for each pixel" in said


def test_clear_colors_of_a_palette() -> None:
    image = Image.fromarray(pixels_of("RGB")).quantize(8)
    image.save("in.png", transparency=3)
    for ending, mode in (("png", "P"), ("gif", "P"), ("tif", "RGBA"), ("tga", "RGBA")):
        run("resize", "in.png", f"out.{ending}", "--size", "52x40", "--labels")
        with Image.open(f"out.{ending}") as result:
            assert result.mode == mode
            clear = np.asarray(result.convert("RGBA"))[..., 3] == 0
        np.testing.assert_array_equal(clear, np.asarray(image).repeat(2, 0).repeat(2, 1) == 3)


def test_a_gif_of_few_colors_has_these() -> None:
    pixels = np.zeros((20, 20, 3), np.uint8)
    pixels[:, 10:], pixels[10:, :10] = (255, 0, 0), (0, 90, 200)
    Image.fromarray(pixels).save("in.png")
    done = ran("resize", "in.png", "out.gif", "--size", "40x40", "--labels")
    assert "not kept" not in done.stdout
    np.testing.assert_array_equal(np.asarray(Image.open("out.gif").convert("RGB")), pixels.repeat(2, 0).repeat(2, 1))


def test_edges_of_a_gif_have_no_fringe() -> None:
    """Half transparent colors are opaque or clear in a GIF, and are not darkened by what was clear beside them."""
    pixels = np.zeros((32, 32, 4), np.uint8)
    pixels[5:27, 5:27] = (250, 120, 10, 255)
    Image.fromarray(pixels).save("in.png")
    run("resize", "in.png", "out.gif", "--size", "13x13")
    seen = np.asarray(Image.open("out.gif").convert("RGBA"))
    assert set(np.unique(seen[..., 3])) == {0, 255}
    assert np.abs(seen[seen[..., 3] > 0][:, :3].astype(int) - (250, 120, 10)).max() <= 2


# ---- 16 bits


@pytest.mark.parametrize("kind", ["gray", "gray+alpha", "RGB", "RGBA"])
@pytest.mark.parametrize("ending", ["png", "tif", "jp2", "j2k"])
def test_16_bits(ending: str, kind: str) -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    pixels = pixels_of(kind, np.uint16)
    np.save("in.npy", pixels)
    run("resize", "in.npy", f"a.{ending}", "--size", "26x20")
    run("resize", f"a.{ending}", f"b.{ending}", "--size", "31x9")
    data = Path(f"b.{ending}").read_bytes()
    if ending == "tif":
        seen = pytest.importorskip("tifffile").imread("b.tif")
    else:
        seen = (imagecodecs.png_decode if ending == "png" else imagecodecs.jpeg2k_decode)(data)
    np.testing.assert_array_equal(seen, resized(pixels))


def test_fewer_bits_than_the_file_has_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    ten = pixels_of("RGB", np.uint16) >> 6
    Path("in.avif").write_bytes(imagecodecs.avif_encode(ten, level=100, bitspersample=10))
    Path("in.ppm").write_bytes(b"P6 26 20 65535\n" + pixels_of("RGB", np.uint16).astype(">u2").tobytes())
    Path("text.ppm").write_bytes(b"P3 2 1 1023 0 1 2 3 4 1023")
    for name, ending in (("in.avif", "jpg"), ("in.avif", "avif"), ("in.ppm", "jpg"), ("text.ppm", "png")):
        run("resize", name, f"out.{ending}", "--scale", 2, "--force")
        assert "not kept: bits beyond 8 per channel" in capsys.readouterr().out


@pytest.mark.parametrize("bits", [10, 12])
def test_avif_of_10_and_12_bits_fills_16(bits: int, capsys: pytest.CaptureFixture[str]) -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    pixels = pixels_of("RGB", np.uint16) >> (16 - bits)
    Path("in.avif").write_bytes(imagecodecs.avif_encode(pixels, level=100, bitspersample=bits))
    for ending in ("png", "tif", "jp2", "ppm"):
        run("resize", "in.avif", f"out.{ending}", "--size", "26x20")
        assert "not kept" not in capsys.readouterr().out
        found = read_picture(Path(f"out.{ending}")).pixels
        np.testing.assert_array_equal(found, np.rint(pixels * (65535 / (2**bits - 1))).astype(np.uint16))


@pytest.mark.parametrize("most", [256, 1023, 40000, 65535])
@pytest.mark.parametrize(("kind", "magic"), [("RGB", b"P6"), ("gray", b"P5")])
def test_pnm_of_more_than_8_bits_fills_16(kind: str, magic: bytes, most: int) -> None:
    pixels = np.minimum(pixels_of(kind, np.uint16), most)
    head = magic + b" 26 # words\n20 %d\n" % most
    Path("in.ppm").write_bytes(head + pixels.astype(">u2").tobytes())
    run("resize", "in.ppm", "out.tif", "--size", "26x20")
    full = (pixels.astype(np.int64) * 65535 + most // 2) // most
    np.testing.assert_array_equal(by_opencv(Path("out.tif")), full)
    Path("short.ppm").write_bytes(head + pixels.astype(">u2").tobytes()[:-1])
    assert main(["resize", "short.ppm", "never.png", "--scale", "2"]) == 2 and not Path("never.png").exists()


@pytest.mark.parametrize("order", ["<", ">"])
def test_pfm_is_kept_with_its_lowest_row_first(order: str) -> None:
    pixels = pixels_of("gray", np.float32)
    scale = -1 if order == "<" else 1
    Path("in.pfm").write_bytes(b"Pf\n26 20\n%d\n" % scale + pixels[::-1].astype(f"{order}f4").tobytes())
    run("resize", "in.pfm", "out.pfm", "--size", "26x20")
    run("resize", "in.pfm", "out.tif", "--size", "31x9")
    np.testing.assert_array_equal(by_opencv(Path("out.pfm")), pixels)
    np.testing.assert_array_equal(by_opencv(Path("out.tif")), resized(pixels))


@pytest.mark.parametrize("bits", [10, 12])
def test_jpeg_2000_of_other_depths_fills_16_bits(bits: int) -> None:
    imagecodecs = pytest.importorskip("imagecodecs")
    pixels = pixels_of("RGB", np.uint16) >> (16 - bits)
    Path("in.jp2").write_bytes(imagecodecs.jpeg2k_encode(pixels, level=0, bitspersample=bits))
    run("resize", "in.jp2", "out.npy", "--size", "26x20")
    np.testing.assert_array_equal(np.load("out.npy"), np.rint(pixels * (65535 / (2**bits - 1))).astype(np.uint16))


@pytest.mark.parametrize("kind", ["RGB", "CMYK", "deep"])
def test_a_tiff_is_compressed_unless_its_source_is_a_tiff_that_is_not(kind: str) -> None:
    tifffile = pytest.importorskip("tifffile")
    pixels = pixels_of("RGB", np.uint16) if kind == "deep" else pixels_of(kind)
    how = {"photometric": "separated" if kind == "CMYK" else "rgb", "metadata": None}
    for name, compression, expected in (("raw.tif", None, 1), ("zip.tif", "zlib", 8)):
        tifffile.imwrite(name, pixels, compression=compression, **how)
        run("resize", name, "out.tif", "--scale", "2", "--force")
        with tifffile.TiffFile("out.tif") as out:
            assert int(out.pages[0].compression) == expected
    if kind == "RGB":
        Image.fromarray(pixels).save("in.png")
        run("resize", "in.png", "out.tif", "--scale", "2", "--force")
        with tifffile.TiffFile("out.tif") as out:
            assert int(out.pages[0].compression) == 8


# ---- the tables, which `python docs/picture_formats.py` writes


def program() -> Any:
    """docs/picture_formats.py"""
    pytest.importorskip("imagecodecs")
    return importlib.import_module("picture_formats")


@pytest.mark.slow
def test_the_tables_say_what_becomes_of_everything_in_every_type() -> None:
    tables = program()
    assert tables.table() in tables.known((ROOT / "docs" / "file-formats.md").read_text())


@pytest.mark.parametrize("column", ["CMYK", "P3 by cICP"])
def test_a_column_of_the_tables_says_what_becomes_of_a_picture(column: str) -> None:
    tables = program()
    page = tables.known((ROOT / "docs" / "file-formats.md").read_text())
    columns = tables.PIXELS if column in tables.PIXELS else tables.SAID
    messages = re.findall(r"^\d+\. (TYPE .*)$", page, re.MULTILINE)
    (table,) = (part for part in page.split("| Written as |")[1:] if column in part.splitlines()[0].split(" | "))
    at = table.splitlines()[0].strip(" |").split(" | ").index(column)
    source = columns[column][0]()
    for line in table.splitlines()[2:]:
        if not line.startswith("| "):
            break
        name, *cells = line.strip("| ").split(" | ")
        types = [type_ for type_ in TYPES if tables.shown(type_) in name.split(", ")]
        assert types and {tables.cell(columns, column, source, t, messages) for t in types} == {cells[at]}, (
            name,
            column,
        )
