"""Pictures are written upright, and their metadata is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import ran
from picture_helpers import NEW, H, Image, W, pixels_of, read_picture, resize, resized, run, write_picture
from sweeps import sampled
from tenter.cli.kept.metadata import Metadata
from tenter.cli.kept.orientation import turn_back, turn_upright
from tenter.cli.picture import Picture


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_arithmetic_is_pillows(orientation: int) -> None:
    from PIL import ImageOps

    pixels = pixels_of("RGB")
    image = Image.fromarray(pixels)
    image.getexif()[274] = orientation
    upright = np.asarray(ImageOps.exif_transpose(image))
    np.testing.assert_array_equal(turn_upright(pixels, orientation), upright)
    np.testing.assert_array_equal(turn_back(upright, orientation), pixels)


@pytest.mark.parametrize("orientation", sampled(range(1, 9), 3))
@pytest.mark.parametrize(
    "dtype, source",
    [(np.uint8, ".png"), (np.uint8, ".tif"), (np.uint8, ".jpg"), (np.uint16, ".png"), (np.uint16, ".tif")],
)
@pytest.mark.parametrize("suffix", [".png", ".tif", ".npy"])
def test_orientation(tmp_path: Path, orientation: int, dtype: Any, source: str, suffix: str) -> None:
    if dtype == np.uint16:
        pytest.importorskip("imagecodecs")
    write_picture(tmp_path / f"in{source}", Picture(pixels_of("RGB", dtype), "RGB", Metadata({274: orientation})))
    stored = read_picture(tmp_path / f"in{source}")
    assert stored.metadata.orientation == orientation
    if source != ".jpg":
        np.testing.assert_array_equal(stored.pixels, pixels_of("RGB", dtype))
    size = ["--size", f"{NEW[1]}x{NEW[0]}"]
    run("resize", tmp_path / f"in{source}", tmp_path / f"out{suffix}", *size)
    expected = resized(stored.pixels, NEW[::-1] if orientation >= 5 else NEW)
    if suffix == ".npy":
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), turn_upright(expected, orientation))
        return
    out = read_picture(tmp_path / f"out{suffix}")
    assert out.metadata.orientation == 1
    np.testing.assert_array_equal(out.pixels, turn_upright(expected, orientation))
    run("resize", tmp_path / f"in{source}", tmp_path / f"kept{suffix}", *size, "--keep-orientation")
    kept, stays = read_picture(tmp_path / f"kept{suffix}"), suffix == ".tif"
    assert kept.metadata.orientation == (orientation if stays else 1)
    np.testing.assert_array_equal(kept.pixels, expected if stays else out.pixels)


@pytest.mark.parametrize("orientation", sampled(range(6, 9), 3))
@pytest.mark.parametrize(
    "ending", ["png", "jpg", "tif", "webp", "avif", "jp2", "gif", "bmp", "ppm", "pcx", "sgi", "tga", "qoi", "dds"]
)
def test_every_program_shows_a_picture_upright(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, orientation: int
) -> None:
    """Also one that does not know the tag, which is 1 where there was one and the type has it."""
    seen = np.zeros((64, 96, 3), np.uint8)
    seen[:32, :48], seen[:32, 48:], seen[32:, :48] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    exif = Image.Exif()
    exif[274], exif[271] = orientation, "A maker"
    stored = Image.fromarray(np.ascontiguousarray(turn_back(seen, orientation)))
    stored.save(tmp_path / "in.jpg", exif=exif, quality=95, subsampling=0)
    run("resize", tmp_path / "in.jpg", tmp_path / f"out.{ending}", "--fit", "48x48")
    assert ": 48 x 32 (from " in capsys.readouterr().out.replace(f"{tmp_path}/", "")
    with Image.open(tmp_path / f"out.{ending}") as image:
        tags = dict(image.getexif())
        made = np.asarray(image.convert("RGB")).astype(int)
    assert tags.get(274, 0) == (1 if ending in ("png", "jpg", "tif", "webp") else 0)
    assert made.shape == (32, 48, 3) and np.abs(made[8::16, 12::24] - seen[16::32, 24::48]).max() < 40


def test_a_jpeg_stays_as_it_is_stored_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[274] = 6
    Image.new("RGB", (40, 30)).save(tmp_path / "in.jpg", exif=exif)
    for more, size, tag in (([], (15, 20), 1), (["--keep-orientation"], (20, 15), 6)):
        run("resize", tmp_path / "in.jpg", tmp_path / "out.jpg", "--width", 15, "--force", *more)
        assert "out.jpg: 15 x 20 (from " in capsys.readouterr().out
        with Image.open(tmp_path / "out.jpg") as image:
            assert (image.size, image.getexif()[274]) == (size, tag)
    done = ran("resize", tmp_path / "in.jpg", "no.jpg", "--width", 15, "--keep-orientation", "--strip")
    assert done.returncode == 2 and "--keep-orientation: the orientation is a tag" in done.stderr


@pytest.mark.parametrize(
    "dtype, source, target",
    [(np.uint8, s, t) for s in ("png", "tiff", "jpeg") for t in ("png", "tiff", "jpeg")]
    + [(np.uint16, s, t) for s in ("png", "tiff") for t in ("png", "tiff")],  # JPEG holds 8 bits
)
def test_metadata_is_kept(tmp_path: Path, source: str, target: str, dtype: Any) -> None:
    if dtype == np.uint16:
        pytest.importorskip("imagecodecs")
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    tags = {
        271: "A maker",
        274: 3,
        34665: {36867: "2020:02:03 04:05:06", 40962: W, 40963: H, 40965: {1: "R98"}},
        34853: {1: "N", 2: (51.0, 30.0, 0.0)},
    }
    metadata = Metadata(dict(tags), profile, (300.0, 150.0))
    write_picture(tmp_path / f"in.{source}", Picture(pixels_of("RGB", dtype), "RGB", metadata))
    run("resize", tmp_path / f"in.{source}", tmp_path / f"out.{target}", "--size", f"{NEW[1]}x{NEW[0]}")
    with Image.open(tmp_path / f"out.{target}") as image:
        exif = image.getexif()
        nested = exif.get_ifd(34665)
        assert exif[271] == "A maker" and exif[274] == 1
        assert nested[36867] == "2020:02:03 04:05:06"
        assert (nested[40963], nested[40962]) == NEW
        assert exif.get_ifd(40965)[1] == "R98"
        assert exif.get_ifd(34853)[2] == (51.0, 30.0, 0.0)
        assert image.info["icc_profile"] == profile
        assert image.info["dpi"] == pytest.approx((300, 150), abs=0.02)


def test_a_tiffs_own_layout_does_not_become_exif(tmp_path: Path) -> None:
    Image.fromarray(pixels_of("RGB")).save(tmp_path / "in.tif", description="a picture")
    resize(tmp_path / "in.tif", tmp_path / "out.jpg")
    assert dict(Image.open(tmp_path / "out.jpg").getexif()) == {270: "a picture"}


def test_no_metadata_adds_none(tmp_path: Path) -> None:
    Image.fromarray(pixels_of("RGB")).save(tmp_path / "in.png")
    resize(tmp_path / "in.png", tmp_path / "out.png")
    assert Image.open(tmp_path / "out.png").info == {}
