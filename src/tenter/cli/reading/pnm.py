"""Read binary PNM files of more than 8 bits, whose header Pillow reads: samples stand in the file as in memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.reading.tiff import native
from tenter.cli.refusal import Refusal

if TYPE_CHECKING:
    from PIL import Image

FULL = 65535
CHUNK = 1 << 18  # samples scaled at a time


def read(image: Image.Image, file: BinaryIO) -> tuple[npt.NDArray[Any], str] | None:
    """The stored pixels and their kind; None for 8 bits and for numbers written as text."""
    decoder, _, start, args = tile(image)
    if image.mode == "F":
        dtype, most = "<f4" if args[0] == "F;32F" else ">f4", FULL
    elif args == "I;16B":
        dtype, most = ">u2", FULL
    elif decoder == "ppm" and args[1] > 255:
        dtype, most = ">u2", args[1]
    else:
        return None
    shape = (image.height, image.width, *([3] if image.mode == "RGB" else []))
    file.seek(start)
    samples = np.fromfile(file, dtype, math.prod(shape))
    if samples.size < math.prod(shape):
        raise Refusal("is truncated or damaged: its pixels are not all in the file")
    samples = native(samples)
    if most < FULL:
        _stretch(samples, most)
    pixels = samples.reshape(shape)
    # PFM begins with the lowest row.
    return (pixels[::-1] if image.mode == "F" else pixels), "RGB" if image.mode == "RGB" else "gray"


def tile(image: Any) -> tuple[str, Any, int, Any]:
    """The name of Pillow's decoder, the box it decodes, the offset of its first byte, and its arguments."""
    found: tuple[str, Any, int, Any] = image.tile[0]
    return found


def _stretch(samples: npt.NDArray[Any], most: int) -> None:
    """Make the largest value that the header allows 65535, in place."""
    for start in range(0, samples.size, CHUNK):
        part = np.minimum(samples[start : start + CHUNK], most).astype(np.uint32)
        samples[start : start + CHUNK] = (part * FULL + most // 2) // most
