"""The EXIF orientation tag: how the stored pixels are turned to be upright."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

ORIENTATION = 274
#: Orientations that exchange height and width.
SIDEWAYS = (5, 6, 7, 8)


def turn_upright(pixels: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """Turn stored pixels (rows, columns, ...) upright."""
    turned: npt.NDArray[Any] = pixels
    if orientation in (5, 7):
        turned = turned.swapaxes(0, 1)
    if orientation in (6, 8):
        turned = np.rot90(turned, -1 if orientation == 6 else 1)
    if orientation in (3, 4, 7):
        turned = turned[::-1]
    if orientation in (2, 3, 7):
        turned = turned[:, ::-1]
    return turned


def turn_back(pixels: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """Undo `turn_upright`: the two quarter turns are each other's inverse, the other turns are their own."""
    return turn_upright(pixels, {6: 8, 8: 6}.get(orientation, orientation))


def stored_box(
    box: tuple[float, float, float, float], size: tuple[int, int], orientation: int
) -> tuple[float, float, float, float]:
    """The (top, left, bottom, right) in stored pixels of a box in the upright image. `size` is the stored size."""
    top, left, bottom, right = box
    height, width = size
    if orientation in SIDEWAYS:
        top, left, bottom, right = left, top, right, bottom
    if orientation in (3, 4, 6, 7):
        top, bottom = height - bottom, height - top
    if orientation in (2, 3, 7, 8):
        left, right = width - right, width - left
    return top, left, bottom, right
