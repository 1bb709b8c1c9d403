"""Crops as torchvision's RandomResizedCrop draws them, and the picture of which they are parts."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np


class Crop(NamedTuple):
    top: int
    bottom: int
    left: int
    right: int
    flip: bool


def crop(rng: np.random.Generator, height: int, width: int) -> Crop:
    """8 % to all of the area, aspects of 3/4 to 4/3, every other one flipped."""
    flip = bool(rng.random() < 0.5)
    for _ in range(10):
        area = height * width * rng.uniform(0.08, 1.0)
        aspect = math.exp(rng.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
            return Crop(top, top + h, left, left + w, flip)
    return Crop(0, height, 0, width, flip)


@cache
def photograph(height: int, width: int, channels: int = 3) -> Any:
    """Bytes: slow changes of color, and grain."""
    rng = np.random.default_rng(7)
    y, x = np.linspace(0, 9, height)[:, None], np.linspace(0, 12, width)
    grain = rng.integers(-20, 21, (height, width), np.int8)
    made = np.empty((height, width, channels), np.uint8)
    for c in range(channels):
        made[..., c] = np.clip(110 + 70 * np.sin(x * (1 + 0.3 * c) + y) * np.cos(y - c) + grain, 1, 255)
    return made
