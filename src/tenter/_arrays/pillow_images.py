"""Pillow's images as arrays and back. Pillow is never imported here: whoever has an image has imported it."""

import sys
from typing import Any

import numpy as np

from tenter._arrays.types import Array

# Modes whose numbers are palette indices, or black and white. Their means have no meaning.
LABELS = ("1", "P", "PA")
ALPHA = ("LA", "RGBA", "PA")
# np.asarray shows a and b as the bytes of signed numbers, whose order is not theirs. Pillow averages them 128 higher.
SIGNED = {"LAB": np.array([0, 128, 128], np.uint8)}


#: What a decoder can shrink a JPEG by; and by how much a filter still has to shrink then, as a decoder averages less
#: evenly (tests/test_cli_draft.py).
REDUCTIONS, LEFT = (8, 4, 2), 4


def is_image(x: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(x, module.Image)


def reduction(stored: tuple[int, int], factor: Any, left: int = LEFT, even: bool = True) -> int:
    """By how much a decoder may shrink an image of a stored height and width which is shrunk by `factor`. even: only
    where that divides both sides, as else the last pixel stands for fewer ones and gets too much weight."""
    fits = (by for by in REDUCTIONS if not even or stored[0] % by == stored[1] % by == 0)
    return next((by for by in fits if factor >= left * by), 1)


def drafted(image: Any, factor: Any) -> tuple[Any, int]:
    """A JPEG that is not decoded yet, decoded smaller if `factor` allows it, and by how much; else the image and 1. The
    image that was given stays as it is."""
    by = reduction((image.height, image.width), factor)
    if by == 1 or image.format != "JPEG" or not getattr(image, "tile", None) or not getattr(image, "fp", None):
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
    pixels = np.asarray(image)
    return shown(pixels.astype(pixels.dtype.newbyteorder("="), copy=False), image)


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
