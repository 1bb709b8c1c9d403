"""Gradients of plain tensors: one autograd Function, whose backward runs the transposed maps."""

from typing import Any

import torch

from tenter._arrays import torch_private
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.torch_tensors import dtype_name, plain, resolve, unservable
from tenter._execution.torch import dispatch
from tenter._execution.torch.run import run
from tenter._plans.plan import Plan, adjoint, same_maps


class _Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, plan: Plan) -> torch.Tensor:
        ctx.plan = plan
        return run(x, plan)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        plan, g = ctx.plan, grads[0]
        try:
            if g.shape != plan.shape_out or g.itemsize != plan.itemsize:  # a caller by hand may pass any gradient
                got = f"{dtype_name(g)}{list(g.shape)}"
                refuse(ValueError, "grad", f"shape {plan.shape_out}, as the result had", got)
            x = again(g, adjoint(plan, g)) if plain(g) else _record_adjoint(g, plan)
            return (x if x.shape == plan.shape_in else x.reshape(plan.shape_in)), None
        except Refusal as refusal:
            raise error(refusal, "backward", grad=g) from None

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor) -> torch.Tensor:
        """Of a map applied by itself; the dispatcher serves operations with tangents."""
        return execute(tangents[0], same_maps(ctx.plan, tangents[0]))


_run = torch_private.apply_of(_Run)


def again(x: torch.Tensor, plan: Plan) -> torch.Tensor:
    if x.requires_grad and torch.is_grad_enabled():
        return _run(x, plan)  # type: ignore[no-any-return]
    return run(x, plan)


def execute(x: torch.Tensor, plan: Plan) -> torch.Tensor:
    """The same, for tensors with tangents too."""
    if torch_private.forward_mode():
        return _run(x, plan)  # type: ignore[no-any-return]
    return again(x, plan)


def _record_adjoint(g: torch.Tensor, plan: Plan) -> torch.Tensor:
    """The gradient of a gradient that goes through the dispatcher."""
    if plan.spec is not None and plan.transposed:
        return dispatch.call(g, plan.spec)
    if plan.spec is not None:
        return dispatch.call_adjoint(g, plan.spec, plan.shape)
    g = resolve(g)
    if found := unservable(g):  # of a map applied by itself, which has no operator
        refuse(TypeError, "grad", "a plain tensor", found)
    return execute(g, adjoint(plan, g))
