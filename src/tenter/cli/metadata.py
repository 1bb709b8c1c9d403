"""The metadata of a picture file: EXIF tags, the color profile, dots per inch."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenter.cli.orientation import ORIENTATION

if TYPE_CHECKING:
    from PIL import Image

EXIF_IFD, GPS_IFD, INTEROP_IFD = 0x8769, 0x8825, 0xA005
# ImageWidth and ImageLength of the main directory; PixelXDimension and PixelYDimension of the EXIF directory
WIDTH, HEIGHT, EXIF_WIDTH, EXIF_HEIGHT = 256, 257, 40962, 40963
# The tags of a TIFF file that describe the picture: ImageDescription, Make, Model, Software, DateTime, Artist,
# HostComputer, white point, primaries, Copyright, EXIF, GPS, and the five XP* texts of Windows. Most others describe
# the file's layout, or (GeoTIFF, ImageJ) would be wrong for a resized picture.
DESCRIPTIVE = {270, 271, 272, ORIENTATION, 305, 306, 315, 316, 318, 319, 33432, EXIF_IFD, GPS_IFD, *range(40091, 40096)}
# The resolution is kept as `dpi`. Offsets of a thumbnail or of other directories would be invalid.
DROPPED = {273, 279, 282, 283, 296, 330, 513, 514, 34675}


@dataclass
class Metadata:
    """The tags of the main EXIF directory, with nested directories as dictionaries; the color profile; the dpi."""

    tags: dict[int, Any] = field(default_factory=dict)
    icc: bytes | None = None
    dpi: tuple[float, float] | None = None

    @property
    def orientation(self) -> int:
        """The orientation; 1 if there is none or an invalid one."""
        value = self.tags.get(ORIENTATION, 1)
        return value if value in range(1, 9) else 1


def read_metadata(image: Image.Image) -> Metadata:
    """Collect the metadata. Call it before the pixels are loaded: Pillow then turns TIFF pixels and drops the tag."""
    exif = image.getexif()
    tags = {tag: value for tag, value in exif.items() if tag not in DROPPED}
    if image.format == "TIFF":
        tags = {tag: value for tag, value in tags.items() if tag in DESCRIPTIVE}
    for directory in (EXIF_IFD, GPS_IFD):
        if directory in tags:
            tags[directory] = dict(exif.get_ifd(directory))
    if INTEROP_IFD in tags.get(EXIF_IFD, {}):
        tags[EXIF_IFD][INTEROP_IFD] = dict(exif.get_ifd(INTEROP_IFD))
    return Metadata(
        tags,
        image.info.get("icc_profile"),
        _dpi(image.info.get("dpi") if image.format != "TIFF" or 282 in getattr(image, "tag_v2", {}) else None),
    )


def with_size(metadata: Metadata, height: int, width: int) -> Metadata:
    """Update the tags that hold the picture's size in pixels, where they are present."""
    tags = dict(metadata.tags)
    _update(tags, {WIDTH: width, HEIGHT: height})
    if EXIF_IFD in tags:
        tags[EXIF_IFD] = dict(tags[EXIF_IFD])
        _update(tags[EXIF_IFD], {EXIF_WIDTH: width, EXIF_HEIGHT: height})
    return Metadata(tags, metadata.icc, metadata.dpi)


def exif_block(metadata: Metadata) -> bytes:
    """The tags as the EXIF block of JPEG and PNG files; empty if there are none."""
    from PIL import Image

    if not metadata.tags:
        return b""
    exif = Image.Exif()
    for tag, value in metadata.tags.items():
        exif[tag] = value
    return exif.tobytes()


def _update(tags: dict[int, Any], values: dict[int, int]) -> None:
    tags.update({tag: value for tag, value in values.items() if tag in tags})


def _dpi(value: Any) -> tuple[float, float] | None:
    """The resolution; None if it is invalid, such as 0 x 0 or 1/0."""
    try:
        x, y = (float(part) for part in value)
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return (x, y) if math.isfinite(x) and math.isfinite(y) and min(x, y) > 0 else None
