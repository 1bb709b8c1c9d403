"""Resample the pixels of one picture."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import tenter

ANTIALIASED = ("bilinear", "bicubic", "lanczos")
MODES = ("nearest", "nearest-exact", "bilinear", "bicubic", "lanczos", "area")

Pixels = npt.NDArray[Any]


def resample(pixels: Pixels, size: tuple[int, int], mode: str, antialias: bool, alpha: bool) -> Pixels:
    """Resample (H, W) or (H, W, C) pixels to a new height and width; `alpha` says that the last channel is alpha."""
    stack = pixels[..., None] if pixels.ndim == 2 else pixels
    # nearest kinds mix no pixels, so colours cannot bleed and every value stays as it is
    if alpha and not mode.startswith("nearest"):
        result = _with_alpha(stack, size, mode, antialias)
    else:
        result = _plain(stack, size, mode, antialias)
    return np.ascontiguousarray(result[..., 0] if pixels.ndim == 2 else result)


def _plain(stack: Pixels, size: tuple[int, int], mode: str, antialias: bool) -> Pixels:
    planes = stack.transpose(2, 0, 1)[None]
    result: Pixels = tenter.interpolate(planes, size=size, mode=mode, antialias=antialias)
    channels_last: Pixels = result[0].transpose(1, 2, 0)
    return channels_last


def _with_alpha(stack: Pixels, size: tuple[int, int], mode: str, antialias: bool) -> Pixels:
    """Weight colours by alpha before mixing, so that what cannot be seen does not colour what can."""
    full = float(np.iinfo(stack.dtype).max)
    if np.all(stack[..., -1] == full):
        return _plain(stack, size, mode, antialias)
    weighted = stack.astype(np.float32)
    weighted[..., :-1] *= weighted[..., -1:] / np.float32(full)
    mixed = _plain(weighted, size, mode, antialias)
    alpha = mixed[..., -1:]
    # where the rounded alpha is 0 the colour cannot be seen, and the quotient would be noise
    seen = alpha > 0.5
    colour = np.divide(mixed[..., :-1] * np.float32(full), alpha, out=np.zeros_like(mixed[..., :-1]), where=seen)
    result = np.concatenate((colour, alpha), axis=-1)
    rounded: Pixels = np.clip(np.rint(result), 0, full).astype(stack.dtype)
    return rounded
