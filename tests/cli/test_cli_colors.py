"""Colors and depth of files that `tenter resize` writes: what a profile says is seen without it, and 16 bits become 8."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, ran  # noqa: F401

imagecodecs = pytest.importorskip("imagecodecs")
tifffile = pytest.importorskip("tifffile")
ImageCms = pytest.importorskip("PIL.ImageCms")

WHITE = (0.3127, 0.3290)
#: x and y of red, green and blue; and the gamma
SRGB, P3, ADOBE = (
    ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)),
    ((0.68, 0.32), (0.265, 0.69), (0.15, 0.06)),
    ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)),
)
GAMMA = 2.2
COLORS = np.array([[234, 51, 35], [128, 128, 128], [20, 200, 90], [0, 0, 0], [255, 255, 255], [90, 60, 200]], np.uint8)
GRAYS = np.array([0, 10, 50, 128, 200, 255], np.uint8)


@cache  # a profile has the second in which it was made
def profile(primaries: Any) -> bytes:
    flat = [part for x, y in primaries for part in (x, y, 1.0)]
    made: bytes = imagecodecs.cms_profile("rgb", whitepoint=(*WHITE, 1.0), primaries=flat, gamma=GAMMA)
    return made


def gray_profile(gamma: float) -> bytes:
    made: bytes = imagecodecs.cms_profile("gray", whitepoint=(*WHITE, 1.0), gamma=gamma)
    return made


def srgb_profile() -> bytes:
    found: bytes = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return found


def _to_xyz(primaries: Any) -> np.ndarray[Any, Any]:
    columns = np.array([(x / y, 1, (1 - x - y) / y) for x, y in primaries]).T
    x, y = WHITE
    return columns * np.linalg.solve(columns, (x / y, 1, (1 - x - y) / y))


def encoded(linear: Any) -> np.ndarray[Any, Any]:
    linear = np.clip(linear, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055) * 255


def seen(colors: Any, primaries: Any) -> np.ndarray[Any, Any]:
    """sRGB of colors of other primaries, by the definition of both."""
    xyz = (colors / 255.0) ** GAMMA @ _to_xyz(primaries).T
    return encoded(xyz @ np.linalg.inv(_to_xyz(SRGB)).T)


def patches(colors: Any) -> Any:
    """Each color as 16x16 equal pixels: what a filter and a codec leave as it is."""
    return np.repeat(np.repeat(colors[None], 16, 0), 16, 1)


def read(name: str) -> np.ndarray[Any, Any]:
    """The colors of the patches of an image of half their size."""
    if name.endswith(".tif"):
        pixels = tifffile.imread(name)
    else:
        with Image.open(name) as image:
            assert image.info.get("icc_profile") is None
            pixels = np.asarray(image if image.mode in ("L", "RGB", "RGBA", "LA", "I;16") else image.convert("RGB"))
    return pixels[4, 4::8].astype(float)


#: Primaries, the file that is written, options; lossy files are as near as their codecs leave them.
DROPPED = [
    (P3, "out.png", ["--strip"], 2), (ADOBE, "out.png", ["--strip"], 2), (P3, "out.jpg", ["--strip"], 6),
    (ADOBE, "out.webp", ["--strip"], 8), (P3, "out.tif", ["--strip"], 2), (P3, "out.png", ["--profile", "srgb"], 2),
    (P3, "out.gif", [], 2), (ADOBE, "out.bmp", [], 2), (P3, "out.ppm", [], 2), (P3, "out.jp2", [], 2),
    (P3, "out.png", ["--strip", "--linear-light"], 3), (P3, "out.png", ["--strip", "--labels"], 2),
]  # fmt: skip


@pytest.mark.parametrize(("primaries", "output", "options", "near"), DROPPED)
def test_a_file_without_its_profile_has_the_colors_that_the_profile_says(
    primaries: Any, output: str, options: list[str], near: int
) -> None:
    Image.fromarray(patches(COLORS)).save("wide.png", icc_profile=profile(primaries))
    assert ran("resize", "wide.png", output, "--scale", 0.5, *options).returncode == 0
    assert np.abs(read(output) - seen(COLORS, primaries)).max() <= near


@pytest.mark.parametrize("kind", ["RGBA", "L", "LA", "P", "I;16", "RGB;16", "animation"])
def test_every_kind_of_pixels_is_converted(kind: str) -> None:
    gamma = 1.8
    opaque = np.full((*patches(GRAYS).shape, 1), 200, np.uint8)
    expected: Any = seen(COLORS, P3)
    gray, rgb = patches(GRAYS), patches(COLORS)
    source, options = "wide.png", ["--strip"]
    if kind in ("L", "LA", "I;16"):
        expected = encoded((GRAYS / 255.0) ** gamma)
    if kind == "RGBA":
        Image.fromarray(np.concatenate((rgb, opaque), -1)).save(source, icc_profile=profile(P3))
    elif kind == "L":
        Image.fromarray(gray).save(source, icc_profile=gray_profile(gamma))
    elif kind == "LA":
        Image.fromarray(np.concatenate((gray[..., None], opaque), -1), "LA").save(
            source, icc_profile=gray_profile(gamma)
        )
    elif kind == "P":
        Image.fromarray(rgb).quantize(6).save(source, icc_profile=profile(P3))
        options.append("--labels")
    elif kind == "I;16":
        Image.fromarray(gray.astype(np.uint16) * 257).save(source, icc_profile=gray_profile(gamma))
    elif kind == "RGB;16":
        source = "wide.tif"
        tifffile.imwrite(source, rgb.astype(np.uint16) * 257, photometric="rgb", iccprofile=profile(P3), metadata=None)
    else:
        frames = [Image.fromarray(rgb), Image.fromarray(rgb[:, ::-1].copy())]
        frames[0].save(source, save_all=True, append_images=frames[1:], icc_profile=profile(P3))
    output = "out.tif" if kind == "RGB;16" else "out.png"
    assert ran("resize", source, output, "--scale", 0.5, *options).returncode == 0
    made = read(output)
    if kind.endswith("16"):
        assert made.max() > 255
        made = made / 257
    if kind in ("RGBA", "LA"):
        assert (made[:, -1] == 200).all()
        made = made[:, :-1].squeeze()
    assert np.abs(made[..., :3] - expected if made.ndim == 2 else made - expected).max() <= 2


def _inks() -> Any:
    return Image.new("CMYK", (32, 32), (0, 200, 220, 10))


#: Profiles that move nothing, and what they lie in: none, sRGB itself, damaged, of another space.
STAY: dict[str, tuple[Any, bytes | None]] = {
    "none": (COLORS, None), "sRGB": (COLORS, srgb_profile()), "damaged": (COLORS, b"no profile"),
    "gray of RGB": (GRAYS, profile(P3)), "RGB of gray": (COLORS, gray_profile(1.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", STAY)
def test_a_profile_that_says_nothing_of_the_pixels_moves_none(name: str) -> None:
    colors, icc = STAY[name]
    for options in ({}, {"icc_profile": icc} if icc else {}):
        Image.fromarray(patches(colors)).save("in.png", **options)
        done = ran("resize", "in.png", "out.png", "--scale", 0.5, "--strip", "--force")
        assert done.returncode == 0 and "not kept" not in done.stdout, done
        assert np.array_equal(read("out.png"), colors)


def test_inks_with_a_profile_become_srgb_where_it_is_dropped_and_stay_without_one() -> None:
    _inks().save("inks.jpg")
    assert ran("resize", "inks.jpg", "out.jpg", "--scale", 0.5, "--strip").returncode == 0
    assert Image.open("out.jpg").mode == "CMYK"
    assert ran("resize", "inks.jpg", "srgb.jpg", "--scale", 0.5, "--profile", "srgb").returncode == 0
    assert Image.open("srgb.jpg").mode == "RGB"


def test_what_is_converted_for_a_type_is_named_and_what_is_asked_for_is_not() -> None:
    Image.fromarray(patches(COLORS)).save("wide.png", icc_profile=profile(P3))
    said = [ran("resize", "wide.png", f"o{k}.{t}", "--scale", 0.5, *more).stdout for k, (t, more) in enumerate(
        [("gif", []), ("gif", ["--strip"]), ("png", ["--strip"]), ("png", [])])]  # fmt: skip
    assert [text.partition("; ")[2] for text in said] == ["not kept: color profile (converted to sRGB)\n", "", "", ""]
    with Image.open("o3.png") as kept:
        assert kept.info["icc_profile"] == profile(P3)


def test_other_metadata_stays_and_speaks_of_srgb() -> None:
    exif = Image.Exif()
    exif[271] = "A maker"
    exif.get_ifd(0x8769).update({40961: 65535})
    xmp = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" '
        b'xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" exif:ColorSpace="65535" '
        b'photoshop:ICCProfile="Display P3" photoshop:City="Bern"/></x:xmpmeta>'
    )
    Image.fromarray(patches(COLORS)).save("in.jpg", exif=exif, icc_profile=profile(P3), xmp=xmp)
    assert ran("resize", "in.jpg", "out.jpg", "--scale", 0.5, "--profile", "srgb").returncode == 0
    with Image.open("out.jpg") as image:
        assert image.getexif()[271] == "A maker" and image.getexif().get_ifd(0x8769)[40961] == 1
        packet = image.info["xmp"]
        assert b'ColorSpace="1"' in packet and b"ICCProfile" not in packet and b"Bern" in packet


# ---- depth


def deep() -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 65536, (20, 30, 3), dtype=np.uint16)


@pytest.mark.parametrize("output", ["out.png", "out.tif", "out.bmp", "out.npy"])
@pytest.mark.parametrize("options", [["--size", "30x20"], ["--size", "15x10"]])
def test_sixteen_bits_are_resized_first_and_rounded_to_the_nearest_of_eight_last(
    output: str, options: list[str]
) -> None:
    tifffile.imwrite("in.tif", deep(), photometric="rgb", metadata=None)
    assert ran("resize", "in.tif", "deep.tif", *options).returncode == 0
    assert ran("resize", "in.tif", output, *options, "--depth", 8).returncode == 0
    made = {".npy": np.load, ".tif": tifffile.imread}.get(
        Path(output).suffix, lambda name: np.asarray(Image.open(name))
    )(output)
    assert made.dtype == np.uint8
    assert np.array_equal(made, np.rint(tifffile.imread("deep.tif").astype(float) * 255 / 65535))


@pytest.mark.parametrize("ending", ["jpg", "webp", "avif", "gif"])
def test_types_of_eight_bits_take_sixteen_by_a_word_that_the_error_names(ending: str) -> None:
    tifffile.imwrite("in.tif", patches(COLORS).astype(np.uint16) * 257, photometric="rgb", metadata=None)
    done = ran("resize", "in.tif", f"out.{ending}", "--scale", 0.5)
    assert done.returncode == 2 and "--depth 8 rounds to it" in done.stderr
    assert ran("resize", "in.tif", f"out.{ending}", "--scale", 0.5, "--depth", 8).returncode == 0
    with Image.open(f"out.{ending}") as image:
        pixels = np.asarray(image.convert("RGB"))[4, 4::8].astype(float)
    assert np.abs(pixels - COLORS).max() <= 8


def test_a_depth_that_a_file_has_changes_nothing_and_floats_have_none() -> None:
    assert ran("resize", "in.png", "a.png", "--scale", 0.5).returncode == 0
    assert ran("resize", "in.png", "b.png", "--scale", 0.5, "--depth", 8).returncode == 0
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    tifffile.imwrite("floats.tif", deep().astype(np.float32), photometric="rgb", metadata=None)
    for output in ("x.jpg", "x.tif", "x.npy"):
        assert (
            "--depth: expected 8 or 16 bits" in ran("resize", "floats.tif", output, "--scale", 0.5, "--depth", 8).stderr
        )
    np.save("d.npy", deep())
    assert "--depth: is for images" in ran("resize", "d.npy", "e.npy", "--scale", 0.5, "--depth", 8).stderr
    assert (
        "--depth: is for images" in ran("resize", "d.npy", "e.npy", "--axes", 0, 1, "--scale", 0.5, "--depth", 8).stderr
    )
    assert ran("resize", "d.npy", "e.jpg", "--scale", 0.5, "--depth", 8).returncode == 0
