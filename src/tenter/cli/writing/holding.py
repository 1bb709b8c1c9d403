"""Which type of file holds an image, and what of it is not kept."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tenter.cli.colors import PROFILE_CONVERTED, as_srgb, fitted
from tenter.cli.formats import CODESTREAMS, COMMENT, DPI, EXIF, IPTC, PROFILE, TEXT, THUMBNAIL, TYPES, XMP, shown
from tenter.cli.kept.exif import exif_block
from tenter.cli.kept.metadata import Metadata
from tenter.cli.kept.orientation import ORIENTATION
from tenter.cli.kept.stated import names
from tenter.cli.picture import Origin, Picture, upright
from tenter.cli.refusal import Refusal
from tenter.cli.writing.encoding import Encoding
from tenter.cli.writing.pillow import CHUNK, image_of

DURATIONS, PLAYS = "durations of frames", "number of plays"
COLORS_OF_GIF, ALPHA_OF_GIF = "colors beyond 256", "partial transparency"
#: the most dots per inch that a type has room for: PNG and BMP store pixels per meter
MOST_DPI = {"PNG": (2**32 - 1) * 0.0254, "BMP": (2**31 - 1) * 0.0254, "JPEG": 65535}
#: bytes of a JPEG segment, less what names its content
SEGMENT = 65502
#: types whose orientation viewers are sure to read
TURNED_BY_VIEWERS = ("JPEG", "TIFF")


def check_format(picture: Picture, path: str, type_: str, size: tuple[int, int], encoding: Encoding) -> None:
    """Refuse a type of file that cannot hold the image without loss of depth that is not asked for, alpha or
    channels."""
    dtype, kind, format_ = picture.pixels.dtype, picture.kind, TYPES[type_]
    if encoding.depth and kind != "bilevel":
        check_depth(dtype)
        dtype = np.dtype(np.uint8)
    name = shown(type_)
    deep = dtype == np.uint16
    if type_ == "TIFF":
        if dtype.kind not in "uif" and kind != "bilevel":
            raise Refusal(f"{path}: TIFF holds integers and floats, this image is {dtype}; write .npy")
    elif not (dtype == np.uint8 or kind == "bilevel" or (deep and format_.deep) or _is_pfm(picture, path)):
        most = "8 or 16 bits" if format_.deep else "8 bits"
        other = "--depth 8 rounds to it; .png, .tiff and .npy hold 16" if deep else "write .tiff or .npy"
        raise Refusal(f"{path}: {name} holds {most} per channel, this image is {dtype}; {other}")
    _check_kind(picture, path, type_, format_.deep if deep else format_.kinds)
    if max(size) > format_.longest:
        raise Refusal(f"{path}: {name} holds at most {format_.longest} pixels a side, got {size[1]} x {size[0]}")


def _check_kind(picture: Picture, path: str, type_: str, holds: tuple[str, ...]) -> None:
    kind, name = picture.kind, shown(type_)
    if picture.alpha and kind not in holds:
        raise Refusal(
            f"{path}: {name} has no alpha channel, this image is {kind}; write .png or .tiff, or put it on "
            "a color by --background white"
        )
    if kind == "CMYK" and not (kind in holds and holds_cmyk(type_, path)):
        raise Refusal(f"{path}: {name} has no CMYK; write .tiff or .jpg")
    if kind not in holds:
        what = f"{picture.pixels.shape[2]} channels" if kind == "channels" else f"{picture.pixels.dtype} {kind}"
        raise Refusal(f"{path}: {name} does not hold {what}; write .tiff or .npy")


def holds_cmyk(type_: str, path: str) -> bool:
    """Whether a file of this type and name holds CMYK."""
    return "CMYK" in TYPES[type_].kinds and Path(path).suffix.lower() not in CODESTREAMS


def loses_profile(type_: str, encoding: Encoding) -> bool:
    """Whether a file is written without its color profile."""
    return encoding.strip or encoding.srgb or PROFILE not in TYPES[type_].carries


def without_profile(picture: Picture, encoding: Encoding) -> tuple[Picture, list[str]]:
    """The image in sRGB, and what of its colors is not kept; what is asked for is not listed."""
    made, said = as_srgb(picture)
    asked = (encoding.strip or encoding.srgb) and said in (PROFILE, PROFILE_CONVERTED)
    return made, [said] if said and not asked else []


def as_written(picture: Picture, origin: Origin, type_: str, encoding: Encoding) -> tuple[Picture, list[str]]:
    """The upright image as a file of this type holds it, and names of what it does not keep."""
    if not (encoding.as_stored and type_ in TURNED_BY_VIEWERS):
        picture = upright(picture)
    if encoding.depth:
        picture = narrowed(picture)
    lost: list[str] = []
    if picture.metadata.icc and loses_profile(type_, encoding):
        picture, lost = without_profile(picture, encoding)
    if not encoding.strip:
        picture, misfit = fitted(picture, type_, origin.frames > 1)
        lost += misfit
    if encoding.strip or encoding.srgb:
        lost += [f"{name} (not converted)" for name in names(picture.metadata.chunks)]
    if encoding.strip:
        return replace(picture, metadata=Metadata()), lost
    if encoding.srgb and not names(picture.metadata.chunks):
        picture = replace(picture, metadata=replace(picture.metadata, chunks={}))
    before = picture.metadata
    after = _carried(before, type_)
    lost += [name for name in before.has() if name not in after.has()]
    if not after.chunks and not encoding.srgb:
        lost += names(before.chunks)
    return replace(picture, metadata=after), lost + _lost_in(type_, picture, origin)


def _lost_in(type_: str, picture: Picture, origin: Origin) -> list[str]:
    """What a type does not keep of pixels and of animations."""
    lost = _lost_in_gif(picture, origin) if type_ == "GIF" else []
    if type_ == "TIFF" and picture.duration:
        lost.append(DURATIONS)
    if type_ in ("TIFF", "AVIF") and origin.frames > 1 and origin.plays:
        lost.append(PLAYS)
    return lost


def _lost_in_gif(picture: Picture, origin: Origin) -> list[str]:
    lost = []
    if picture.kind not in ("palette", "bilevel", "gray") and origin.type != "GIF":
        if image_of(picture).convert("RGB").getcolors(256) is None:
            lost.append(COLORS_OF_GIF)
        if picture.alpha and bool(np.any((picture.pixels[..., -1] > 0) & (picture.pixels[..., -1] < 255))):
            lost.append(ALPHA_OF_GIF)
    alphas = picture.palette[1] if picture.palette else None
    if isinstance(alphas, bytes) and any(0 < alpha < 255 for alpha in alphas):
        lost.append(ALPHA_OF_GIF)
    return lost


def check_depth(dtype: np.dtype[Any]) -> None:
    """Refuse numbers of which --depth does not say what white is."""
    if dtype not in (np.uint8, np.uint16):
        raise Refusal(f"--depth: expected 8 or 16 bits per channel, this image is {dtype}")


def narrowed(picture: Picture) -> Picture:
    """The image with 8 bits per channel, each rounded to the nearest: 65535 becomes 255."""
    if picture.pixels.dtype != np.uint16:
        return picture
    pixels = np.empty(picture.pixels.shape, np.uint8)
    rows = max(1, CHUNK // max(picture.pixels[:1].nbytes, 1))
    for top in range(0, len(pixels), rows):
        part = picture.pixels[top : top + rows].astype(np.uint32)
        pixels[top : top + rows] = (part + 128) // 257  # no 16-bit number is halfway, as 257 is odd
    return replace(picture, pixels=pixels)


def _carried(metadata: Metadata, type_: str) -> Metadata:
    """What a file of this type has places for."""
    carries = TYPES[type_].carries
    longest = SEGMENT if type_ == "JPEG" else None
    tags = metadata.tags if EXIF in carries else {}
    if tags and longest and len(exif_block(replace(metadata, thumbnail=None))) > longest:
        tags = {tag: value for tag, value in tags.items() if tag == ORIENTATION}

    def fits(value: bytes | None, name: str) -> bytes | None:
        return value if value and name in carries and not (longest and len(value) > longest) else None

    return Metadata(
        tags,
        metadata.icc if PROFILE in carries else None,
        metadata.dpi
        if metadata.dpi and DPI in carries and max(metadata.dpi) <= MOST_DPI.get(type_, math.inf)
        else None,
        fits(metadata.xmp, XMP),
        metadata.iptc if IPTC in carries else {},
        fits(metadata.comment, COMMENT),
        metadata.text if TEXT in carries else {},
        metadata.thumbnail if THUMBNAIL in carries and tags else None,
        metadata.chunks if type_ == "PNG" else {},
    )


def _is_pfm(picture: Picture, path: str) -> bool:
    return path.lower().endswith(".pfm") and picture.pixels.dtype == np.float32 and picture.kind == "gray"
