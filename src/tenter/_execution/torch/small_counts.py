"""repeat_interleave of plain tensors with counts in a tensor, without a plan; see `counted.py`."""

import math
from typing import Any

import torch

from tenter._arrays import blocks, torch_private, torch_tensors
from tenter._arrays.arguments import error
from tenter._arrays.dtypes import DTYPES, NUMBERS
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_private import PLAIN, dispatch_keys
from tenter._arrays.torch_tensors import TORCH_DTYPES, holds, plain, recorded
from tenter._execution.counted import NAMES, SMALL, SMALL_EACH, agrees, repeat_scalars
from tenter._execution.torch import dispatch
from tenter._execution.torch.gradients import execute
from tenter._execution.torch.run import in_block
from tenter._kernels.cpu import ACCUMULATE
from tenter._kernels.passes import WIDE
from tenter._native import Counts
from tenter._plans.plan import plan_adjoint
from tenter._specs.repeat import RepeatCounts

COUNTS = {TORCH_DTYPES[name]: NUMBERS[name] for name in NAMES}
SUMS = {
    TORCH_DTYPES[name]: (NUMBERS[name], ACCUMULATE[DTYPES[name].sums])
    for name in ("float32", "float64", "float16", "bfloat16")
}


def repeat_counts(
    x: torch.Tensor, counts: torch.Tensor, dim: int | None, output_size: int | None
) -> torch.Tensor | None:
    if not plain(x) or dispatch_keys(counts) != PLAIN or torch_tensors.device(x) is not None:
        return None
    shape, n_values, number = x.shape, x.numel(), COUNTS.get(counts.dtype)
    needs_grad = x.requires_grad and torch.is_grad_enabled()
    if n_values > SMALL:
        scalars = dim is None or (len(shape) == 1 and type(dim) is int and dim in (0, -1))
        return _repeat_scalars(x, counts, output_size) if scalars and number is not None and not needs_grad else None
    if type(dim) is not int or number is None or not n_values or not -len(shape) <= dim < len(shape):
        return None
    n = shape[dim]
    if counts.shape != (n,) or not x.is_contiguous():
        return None
    size, (step,) = counts.itemsize, counts.stride()
    # As `holds`, in place: this is a large part of a small call.
    if (
        x.untyped_storage().nbytes() < (x.storage_offset() + n_values) * x.itemsize
        or counts.untyped_storage().nbytes() < (counts.storage_offset() + (n - 1) * step + 1) * size
    ):
        return None
    known = Counts(counts.data_ptr(), number, step * size, n)
    total = known.total
    if not 0 < total <= n * SMALL_EACH or not agrees(output_size, total):
        return None
    if not needs_grad:
        return _repeated(x, known, total, dim, shape)
    if x.dtype not in SUMS:
        return None
    result: torch.Tensor = _repeat(x, (known, total, dim, shape))
    return result


def _repeat_scalars(x: torch.Tensor, counts: torch.Tensor, output_size: int | None) -> torch.Tensor | None:
    n, itemsize = x.numel(), x.itemsize
    if counts.shape != (n,) or not (x.is_contiguous() and counts.is_contiguous()):
        return None
    if not (holds(x, n * itemsize) and holds(counts, n * counts.itemsize)):
        return None

    def allocate(total: int) -> tuple[torch.Tensor, int, bool]:
        held = blocks.block(total * itemsize)
        if held is None:
            y = x.new_empty(total)
            return y, y.data_ptr(), False
        return in_block(held, x.dtype, (total,)), held.address, blocks.past_caches(held, total * itemsize)

    found: torch.Tensor | None = repeat_scalars(counts.numpy(), x.data_ptr(), itemsize, output_size, allocate)
    return found


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
        simple = not g.requires_grad and plain(g) and g.is_contiguous() and g.numel() == n_values
        if not simple or not holds(g, n_values * g.itemsize):
            return _adjoint(g, RepeatCounts(ctx.offsets, dim, total), tuple(shape)), None
        x = g.new_empty(*shape)
        number, sums = SUMS[g.dtype]
        known.sum(g.data_ptr(), x.data_ptr(), number, sums, g.itemsize, outer, inner, inner >= WIDE)
        return x, None


_repeat = torch_private.apply_of(_Repeat)


def _adjoint(g: torch.Tensor, spec: RepeatCounts, shape: tuple[int, ...]) -> torch.Tensor:
    try:
        if recorded(g):
            return dispatch.call_adjoint(g, spec, shape)
        return execute(g, plan_adjoint(g, spec, shape))
    except Refusal as refusal:
        raise error(refusal, "backward", grad=g) from None
