"""Alpha in picture files: transparent colors, edges without fringes, weighted colors."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from picture_helpers import Image, pixels_of, read_picture, resize, resized, write_picture
from tenter.cli.picture import Picture


def test_palette_with_transparency(tmp_path: Path) -> None:
    image = Image.new("P", (4, 1))
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putdata([0, 0, 1, 1])
    image.save(tmp_path / "in.png", transparency=1)
    out = resize(tmp_path / "in.png", tmp_path / "out.png", "--mode", "nearest", size=(1, 8))
    with Image.open(tmp_path / "out.png") as written:
        assert written.mode == "P" and written.info["transparency"] is not None
    assert out.kind == "RGBA"
    np.testing.assert_array_equal(out.pixels[0, :4], [[255, 0, 0, 255]] * 4)
    np.testing.assert_array_equal(out.pixels[0, 4:], [[0, 255, 0, 0]] * 4)


def chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">L", len(content)) + name + content + struct.pack(">L", zlib.crc32(name + content))


@pytest.mark.parametrize(
    ("depth", "color", "row", "width", "key", "expected"),
    [
        (1, 0, b"\x40", 2, (1,), [[0, 255], [255, 0]]),
        (2, 0, b"\x40", 2, (1,), [[85, 0], [0, 255]]),
        (4, 0, b"\x21", 2, (1,), [[34, 255], [17, 0]]),
        (8, 0, b"\x21\x01", 2, (1,), [[33, 255], [1, 0]]),
        (16, 0, b"\x12\x34\x12\x35", 2, (0x1234,), [[0x1234, 0], [0x1235, 65535]]),
        (8, 2, b"\x01\x02\x03\x01\x02\x04", 2, (1, 2, 3), [[1, 2, 3, 0], [1, 2, 4, 255]]),
        (16, 2, b"\0\1\0\2\0\3\0\1\0\2\0\4", 2, (1, 2, 3), [[1, 2, 3, 0], [1, 2, 4, 65535]]),
    ],
)
def test_png_transparent_color(
    tmp_path: Path, depth: int, color: int, row: bytes, width: int, key: tuple[int, ...], expected: list[list[int]]
) -> None:
    if depth == 16 and color == 2:
        pytest.importorskip("imagecodecs")
    header = struct.pack(">LLBBBBB", width, 1, depth, color, 0, 0, 0)
    clear = b"".join(struct.pack(">H", part) for part in key)
    body = chunk(b"IHDR", header) + chunk(b"tRNS", clear) + chunk(b"IDAT", zlib.compress(b"\0" + row))
    (tmp_path / "in.png").write_bytes(b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b""))
    picture = read_picture(tmp_path / "in.png")
    assert picture.alpha
    np.testing.assert_array_equal(picture.pixels[0], expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("suffix", [".png", ".tif"])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos", "area"])
def test_no_fringe_at_an_alpha_edge(tmp_path: Path, dtype: Any, suffix: str, mode: str) -> None:
    if dtype == np.uint16:
        pytest.importorskip("imagecodecs")
    full = np.iinfo(dtype).max
    pixels = np.zeros((16, 16, 4), dtype)
    pixels[:, :7] = (full, 0, 0, full)
    pixels[:, 7:] = (0, full, 0, 0)
    write_picture(tmp_path / f"in{suffix}", Picture(pixels, "RGBA"))
    for size in ((6, 6), (40, 40)):
        out = resize(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", "--mode", mode, "--force", size=size).pixels
        seen = out[..., 3] > 0
        assert seen.any() and (~seen).any()
        # wherever there is anything to see it is pure red: no green, and not darker
        assert out[seen][:, 0].min() == full
        assert out[..., 1].max() == 0
        alpha = pixels[..., 3:] if dtype == np.uint8 else pixels[..., 3:].astype(np.float32)
        np.testing.assert_array_equal(out[..., 3], resized(alpha, size, mode)[..., 0].round().clip(0, full))


def test_nearest_keeps_hidden_colors(tmp_path: Path) -> None:
    pixels = pixels_of("RGBA", opaque=False)
    pixels[::2, :, 3] = 0
    Image.fromarray(pixels).save(tmp_path / "in.png")
    out = resize(tmp_path / "in.png", tmp_path / "out.png", "--mode", "nearest-exact")
    np.testing.assert_array_equal(out.pixels, resized(pixels, mode="nearest-exact"))


def test_half_transparent_colors_are_weighted(tmp_path: Path) -> None:
    pixels = np.array([[[200, 100], [40, 50]]], np.uint8)
    Image.fromarray(pixels).save(tmp_path / "in.png")
    out = resize(tmp_path / "in.png", tmp_path / "out.png", "--mode", "area", size=(1, 1))
    np.testing.assert_array_equal(out.pixels, [[[round((200 * 100 + 40 * 50) / 150), 75]]])
