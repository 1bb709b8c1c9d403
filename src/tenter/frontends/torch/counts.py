"""repeat_interleave of plain tensors with counts in a tensor: the short way for small ones, as a plan for counts that
change from call to call would cost more than the work, and for scalars without a gradient, as running totals of their
counts would take more memory than the result.

Whatever is unusual or wrong goes the long way, which says so.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from tenter import limits, memory, threads
from tenter._native import Counts, Runs
from tenter.frontends import NATIVE_DTYPES, narrow
from tenter.frontends.layout import SMALL, SMALL_EACH
from tenter.frontends.torch import device, private
from tenter.frontends.torch.plain import holds, in_block, plain, recorded
from tenter.frontends.torch.private import PLAIN, dispatch_keys
from tenter.kernels.cpu import ACCUMULATE
from tenter.kernels.passes import WIDE
from tenter.stretch import RepeatCounts

COUNTS = {getattr(torch, name): NATIVE_DTYPES[name] for name in ("int64", "int32", "int16", "int8", "uint8")}
SUMS = {
    getattr(torch, name): (NATIVE_DTYPES[name], ACCUMULATE[sums])
    for name, sums in [("float32", "float32"), ("float64", "float64"), ("float16", "float32"), ("bfloat16", "float32")]
}


def repeat_counted(
    x: torch.Tensor, counts: torch.Tensor, dim: int | None, output_size: int | None
) -> torch.Tensor | None:
    if not plain(x) or dispatch_keys(counts) != PLAIN or device.name(x) is not None:
        return None
    shape, n_values, dtype = x.shape, x.numel(), COUNTS.get(counts.dtype)
    if n_values > SMALL:
        if (dim is not None and (len(shape) != 1 or type(dim) is not int or dim not in (0, -1))) or (
            x.requires_grad and torch.is_grad_enabled()
        ):
            return None
        return _repeat_scalars(x, counts, output_size)
    if type(dim) is not int or dtype is None or not n_values or not -len(shape) <= dim < len(shape):
        return None
    n = shape[dim]
    if counts.shape != (n,) or not x.is_contiguous():
        return None
    size, (step,) = counts.itemsize, counts.stride()
    # As `holds` says, in place: this is a large part of a small call.
    if (
        x.untyped_storage().nbytes() < (x.storage_offset() + n_values) * x.itemsize
        or counts.untyped_storage().nbytes() < (counts.storage_offset() + (n - 1) * step + 1) * size
    ):
        return None
    known = Counts(counts.data_ptr(), dtype, step * size, n)
    total = known.total
    if not 0 < total <= n * SMALL_EACH:
        return None
    if output_size is not None and (type(output_size) is not int or output_size != total):
        return None
    if not x.requires_grad or not torch.is_grad_enabled():
        return _repeated(x, known, total, dim, shape)
    if x.dtype not in SUMS:
        return None
    result: torch.Tensor = _repeat(x, (known, total, dim, shape))
    return result


def _repeat_scalars(x: torch.Tensor, counts: torch.Tensor, output_size: int | None) -> torch.Tensor | None:
    n, size, n_bytes = x.numel(), counts.itemsize, x.itemsize
    if (
        counts.shape != (n,)
        or counts.dtype not in COUNTS
        or n_bytes not in (1, 2, 4, 8)
        or not (x.is_contiguous() and counts.is_contiguous())
        or not (holds(x, n * n_bytes) and holds(counts, n * size))
    ):
        return None
    n_threads = threads.get_num_threads()
    runs = Runs(counts.data_ptr(), size == 4, n, n_threads) if size >= 4 else None
    total = (narrow.total(counts.numpy()) or 0) if runs is None else runs.total
    if total <= 0 or total * n_bytes > limits.machine_memory():
        return None
    if output_size is not None and (type(output_size) is not int or output_size != total):
        return None
    held = memory.block(total * n_bytes)
    if held is None:
        y, past_caches = x.new_empty(total), False
    else:
        y, past_caches = in_block(held, x.dtype, (total,)), memory.past_caches(held, total * n_bytes)
    if runs is None:
        narrow.copy(counts.numpy(), x.data_ptr(), y.data_ptr(), total, n_bytes, past_caches)
    else:
        runs.copy(x.data_ptr(), y.data_ptr(), n_bytes, n_threads, past_caches)
    return y


def _repeated(x: torch.Tensor, known: Counts, total: int, dim: int, shape: torch.Size) -> torch.Tensor:
    # Not by strides: that of a dim of length 1 may be anything.
    if dim == 0:
        y = x.new_empty(total, *shape[1:])
        known.copy(x.data_ptr(), y.data_ptr(), 1, x.numel() // shape[0] * x.itemsize)
    else:
        dim %= len(shape)
        y = x.new_empty(*shape[:dim], total, *shape[dim + 1 :])
        inner = math.prod(shape[dim + 1 :])
        known.copy(x.data_ptr(), y.data_ptr(), x.numel() // (shape[dim] * inner), inner * x.itemsize)
    return y


class _Repeat(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, how: tuple[Counts, int, int, torch.Size]) -> torch.Tensor:
        ctx.how = how  # in one, as each argument of a Function costs
        ctx.offsets = how[0].offsets().copy()  # now, as a compiled backward can neither call it nor read what it holds
        return _repeated(x, *how)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        (g,), (known, total, dim, shape) = grads, ctx.how
        dim %= len(shape)
        outer, inner = math.prod(shape[:dim]), math.prod(shape[dim + 1 :])
        n_values = outer * total * inner
        whole = g.is_contiguous() and g.numel() == n_values and holds(g, n_values * g.itemsize)
        if g.requires_grad or not plain(g) or not whole:
            return _long_way(g, RepeatCounts(ctx.offsets, dim, total), shape), None
        x = g.new_empty(*shape)
        dtype, sums = SUMS[g.dtype]
        known.sum(g.data_ptr(), x.data_ptr(), dtype, sums, g.itemsize, outer, inner, inner >= WIDE)
        return x, None


_repeat = private.apply_of(_Repeat)


def _long_way(g: torch.Tensor, does: RepeatCounts, shape: torch.Size) -> torch.Tensor:
    from tenter import apply, build, check, frontends, limits  # late: they read this package
    from tenter.frontends.torch import library

    try:
        if recorded(g):
            return library.call_adjoint(g, does, tuple(shape))
        maps = build.maps(does, tuple(shape), frontends.dtype_name(g))
        return frontends.of(g).execute(g, apply.adjoint(g, maps, does))
    except limits.Refusal as refusal:
        raise check.error(refusal, "backward", grad=g) from None
