"""Which tensors take the short way: memory in, memory out, nothing of PyTorch's in between."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.compiler import is_compiling

from tenter import _native
from tenter.frontends.torch.private import (
    PLAIN,
    PLAIN_CUDA,
    PLAIN_INFERENCE,
    autocast,
    dispatch_keys,
    dispatch_modes,
    forward_mode,
    function_modes,
    functorch_active,
    tracing,
)

KINDS = (torch.Tensor, torch.nn.Parameter)


def bare(x: torch.Tensor) -> bool:
    """Is x a strided CPU or CUDA tensor with nothing about it, and no compiler, transform, mode or tracer following?"""
    return not (
        is_compiling()
        or ((keys := dispatch_keys(x)) != PLAIN and keys != PLAIN_INFERENCE and keys not in PLAIN_CUDA)
        or functorch_active()
        or dispatch_modes()
        or tracing()
    )


def plain(x: torch.Tensor) -> bool:
    """Is all there is to a call on x to read its memory, write a result's and record a gradient?"""
    # Not by way of bare: this runs on every call.
    return not (
        is_compiling()
        or ((keys := dispatch_keys(x)) != PLAIN and keys != PLAIN_INFERENCE and (keys not in PLAIN_CUDA or autocast()))
        or functorch_active()
        or dispatch_modes()
        or tracing()
        or function_modes()
        or forward_mode()
    )


def recorded(x: torch.Tensor) -> bool:
    """Is x for the dispatcher?"""
    return type(x) not in KINDS or not plain(x)


def holds(x: torch.Tensor, extent: int) -> bool:
    """Has x's storage, which others may shrink, that many bytes from x's first element on?"""
    return x.untyped_storage().nbytes() >= x.storage_offset() * x.itemsize + extent or not extent


def extent(x: torch.Tensor) -> int:
    """Bytes from x's first element to its last."""
    return (sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1) * x.itemsize if x.numel() else 0


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Dims of a (batch, channels, spatial...) tensor's result from slowest to fastest: channels last where PyTorch says
    that images and volumes lie so, as code goes on to view what it got. Its is_channels_last_strides."""
    n = len(shape)
    as_they_are = tuple(range(n))
    if n not in (4, 5) or 0 in shape or strides[1] == 0:
        return as_they_are
    least = 0
    for d in (1, *range(n - 1, 1, -1), 0):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return as_they_are
        least = strides[d] * shape[d]
    return (0, *range(2, n), 1)


def in_block(
    held: _native.Block, dtype: torch.dtype, shape: Sequence[int], order: tuple[int, ...] | None = None
) -> torch.Tensor:
    """A tensor, and no view of one, in a block's memory; order: its dims from slow to fast."""
    storage = torch.frombuffer(held, dtype=torch.uint8).untyped_storage()
    steps, step = [1] * len(shape), 1
    for d in reversed(order or range(len(shape))):
        steps[d] = step
        step *= shape[d]
    return torch.empty(0, dtype=dtype, device="cpu").set_(storage, 0, shape, steps)
