"""Images as floats that are scaled to 0..1 and normalized: (x / 255 - mean) / std of 8-bit ones, by the kernel that
resizes them where it stores its rows."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from tenter import _native


@lru_cache(maxsize=16)
def native(mean: tuple[float, ...], std: tuple[float, ...]) -> bytes:
    """Mean, std and 1 / std of every channel, as the core reads them: 1 / std as a sum of two float32, or zeros if a
    quotient by these differs for an 8-bit value (native/kernels/normalize.hpp)."""
    m, s = np.asarray(mean, np.float32), np.asarray(std, np.float32)
    x = np.arange(256, dtype=np.float32)[:, None] / np.float32(255) - m
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / s
        rest = (1 / s.astype(np.float64) - inverse).astype(np.float32)
        product = (x.astype(np.float64) * inverse + x * rest).astype(np.float32)  # the last sum is fused
        exact = (product == x / s).all(0)
    return np.stack([m, s, np.where(exact, inverse, 0), np.where(exact, rest, 0)], 1).astype(np.float32).tobytes()


def applies(x: Any, dtype: torch.dtype | None, mean: Any) -> bool:
    """Whether the core makes such floats of images like x: of bytes, and of float32 that are normalized."""
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return False
    if not isinstance(x, torch.Tensor):
        return x.dtype == np.uint8 or (x.dtype == np.float32 and mean is not None)
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    return x.dtype == torch.uint8 or (x.dtype == torch.float32 and mean is not None)


def resized(x: Any, size: tuple[int, int], axes: tuple[int, int], each: bytes, *rules: Any) -> torch.Tensor | None:
    """The normalized result of a call of `resize` like an earlier one; None if there was none. rules: mode, antialias,
    like and box."""
    shape = list(x.shape)
    shape[axes[0]], shape[axes[1]] = size
    made, out, channel = _room(x, shape)
    args = ("resize", x, size, None, axes, *rules, None, None, 0)  # those after x are resize_arguments.Arguments
    return made if _native.normalized_call(each, channel, out, *args) is out else None


def of_pixels(y: Any, each: bytes) -> torch.Tensor | None:
    """A result, normalized; None if the core does not read it."""
    made, out, channel = _room(y, y.shape)
    return made if _native.normalized(each, channel, out, y) is out else None


def _room(x: Any, shape: Sequence[int]) -> tuple[torch.Tensor, Any, int]:
    """A tensor (..., C, H, W), the same memory as x's library has it and with the dims of x, and its dim of
    channels."""
    if isinstance(x, torch.Tensor):
        made = torch.empty(shape, dtype=torch.float32, device="cpu")
        return made, made, made.ndim - 3
    made = torch.empty((*shape[2:], *shape[:2]) if len(shape) == 3 else (1, *shape), dtype=torch.float32, device="cpu")
    if len(shape) == 2:
        return made, made.numpy()[0], -1
    return made, made.numpy().transpose(1, 2, 0), 2
