"""Gradients of calls that the core planned (native/recorded_calls.cpp): one autograd Function, whose backward it plans
too, of resized axes where gradients lie as in an earlier one."""

from typing import Any

import torch

from tenter import _native
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_tensors import plain
from tenter._execution.torch import dispatch, functions
from tenter._execution.torch.gradients import again, check
from tenter._execution.torch.run import run
from tenter._plans import cache, families
from tenter._plans.plan import plan, plan_adjoint
from tenter._specs.repeat import Repeat
from tenter._specs.spec import Shape, Spec


class _New(torch.autograd.Function):
    """Its ctx has the call, and its operands where a backward is compiled, which cannot call the core. The core runs
    what takes no Python, forward and backward."""

    forward = staticmethod(_native.recorded_forward)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        if not hasattr(ctx, "operands"):
            _prepare(ctx)
        return _adjoint(ctx, grads[0], *ctx.operands), None


def _prepare(ctx: Any) -> None:
    ctx.operands = ctx.call.operands


functions.in_place_of_backward(_New, _native.recorded_backward)
functions.before_compiled_backward(_New, _prepare)
recorded_new, backward = functions.apply_of(_New), _New.backward


def forward(x: torch.Tensor, operands: Any) -> torch.Tensor:
    _, family, shape, shape_in, *sizes = operands
    spec, turned = _specification(family, shape, sizes)
    x = x.flip(turned) if turned else x
    if family is not None and family.resized is not None:
        return family.resized(x, spec, family.value)
    return run(x, plan(x.reshape(shape), spec, shape_in))


def _specification(family: families.Family | None, shape: Shape, sizes: Any) -> tuple[Spec, tuple[int, ...]]:
    """shape: of the call's input. Beside it the axes to reverse before."""
    if family is None:
        return Repeat(*sizes), ()
    size, *others = sizes
    return families.specification(family, size, shape, *others)


def _adjoint(
    ctx: Any, g: torch.Tensor, itemsize: int, family: families.Family | None, shape: tuple[int, ...],
    shape_in: tuple[int, ...], *sizes: Any,
) -> torch.Tensor:  # fmt: skip
    """shape: of the call's input as it is repeated or resized."""
    spec, turned = _specification(family, shape, sizes)
    try:
        check(g, spec.shape_out(shape), itemsize)
        if not plain(g):
            x = dispatch.call_adjoint(g, spec, shape)
            x = x.flip(turned) if turned else x
            return x if shape == shape_in else x.reshape(shape_in)
        if family is not None and families.remember_gradients(g, ctx.call, family, spec):
            by_core: torch.Tensor = _native.recorded_backward(ctx, g)[0]
            return by_core
        made = plan_adjoint(g, spec, shape)
        x = again(g, made)
    except Refusal as refusal:
        raise error(refusal, "backward", grad=g) from None
    if turned:
        return x.flip(turned)
    if shape != shape_in:
        return x.reshape(shape_in)
    key = _native.adjoint_plan_key(g, ctx.call)
    if key is not None:
        cache.store(key, made)
    return x
