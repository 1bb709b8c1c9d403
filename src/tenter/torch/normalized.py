"""Images as floats that are scaled to 0..1 and normalized: (x / 255 - mean) / std of 8-bit ones, by the kernel that
resizes them where it stores its rows."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch

from tenter import _native
from tenter._arrays.errors import refuse


class Call(NamedTuple):
    """A call of `resize`."""

    x: Any
    size: tuple[int, int]
    axes: tuple[int, int]
    mode: str
    antialias: bool
    like: str
    box: list[tuple[Any, Any]] | None


Numbers = tuple[float, ...] | None


def of_channels(mean: Numbers, std: Numbers, channels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """mean and std of every channel: 0 and 1 if they are not given."""
    mean, std = mean or (0.0,), std or (1.0,)
    if len(mean) not in (1, channels):
        many = "1 number, as the image has 1 channel"
        if channels != 1:
            many = f"{channels} numbers, as the image has {channels} channels"
        hint = """ (Pillow's image.convert("RGB") has 3)""" if len(mean) == 3 else ""
        refuse(ValueError, "mean", many + hint, str(len(mean)))
    return mean * (channels // len(mean)), std * (channels // len(std))


@lru_cache(maxsize=16)
def native(mean: Numbers, std: Numbers, channels: int) -> bytes:
    """Mean, std and 1 / std of every channel, as the core reads them: 1 / std as a sum of two float32, or zeros if a
    quotient by these differs for an 8-bit value (native/kernels/normalize.hpp)."""
    m, s = (np.asarray(each, np.float32) for each in of_channels(mean, std, channels))
    x = np.arange(256, dtype=np.float32)[:, None] / np.float32(255) - m
    with np.errstate(all="ignore"):
        inverse = np.float32(1) / s
        rest = (1 / s.astype(np.float64) - inverse).astype(np.float32)
        product = (x.astype(np.float64) * inverse + x * rest).astype(np.float32)  # the last sum is fused
        exact = (product == x / s).all(0)
    return np.stack([m, s, np.where(exact, inverse, 0), np.where(exact, rest, 0)], 1).astype(np.float32).tobytes()


def applies(x: Any, dtype: torch.dtype | None, mean: Numbers) -> bool:
    """Whether the core makes such floats of images like x: of bytes, and of float32 that are normalized."""
    if dtype is not torch.float32 and dtype is not torch.float16 and dtype is not torch.bfloat16:
        return False
    if not isinstance(x, torch.Tensor):
        return x.dtype == np.uint8 or (x.dtype == np.float32 and mean is not None)
    read = x.dtype is torch.uint8 or (x.dtype is torch.float32 and mean is not None)
    return read and x.is_cpu and not torch.compiler.is_compiling()


def resized(of: Call, mean: Numbers, std: Numbers) -> torch.Tensor | None:
    """The normalized result of a call like an earlier one; None if there was none."""
    x, size, axes, mode, antialias, like, box = of
    shape = [*x.shape]
    shape[axes[0]], shape[axes[1]] = size
    y, out, dim = _room(x, shape)
    each = native(mean, std, y.shape[-3])
    # What follows x are resize_arguments.Arguments.
    found = _native.normalized_call(
        each, dim, out, "resize", x, size, None, axes, mode, antialias, like, box, None, None, 0
    )
    return y if found is out else None


def of_pixels(y: Any, mean: Numbers, std: Numbers) -> torch.Tensor | None:
    """A result, normalized; None if the core does not read it."""
    made, out, dim = _room(y, y.shape)
    return made if _native.normalized(native(mean, std, made.shape[-3]), dim, out, y) is out else None


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
