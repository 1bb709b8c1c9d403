"""Write JPEG files, quantized and subsampled no finer than the source, and ordered as it was."""

from __future__ import annotations

import io
from functools import cache
from typing import Any, BinaryIO

from tenter.cli.kept import iptc
from tenter.cli.kept.exif import MOST, exif_block
from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.encoding import Encoding
from tenter.cli.writing.pillow import image_of

#: By default, and from which quality on colors are as fine as brightness.
QUALITY, FINE = 80, 90
LAYERS = {"gray": 1, "RGB": 3, "CMYK": 4}


def write(file: BinaryIO, picture: Picture, origin: Origin, encoding: Encoding) -> None:
    """Write one image. What `encoding` leaves open is the default, or as in `origin` if that was a coarser JPEG."""
    metadata = picture.metadata
    image = image_of(picture)
    thumbnail = picture.pixels if picture.kind in ("gray", "RGB") else None
    options: dict[str, Any] = {
        "icc_profile": metadata.icc,
        "comment": metadata.comment,
        "exif": exif_block(metadata, thumbnail, MOST),
        "extra": iptc.segments(metadata.iptc),
        "progressive": origin.progressive if encoding.progressive is None else encoding.progressive,
    }
    if metadata.xmp:
        options["xmp"] = metadata.xmp
    if metadata.dpi:
        options["dpi"] = metadata.dpi
    quality = encoding.quality or QUALITY
    subsampling: str | int = "4:2:0" if quality < FINE else "4:4:4"
    # Tables are made for the colors of their file.
    if encoding.quality is None and origin.layers == LAYERS[picture.kind] and _coarser(origin.tables):
        options["qtables"] = origin.tables
        subsampling = origin.subsampling if origin.subsampling >= 0 else subsampling
    else:
        options["quality"] = quality
    if picture.kind == "RGB":
        options["subsampling"] = encoding.subsampling or subsampling
    image.save(file, "JPEG", **options)


def _coarser(tables: dict[int, list[int]] | None) -> bool:
    """Whether steps of brightness are larger than by default: finer ones would keep no more of the source."""
    return tables is not None and sum(tables[0]) > sum(_usual()[0])


@cache
def _usual() -> dict[int, list[int]]:
    """The tables of the default quality."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", quality=QUALITY)
    with Image.open(file) as image:
        found: dict[int, list[int]] = image.quantization
        return found
