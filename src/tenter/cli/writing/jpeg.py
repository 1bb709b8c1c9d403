"""Write JPEG files, quantized, subsampled and ordered as the source was."""

from __future__ import annotations

from typing import Any, BinaryIO

from tenter.cli.kept import iptc
from tenter.cli.kept.exif import MOST, exif_block
from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.encoding import Encoding
from tenter.cli.writing.pillow import image_of

#: of pictures that were not JPEG, and their subsampling: none, as it would halve the color resolution
QUALITY, SUBSAMPLING = 95, "4:4:4"
LAYERS = {"gray": 1, "RGB": 3, "CMYK": 4}


def write(file: BinaryIO, picture: Picture, origin: Origin, encoding: Encoding) -> None:
    """Write one picture. What `encoding` leaves open is as in `origin`, if that was a JPEG, or the default."""
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
    # Tables are made for the colors of their file.
    if encoding.quality is None and origin.tables and origin.layers == LAYERS[picture.kind]:
        options["qtables"] = origin.tables
    else:
        options["quality"] = encoding.quality or QUALITY
    if picture.kind == "RGB":
        kept = origin.subsampling if origin.subsampling >= 0 else SUBSAMPLING
        options["subsampling"] = encoding.subsampling or kept
    image.save(file, "JPEG", **options)
