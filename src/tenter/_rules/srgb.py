"""Conversion between sRGB values (IEC 61966-2-1) and linear light."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from tenter._arrays.types import Array


@cache
def table(dtype: str) -> NDArray[np.float32]:
    """Returns the linear light of every value of a dtype. Computing a power for each pixel would take longer than
    everything else."""
    levels = np.iinfo(dtype).max
    return decoded(np.arange(levels + 1) / levels).astype(np.float32)


def decoded(srgb: Array) -> Array:
    v = np.abs(srgb)
    light: Array = np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)
    signed: Array = np.copysign(light, srgb)
    return signed


def encoded(light: Array) -> Array:
    v = np.abs(light)
    srgb: Array = np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1 / 2.4) - 0.055)
    signed: Array = np.copysign(srgb, light)
    return signed
