"""Gradients of the registered operators. Every operation is linear: its gradient is the adjoint operator, and its
tangent is the operation."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from tenter._arrays import torch_private
from tenter._arrays.torch_tensors import dtype_name
from tenter._rules.axis_rule import user_filters
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec
from tenter._torch import functions, schema
from tenter._torch.expressed import expressed
from tenter._torch.operators import refusing
from tenter._torch.schema import ASKED, LIBRARY

# A linear operator of a tensor, and of offsets if it has any.
Linear = Callable[[Tensor, Tensor | None], Tensor]


class _Linear(torch.autograd.Function):
    """A linear function: the tangent of `forth` is `forth`, and its gradient is `back`.

    made: returns the result, computed beforehand. Nothing is recorded inside of forward, not even for outer transforms.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, offsets: Tensor | None, made: Callable[[], Tensor], forth: Linear, back: Linear
    ) -> Tensor:
        ctx.save_for_backward(offsets)
        ctx.save_for_forward(offsets)
        ctx.forth, ctx.back = forth, back
        return made()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        return ctx.back(grads[0], *ctx.saved_tensors), None, None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return ctx.forth(tangents[0], *ctx.saved_tensors)  # type: ignore[no-any-return]


_apply = functions.apply_of(_Linear)
_apply_to_one_level = functions.apply_to_one_level(_Linear)


def _records(x: Tensor) -> bool:
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        return False
    wants_grad = x.requires_grad and torch.is_grad_enabled()
    return wants_grad or torch_private.functorch_active() or torch_private.forward_mode()


def _linear(apply: Callable[..., Any], x: Tensor, offsets: Tensor | None, forth: Linear, back: Linear) -> Tensor:
    y = functions.below_autograd(forth, x, offsets)
    return apply(x, offsets, lambda: y, forth, back)  # type: ignore[no-any-return]


# ---- levels of torch.func


def _twice(x: Tensor) -> Tensor:
    def double(x: Tensor, offsets: Tensor | None) -> Tensor:
        return torch.ops.tenter_asked.twice.default(x)  # type: ignore[no-any-return]

    return _linear(_apply_to_one_level, x, None, double, double)


def _recorded_by_levels(forward_mode: bool) -> bool:
    """True if PyTorch still records a Function that is applied to one level at a time."""

    def f(x: Tensor) -> Tensor:
        return torch.ops.tenter_asked.twice.default(x.sin())  # type: ignore[no-any-return]

    x, one = torch.zeros((), device="cpu"), torch.ones((), device="cpu")
    slope, along = torch.func.grad(lambda x: f(x) ** 2), lambda f: torch.func.jvp(f, (x,), (one,))[1]
    first, second = (along(f), along(slope)) if forward_mode else (torch.func.grad(f)(x), torch.func.grad(slope)(x))
    return (float(first), float(second)) == (2, 8)


@cache
def _by_levels(forward_mode: bool) -> bool:
    """Runs the test of `_recorded_by_levels` once, when a transform is active, because PyTorch has then imported all of
    them. Forward mode has its own test: PyTorch needs a second to prepare it."""
    return functions.goes_below and torch_private.unfollowed(
        lambda: torch_private.holds(lambda: _recorded_by_levels(forward_mode))
    )


def _pair(op: Operator, spec: Spec, shape: Any) -> tuple[Tensor | None, Linear, Linear]:
    """Returns the offsets, the operation and its adjoint. shape: the shape of the operation's input."""
    alive = user_filters(spec.rules) if isinstance(spec, Resize) else ()

    def forward(x: Tensor, offsets: Tensor | None, alive: Any = alive) -> Tensor:
        return schema.forward(op)(x, *_with(spec, offsets).operands())

    def adjoint(g: Tensor, offsets: Tensor | None, alive: Any = alive) -> Tensor:
        return schema.adjoint(op)(g, *_with(spec, offsets).adjoint_operands(shape))

    return spec.offsets if isinstance(spec, RepeatCounts) else None, forward, adjoint


def _with(spec: Spec, offsets: Tensor | None) -> Spec:
    return spec._replace(offsets=offsets) if isinstance(spec, RepeatCounts) else spec


def _forward(op: Operator, x: Tensor, *operands: Any) -> Tensor:
    if not _records(x):
        return functions.below_autograd(schema.forward(op), x, *operands)  # type: ignore[no-any-return]
    spec = op.read(x.shape, dtype_name(x), *operands)
    return _recorded(op, x, spec, x.shape, False)


def _adjoint(op: Operator, g: Tensor, *operands: Any) -> Tensor:
    if not _records(g):
        return functions.below_autograd(schema.adjoint(op), g, *operands)  # type: ignore[no-any-return]
    spec, shape = op.read_adjoint(g.shape, dtype_name(g), *operands)
    return _recorded(op, g, spec, shape, True)


def _recorded(op: Operator, x: Tensor, spec: Spec, shape: Any, transposed: bool) -> Tensor:
    """Records the gradient of an operator's call. shape: the input's. transposed: x is a gradient of its
    result."""
    apply = _apply
    if torch_private.functorch_active():
        if not _by_levels(torch_private.forward_mode()):
            return expressed(x, spec, tuple(shape), transposed)
        apply = _apply_to_one_level
    offsets, forward, adjoint = _pair(op, spec, shape)
    forth, back = (adjoint, forward) if transposed else (forward, adjoint)
    return _linear(apply, x, offsets, forth, back)


for _op in OPERATORS.values():
    LIBRARY.impl(_op.name, refusing(_op.name, partial(_forward, _op)), "Autograd")
    LIBRARY.impl(f"{_op.name}_adjoint", refusing(f"{_op.name}_adjoint", partial(_adjoint, _op)), "Autograd")
ASKED.impl("twice", _twice, "Autograd")
ASKED.impl("twice", lambda x: x * 2, "CPU")
for _name in ("offsets", "total"):
    LIBRARY.impl(_name, torch.library.fallthrough_kernel, "Autograd")
