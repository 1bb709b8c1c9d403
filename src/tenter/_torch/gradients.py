"""Gradients of ordinary dense tensors: one autograd Function, whose backward applies the transposed maps."""

from typing import Any

import torch

from tenter import _native
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import traced as traced_array
from tenter._arrays.torch_tensors import dtype_name, is_ordinary, traced
from tenter._plans import cache, specializations
from tenter._plans.plan import CallPlan, adjoint, plan, plan_adjoint
from tenter._plans.specializations import Specialization
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.spec import Shape, Spec
from tenter._torch import dispatch, functions
from tenter._torch.run import run


class _Linear(torch.autograd.Function):
    """The autograd Function. The core runs its forward and backward if they need no Python
    (native/calls/recorded_calls.cpp).

    ctx.call: the core's RecordedCall, or the CallPlan of a call that is not cached
    ctx.operands: the CallPlan, or the call's operands; set if Python computes the gradient, or PyTorch compiles the
    backward
    """

    forward = staticmethod(_native.RecordedCall.forward)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        if not hasattr(ctx, "operands"):
            _prepare(ctx)
        try:
            if isinstance(ctx.operands, CallPlan):
                return _adjoint_of_plan(ctx, grads[0], ctx.operands), None
            return _adjoint_of_call(ctx, grads[0], *ctx.operands), None
        except Refusal as refusal:
            raise error(refusal, "backward", grad=grads[0]) from None


def _prepare(ctx: Any) -> None:
    ctx.operands = ctx.call if isinstance(ctx.call, CallPlan) else ctx.call.operands


def forward(x: torch.Tensor, operands: Any) -> torch.Tensor:
    """Runs a forward that the core does not. operands: a CallPlan, or those of a RecordedCall."""
    if isinstance(operands, CallPlan):
        return run(x, operands)
    _, specialization, shape, shape_in, *how = operands
    spec, flipped = _specification(specialization, shape, how)
    x = x.flip(flipped) if flipped else x
    if specialization is not None and specialization.resized is not None:
        return specialization.resized(x, spec, specialization.value)  # type: ignore[no-any-return]
    return run(x, plan(x.reshape(shape), spec, shape_in))


functions.in_place_of_backward(_Linear, _native.RecordedCall.backward)
functions.before_compiled_backward(_Linear, _prepare)
record = functions.apply_of(_Linear)
backward = _Linear.backward


def _specification(specialization: Specialization | None, shape: Shape, how: Any) -> tuple[Spec, tuple[int, ...]]:
    """Returns the specification of a recorded call, and the axes to flip before. shape: the input's."""
    if specialization is not None:
        size, *others = how
        return specializations.specification(specialization, size, shape, *others)
    return (Repeat(*how) if len(how) == 2 else RepeatCounts(*how)), ()


def _adjoint_of_call(
    ctx: Any,
    g: torch.Tensor,
    itemsize: int,
    specialization: Specialization | None,
    shape: Shape,
    shape_in: Shape,
    *how: Any,
) -> torch.Tensor:
    """Returns the gradient of a recorded call's input.

    shape: the shape of the input as it is repeated or resized
    shape_in: the shape of the input that the caller passed
    """
    spec, flipped = _specification(specialization, shape, how)
    _check(g, spec.shape_out(shape), itemsize)
    if not is_ordinary(g):
        x = dispatch.call_adjoint(g, spec, shape)
        x = x.flip(flipped) if flipped else x
        return x if shape == shape_in else x.reshape(shape_in)
    if specialization is not None and specializations.store_gradients(g, ctx.call, specialization, spec):
        result: torch.Tensor = _native.RecordedCall.backward(ctx, g)[0]
        return result
    made = plan_adjoint(g, spec, shape)
    x = execute(g, made)
    if flipped:
        return x.flip(flipped)
    if shape != shape_in:
        return x.reshape(shape_in)
    key = ctx.call.plan_key(g)
    if key is not None:
        cache.store(key, made)
    return x


def _adjoint_of_plan(ctx: Any, g: torch.Tensor, plan: CallPlan) -> torch.Tensor:
    _check(g, plan.shape_out, plan.itemsize)
    if is_ordinary(g):
        made = adjoint(plan, g)
        x = execute(g, made)
        if ctx.call is not plan and plan.shape == plan.shape_in and (key := ctx.call.plan_key(g)) is not None:
            cache.store(key, made)
    elif plan.transposed:
        x = dispatch.call(g, plan.spec)
    else:
        x = dispatch.call_adjoint(g, plan.spec, plan.shape)
    return x if x.shape == plan.shape_in else x.reshape(plan.shape_in)


def _check(g: torch.Tensor, shape: tuple[int, ...], itemsize: int) -> None:
    """Refuses a wrong gradient, which a direct call of backward may pass."""
    if g.shape != shape or g.itemsize != itemsize:
        refuse(ValueError, "grad", f"shape {shape}, as the result had", f"{dtype_name(g)}{list(g.shape)}")


def execute(x: torch.Tensor, plan: CallPlan) -> torch.Tensor:
    if x.requires_grad and torch.is_grad_enabled():
        return record(x, plan)  # type: ignore[no-any-return]
    return run(x, plan)


def execute_adjoint(g: torch.Tensor, spec: Spec, shape: tuple[int, ...]) -> torch.Tensor:
    if traced(g) or (isinstance(spec, RepeatCounts) and traced_array(spec.offsets)):
        return dispatch.call_adjoint(g, spec, shape)
    return execute(g, plan_adjoint(g, spec, shape))
