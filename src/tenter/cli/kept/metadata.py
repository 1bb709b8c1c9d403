"""What an image file says of its image: EXIF tags, XMP, IPTC, the color profile, dots per inch, comments, texts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tenter.cli import formats
from tenter.cli.kept import iptc, xmp
from tenter.cli.kept.orientation import ORIENTATION

if TYPE_CHECKING:
    from PIL import Image

EXIF_IFD, GPS_IFD, INTEROP_IFD = 0x8769, 0x8825, 0xA005
# ColorSpace of the EXIF directory, and the index of the interoperability directory, of which R98 is sRGB
COLOR_SPACE, SRGB, INTEROP_INDEX = 40961, 1, 1
# ImageWidth and ImageLength of the main directory; PixelXDimension and PixelYDimension of the EXIF directory
WIDTH, HEIGHT, EXIF_WIDTH, EXIF_HEIGHT = 256, 257, 40962, 40963
DESCRIPTION, X_RESOLUTION, XMP_TAG, IPTC_TAG, PHOTOSHOP = 270, 282, 700, 33723, 34377
SUBFILES, THUMBNAIL_OFFSET = 330, 513
# The tags of a TIFF file that describe the picture: ImageDescription, Make, Model, Software, DateTime, Artist,
# HostComputer, white point, primaries, Copyright, EXIF, GPS, and the five XP* texts of Windows. Most others describe
# the file's layout, or (GeoTIFF, ImageJ) would be wrong for a resized image.
DESCRIPTIVE = {
    DESCRIPTION,
    271,
    272,
    ORIENTATION,
    305,
    306,
    315,
    316,
    318,
    319,
    33432,
    EXIF_IFD,
    GPS_IFD,
    *range(40091, 40096),
}
# The resolution is kept as `dpi`. Offsets of a thumbnail or of other directories would be invalid.
DROPPED = {273, 279, 282, 283, 296, SUBFILES, THUMBNAIL_OFFSET, 514, X_RESOLUTION, XMP_TAG, IPTC_TAG, PHOTOSHOP, 34675}
#: PNG's texts that repeat what is kept as EXIF and XMP
REPEATED = ("xml:com.adobe.xmp", "raw profile type exif", "raw profile type app1", "raw profile type xmp")
#: the longer side of a thumbnail, as cameras write them
THUMBNAIL_SIDE = 160


@dataclass
class Metadata:
    """tags: those of the main EXIF directory, with nested directories as dictionaries. icc: the color profile. iptc:
    resources of Photoshop. text: PNG's, by keyword. thumbnail: the longer side of the one among the tags, if any.
    chunks: those by which a PNG states its colors, where it has no profile alone; `icc` is then what they mean."""

    tags: dict[int, Any] = field(default_factory=dict)
    icc: bytes | None = None
    dpi: tuple[float, float] | None = None
    xmp: bytes | None = None
    iptc: dict[int, bytes] = field(default_factory=dict)
    comment: bytes | None = None
    text: dict[str, Any] = field(default_factory=dict)
    thumbnail: int | None = None
    chunks: dict[bytes, bytes] = field(default_factory=dict)

    @property
    def orientation(self) -> int:
        """The orientation; 1 if there is none or an invalid one."""
        value = self.tags.get(ORIENTATION, 1)
        return value if value in range(1, 9) else 1

    def has(self) -> list[str]:
        """What is there, in the words of `formats`."""
        there = {
            formats.EXIF: {tag for tag in self.tags if tag != ORIENTATION},
            formats.THUMBNAIL: self.thumbnail,
            formats.XMP: self.xmp,
            formats.IPTC: self.iptc,
            formats.PROFILE: self.icc,
            formats.DPI: self.dpi,
            formats.COMMENT: self.comment,
            formats.TEXT: self.text,
        }
        return [name for name, value in there.items() if value]


def read_metadata(image: Image.Image) -> Metadata:
    """Collect the metadata of an opened image. Call it before the pixels of a TIFF are loaded: Pillow then turns them
    and drops the tag."""
    info = image.info
    exif = image.getexif()
    if image.format == "TIFF":
        tags = getattr(image, "tag_v2", {})
        return of_tiff(exif, info.get("icc_profile"), info.get("dpi") if X_RESOLUTION in tags else None)
    tags = {tag: value for tag, value in exif.items() if tag not in DROPPED}
    text, comment = _texts(image)
    # Of a JPEG that states none, Pillow says 72 dpi.
    stated = image.format not in ("JPEG", "MPO") or bool(info.get("jfif_unit")) or X_RESOLUTION in exif
    packet = info.get("xmp")
    return Metadata(
        _nested(tags, exif),
        info.get("icc_profile"),
        _dpi(info.get("dpi")) if stated else None,
        packet and xmp.without_parts(packet.encode() if isinstance(packet, str) else packet),
        iptc.kept(found) if isinstance(found := info.get("photoshop"), dict) else {},
        comment,
        text,
        _thumbnail(exif),
    )


def of_tiff(exif: Any, icc: bytes | None, dpi: Any) -> Metadata:
    """The metadata of a page, from all of its tags."""
    tags = _nested({tag: value for tag, value in exif.items() if tag in DESCRIPTIVE}, exif)
    if describes_stack(tags.get(DESCRIPTION)):
        del tags[DESCRIPTION]
    words = _bytes(exif.get(IPTC_TAG))
    return Metadata(tags, icc, _dpi(dpi), _bytes(exif.get(XMP_TAG)), {iptc.IPTC: words} if words else {})


def describes_stack(text: Any) -> bool:
    """Whether ImageJ, OME or tifffile says in a page what its whole file is. A page alone is something else."""
    return isinstance(text, str) and (text.startswith(("ImageJ=", '{"shape":')) or "<OME " in text[:4096])


def with_size(metadata: Metadata, height: int, width: int) -> Metadata:
    """Update what holds the image's size in pixels, where it is present, and drop XMP's thumbnails."""
    tags = dict(metadata.tags)
    _update(tags, {WIDTH: width, HEIGHT: height})
    if EXIF_IFD in tags:
        tags[EXIF_IFD] = dict(tags[EXIF_IFD])
        _update(tags[EXIF_IFD], {EXIF_WIDTH: width, EXIF_HEIGHT: height})
    packet = metadata.xmp and xmp.without_thumbnails(xmp.with_size(metadata.xmp, height, width))
    return replace(metadata, tags=tags, xmp=packet)


def in_srgb(metadata: Metadata) -> Metadata:
    """The metadata of an image whose colors have been made sRGB, which needs no profile."""
    tags = dict(metadata.tags)
    if EXIF_IFD in tags:
        tags[EXIF_IFD] = dict(tags[EXIF_IFD])
        _update(tags[EXIF_IFD], {COLOR_SPACE: SRGB})
        if INTEROP_IFD in tags[EXIF_IFD]:
            tags[EXIF_IFD][INTEROP_IFD] = dict(tags[EXIF_IFD][INTEROP_IFD])
            _update(tags[EXIF_IFD][INTEROP_IFD], {INTEROP_INDEX: "R98"})
    return replace(metadata, tags=tags, icc=None, chunks={}, xmp=metadata.xmp and xmp.in_srgb(metadata.xmp))


def turned(metadata: Metadata, height: int, width: int) -> Metadata:
    """The metadata of an image whose pixels have been turned upright, and so have this size."""
    tags = {**metadata.tags, ORIENTATION: 1}
    packet = metadata.xmp and xmp.upright(metadata.xmp)
    return with_size(replace(metadata, tags=tags, xmp=packet), height, width)


def _nested(tags: dict[int, Any], exif: Any) -> dict[int, Any]:
    for directory in (EXIF_IFD, GPS_IFD):
        if directory in tags:
            tags[directory] = dict(exif.get_ifd(directory))
    if INTEROP_IFD in tags.get(EXIF_IFD, {}):
        tags[EXIF_IFD][INTEROP_IFD] = dict(exif.get_ifd(INTEROP_IFD))
    return tags


def _thumbnail(exif: Any) -> int | None:
    from PIL import ExifTags

    # A block that is damaged at its end is read without its thumbnail.
    try:
        second = exif.get_ifd(ExifTags.IFD.IFD1)
    except Exception:
        return None
    return THUMBNAIL_SIDE if THUMBNAIL_OFFSET in second else None


def _texts(image: Image.Image) -> tuple[dict[str, Any], bytes | None]:
    """PNG's texts, and the comment, which PNG has as a text."""
    comment = image.info.get("comment")
    if image.format != "PNG":
        return {}, comment.encode() if isinstance(comment, str) else comment
    found = dict(getattr(image, "text", {}))
    text = {key: value for key, value in found.items() if key.lower() not in REPEATED}
    said = text.pop("Comment", None)
    return text, said.encode() if said else None


def _update(tags: dict[int, Any], values: dict[int, Any]) -> None:
    tags.update({tag: value for tag, value in values.items() if tag in tags})


def _bytes(value: Any) -> bytes | None:
    """The bytes of a tag; IPTC is often typed as LONG, in the file's own order, which Pillow reads as numbers."""
    if isinstance(value, tuple) and value and all(isinstance(v, bytes) for v in value):
        return b"".join(value)
    if isinstance(value, tuple) and value and all(isinstance(v, int) for v in value):
        return b"".join(v.to_bytes(1 if max(value) < 256 else 4, "little") for v in value)
    if isinstance(value, int):
        return value.to_bytes(4, "little")
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) and value else None


def _dpi(value: Any) -> tuple[float, float] | None:
    """The resolution; None if it is invalid, such as 0 x 0 or 1/0."""
    try:
        x, y = (float(part) for part in value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return (x, y) if math.isfinite(x) and math.isfinite(y) and min(x, y) > 0 else None
