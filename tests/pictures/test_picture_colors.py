"""What a file says of its colors in other ways than by a profile: chunks of PNG, numbers of AVIF; and profiles of other
numbers than those of the pixels."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, ran  # noqa: F401

imagecodecs = pytest.importorskip("imagecodecs")
ImageCms = pytest.importorskip("PIL.ImageCms")

D65 = (0.3127, 0.3290)
SRGB = (*D65, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06)
P3 = (*D65, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06)
ADOBE = (*D65, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06)
WIDE = (*D65, 0.708, 0.292, 0.17, 0.797, 0.131, 0.046)
PATCHES = np.array([[200, 90, 60], [128, 128, 128], [90, 180, 90], [0, 0, 0], [255, 255, 255], [90, 60, 200]], np.uint8)


def gamma(value: int) -> bytes:
    return struct.pack(">L", value)


def chromaticities(primaries: Any) -> bytes:
    return struct.pack(">8L", *(round(100000 * n) for n in primaries))


def profile(primaries: Any, power: float) -> bytes:
    flat = [n for x, y in zip(primaries[2::2], primaries[3::2]) for n in (x, y, 1.0)]
    made: bytes = imagecodecs.cms_profile("rgb", whitepoint=(*D65, 1.0), primaries=flat, gamma=power)
    return made


def gray_profile(power: float) -> bytes:
    made: bytes = imagecodecs.cms_profile("gray", whitepoint=(*D65, 1.0), gamma=power)
    return made


def iccp(icc: bytes) -> bytes:
    return b"a\0\0" + zlib.compress(icc)


def srgb_to_linear(v: Any) -> Any:
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(v: Any) -> Any:
    v = np.clip(v, 0, 1)
    return np.where(v <= 0.0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - 0.055)


def to_xyz(primaries: Any) -> Any:
    white, *corners = (np.array((x / y, 1, (1 - x - y) / y)) for x, y in zip(primaries[::2], primaries[1::2]))
    columns = np.stack(corners, 1)
    return columns * np.linalg.solve(columns, white)


def as_seen(pixels: Any, primaries: Any, power: float | None) -> Any:
    """sRGB's levels of what these colors look like, by the definition of both spaces."""
    numbers = pixels / (65535 if pixels.dtype == np.uint16 else 255)
    linear = srgb_to_linear(numbers) if power is None else numbers**power
    return linear_to_srgb(linear @ to_xyz(primaries).T @ np.linalg.inv(to_xyz(SRGB)).T) * 255


#: the chunks of a PNG, and what its colors mean: primaries and a power (None: the curve of sRGB)
MEANT: dict[str, tuple[dict[bytes, bytes], Any, float | None]] = {
    "P3 by cICP": ({b"cICP": b"\x0c\x0d\0\1"}, P3, None),
    "BT.2020 by cICP, linear": ({b"cICP": b"\x09\x08\0\1"}, WIDE, 1.0),
    "linear by gAMA": ({b"gAMA": gamma(100000)}, SRGB, 1.0),
    "Adobe RGB by gAMA and cHRM": ({b"gAMA": gamma(45470), b"cHRM": chromaticities(ADOBE)}, ADOBE, 1 / 0.4547),
    "P3 by cHRM": ({b"cHRM": chromaticities(P3)}, P3, None),
    "cICP before the rest": ({b"cICP": b"\x0c\x0d\0\1", b"iCCP": iccp(profile(ADOBE, 1.8)), b"gAMA": gamma(100000)}, P3, None),
    "sRGB by cICP before a profile": ({b"cICP": b"\1\x0d\0\1", b"iCCP": iccp(profile(ADOBE, 1.8))}, SRGB, None),
    "a profile before gAMA": ({b"iCCP": iccp(profile(ADOBE, 1.8)), b"gAMA": gamma(100000)}, ADOBE, 1.8),
    "sRGB before gAMA": ({b"sRGB": b"\0", b"gAMA": gamma(100000), b"cHRM": chromaticities(P3)}, SRGB, None),
    "sRGB by gAMA and cHRM": ({b"gAMA": gamma(45455), b"cHRM": chromaticities(SRGB)}, SRGB, None),
    "no numbers": ({b"gAMA": gamma(0), b"cHRM": bytes(32)}, SRGB, None),
}  # fmt: skip
HDR = {
    "HDR colors (PQ)": {b"cICP": b"\x09\x10\0\1"},
    "HDR colors (HLG)": {b"cICP": b"\x09\x12\0\1"},
    "colors by cICP": {b"cICP": b"\x09\x0d\0\0"},
    "HDR mastering data": {b"cLLI": bytes(8)},
}


def with_chunks(png: bytes, chunks: dict[bytes, bytes]) -> bytes:
    parts = [struct.pack(">L", len(d)) + n + d + struct.pack(">L", zlib.crc32(n + d)) for n, d in chunks.items()]
    return png[:33] + b"".join(parts) + png[33:]


def chunks_of(path: str) -> dict[bytes, bytes]:
    data, found, at = Path(path).read_bytes(), {}, 8
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        found.setdefault(data[at + 4 : at + 8], data[at + 8 : at + 8 + length])
        at += 12 + length
    return found


def patches(colors: Any) -> Any:
    return colors.repeat(8, 0)[None].repeat(8, 0)


def write(path: str, pixels: Any, chunks: dict[bytes, bytes], frames: int = 1) -> None:
    file = io.BytesIO()
    if pixels.dtype == np.uint16:
        file.write(imagecodecs.png_encode(pixels))
    else:
        more = [Image.fromarray(np.roll(pixels, 8 * k, 1)) for k in range(1, frames)]
        Image.fromarray(pixels).save(file, "PNG", save_all=frames > 1, append_images=more)
    Path(path).write_bytes(with_chunks(file.getvalue(), chunks))


def resized(source: str, target: str, *options: Any) -> str:
    done = ran("resize", source, target, "--scale", 0.5, "--mode", "linear", "--force", *options)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def looks(path: str) -> Any:
    """sRGB's levels at the middle of each patch, by the profile of a file."""
    with Image.open(path) as image:
        image.load()
        rgb = image.convert("RGB") if image.mode not in ("L", "LA") else image.convert("L")
        if icc := image.info.get("icc_profile"):
            source = ImageCms.ImageCmsProfile(io.BytesIO(icc))
            rgb = ImageCms.profileToProfile(rgb, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        return np.asarray(rgb.convert("RGB"))[2, 2::4].astype(int)


@pytest.mark.parametrize("name", MEANT)
def test_colors_look_as_the_chunks_of_a_png_say(name: str) -> None:
    chunks, primaries, power = MEANT[name]
    write("in.png", patches(PATCHES), chunks)
    expected = as_seen(PATCHES, primaries, power)
    said = resized("in.png", "out.png")
    assert "not kept" not in said
    there = chunks_of("out.png")
    assert {n: d for n, d in there.items() if n in chunks} == chunks
    for target, options in [
        ("strip.png", ["--strip"]), ("srgb.png", ["--profile", "srgb"]),
        ("out.tif", []),
    ]:  # fmt: skip
        resized("in.png", target, *options)
        assert np.abs(looks(target) - expected).max() <= 2, target
    assert not set(chunks_of("strip.png")) & set(chunks) and "icc_profile" not in Image.open("srgb.png").info


def test_chunks_of_colors_are_kept_in_deep_animated_and_gray_png_too() -> None:
    for name in ("P3 by cICP", "a profile before gAMA"):
        chunks, primaries, power = MEANT[name]
        deep = PATCHES.astype(np.uint16) * 257
        write("deep.png", patches(deep), chunks)
        write("moves.png", patches(PATCHES), chunks, frames=3)
        for source in ("deep.png", "moves.png"):
            assert "not kept" not in resized(source, "out.png")
            assert {n: d for n, d in chunks_of("out.png").items() if n in chunks} == chunks, (name, source)
            resized(source, "seen.tif", "--depth", 8)
            assert np.abs(looks("seen.tif") - as_seen(PATCHES, primaries, power)).max() <= 2, (name, source)
        resized("deep.png", "srgb.png", "--profile", "srgb")
        if power == 1.8:
            continue  # littleCMS interpolates 16 bits in a table, too coarse for numbers near black
        middle = imagecodecs.png_decode(Path("srgb.png").read_bytes())[2, 2::4] / 257
        assert np.abs(middle - as_seen(deep, primaries, power)).max() <= 2, name
    write("gray.png", patches(PATCHES[:, 0]), {b"gAMA": gamma(100000)})
    assert "not kept" not in resized("gray.png", "gray.webp", "--quality", 100)
    expected = linear_to_srgb(PATCHES[:, :1] / 255) * 255
    assert np.abs(looks("gray.webp") - expected).max() <= 4
    resized("gray.png", "gray.bmp")
    assert np.abs(looks("gray.bmp") - expected).max() <= 2


@pytest.mark.parametrize("name", HDR)
def test_colors_that_no_profile_holds_are_kept_in_png_and_named_elsewhere(name: str) -> None:
    write("in.png", patches(PATCHES), HDR[name])
    assert "not kept" not in resized("in.png", "out.png") and HDR[name].items() <= chunks_of("out.png").items()
    for target in ("out.jpg", "out.webp", "out.tif"):
        assert resized("in.png", target).endswith(f"; not kept: {name}\n")
    for options in (["--strip"], ["--profile", "srgb"]):
        assert f"{name} (not converted)" in resized("in.png", "out.png", *options)


def test_other_chunks_of_a_png_are_named_where_nothing_is_kept_of_them() -> None:
    write("in.png", patches(PATCHES), {b"bKGD": bytes(6), b"sCAL": b"\x011\x002", b"prVt": b"x", b"sBIT": b"\5\5\5"})
    assert resized("in.png", "out.png").endswith("; not kept: background color, PNG chunk sCAL, PNG chunk prVt\n")


def numbered(primaries: int, transfer: int) -> bytes:
    """An AVIF without profile, whose container states its colors by numbers."""
    file = io.BytesIO()
    Image.fromarray(patches(PATCHES)).save(file, "AVIF", quality=100, subsampling="4:4:4")
    data = file.getvalue()
    at = data.index(b"colrnclx") + 8
    return data[:at] + struct.pack(">HH", primaries, transfer) + data[at + 4 :]


def test_colors_look_as_the_numbers_of_an_avif_say() -> None:
    for primaries, transfer, meant in [
        (12, 13, (P3, None)),
        (9, 8, (WIDE, 1.0)),
        (1, 13, (SRGB, None)),
        (1, 1, (SRGB, None)),
    ]:
        Path("in.avif").write_bytes(numbered(primaries, transfer))
        with Image.open("in.avif") as image:
            expected = as_seen(np.asarray(image)[4, 4::8], *meant)
        for target in ("out.png", "out.tif"):
            assert "not kept" not in resized("in.avif", target)
            assert np.abs(looks(target) - expected).max() <= 3, (primaries, transfer, target)
        resized("in.avif", "out.avif")
        with Image.open("out.avif") as made, Image.open("out.tif") as image:
            assert made.info.get("icc_profile") == image.info.get("icc_profile")
    Path("in.avif").write_bytes(numbered(9, 16))
    assert "not kept" not in resized("in.avif", "out.png") and chunks_of("out.png")[b"cICP"] == b"\x09\x10\0\1"
    assert resized("in.avif", "out.jpg").endswith("; not kept: HDR colors (PQ)\n")


#: the mode of an image, a profile of other numbers
CMYK_ICC = b"\0\0\2\0none\2\x10\0\0prtrCMYKLab " + bytes(12) + b"acsp" + bytes(472)
MISFITS = [("L", profile(P3, 2.2), "RGB, not GRAY"), ("RGB", gray_profile(1.0), "GRAY, not RGB"),
           ("RGBA", CMYK_ICC, "CMYK, not RGB"), ("CMYK", profile(P3, 2.2), "RGB, not CMYK"), ("P", gray_profile(1.0), "GRAY, not RGB")]  # fmt: skip


def test_a_profile_of_other_numbers_is_not_written_and_named() -> None:
    for mode, icc, word in MISFITS:
        image = Image.fromarray(patches(PATCHES)).convert(mode)
        source, target = ("in.tif", "out.tif") if mode == "CMYK" else ("in.png", "out.png")
        image.save(source, icc_profile=icc)
        assert resized(source, target).endswith(f"; not kept: color profile (of {word})\n"), mode
        with Image.open(target) as made:
            assert "icc_profile" not in made.info, mode
            assert mode != "RGB" or made.getpixel((2, 2)) == image.getpixel((4, 4))


def test_a_gray_profile_becomes_one_of_colors_where_gray_does() -> None:
    gray = Image.fromarray(patches(PATCHES[:, 0]))
    gray.save("in.png", icc_profile=gray_profile(1.0))
    expected = linear_to_srgb(PATCHES[:, :1] / 255) * 255
    assert "not kept" not in resized("in.png", "out.webp", "--quality", 100)
    with Image.open("out.webp") as made:
        assert made.info["icc_profile"][16:20] == b"RGB "
    assert np.abs(looks("out.webp") - expected).max() <= 4
    clear = Image.merge("LA", (gray, Image.new("L", gray.size, 255)))
    clear.save("clear.png", icc_profile=gray_profile(1.0))
    assert "color profile (converted to sRGB)" in resized("clear.png", "out.png", "--background", "#ffcc00")
    assert np.abs(looks("out.png") - expected).max() <= 2
    assert "not kept" not in resized("clear.png", "out.png", "--background", "white")
    assert Image.open("out.png").info["icc_profile"][16:20] == b"GRAY"
