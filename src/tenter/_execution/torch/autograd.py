"""The operators' gradients: every operation is linear, its gradient the adjoint operator and its tangent itself."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from tenter._arrays import torch_private
from tenter._arrays.torch_tensors import dtype_name
from tenter._execution.torch import schema
from tenter._execution.torch.operators import refusing
from tenter._execution.torch.schema import LIBRARY
from tenter._rules.axis_rule import user_filters
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec

# A linear operator of a tensor, and of offsets where it has some.
Linear = Callable[[Tensor, Tensor | None], Tensor]


class _Linear(torch.autograd.Function):
    """`forth` is its own tangent, `back` its gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: Tensor | None, forth: Linear, back: Linear) -> Tensor:
        ctx.save_for_backward(offsets)
        ctx.save_for_forward(offsets)
        ctx.forth, ctx.back = forth, back
        with torch_private.recording(), torch_private.below_autograd():
            return forth(x, offsets)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.back(grads[0], *ctx.saved_tensors), None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return ctx.forth(tangents[0], *ctx.saved_tensors)  # type: ignore[no-any-return]


_apply = torch_private.apply_of(_Linear)


def _records(x: Tensor) -> bool:
    wants_grad = x.requires_grad and torch.is_grad_enabled()
    return wants_grad or torch_private.functorch_active() or torch_private.forward_mode()


def _linear(x: Tensor, offsets: Tensor | None, forth: Linear, back: Linear) -> Tensor:
    if torch_private.functorch_active():
        with torch_private.single_level():
            return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]
    return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]


def _pair(op: Operator, spec: Spec, shape: Any) -> tuple[Tensor | None, Linear, Linear]:
    """The offsets, the operation and its adjoint. shape: the operation's input's."""
    kept = user_filters(spec.rules) if isinstance(spec, Resize) else ()

    def forward(x: Tensor, offsets: Tensor | None, kept: Any = kept) -> Tensor:
        return schema.forward(op)(x, *_with(spec, offsets).operands())

    def adjoint(g: Tensor, offsets: Tensor | None, kept: Any = kept) -> Tensor:
        return schema.adjoint(op)(g, *_with(spec, offsets).adjoint_operands(shape))

    return spec.offsets if isinstance(spec, RepeatCounts) else None, forward, adjoint


def _with(spec: Spec, offsets: Tensor | None) -> Spec:
    return spec._replace(offsets=offsets) if isinstance(spec, RepeatCounts) else spec


def _forward(op: Operator, x: Tensor, *operands: Any) -> Tensor:
    if not _records(x):
        with torch_private.below_autograd():
            return schema.forward(op)(x, *operands)
    offsets, forward, adjoint = _pair(op, op.read(x.shape, dtype_name(x), *operands), x.shape)
    return _linear(x, offsets, forward, adjoint)


def _adjoint(op: Operator, g: Tensor, *operands: Any) -> Tensor:
    if not _records(g):
        with torch_private.below_autograd():
            return schema.adjoint(op)(g, *operands)
    offsets, forward, adjoint = _pair(op, *op.read_adjoint(g.shape, dtype_name(g), *operands))
    return _linear(g, offsets, adjoint, forward)


for _op in OPERATORS.values():
    LIBRARY.impl(_op.name, refusing(_op.name, partial(_forward, _op)), "Autograd")
    LIBRARY.impl(f"{_op.name}_adjoint", refusing(f"{_op.name}_adjoint", partial(_adjoint, _op)), "Autograd")
for _name in ("offsets", "total"):
    LIBRARY.impl(_name, torch.library.fallthrough_kernel, "Autograd")
