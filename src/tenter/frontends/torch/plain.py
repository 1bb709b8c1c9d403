"""Which tensors take the short way: memory in, memory out, nothing of PyTorch's in between."""

from __future__ import annotations

import torch
from torch.autograd import forward_ad
from torch.compiler import is_compiling

from tenter.frontends.torch.private import (
    PLAIN,
    PLAIN_INFERENCE,
    dispatch_keys,
    dispatch_modes,
    function_modes,
    functorch_active,
    tracing,
)

KINDS = (torch.Tensor, torch.nn.Parameter)


def bare(x: torch.Tensor) -> bool:
    """Is x a strided CPU tensor with nothing about it, and no compiler, transform, mode or tracer following?"""
    return not (
        is_compiling()
        or ((keys := dispatch_keys(x)) != PLAIN and keys != PLAIN_INFERENCE)
        or functorch_active()
        or dispatch_modes()
        or tracing()
    )


def plain(x: torch.Tensor) -> bool:
    """Is all there is to a call on x to read its memory, write a result's and record a gradient?"""
    # Not by way of bare: this runs on every call.
    return not (
        is_compiling()
        or ((keys := dispatch_keys(x)) != PLAIN and keys != PLAIN_INFERENCE)
        or functorch_active()
        or dispatch_modes()
        or tracing()
        or function_modes()
        or forward_ad._current_level >= 0
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
