"""`tenter resize` on real picture files: every kind and depth, alpha, orientation, metadata."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from tenter.cli.main import main
from tenter.cli.metadata import Metadata
from tenter.cli.orientation import turn_back, turn_upright
from tenter.cli.pictures import Picture, read_picture, write_picture

Image = pytest.importorskip("PIL.Image")

H, W = 20, 26
NEW = (9, 31)
CHANNELS = {"gray": 1, "gray+alpha": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}


def pixels_of(kind: str, dtype: Any = np.uint8, opaque: bool = True) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(CHANNELS[kind])
    shape = (H, W) if kind == "gray" else (H, W, CHANNELS[kind])
    if dtype == np.float32:
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    pixels = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if kind in ("gray+alpha", "RGBA") and opaque:
        pixels[..., -1] = info.max
    return pixels


def resized(pixels: np.ndarray[Any, Any], size: tuple[int, int] = NEW, mode: str = "bilinear") -> np.ndarray[Any, Any]:
    """The expected result: the library on the array."""
    stack = pixels.reshape(*pixels.shape[:2], -1).transpose(2, 0, 1)[None]
    out = tenter.interpolate(stack, size=size, mode=mode, antialias=mode in ("bilinear", "bicubic", "lanczos"))
    return out[0].transpose(1, 2, 0).reshape(*size, *pixels.shape[2:])


def run(*args: Any) -> None:
    assert main([str(arg) for arg in args]) == 0


def resize(source: Path, target: Path, *options: Any, size: tuple[int, int] = NEW) -> Picture:
    run("resize", source, target, "--size", *size, *options)
    return read_picture(target)


def by_opencv(path: Path) -> np.ndarray[Any, Any]:
    cv2 = pytest.importorskip("cv2")
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return pixels if pixels.ndim == 2 else pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]


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
    pytest.importorskip("cv2")
    pixels = pixels_of("gray+alpha", np.uint16)
    with open(tmp_path / "in.png", "wb") as file:
        write_picture(file, Picture(pixels, "gray+alpha"), "PNG", 95)
    assert (tmp_path / "in.png").read_bytes()[24:26] == b"\x10\x04"
    out = resize(tmp_path / "in.png", tmp_path / "out.png")
    assert out.kind == "gray+alpha"
    np.testing.assert_array_equal(out.pixels, resized(pixels))
    # OpenCV reads gray+alpha as four channels, with gray in three of them
    np.testing.assert_array_equal(by_opencv(tmp_path / "out.png")[..., 2:], out.pixels)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.int32, np.uint32, np.float32])
def test_deep_gray_tiff_keeps_its_type(tmp_path: Path, dtype: Any) -> None:
    pixels = pixels_of("gray", dtype)
    with open(tmp_path / "in.tif", "wb") as file:
        write_picture(file, Picture(pixels, "gray"), "TIFF", 95)
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
    run("resize", tmp_path / "in.jpg", tmp_path / "exact.npy", "--size", *NEW)
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


def test_palette_with_transparency(tmp_path: Path) -> None:
    image = Image.new("P", (4, 1))
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.putdata([0, 0, 1, 1])
    image.save(tmp_path / "in.png", transparency=1)
    out = resize(tmp_path / "in.png", tmp_path / "out.png", "--mode", "nearest", size=(1, 8))
    assert out.kind == "RGBA"
    np.testing.assert_array_equal(out.pixels[0, :4], [[255, 0, 0, 255]] * 4)
    np.testing.assert_array_equal(out.pixels[0, 4:], [[0, 255, 0, 0]] * 4)


def test_bilevel_becomes_gray(tmp_path: Path) -> None:
    black_white = pixels_of("gray") > 127
    for suffix in (".png", ".tif"):
        Image.fromarray(black_white).save(tmp_path / f"in{suffix}")
        out = resize(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}")
        np.testing.assert_array_equal(out.pixels, resized(black_white.astype(np.uint8) * 255))


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
        pytest.importorskip("cv2")
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
        pytest.importorskip("cv2")
    full = np.iinfo(dtype).max
    pixels = np.zeros((16, 16, 4), dtype)
    pixels[:, :7] = (full, 0, 0, full)
    pixels[:, 7:] = (0, full, 0, 0)
    with open(tmp_path / f"in{suffix}", "wb") as file:
        write_picture(file, Picture(pixels, "RGBA"), suffix[1:].replace("tif", "tiff").upper(), 95)
    for size in ((6, 6), (40, 40)):
        out = resize(tmp_path / f"in{suffix}", tmp_path / f"out{suffix}", "--mode", mode, "--force", size=size).pixels
        seen = out[..., 3] > 0
        assert seen.any() and (~seen).any()
        # every visible pixel is pure red: not green, and not darker
        assert out[seen][:, 0].min() == full
        assert out[..., 1].max() == 0
        np.testing.assert_array_equal(
            out[..., 3], resized(pixels[..., 3:].astype(np.float32), size, mode)[..., 0].round().clip(0, full)
        )


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


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_arithmetic_is_pillows(orientation: int) -> None:
    from PIL import ImageOps

    pixels = pixels_of("RGB")
    image = Image.fromarray(pixels)
    image.getexif()[274] = orientation
    upright = np.asarray(ImageOps.exif_transpose(image))
    np.testing.assert_array_equal(turn_upright(pixels, orientation), upright)
    np.testing.assert_array_equal(turn_back(upright, orientation), pixels)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    "dtype, source",
    [(np.uint8, ".png"), (np.uint8, ".tif"), (np.uint8, ".jpg"), (np.uint16, ".png"), (np.uint16, ".tif")],
)
@pytest.mark.parametrize("suffix", [".png", ".tif", ".npy"])
def test_orientation(tmp_path: Path, orientation: int, dtype: Any, source: str, suffix: str) -> None:
    if dtype == np.uint16:
        pytest.importorskip("cv2")
    format_ = {".png": "PNG", ".tif": "TIFF", ".jpg": "JPEG"}[source]
    with open(tmp_path / f"in{source}", "wb") as file:
        write_picture(file, Picture(pixels_of("RGB", dtype), "RGB", Metadata({274: orientation})), format_, 95)
    stored = read_picture(tmp_path / f"in{source}")
    assert stored.metadata.orientation == orientation
    if source != ".jpg":
        np.testing.assert_array_equal(stored.pixels, pixels_of("RGB", dtype))
    run("resize", tmp_path / f"in{source}", tmp_path / f"out{suffix}", "--size", *NEW)
    stored_size = NEW[::-1] if orientation >= 5 else NEW
    expected = resized(stored.pixels, stored_size)
    if suffix == ".npy":
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), turn_upright(expected, orientation))
        return
    out = read_picture(tmp_path / f"out{suffix}")
    assert out.metadata.orientation == orientation
    np.testing.assert_array_equal(out.pixels, expected)


@pytest.mark.parametrize(
    "dtype, source, target",
    [(np.uint8, s, t) for s in ("png", "tiff", "jpeg") for t in ("png", "tiff", "jpeg")]
    + [(np.uint16, s, t) for s in ("png", "tiff") for t in ("png", "tiff")],  # JPEG holds 8 bits
)
def test_metadata_is_kept(tmp_path: Path, source: str, target: str, dtype: Any) -> None:
    if dtype == np.uint16:
        pytest.importorskip("cv2")
    from PIL import ImageCms

    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    tags = {
        271: "A maker",
        274: 3,
        34665: {36867: "2020:02:03 04:05:06", 40962: W, 40963: H, 40965: {1: "R98"}},
        34853: {1: "N", 2: (51.0, 30.0, 0.0)},
    }
    metadata = Metadata(dict(tags), profile, (300.0, 150.0))
    with open(tmp_path / f"in.{source}", "wb") as file:
        write_picture(file, Picture(pixels_of("RGB", dtype), "RGB", metadata), source.upper(), 95)
    run("resize", tmp_path / f"in.{source}", tmp_path / f"out.{target}", "--size", *NEW)
    with Image.open(tmp_path / f"out.{target}") as image:
        exif = image.getexif()
        nested = exif.get_ifd(34665)
        assert exif[271] == "A maker" and exif[274] == 3
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


def test_between_npy_and_pictures(tmp_path: Path) -> None:
    for kind in ("gray", "gray+alpha", "RGB", "RGBA"):
        pixels = pixels_of(kind)
        np.save(tmp_path / f"{kind}.npy", pixels)
        out = resize(tmp_path / f"{kind}.npy", tmp_path / f"{kind}.png")
        assert out.kind == kind
        np.testing.assert_array_equal(out.pixels, resized(pixels))
        run("resize", tmp_path / f"{kind}.png", tmp_path / f"{kind}-back.npy", "--scale", 1)
        np.testing.assert_array_equal(np.load(tmp_path / f"{kind}-back.npy"), out.pixels)


def tiff_of(pixels: np.ndarray[Any, Any], **tags: Any) -> bytes:
    """A 16-bit RGB TIFF with some tags replaced, as in unusual files."""
    from tenter.cli.tiff import write_tiff

    file = io.BytesIO()
    write_tiff(file, pixels, "RGBA" if pixels.shape[2] == 4 else "RGB", Metadata())
    data = bytearray(file.getvalue())
    for name, value in tags.items():
        number = int(name.removeprefix("t"))
        start = next(place for place in range(10, 400, 12) if struct.unpack_from("<H", data, place)[0] == number)
        struct.pack_into("<H", data, start + 8, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("channels", "tags", "word"),
    [(3, {"t284": 2}, "separate planes"), (4, {"t338": 1}, "plain alpha")],
)
def test_odd_deep_tiffs_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], channels: int, tags: dict[str, int], word: str
) -> None:
    pytest.importorskip("cv2")
    pixels = pixels_of({3: "RGB", 4: "RGBA"}[channels], np.uint16)
    (tmp_path / "in.tif").write_bytes(tiff_of(pixels))
    np.testing.assert_array_equal(read_picture(tmp_path / "in.tif").pixels, pixels)
    (tmp_path / "in.tif").write_bytes(tiff_of(pixels, **tags))
    assert main(["resize", str(tmp_path / "in.tif"), str(tmp_path / "out.tif"), "--scale", "2"]) == 2
    assert word in capsys.readouterr().err


def test_deep_cmyk_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open(tmp_path / "in.tif", "wb") as file:
        write_picture(file, Picture(pixels_of("CMYK", np.uint16), "CMYK"), "TIFF", 95)
    assert main(["resize", str(tmp_path / "in.tif"), str(tmp_path / "out.tif"), "--scale", "2"]) == 2
    assert "other than 16-bit RGB or RGBA" in capsys.readouterr().err


def test_decoders_that_disagree_are_not_believed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cv2 = pytest.importorskip("cv2")
    pixels = pixels_of("RGB", np.uint16)
    with open(tmp_path / "in.png", "wb") as file:
        write_picture(file, Picture(pixels, "RGB"), "PNG", 95)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cv2, "imdecode", lambda data, flags: pixels)  # RGB where BGR is expected
        assert main(["resize", str(tmp_path / "in.png"), str(tmp_path / "out.png"), "--scale", "2"]) == 2
    assert "do not agree" in capsys.readouterr().err
