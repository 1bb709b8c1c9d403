"""`tenter resize` on real picture files of every kind and depth."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from picture_helpers import (
    CHANNELS,
    NEW,
    H,
    Image,
    W,
    by_opencv,
    pixels_of,
    read_picture,
    resize,
    resized,
    run,
    write_picture,
)
from sweeps import sampled
from tenter.cli.main import main
from tenter.cli.picture import Picture


@pytest.mark.parametrize("kind", ["gray", "gray+alpha", "RGB", "RGBA"])
@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "nearest-exact", "bicubic", "lanczos", "area"])
def test_8_bit(tmp_path: Path, kind: str, suffix: str, mode: str) -> None:
    pixels = pixels_of(kind)
    Image.fromarray(pixels).save(tmp_path / f"in{suffix}")
    out = resize(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", "--mode", mode)
    assert out.kind == kind and out.pixels.dtype == np.uint8
    np.testing.assert_array_equal(out.pixels, resized(pixels, mode=mode))
    # Pillow, which did not write the TIFF, reads the same
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / f"out{suffix}")), out.pixels)


@pytest.mark.parametrize("source", [".png", ".tif"])
@pytest.mark.parametrize("suffix", [".png", ".tiff"])
@pytest.mark.parametrize("kind", ["gray", "RGB", "RGBA"])
def test_16_bit_written_by_opencv(tmp_path: Path, kind: str, source: str, suffix: str) -> None:
    cv2 = pytest.importorskip("cv2")
    pixels = pixels_of(kind, np.uint16)
    stored = pixels if kind == "gray" else pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    assert cv2.imwrite(str(tmp_path / f"in{source}"), stored)
    out = resize(tmp_path / f"in{source}", tmp_path / f"out{suffix}")
    assert out.kind == kind and out.pixels.dtype == np.uint16
    np.testing.assert_array_equal(out.pixels, resized(pixels))
    np.testing.assert_array_equal(by_opencv(tmp_path / f"out{suffix}"), out.pixels)


def test_16_bit_gray_alpha_png(tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs")
    pixels = pixels_of("gray+alpha", np.uint16)
    write_picture(tmp_path / "in.png", Picture(pixels, "gray+alpha"))
    assert (tmp_path / "in.png").read_bytes()[24:26] == b"\x10\x04"
    out = resize(tmp_path / "in.png", tmp_path / "out.png")
    assert out.kind == "gray+alpha"
    np.testing.assert_array_equal(out.pixels, resized(pixels))
    # OpenCV reads gray+alpha as four channels, with gray in three of them
    np.testing.assert_array_equal(by_opencv(tmp_path / "out.png")[..., 2:], out.pixels)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.int32, np.uint32, np.float32])
def test_deep_gray_tiff_keeps_its_type(tmp_path: Path, dtype: Any) -> None:
    pixels = pixels_of("gray", dtype)
    write_picture(tmp_path / "in.tif", Picture(pixels, "gray"))
    np.testing.assert_array_equal(read_picture(tmp_path / "in.tif").pixels, pixels)
    out = resize(tmp_path / "in.tif", tmp_path / "out.tif")
    assert out.pixels.dtype == dtype
    np.testing.assert_array_equal(out.pixels, resized(pixels))


@pytest.mark.parametrize(("mode", "dtype"), [("F", np.float32), ("I", np.int32), ("I;16", np.uint16)])
@pytest.mark.parametrize("compression", [None, "tiff_lzw"])
def test_tiff_by_pillow(tmp_path: Path, mode: str, dtype: Any, compression: str | None) -> None:
    pixels = pixels_of("gray", dtype)
    image = Image.frombytes(mode, (W, H), pixels.tobytes())
    image.save(tmp_path / "in.tif", compression=compression)
    out = resize(tmp_path / "in.tif", tmp_path / "out.tif")
    assert out.pixels.dtype == dtype
    np.testing.assert_array_equal(out.pixels, resized(pixels))


def test_white_is_zero_16_bit(tmp_path: Path) -> None:
    pixels = pixels_of("gray", np.uint16)
    Image.frombytes("I;16", (W, H), pixels.tobytes()).save(tmp_path / "in.tif", tiffinfo={262: 0})
    if Image.open(tmp_path / "in.tif").tag_v2[262] != 0:
        data = bytearray((tmp_path / "in.tif").read_bytes())
        place = data.index(struct.pack("<HHL", 262, 3, 1)) + 8
        data[place : place + 2] = b"\0\0"
        (tmp_path / "in.tif").write_bytes(data)
    np.testing.assert_array_equal(read_picture(tmp_path / "in.tif").pixels, 65535 - pixels)


@pytest.mark.parametrize("kind", ["gray", "RGB", "CMYK"])
def test_jpeg(tmp_path: Path, kind: str) -> None:
    y, x = np.mgrid[0:H, 0:W]
    smooth = np.stack([(3 * x + y) % 200 + 20, 4 * y + 30, 2 * x + 50, 5 * y + x], axis=-1).astype(np.uint8)
    pixels = smooth[..., 0] if kind == "gray" else smooth[..., : CHANNELS[kind]]
    mode = {"gray": "L"}.get(kind, kind)
    Image.frombytes(mode, (W, H), pixels.tobytes()).save(tmp_path / "in.jpg", quality=95)
    stored = np.asarray(Image.open(tmp_path / "in.jpg"))
    out = resize(tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert out.kind == kind
    assert np.abs(out.pixels.astype(int) - resized(stored).astype(int)).mean() < 2
    run("resize", tmp_path / "in.jpg", tmp_path / "exact.npy", "--size", f"{NEW[1]}x{NEW[0]}")
    np.testing.assert_array_equal(np.load(tmp_path / "exact.npy"), resized(stored))


def test_jpeg_quality(tmp_path: Path) -> None:
    Image.fromarray(pixels_of("RGB")).save(tmp_path / "in.png")
    sizes = []
    for quality in (20, 95):
        resize(tmp_path / "in.png", tmp_path / f"{quality}.jpg", "--quality", quality)
        sizes.append((tmp_path / f"{quality}.jpg").stat().st_size)
    assert sizes[0] < sizes[1]


def test_cmyk_tiff(tmp_path: Path) -> None:
    pixels = pixels_of("CMYK")
    Image.frombytes("CMYK", (W, H), pixels.tobytes()).save(tmp_path / "in.tif")
    out = resize(tmp_path / "in.tif", tmp_path / "out.tif")
    assert out.kind == "CMYK" and Image.open(tmp_path / "out.tif").mode == "CMYK"
    np.testing.assert_array_equal(out.pixels, resized(pixels))


def test_palette(tmp_path: Path) -> None:
    image = Image.fromarray(pixels_of("RGB")).quantize(16)
    image.save(tmp_path / "in.png")
    out = resize(tmp_path / "in.png", tmp_path / "out.png")
    assert out.kind == "RGB"
    np.testing.assert_array_equal(out.pixels, resized(np.asarray(image.convert("RGB"))))


def test_bilevel_becomes_gray(tmp_path: Path) -> None:
    black_white = pixels_of("gray") > 127
    for suffix in (".png", ".tif"):
        Image.fromarray(black_white).save(tmp_path / f"in{suffix}")
        out = resize(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}")
        np.testing.assert_array_equal(out.pixels, resized(black_white.astype(np.uint8) * 255))


def test_between_npy_and_pictures(tmp_path: Path) -> None:
    for kind in ("gray", "gray+alpha", "RGB", "RGBA"):
        pixels = pixels_of(kind)
        np.save(tmp_path / f"{kind}.npy", pixels)
        out = resize(tmp_path / f"{kind}.npy", tmp_path / f"{kind}.png")
        assert out.kind == kind
        np.testing.assert_array_equal(out.pixels, resized(pixels))
        run("resize", tmp_path / f"{kind}.png", tmp_path / f"{kind}-back.npy", "--scale", 1)
        np.testing.assert_array_equal(np.load(tmp_path / f"{kind}-back.npy"), out.pixels)


def resized_of(pixels: np.ndarray[Any, Any], alpha: bool = False) -> np.ndarray[Any, Any]:
    return tenter.image.resize(pixels, NEW, like="torch", antialias=True, alpha=alpha)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("planar", ["contig", "separate"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("dtype", sampled(["uint16", "float32", "float64", "float16", "int16", "uint8"], 3))
def test_any_layout_of_a_tiff(tmp_path: Path, dtype: str, big: bool, planar: Any, order: Any) -> None:
    tifffile = pytest.importorskip("tifffile")
    pixels = (np.random.default_rng(0).random((H, W, 3)) * 100).astype(dtype)
    stored = pixels if planar == "contig" else np.ascontiguousarray(np.moveaxis(pixels, -1, 0))
    with tifffile.TiffWriter(tmp_path / "in.tif", byteorder=order, bigtiff=big) as writer:
        writer.write(stored, photometric="rgb", planarconfig=planar, compression="zlib", metadata=None)
    resize(tmp_path / "in.tif", tmp_path / "out.tif")
    with tifffile.TiffFile(tmp_path / "out.tif") as out:
        assert out.byteorder == order and out.pages[0].dtype == dtype and out.pages[0].photometric == 2
        np.testing.assert_array_equal(out.pages[0].asarray(), resized_of(pixels))


@pytest.mark.parametrize("channels", [2, 4, 5, 7])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_channels_of_any_number_are_kept(tmp_path: Path, channels: int, dtype: Any) -> None:
    tifffile = pytest.importorskip("tifffile")
    pixels = (np.random.default_rng(0).random((H, W, channels)) * 100).astype(dtype)
    extra = ["unspecified"] * (channels - 1)
    tifffile.imwrite(
        tmp_path / "in.tif", pixels, photometric="minisblack", planarconfig="contig", extrasamples=extra, metadata=None
    )
    out = resize(tmp_path / "in.tif", tmp_path / "out.tif")
    assert out.kind == "channels" and out.pixels.dtype == dtype
    np.testing.assert_array_equal(out.pixels, resized_of(pixels))


def test_premultiplied_16_bit_colors_are_divided(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    pixels = pixels_of("RGBA", np.uint16, opaque=False)
    pixels[..., 3] |= 0x4000
    stored = pixels.copy()
    stored[..., :3] = np.rint(pixels[..., :3] * (pixels[..., 3:] / 65535.0))
    tifffile.imwrite(tmp_path / "in.tif", stored, photometric="rgb", extrasamples=["assocalpha"], metadata=None)
    np.testing.assert_allclose(read_picture(tmp_path / "in.tif").pixels, pixels, atol=3)


@pytest.mark.parametrize("kind", ["gray+alpha", "CMYK", "RGBA"])
def test_deep_kinds_of_tiff(tmp_path: Path, kind: str) -> None:
    pixels = pixels_of(kind, np.uint16)
    write_picture(tmp_path / "in.tif", Picture(pixels, kind))
    out = resize(tmp_path / "in.tif", tmp_path / "out.tif")
    assert out.kind == kind
    np.testing.assert_array_equal(out.pixels, resized_of(pixels))


def test_strips_past_the_end_are_not_zeros(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(tmp_path / "in.tif", pixels_of("RGB", np.uint16), photometric="rgb", metadata=None)
    with open(tmp_path / "in.tif", "r+b") as file:
        file.truncate((tmp_path / "in.tif").stat().st_size - 100)
    assert main(["resize", str(tmp_path / "in.tif"), str(tmp_path / "out.tif"), "--scale", "2"]) == 2
    assert "truncated or damaged" in capsys.readouterr().err
