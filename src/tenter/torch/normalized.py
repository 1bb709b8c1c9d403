"""Images as floats that are scaled to 0..1 and normalized: (x / 255 - mean) / std of 8-bit ones, by the kernel that
resizes them where it stores its rows."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from tenter import _native
from tenter._arrays.errors import refuse
from tenter._arrays.torch_tensors import bare
from tenter._specs.resize_arguments import Arguments
from tenter._torch.run import large_empty


class Call(NamedTuple):
    """A call of `resize`: x, and its arguments in the order of resize_arguments.Arguments, up to the last one that
    transforms give."""

    x: Any
    size: tuple[int, int]
    scale: None
    axes: tuple[int, int]
    mode: str
    antialias: bool
    like: str | None
    box: list[tuple[Any, Any]] | None


FLOATS = torch.empty(0, dtype=torch.float32, device="cpu")
REST = Arguments()[len(Call._fields) - 1 :]  # the others' defaults
Numbers = tuple[float, ...] | None
Numerators: TypeAlias = npt.NDArray[np.float32]


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
def native(mean: Numbers, std: Numbers, channels: int, of_bytes: bool) -> bytes:
    """Mean, std and 1 / std of every channel, as the core reads them (native/kernels/normalize.hpp).

    of_bytes: whether images are of 8-bit values, else of float32
    """
    means, stds = (np.array(each, np.float32) for each in of_channels(mean, std, channels))
    with np.errstate(all="ignore"):
        each = [(m, s, *_reciprocal(s, _numerators(m, s, of_bytes))) for m, s in zip(means, stds)]
    return np.array(each, np.float32).tobytes()


def _reciprocal(std: np.float32, numerators: Numerators | None) -> tuple[np.float32, np.float32]:
    """Two float32 whose sum is 1 / std, by which the core finds these quotients as a division rounds them; zeros if it
    must divide. The second is above 0, so that quotients of infinities and of -0 are right too."""
    if numerators is None:
        return np.float32(0), np.float32(0)
    inverse = np.float32(1) / std
    for _ in range(4):
        rest = np.float32(1 / np.float64(std) - inverse)
        if rest > 0:
            product = (numerators.astype(np.float64) * inverse + numerators * rest).astype(np.float32)  # fused there
            if (product == numerators / std).all():
                return inverse, rest
        inverse = np.nextafter(inverse, np.float32(0))
    return np.float32(0), np.float32(0)


def _numerators(mean: np.float32, std: np.float32, of_bytes: bool) -> Numerators | None:
    """The numerators whose quotients the core may round in another way than a division; None if these are too many.

    Of floats, what the core rounds differs from the quotient by less than 2^-44 of it. That matters only for quotients
    so close to halfway between two floats: 2^k X = M Y + r, where X and Y are the mantissas of 24 bits, M is odd and
    has 25 bits, and |r| < 32. r is not 0. Exponents do not matter, as nothing underflows: x - mean is 0 or at least
    2^-45.
    """
    if of_bytes:
        every: Numerators = np.arange(256, dtype=np.float32) / np.float32(255) - mean
        return every
    if not (2**-20 <= abs(mean) <= 2**20 and 2**-20 <= std <= 2**20):
        return None
    y = int(math.frexp(std)[0] * 2**24)
    low = y & -y  # r is an odd multiple of it, as 2^k is an even one
    odd = y // low
    found: list[int] = []
    for k in (24, 25):
        inverse = pow(2, -k, odd)
        for r in (r for r in range(-31, 32) if r % (2 * low) == low):
            found.extend(range(2**23 + (r * inverse - 2**23) % odd, 2**24, odd))
    return np.array(found, np.float32)


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
    x = of.x
    if isinstance(x, torch.Tensor):
        made = _native.cached_call_into(
            None, (native(mean, std, x.shape[-3], x.itemsize == 1), x.ndim - 3), "resize", *of, *REST
        )
        return made if isinstance(made, torch.Tensor) else None
    y, out, dim = _room(x, (*of.size, *x.shape[2:]))
    how = native(mean, std, y.shape[0], x.itemsize == 1), dim
    return y if _native.cached_call_into(out, how, "resize", *of, *REST) is out else None


def of_pixels(y: Any, mean: Numbers, std: Numbers) -> torch.Tensor | None:
    """A result, normalized; None if the core does not read it."""
    made, out, dim = _room(y, y.shape)
    how = native(mean, std, made.shape[-3], y.itemsize == 1), dim
    return made if _native.normalized(out, how, y) is out else None


def _room(x: Any, shape: Sequence[int]) -> tuple[torch.Tensor, Any, int]:
    """Memory for a result: as a tensor (..., C, H, W), and as an array of x's library with the dims of x; and the dim
    of channels."""
    if isinstance(x, torch.Tensor):
        if bare(x):
            made = large_empty(FLOATS, tuple(shape))[0]
        else:  # a tracer's tensors have no memory
            made = torch.empty(shape, dtype=torch.float32, device="cpu")
        return made, made, made.ndim - 3
    made = large_empty(FLOATS, (*shape[2:], *shape[:2]) if len(shape) == 3 else (1, *shape))[0]
    if len(shape) == 2:
        return made, made.numpy()[0], -1
    return made, made.numpy().transpose(1, 2, 0), 2
