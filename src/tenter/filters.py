"""Resampling filters: weight as a function of the distance from the sample, in input pixels.

Each is symmetric, zero from its support on, and takes and returns float64 arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Filter(NamedTuple):
    f: Callable[[Floats], Floats]
    support: float


def triangle(x: Floats) -> Floats:
    """Linear interpolation: 1 - |x|."""
    return np.maximum(0.0, 1.0 - np.abs(x))


def cubic(x: Floats, a: float) -> Floats:
    """Keys, Cubic convolution interpolation (1981), with slope parameter a; the factored forms are PyTorch's."""
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x < 1, near, np.where(x < 2, far, 0.0))


def lanczos(x: Floats, lobes: int) -> Floats:
    """The sinc windowed by a sinc of `lobes` times its width (Duchon, 1979)."""
    return np.where(np.abs(x) < lobes, np.sinc(x) * np.sinc(x / lobes), 0.0)


# Cubic's a: PyTorch and OpenCV interpolate with -0.75; with antialias PyTorch follows Pillow, which has -0.5.
LINEAR = Filter(triangle, 1.0)
CUBIC = Filter(lambda x: cubic(x, -0.75), 2.0)
CUBIC_ANTIALIAS = Filter(lambda x: cubic(x, -0.5), 2.0)
LANCZOS3 = Filter(lambda x: lanczos(x, 3), 3.0)
