"""Where each output position lies in the input: every coordinate rule, and nothing else.

Positions are in input pixels, pixel `i` covering [i, i + 1) with its centre at i + 0.5. `scale` is the size ratio that
the user gave (output / input), None where only sizes are known.
"""

from __future__ import annotations

from typing import Any

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
    at = np.arange(n_out, dtype=np.float64)  # changed in place, as axes may be long
    s = step(n_in, n_out, scale, align_corners)
    if align_corners:
        at *= s
        return at
    at += 0.5
    at *= s
    at -= 0.5
    return at


def filter_centre(n_in: int, n_out: int, scale: float | None, align_corners: bool) -> Floats:
    """The centre of an antialiasing filter: of the pixel's area, as PyTorch has it, also under align_corners."""
    return (np.arange(n_out, dtype=np.float64) + 0.5) * step(n_in, n_out, scale, align_corners)


def nearest_index(n_in: int, n_out: int, scale: float | None, exact: bool, rule: str) -> Ints:
    """The input pixel that PyTorch's nearest kinds copy, bit for bit.

    `nearest` takes the pixel at the output pixel's corner (OpenCV's INTER_NEAREST), `nearest-exact` at its centre
    (Pillow, scikit-image). `rule` is one that nearest_rule names: they differ where a position falls on a pixel's edge.
    """
    o = np.arange(n_out)
    if rule in ("direct", "cuda", "cuda image"):
        keeps = not exact and n_out in (n_in, 2 * n_in) if rule == "direct" else rule == "cuda image" and n_out == n_in
        if keeps:  # whatever scale was given
            return np.asarray(o // (n_out // n_in), np.int64)
        at = (o.astype(np.float32) + np.float32(0.5 if exact else 0.0)) * _ratio(n_in, n_out, scale, np.float32)
    else:
        real = np.float64 if rule == "separable64" else np.float32
        s = _ratio(n_in, n_out, scale, real)
        if exact:  # centre * s - 0.5 in one rounding, as compiled with fused multiply-add; the 0.5 comes back in double
            centre = real((o + 0.5).astype(real).astype(np.float64) * np.float64(s) - 0.5)
            at = (np.maximum(centre, real(0)).astype(np.float64) + 0.5).astype(np.float32)
        else:
            at = (o.astype(real) * s).astype(np.float32)
    index: Ints = np.minimum(np.floor(at).astype(np.int64), n_in - 1)
    return index


def _ratio(n_in: int, n_out: int, scale: float | None, real: type[Any]) -> Any:
    return real(n_in) / real(n_out) if scale is None else real(1.0 / scale)


def rounded_index(
    n_in: int, n_out: int, scale: float | None, box: tuple[float, float] | None, align: str, arithmetic: str
) -> Ints:
    """The input pixel that nearest kinds of other libraries take, with each one's rounding of positions, before it is
    cut to the axis."""
    o = np.arange(n_out)
    if arithmetic == "pillow":  # Pillow's NEAREST, OpenCV's INTER_NEAREST_EXACT: step after step, from a float32 box
        begin, end = (np.float32(edge) for edge in box or (0, n_in))
        ratio = float(end - begin) / max(n_out, 1)
        at = np.add.accumulate(np.concatenate([[float(begin) + ratio * 0.5], np.full(max(n_out - 1, 0), ratio)]))
        return np.asarray(np.floor(at[:n_out]), np.int64)
    if arithmetic == "opencv":
        at = o * (1.0 / (scale if scale is not None else n_out / n_in))
    elif arithmetic == "scipy" and align == "corners":
        at = o * ((n_in - 1) / (n_out - 1) if n_out > 1 else 1.0) + 0.5
    elif arithmetic == "scipy":
        at = ((o + 0.5) * (n_in / max(n_out, 1)) - 0.5) + 0.5
    else:  # jax, in float32
        at = (o.astype(np.float32) + np.float32(0.5)) * np.float32(n_in) / np.float32(n_out)
    return np.asarray(np.floor(at), np.int64)


def nearest_rule(
    dtype: str, shape: tuple[int, ...], sizes: tuple[int, ...], channels_last: bool, on_device: bool = False
) -> str:
    """Which of its kernels PyTorch takes: each rounds positions in its own way.

    `direct` for channels-last images and volumes of more than 3 channels and for images of at most 128 output rows and
    columns together, else `separable`, which computes in the input's precision (`separable64` for float64). On CUDA
    devices `cuda`, and `cuda image`, which leaves an axis alone that keeps its length.
    """
    rank = len(sizes)
    if on_device:
        return "cuda image" if rank == 2 else "cuda"
    if rank > 1 and channels_last and shape[1] > 3:
        return "direct"
    if rank == 2 and sum(sizes) <= 128:
        return "direct"
    return "separable64" if dtype == "float64" else "separable"


def used_scale(
    kind: str, n_in: int, n_out: int, scale: float | None, antialias: bool, on_device: bool = False
) -> float | None:
    """The scale that coordinates follow.

    PyTorch's linear kinds, and every filter with antialias, leave an axis alone that keeps its length, whatever scale
    was given; its CUDA kernels do not.
    """
    if on_device:
        return scale
    return None if n_in == n_out and (kind == "linear" or antialias) else scale


def area_bounds(n_in: int, n_out: int) -> tuple[Ints, Ints]:
    """First and last + 1 input pixel that each output's area touches; PyTorch's adaptive average pooling."""
    o = np.arange(n_out, dtype=np.int64)
    return o * n_in // n_out, -(-(o + 1) * n_in // n_out)
