"""Pillow's images as arrays and back. Pillow is never imported here: whoever has an image has imported it."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tenter._arrays import blocks
from tenter._arrays.types import Array

# Modes whose numbers are palette indices, or black and white. Their means have no meaning.
LABELS = ("1", "P", "PA")
ALPHA = ("LA", "RGBA", "PA")
# np.asarray shows a and b as the bytes of signed numbers, whose order is not theirs. Pillow averages them 128 higher.
SIGNED = {"LAB": np.array([0, 128, 128], np.uint8)}


#: What a decoder can shrink a JPEG by; and by how much a filter still has to shrink then, as a decoder averages less
#: evenly: 4 where a result is to be close to that of a full decode, 2 where a call asks for speed, as other programs do
#: (tests/cli/test_cli_draft.py, tests/image/test_drafted_images.py).
REDUCTIONS, LEFT = (8, 4, 2), {"close": 4, "fast": 2}
#: Bytes that are copied at a time: four times as many leave the caches, and take six times as long. The size from which
#: on the C library returns memory to the system with each copy, and np.asarray takes up to four times as long.
BAND, LARGE = 1 << 20, 1 << 25


def is_image(x: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(x, module.Image)


def reduction(stored: tuple[int, int], factor: Any, decoding: str) -> int:
    """By how much a decoder may shrink an image of a stored height and width which is shrunk by `factor`. A close
    result needs a reduction that divides both sides: else the last pixel averages some that the image does not have."""
    any_sides = decoding == "fast"
    fits = (by for by in REDUCTIONS if any_sides or stored[0] % by == stored[1] % by == 0)
    return next((by for by in fits if factor >= LEFT[decoding] * by), 1)


def drafted(image: Any, factor: Any) -> tuple[Any, int]:
    """A JPEG that is not decoded yet, decoded smaller if `factor` allows it, and by how much; else the image and 1. The
    image that was given stays as it is. MPO is a JPEG with others after it."""
    by = reduction((image.height, image.width), factor, "fast")
    first = by > 1 and image.format in ("JPEG", "MPO") and image.tell() == 0
    if not first or not getattr(image, "tile", None) or not getattr(image, "fp", None):
        return image, 1
    position = image.fp.tell()
    try:
        again = sys.modules["PIL.Image"].open(image.fp, formats=("JPEG",))
        if again.size != image.size:  # by a draft of the user's
            return image, 1
        again.draft(None, (again.width // by, again.height // by))
        again.load()
    finally:
        image.fp.seek(position)
    return again, by


def array_of(image: Any) -> Array:
    """Returns the pixels to average: (H, W) or (H, W, C), in native byte order."""
    large = image.width * image.height * len(image.getbands()) > LARGE
    pixels = copied(image, lambda shape, dtype: blocks.empty(shape, dtype)[0]) if large else np.asarray(image)
    return shown(pixels.astype(pixels.dtype.newbyteorder("="), copy=False), image)


def copied(image: Any, empty: Callable[[Any, Any], Array], dtype: Any = None) -> Array:
    """Returns np.asarray(image), which takes its memory three times over, a band of rows at a time. empty: makes the
    array of a shape and dtype. dtype: Pillow's by default."""
    first = np.asarray(image.crop((0, 0, image.width, 1)))
    pixels = empty((image.height, *first.shape[1:]), np.dtype(dtype or first.dtype))
    rows = max(1, BAND // (first.nbytes or 1))
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        pixels[top:bottom] = np.asarray(image.crop((0, top, image.width, bottom)))
    return pixels


def shown(pixels: Array, like: Any) -> Array:
    """Returns pixels of `array_of` as np.asarray shows those of an image; and the other way round."""
    return pixels ^ SIGNED[like.mode] if like.mode in SIGNED else pixels


def image_of(pixels: Array, like: Any) -> Any:
    """Returns an image with the mode and palette of `like`, of pixels like those of `array_of`."""
    module = sys.modules["PIL.Image"]
    pixels = shown(pixels, like)
    if like.mode == "I;16B":
        pixels = pixels.astype(">u2")
    if like.mode == "1":
        return module.fromarray(pixels)
    height, width = pixels.shape[:2]
    made = module.frombytes(like.mode, (width, height), pixels.tobytes())
    made.info = dict(like.info)
    if like.palette is not None:
        made.putpalette(like.getpalette(like.palette.mode), like.palette.mode)
    return made
