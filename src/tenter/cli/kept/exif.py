"""EXIF blocks, as JPEG, PNG, WebP and AVIF files have them, with a thumbnail of the new pixels."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.kept.metadata import Metadata

COMPRESSION, JPEG, OFFSET, LENGTH = 259, 6, 513, 514
MOST = 65533 - 6  # of a JPEG segment
TIFF_HEAD = 8


def exif_block(metadata: Metadata, pixels: npt.NDArray[Any] | None = None, most: int | None = None) -> bytes:
    """The tags as a block; empty if there are none. If the file had a thumbnail and the new `pixels` (gray or RGB) are
    given, it has one of them, if the block is no longer than `most` bytes with it."""
    from PIL import Image

    if not metadata.tags:
        return b""
    exif = Image.Exif()
    for tag, value in metadata.tags.items():
        exif[tag] = value
    block = exif.tobytes()
    if metadata.thumbnail is None or pixels is None:
        return block
    whole = _with_second(block, _thumbnail(pixels, metadata.thumbnail))
    return block if most is not None and len(whole) > most else whole


def _thumbnail(pixels: npt.NDArray[Any], side: int) -> bytes:
    """A JPEG file of an image whose longer side is at most `side`."""
    from PIL import Image

    small = pixels if pixels.dtype == np.uint8 else (pixels >> 8).astype(np.uint8)
    image = Image.fromarray(np.ascontiguousarray(small))
    image.thumbnail((side, side), Image.Resampling.BOX, reducing_gap=2.0)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


def _with_second(block: bytes, thumbnail: bytes) -> bytes:
    """A block with a second directory, which names the thumbnail after it, as the first directory names the second."""
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    head, tiff = block[:6], bytearray(block[6:])
    order = "<" if tiff[:2] == b"II" else ">"
    tiff += b"\0" * (len(tiff) % 2)
    entries = struct.unpack_from(order + "H", tiff, TIFF_HEAD)[0]
    struct.pack_into(order + "L", tiff, TIFF_HEAD + 2 + 12 * entries, len(tiff))
    second = ImageFileDirectory_v2(ifh=bytes(tiff[:TIFF_HEAD]))
    second[COMPRESSION], second[OFFSET], second[LENGTH] = JPEG, 0, len(thumbnail)
    second.tagtype[OFFSET] = second.tagtype[LENGTH] = 4  # LONG, so that its value does not change its length
    second[OFFSET] = len(tiff) + len(second.tobytes(len(tiff)))
    return head + bytes(tiff) + second.tobytes(len(tiff)) + thumbnail
