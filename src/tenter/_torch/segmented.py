"""Segments of ordinary dense CPU tensors, by the core's kernels, with gradients."""

import sys
from typing import Any

import numpy as np
import torch

from tenter._arrays import limits
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_tensors import resolve, stored, traced
from tenter._arrays.types import Array
from tenter._ragged import segmented
from tenter._specs.repeat import RepeatCounts
from tenter._specs.segments import Segments
from tenter._torch import functions, traced_segments
from tenter._torch.gradients import execute_adjoint
from tenter._torch.run import large_empty


class _Pad(torch.autograd.Function):
    """Padding. Its gradient is _Unpad, whose gradient is padding with zeros."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, s: Segments, length: int, value: Any) -> torch.Tensor:
        ctx.s = s
        return _padded(x, s, length, value)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        return _back("unpad", grads[0], ctx.s), None, None, None


class _Unpad(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, s: Segments) -> torch.Tensor:
        ctx.s, ctx.length = s, x.shape[1]
        return _unpadded(x, s)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _back("pad", grads[0], ctx.s, ctx.length, 0), None


class _RepeatPadded(torch.autograd.Function):
    """Repeats and pads. Its gradient unpads the rows and sums by the counts."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, s: Segments, each: Segments, length: int, value: Any) -> torch.Tensor:
        ctx.s, ctx.each, ctx.shape = s, each, x.shape
        return _repeated(x, s, each, length, value)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None]:
        rows = _back("unpad", grads[0], ctx.each)
        spec = RepeatCounts(ctx.s.offsets, 0, ctx.s.total)
        x = execute_adjoint(rows, spec, (ctx.s.n, *ctx.shape[2:]))
        return x.reshape(ctx.shape), None, None, None, None


def _back(function: str, g: torch.Tensor, *args: Any) -> Any:
    """Calls a function of this module on a gradient, or that of `traced_segments` if the gradient is traced."""
    try:
        return getattr(traced_segments if traced(g) else sys.modules[__name__], function)(g, *args)
    except Refusal as refusal:
        raise error(refusal, "backward", grad=g) from None


_record_pad, _record_unpad, _record_repeat = (functions.apply_of(f) for f in (_Pad, _Unpad, _RepeatPadded))


def pad(x: torch.Tensor, s: Segments, length: int, value: Any) -> torch.Tensor:
    if _records(x):
        return _record_pad(x, s, length, value)  # type: ignore[no-any-return]
    return _padded(x, s, length, value)


def unpad(x: torch.Tensor, s: Segments) -> torch.Tensor:
    return _record_unpad(x, s) if _records(x) else _unpadded(x, s)  # type: ignore[no-any-return]


def repeat_padded(x: torch.Tensor, s: Segments, each: Segments, length: int, value: Any) -> torch.Tensor:
    if _records(x):
        return _record_repeat(x, s, each, length, value)  # type: ignore[no-any-return]
    return _repeated(x, s, each, length, value)


def extremes(x: torch.Tensor, s: Segments, dim: int, largest: bool) -> torch.Tensor:
    if not _records(x):
        return segmented.extremes(_contiguous(x), s, dim, largest, False, large_empty)[0]  # type: ignore[no-any-return]
    values, at = segmented.extremes(_contiguous(x.detach()), s, dim, largest, True, large_empty)
    return traced_segments.taken_at(x, dim, torch.from_numpy(at), values)


def _records(x: torch.Tensor) -> bool:
    return x.requires_grad and torch.is_grad_enabled()


def _padded(x: torch.Tensor, s: Segments, length: int, value: Any) -> torch.Tensor:
    return segmented.pad(_contiguous(x), s, length, _element(value, x), large_empty)  # type: ignore[no-any-return]


def _unpadded(x: torch.Tensor, s: Segments) -> torch.Tensor:
    return segmented.unpad(_contiguous(x), s, large_empty)  # type: ignore[no-any-return]


def _repeated(x: torch.Tensor, s: Segments, each: Segments, length: int, value: Any) -> torch.Tensor:
    element = _element(value, x)
    return segmented.repeat_padded(_contiguous(x), s.offsets, length, element, large_empty)  # type: ignore[no-any-return]


def _contiguous(x: torch.Tensor) -> torch.Tensor:
    plain = resolve(stored("x", x))
    if not plain.is_contiguous():
        limits.memory(plain.shape, plain.element_size(), "x as a contiguous copy")
    return plain.contiguous()


def _element(value: Any, x: torch.Tensor) -> Array:
    """Returns a value as the bytes of an element."""
    found: Array = torch.full((1,), value, dtype=x.dtype).view(torch.uint8).numpy()
    return found if found.size else np.zeros(0, np.uint8)
