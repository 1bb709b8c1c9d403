"""Where each output position lies in the input: every coordinate rule, and nothing else.

Positions are in input pixels, pixel `i` covering [i, i + 1) with its centre at i + 0.5. `scale` is the size ratio that the
user gave (output / input), None where only sizes are known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def step(n_in: int, n_out: int, scale: float | None, align_corners: bool) -> float:
    """Distance in the input between neighbouring outputs; PyTorch's area_pixel_compute_scale."""
    if align_corners:
        return (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
    return n_in / n_out if scale is None else 1.0 / scale


def sample_index(n_in: int, n_out: int, scale: float | None, align_corners: bool) -> Floats:
    """The input index, with fraction, that interpolation samples; index i is the centre of pixel i."""
    o = np.arange(n_out, dtype=np.float64)
    s = step(n_in, n_out, scale, align_corners)
    return o * s if align_corners else (o + 0.5) * s - 0.5


def filter_centre(n_in: int, n_out: int, scale: float | None, align_corners: bool) -> Floats:
    """The centre of an antialiasing filter. PyTorch centres it on pixel areas also under align_corners, with that step."""
    return (np.arange(n_out, dtype=np.float64) + 0.5) * step(n_in, n_out, scale, align_corners)


def nearest_index(n_in: int, n_out: int, scale: float | None, exact: bool, rank: int) -> Ints:
    """The input pixel that PyTorch's nearest kinds copy, in its float32 arithmetic, bit for bit.

    `nearest` takes the pixel at the output pixel's corner (OpenCV's INTER_NEAREST), `nearest-exact` at its centre
    (Pillow, scikit-image). Of images, rank 2, PyTorch's `nearest` ignores a given scale where sizes are equal or double.
    """
    o = np.arange(n_out)
    if rank == 2 and not exact and n_out in (n_in, 2 * n_in):
        return o // (n_out // n_in)
    s = np.float32(n_in) / np.float32(n_out) if scale is None else np.float32(1.0 / scale)
    at = (o.astype(np.float32) + np.float32(0.5 if exact else 0.0)) * s
    return np.minimum(np.floor(at).astype(np.int64), n_in - 1)


def used_scale(kind: str, n_in: int, n_out: int, scale: float | None, antialias: bool) -> float | None:
    """The scale that coordinates follow: PyTorch's linear kinds, and every filter with antialias, leave an axis alone that
    keeps its length, whatever scale was given."""
    return None if n_in == n_out and (kind == "linear" or antialias) else scale


def area_bounds(n_in: int, n_out: int) -> tuple[Ints, Ints]:
    """First and last + 1 input pixel that each output's area touches; PyTorch's adaptive average pooling."""
    o = np.arange(n_out, dtype=np.int64)
    return o * n_in // n_out, -(-(o + 1) * n_in // n_out)
