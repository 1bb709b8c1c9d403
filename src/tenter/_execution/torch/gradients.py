"""Gradients of plain tensors: one autograd Function, whose backward runs the transposed maps."""

from typing import Any

import torch

from tenter import _native
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import recorded as recorded_array
from tenter._arrays.torch_tensors import dtype_name, plain, recorded
from tenter._execution.torch import dispatch, functions
from tenter._execution.torch.run import run
from tenter._plans.plan import Plan, adjoint, plan_adjoint
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec

# Of gradients of one plan.
MOST_LAYOUTS = 4


class _Run(torch.autograd.Function):
    """Its ctx has the plan. The core runs what takes no Python, forward and backward."""

    forward = staticmethod(_native.forward)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        plan, g = ctx.plan, grads[0]
        try:
            check(g, plan.shape_out, plan.itemsize)
            if plain(g):
                transposed = adjoint(plan, g)
                x = again(g, transposed)
                _remember(plan, g, transposed)
            else:
                x = _record_adjoint(g, plan)
            return (x if x.shape == plan.shape_in else x.reshape(plan.shape_in)), None
        except Refusal as refusal:
            raise error(refusal, "backward", grad=g) from None


functions.in_place_of_backward(_Run, _native.backward)
_native.set_up_function(run, _Run.backward)
recorded_run = functions.apply_of(_Run)


def check(g: torch.Tensor, shape: tuple[int, ...], itemsize: int) -> None:
    """A caller by hand may pass any gradient."""
    if g.shape != shape or g.itemsize != itemsize:
        refuse(ValueError, "grad", f"shape {shape}, as the result had", f"{dtype_name(g)}{list(g.shape)}")


def _remember(plan: Plan, g: torch.Tensor, transposed: Plan) -> None:
    key = _native.adjoint_key(g) if plan.shape == plan.shape_in else None
    if key is not None:
        if len(plan.adjoints) >= MOST_LAYOUTS:
            plan.adjoints.clear()
        plan.adjoints[key] = transposed


def again(x: torch.Tensor, plan: Plan) -> torch.Tensor:
    if x.requires_grad and torch.is_grad_enabled():
        return recorded_run(x, plan)  # type: ignore[no-any-return]
    return run(x, plan)


execute = again


def execute_adjoint(g: torch.Tensor, spec: Spec, shape: tuple[int, ...]) -> torch.Tensor:
    if recorded(g) or (isinstance(spec, RepeatCounts) and recorded_array(spec.offsets)):
        return dispatch.call_adjoint(g, spec, shape)
    return execute(g, plan_adjoint(g, spec, shape))


def _record_adjoint(g: torch.Tensor, plan: Plan) -> torch.Tensor:
    """The gradient of a gradient that goes through the dispatcher."""
    if plan.transposed:
        return dispatch.call(g, plan.spec)
    return dispatch.call_adjoint(g, plan.spec, plan.shape)
