"""Runs plans on tensors, without the dispatcher and without gradients."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.compiler import is_compiling

from tenter import _native
from tenter._arrays import blocks
from tenter._arrays.errors import refuse
from tenter._arrays.layout import strides_in
from tenter._arrays.torch_tensors import TYPES, address, bare, dtype_name, extent, to_numpy
from tenter._plans import reference
from tenter._plans.plan import CallPlan
from tenter._torch import device


def writable(out: Any) -> torch.Tensor | None:
    if is_compiling() or type(out) not in TYPES or out.requires_grad:
        return None
    # The core declines elements that share memory.
    return out if not out.is_inference() or torch.is_inference_mode_enabled() else None


def write(x: torch.Tensor, plan: CallPlan, out: torch.Tensor) -> bool:
    """Writes the result to `out`. False if it must be copied there."""
    source, target = address(x), address(out, "out")
    in_memory = out if plan.order is None else out.permute(plan.order)
    if plan.steps is None or not (in_memory.is_contiguous() and disjoint(x, out)):
        return False
    if plan.device is not None:
        if out.device != x.device or target % 16:  # kernels write whole vectors
            return False
        device.run(x, plan, out)
    else:
        plan.steps.run_whole(source, target, blocks.streams(plan.n_bytes))
    wrote(out)
    return True


def wrote(out: torch.Tensor) -> None:
    if not out.is_inference():
        torch.autograd.graph.increment_version(out)


def disjoint(x: torch.Tensor, out: torch.Tensor) -> bool:
    """True if the memory of x and `out` does not overlap and neither is under a transform."""
    source, target = address(x), address(out, "out")
    before = source + extent(x) <= target or target + extent(out) <= source
    return before and bare(x) and bare(out)


def run(x: torch.Tensor, plan: CallPlan) -> torch.Tensor:
    source = address(x)
    if plan.device is not None:
        return device.run(x, plan)
    steps = plan.steps
    if steps is None:
        return _through_reference(x, plan)
    y, target, past_caches = large_empty(x, plan.shape_out, plan.order)
    steps.run(source, target, past_caches)
    return y


def run_read(x: torch.Tensor, plan: CallPlan) -> torch.Tensor:
    # Few plans for the host come here, so that these are checked again.
    return run(x, plan) if plan.device is None else device.run(x, plan)


def _through_reference(x: torch.Tensor, plan: CallPlan) -> torch.Tensor:
    """Runs the reference kernel in a dtype that NumPy has. NumPy lacks bfloat16 and complex32."""
    wide = {torch.bfloat16: torch.float64, torch.complex32: torch.complex128}.get(x.dtype, x.dtype)
    try:
        values = to_numpy(x.to(wide))
    except TypeError:
        refuse(TypeError, "x", "numbers to take sums of", dtype_name(x))
    return torch.from_numpy(reference.run(values.reshape(plan.shape), plan.maps)).to(x.dtype)


def large_empty(
    x: torch.Tensor, shape: tuple[int, ...], order: tuple[int, ...] | None = None
) -> tuple[torch.Tensor, int, bool]:
    """Allocates a result of x's dtype. Returns the tensor, its address, and whether streaming stores should write it.
    order: the dims from slowest to fastest in memory."""
    n_bytes = math.prod(shape) * x.itemsize
    held = blocks.block(n_bytes)
    if held is not None:
        return in_block(held, x.dtype, shape, order), held.address, blocks.past_caches(held, n_bytes)
    try:
        y = torch.empty_permuted(shape, order or tuple(range(len(shape))), dtype=x.dtype, device="cpu")
    except RuntimeError as failed:  # PyTorch's allocator raises it
        raise MemoryError(f"result: no memory for shape {shape} of {x.dtype}") from failed
    return y, address(y), False


def in_block(
    held: _native.Block, dtype: torch.dtype, shape: Sequence[int], order: tuple[int, ...] | None = None
) -> torch.Tensor:
    """Returns a tensor in a block's memory that is not a view. order: the dims from slowest to fastest."""
    storage = torch.frombuffer(held, dtype=torch.uint8).untyped_storage()
    strides = strides_in(order or range(len(shape)), shape)
    return torch.empty(0, dtype=dtype, device="cpu").set_(storage, 0, shape, strides)
