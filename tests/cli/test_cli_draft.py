"""`tenter resize` of JPEGs that their decoder shrinks: by how much, and how far the result is from that of a full decode."""

from __future__ import annotations

import importlib
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from cli_helpers import Image, _inside, ran, refused  # noqa: F401
from picture_helpers import read_picture
from roots import ROOT
from sweeps import sampled
from tenter.cli.kept.orientation import turn_back
from tenter.cli.main import main

sys.path.append(str(ROOT / "docs"))
SIDE = 400
FILTERS = ("linear", "cubic", "lanczos")
#: height and width of a result for each reduction by default, at the least shrinking that is left to the filter
LEAST = {2: SIDE // 8, 4: SIDE // 16, 8: SIDE // 32}


def photographs() -> dict[str, Any]:
    """Parts of SIDE x SIDE pixels, of which every reduction divides the sides."""
    data = pytest.importorskip("skimage.data")
    page = np.repeat(np.pad(data.page(), ((0, 209), (0, 16)), mode="wrap")[:SIDE, :SIDE, None], 3, 2)
    hubble, coffee, astronaut = data.hubble_deep_field(), data.coffee(), data.astronaut()
    return {
        "stars": hubble[:SIDE, :SIDE],
        "face": astronaut[:SIDE, :SIDE],
        "cup": coffee[:, 100 : 100 + SIDE],
        "text": page,
    }


def jpeg(pixels: Any, name: str = "photo.jpg", quality: int = 92, **options: Any) -> Any:
    Image.fromarray(np.ascontiguousarray(pixels)).save(name, quality=quality, subsampling=2, **options)
    return pixels


@pytest.fixture
def photo() -> Any:
    """photo.jpg: SIDE x SIDE pixels with subsampled colors, as cameras have them."""
    return jpeg(photographs()["face"])


def made(*options: Any, name: str = "photo.jpg") -> Any:
    assert main(["resize", name, "out.npy", *map(str, options), "--force"]) == 0
    return np.load("out.npy").astype(float)


def rms(difference: Any) -> float:
    return float(np.sqrt(np.mean(difference**2)))


def psnr(a: Any, b: Any) -> float:
    return float("inf") if (a == b).all() else 20 * np.log10(255 / rms(a - b))


def reductions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """By how much decoders were asked to shrink, from now on."""
    plugin = pytest.importorskip("PIL.JpegImagePlugin").JpegImageFile
    found, draft = [], plugin.draft

    def noted(self: Any, mode: Any, size: Any) -> Any:
        before = self.width
        result = draft(self, mode, size)
        found.append(round(before / self.width))
        return result

    monkeypatch.setattr(plugin, "draft", noted)
    return found


# ---- by how much


@pytest.mark.usefixtures("photo")
@pytest.mark.parametrize(
    ("size", "usual", "fast"), [(101, 1, 1), (100, 1, 2), (51, 1, 2), (50, 2, 4), (25, 4, 8), (12, 8, 8), (3, 8, 8)]
)
def test_the_decoder_leaves_the_filter_enough(
    monkeypatch: pytest.MonkeyPatch, size: int, usual: int, fast: int
) -> None:
    found = reductions(monkeypatch)
    for by, option in ((1, ["--exact"]), (usual, []), (fast, ["--fast"])):
        made("--height", size, *option)
        assert found == ([] if by == 1 else [by])
        found.clear()


@pytest.mark.parametrize(("sides", "usual"), [((400, 398), 2), ((400, 396), 4), ((399, 400), 1), ((400, 400), 8)])
def test_a_reduction_divides_both_sides(
    monkeypatch: pytest.MonkeyPatch, photo: Any, sides: tuple[int, int], usual: int
) -> None:
    jpeg(photo[: sides[0], : sides[1]])
    found = reductions(monkeypatch)
    made("--height", 9)
    made("--height", 9, "--fast")
    assert found == [*([usual] if usual > 1 else []), 8]


NOT_REDUCED = [
    ["--mode", "nearest"],
    ["--mode", "area"],
    ["--no-antialias"],
    ["--like", "opencv"],
    ["--linear-light"],
    ["--box", "90x90+10+10"],
]


@pytest.mark.usefixtures("photo")
@pytest.mark.parametrize("options", NOT_REDUCED)
def test_a_jpeg_is_decoded_whole_where_its_decoder_would_lose(
    monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    found = reductions(monkeypatch)
    exact, usual, fast = (made("--fit", 48, *options, *more) for more in (["--exact"], [], ["--fast"]))
    assert found == []
    np.testing.assert_array_equal(usual, exact)
    np.testing.assert_array_equal(fast, exact)


def test_exact_or_fast(capsys: pytest.CaptureFixture[str]) -> None:
    assert "not allowed with" in refused(capsys, "resize", "in.png", "out.png", "--fit", 9, "--exact", "--fast")
    for option in ("--exact", "--fast"):
        said = refused(capsys, "resize", "in.npy", "out.npy", "--axes", 0, "--size", 2, option)
        assert f"{option}: is for images" in said


# ---- how far from a full decode: docs/file-formats.md has the figures


def program() -> Any:
    """docs/reduced_jpegs.py, which writes them."""
    pytest.importorskip("skimage.data")
    return importlib.import_module("reduced_jpegs")


SHARP = ["text of a screen", "thin black and red lines"]
ROWS = [*SHARP, "scanned text", "photograph: face", "photograph: cup", "photograph: stars"]


@pytest.mark.parametrize("row, column", sampled(itertools.product(ROWS, range(3)), 18))
def test_the_page_says_how_far_a_reduced_decode_is(row: str, column: int) -> None:
    figures = program()
    found = figures.measured(figures.contents()[row], figures.QUALITIES[column])
    page = (ROOT / "docs" / "file-formats.md").read_text()
    (cells,) = [line.strip("| ").split(" | ")[1:] for line in page.splitlines() if line.startswith(f"| {row} |")]
    said = [float(number) for number in re.findall(r"[\d.]+", cells[column])]
    assert np.abs(np.subtract(said, found)).max() <= 1, (said, found)  # another version of libjpeg


@pytest.mark.parametrize("row, quality", sampled(itertools.product(ROWS, [40, 75, 92]), 18))
def test_the_page_says_how_far_a_fast_decode_is(row: str, quality: int) -> None:
    figures = program()
    jpeg(figures.contents()[row], "in.jpg", quality=quality)
    least, most = (28, 38) if row in SHARP else (41, 51)
    for mode in FILTERS:
        for height in (100, 50, 25):
            exact, fast = (figures.decoded(height, mode, option) for option in ("--exact", "--fast"))
            assert least - 0.5 <= psnr(exact, fast) <= most + 0.5


@pytest.mark.parametrize("name, quality", sampled(itertools.product(["stars", "face", "cup", "text"], [75, 92]), 8))
def test_what_the_decoder_shrinks_is_not_seen(name: str, quality: int) -> None:
    original = jpeg(photographs()[name], quality=quality)
    for mode in FILTERS:
        for size in LEAST.values():
            exact, usual = (made("--height", size, "--mode", mode, *more) for more in (["--exact"], []))
            truth = tenter.image.resize(original, (size, size), mode=mode).astype(float)
            assert 0 < np.abs(usual - exact).max() <= 6
            assert rms(usual - exact) <= 1
            # no further from the picture that became the JPEG, but for less than a level
            assert rms(usual - truth) <= rms(exact - truth) + 0.9


def test_fine_colored_lines_differ_more_but_not_from_what_they_were() -> None:
    lines = np.full((SIDE, SIDE, 3), 255, np.uint8)
    lines[::9], lines[:, ::13] = 0, (200, 0, 0)
    jpeg(lines)
    for mode in FILTERS:
        for size in LEAST.values():
            exact, usual = (made("--height", size, "--mode", mode, *more) for more in (["--exact"], []))
            truth = tenter.image.resize(lines, (size, size), mode=mode).astype(float)
            assert 6 < np.abs(usual - exact).max() <= 18
            assert rms(usual - truth) <= rms(exact - truth) + 1.5


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_parts_of_a_turned_picture_are_taken_to_the_fraction(photo: Any, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    odd = turn_back(photo[:397, :381], orientation)  # sides that no reduction divides
    Image.fromarray(np.ascontiguousarray(odd)).save("turned.jpg", quality=95, subsampling=0, exif=exif)
    for options in (
        ["--fill", "40x30", "--gravity", "south"],
        ["--fit", "40x40"],
        ["--width", 20, "--box", "365x381+5+9"],
    ):
        full, fast = (made(*options, *more, name="turned.jpg") for more in (["--exact"], ["--fast"]))
        assert full.shape == fast.shape and 40 <= psnr(full, fast) < float("inf")


@pytest.mark.usefixtures("photo")
def test_exact_is_the_library_on_the_whole_decode() -> None:
    x = np.asarray(Image.open("photo.jpg"))
    expected = tenter.image.resize(x, (40, None))
    for more, equal in (([], False), (["--exact"], True)):
        assert ran("resize", "photo.jpg", "out.png", "--height", 40, "--force", *more).returncode == 0
        found = read_picture(Path("out.png")).pixels
        assert found.shape == expected.shape and np.array_equal(found, expected) == equal
