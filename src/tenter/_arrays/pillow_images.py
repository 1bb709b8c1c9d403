"""Pillow's images as arrays and back. Pillow is never imported here: who has an image has imported it."""

import sys
from typing import Any

import numpy as np

from tenter._arrays.types import Array

# Modes whose numbers are steps of a palette, or black and white: means of them are none.
LABELS = ("1", "P", "PA")
ALPHA = ("LA", "RGBA", "PA")


def is_image(x: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(x, module.Image)


def array_of(image: Any) -> Array:
    """The pixels: (H, W) or (H, W, C)."""
    return np.asarray(image)


def image_of(pixels: Array, like: Any) -> Any:
    """An image of the mode and the palette of another."""
    module = sys.modules["PIL.Image"]
    if like.mode == "1":
        return module.fromarray(pixels)
    height, width = pixels.shape[:2]
    made = module.frombytes(like.mode, (width, height), pixels.tobytes())
    made.info = dict(like.info)
    if like.palette is not None:
        made.putpalette(like.getpalette(like.palette.mode), like.palette.mode)
    return made
