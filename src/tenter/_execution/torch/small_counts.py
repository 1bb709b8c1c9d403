"""repeat_interleave of plain tensors with counts in a tensor, without a plan: the core reads both."""

from typing import Any

import torch
from torch.compiler import is_compiling

from tenter import _native
from tenter._arrays import torch_tensors
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._arrays.limits import machine_memory
from tenter._arrays.thread_count import thread_count
from tenter._arrays.torch_private import PLAIN, dispatch_keys
from tenter._arrays.torch_tensors import address, plain, short, to_numpy
from tenter._execution import numpy_executor
from tenter._execution.counted import repeat_scalars
from tenter._execution.torch import functions
from tenter._execution.torch.gradients import execute_adjoint
from tenter._execution.torch.run import large_empty
from tenter._specs.repeat import RepeatCounts


def repeat_counts(
    x: torch.Tensor, counts: torch.Tensor, dim: int | None, output_size: int | None
) -> torch.Tensor | None:
    if is_compiling():
        return None
    scalars = dim is None or (x.ndim == 1 and type(dim) is int and dim in (0, -1))
    if not scalars or not plain(x) or dispatch_keys(counts) != PLAIN:
        return None
    if x.requires_grad and torch.is_grad_enabled():
        return None
    n, itemsize = x.numel(), x.itemsize
    if (
        torch_tensors.device(x) is not None
        or counts.shape != (n,)
        or not (x.is_contiguous() and counts.is_contiguous())
    ):
        return None
    if short(x) or short(counts):
        return None

    def allocate(total: int) -> tuple[torch.Tensor, int, bool]:
        return _large_empty(x, (total,))

    try:
        array = to_numpy(counts)
    except TypeError:  # of a dtype that NumPy lacks
        return None
    found: torch.Tensor | None = repeat_scalars(array, address(x), itemsize, output_size, allocate)
    return found


def _large_empty(x: Any, shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> tuple[Any, int, bool]:
    empty: Any = large_empty if isinstance(x, torch.Tensor) else numpy_executor.large_empty
    return empty(x, shape, order)  # type: ignore[no-any-return]


class _Repeat(torch.autograd.Function):
    """Of a tensor, by counts that the core has read. Its ctx has these, `how`, and where Python's backward is called
    or compiled, which cannot call the core, the adjoint's operands."""

    forward = staticmethod(_native.repeated)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        if not hasattr(ctx, "operands"):
            _prepare(ctx)
        *operands, shape = ctx.operands
        return _adjoint(grads[0], RepeatCounts(*operands), shape), None


def _prepare(ctx: Any) -> None:
    ctx.operands = _native.repeated_operands(ctx.how)


functions.in_place_of_backward(_Repeat, _native.repeated_backward)
functions.before_compiled_backward(_Repeat, _prepare)
_native.set_up_counts(_large_empty, thread_count, machine_memory())
_native.set_up_gradients(functions.apply_of(_Repeat), _Repeat.backward)


def _adjoint(g: torch.Tensor, spec: RepeatCounts, shape: tuple[int, ...]) -> torch.Tensor:
    try:
        return execute_adjoint(g, spec, shape)
    except Refusal as refusal:
        raise error(refusal, "backward", grad=g) from None
