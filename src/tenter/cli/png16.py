"""Write a 16-bit PNG with its metadata: Pillow would write 8-bit color, and OpenCV no metadata."""

from __future__ import annotations

import struct
import zlib
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.metadata import Metadata, exif_block

COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
UP_FILTER = 2


def write_png16(file: BinaryIO, pixels: npt.NDArray[Any], metadata: Metadata) -> None:
    """Write (H, W) or (H, W, C) uint16 pixels; C is gray+alpha, RGB or RGBA."""
    height, width = pixels.shape[:2]
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    file.write(b"\x89PNG\r\n\x1a\n")
    _chunk(file, b"IHDR", struct.pack(">LLBBBBB", width, height, 16, COLOR_TYPES[channels], 0, 0, 0))
    if metadata.icc:
        _chunk(file, b"iCCP", b"ICC Profile\0\0" + zlib.compress(metadata.icc))
    if metadata.dpi:
        x, y = (round(dots / 0.0254) for dots in metadata.dpi)
        _chunk(file, b"pHYs", struct.pack(">LLB", x, y, 1))
    if metadata.tags:
        _chunk(file, b"eXIf", exif_block(metadata).removeprefix(b"Exif\0\0"))
    _chunk(file, b"IDAT", zlib.compress(_filtered(pixels, height)))
    _chunk(file, b"IEND", b"")


def _filtered(pixels: npt.NDArray[Any], height: int) -> bytes:
    """Apply PNG's filter "up": each row as its difference from the row above. It needs no loop over pixels."""
    rows = np.frombuffer(pixels.astype(">u2").tobytes(), np.uint8).reshape(height, -1)
    stored = np.empty((height, rows.shape[1] + 1), np.uint8)
    stored[:, 0] = UP_FILTER
    stored[0, 1:] = rows[0]
    stored[1:, 1:] = rows[1:] - rows[:-1]
    return stored.tobytes()


def _chunk(file: BinaryIO, name: bytes, content: bytes) -> None:
    file.write(struct.pack(">L", len(content)) + name + content + struct.pack(">L", zlib.crc32(name + content)))
