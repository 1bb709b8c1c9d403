"""Pillow's images as arrays and back. Pillow is never imported here: whoever has an image has imported it."""

import sys
from typing import Any

import numpy as np

from tenter._arrays.types import Array

# Modes whose numbers are palette indices, or black and white. Their means have no meaning.
LABELS = ("1", "P", "PA")
ALPHA = ("LA", "RGBA", "PA")


def is_image(x: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(x, module.Image)


def array_of(image: Any) -> Array:
    """Returns the pixels: (H, W) or (H, W, C)."""
    return np.asarray(image)


def image_of(pixels: Array, like: Any) -> Any:
    """Returns an image with the mode and palette of `like`."""
    module = sys.modules["PIL.Image"]
    if like.mode == "1":
        return module.fromarray(pixels)
    height, width = pixels.shape[:2]
    made = module.frombytes(like.mode, (width, height), pixels.tobytes())
    made.info = dict(like.info)
    if like.palette is not None:
        made.putpalette(like.getpalette(like.palette.mode), like.palette.mode)
    return made
