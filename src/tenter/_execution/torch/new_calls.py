"""Gradients of calls that the core planned (native/recorded_calls.cpp): one autograd Function, whose backward it plans
too where gradients lie as in an earlier one."""

from typing import Any

import torch

from tenter import _native
from tenter._arrays import torch_private
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_tensors import plain
from tenter._execution import outside
from tenter._execution.torch import dispatch
from tenter._execution.torch.gradients import MOST_LAYOUTS, again, check
from tenter._execution.torch.run import run
from tenter._plans import families
from tenter._plans.plan import plan, plan_adjoint
from tenter._specs.resize import Resize


class _New(torch.autograd.Function):
    """Its ctx has the call. The core runs its backward where it takes no Python."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, call: _native.RecordedCall) -> torch.Tensor:
        # Operands too, as a compiled backward cannot call the core.
        ctx.call, ctx.operands, ctx.itemsize = call, call.operands, x.itemsize
        y = _native.run_recorded(x, call)
        if y is None:
            family, _, shape, *_ = ctx.operands
            spec, turned = families.specification(*ctx.operands)
            x = x.flip(turned) if turned else x
            if isinstance(spec, Resize) and family.value is not None:
                return outside.resized(x, spec, family.value)
            y = run(x, plan(x, spec, shape, family))
        return y  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _adjoint(grads[0], ctx.call, ctx.itemsize, *ctx.operands), None


torch_private.in_place_of_backward(_New, _native.recorded_backward)
recorded_new, backward = torch_private.apply_of(_New), _New.backward


def _adjoint(
    g: torch.Tensor, call: _native.RecordedCall, itemsize: int, family: families.Family, size: tuple[int, ...],
    shape: tuple[int, ...], scale: Any, box: Any, channels_last: bool,
) -> torch.Tensor:  # fmt: skip
    spec, turned = families.specification(family, size, shape, scale, box, channels_last)
    try:
        check(g, spec.shape_out(shape), itemsize)
        if not plain(g):
            x = dispatch.call_adjoint(g, spec, shape)
            return x.flip(turned) if turned else x
        made = plan_adjoint(g, spec, shape, family)
        x = again(g, made)
    except Refusal as refusal:
        raise error(refusal, "backward", grad=g) from None
    families.remember_gradients(g, call, family, made.order)
    if turned:
        return x.flip(turned)
    key = _native.adjoint_key(g)
    if key is not None:
        if len(call.adjoints) >= MOST_LAYOUTS:
            call.adjoints.clear()
        call.adjoints[key] = made
    return x
