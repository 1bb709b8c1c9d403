"""Write a TIFF of any depth and kind with its metadata. Pillow encodes the tags."""

from __future__ import annotations

import zlib
from typing import Any, BinaryIO

import numpy.typing as npt

from tenter.cli.metadata import Metadata
from tenter.cli.refusal import Refusal

GRAY, RGB, CMYK = 1, 2, 5
PHOTOMETRIC = {"gray": GRAY, "gray+alpha": GRAY, "RGB": RGB, "RGBA": RGB, "CMYK": CMYK}
SAMPLE_FORMAT = {"u": 1, "i": 2, "f": 3}
DEFLATE, HORIZONTAL_DIFFERENCE, PLAIN_ALPHA, INCH = 8, 2, 2, 2


def write_tiff(file: BinaryIO, pixels: npt.NDArray[Any], kind: str, metadata: Metadata) -> None:
    """Write (H, W) or (H, W, C) pixels as one strip, compressed by deflate."""
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    height, width = pixels.shape[:2]
    stack = pixels.reshape(height, width, -1)
    channels = stack.shape[2]
    strip = zlib.compress(_differences(stack).astype(stack.dtype.newbyteorder("<")).tobytes())
    if len(strip) >= 2**32 - 2**20:
        raise Refusal("the picture is too large for a TIFF file (4 GB)")
    tags = ImageFileDirectory_v2()
    for tag, value in metadata.tags.items():
        tags[tag] = value
    if metadata.icc:
        tags[34675] = metadata.icc
    if metadata.dpi:
        tags[282], tags[283] = metadata.dpi
        tags[296] = INCH
    tags[256], tags[257] = width, height
    tags[258] = (8 * stack.dtype.itemsize,) * channels
    tags[259] = DEFLATE
    tags[262] = PHOTOMETRIC[kind]
    tags[273] = 0  # Pillow adds the length of the directory, which the strip follows
    tags[277] = channels
    tags[278] = height
    tags[279] = len(strip)
    tags[284] = 1
    if stack.dtype.kind != "f":
        tags[317] = HORIZONTAL_DIFFERENCE
    if kind in ("gray+alpha", "RGBA"):
        tags[338] = (PLAIN_ALPHA,)
    tags[339] = (SAMPLE_FORMAT[stack.dtype.kind],) * channels
    tags.save(file)
    file.write(strip)


def _differences(stack: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Horizontal differencing (TIFF predictor 2) of integers, modulo their range. It improves compression."""
    if stack.dtype.kind == "f":
        return stack
    stored: npt.NDArray[Any] = stack.copy()
    stored[:, 1:] -= stack[:, :-1]
    return stored
