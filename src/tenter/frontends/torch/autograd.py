"""The operators' gradients: every operation is linear, its gradient the adjoint operator and its tangent itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tenter import limits
from tenter.frontends.torch import private
from tenter.frontends.torch.schema import LIBRARY, OPS, Ints
from tenter.sampling import made


class _Linear(torch.autograd.Function):
    """A linear operator: `forth` is its own tangent, `back` its gradient. Both take a tensor and the offsets."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: Tensor | None, forth: Any, back: Any) -> Tensor:
        ctx.save_for_backward(offsets)
        ctx.save_for_forward(offsets)
        ctx.forth, ctx.back = forth, back
        with private.recording(), private.below_autograd():
            return forth(x, offsets)  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        return ctx.back(grads[0], *ctx.saved_tensors), None, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor) -> Tensor:
        return ctx.forth(tangents[0], *ctx.saved_tensors)  # type: ignore[no-any-return]


_apply = private.apply_of(_Linear)


def _linear(x: Tensor, offsets: Tensor | None, forth: Any, back: Any) -> Tensor:
    if private.functorch_active():
        with private.single_level():
            return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]
    if (x.requires_grad and torch.is_grad_enabled()) or private.forward_mode():
        return _apply(x, offsets, forth, back)  # type: ignore[no-any-return]
    with private.below_autograd():
        return forth(x, offsets)  # type: ignore[no-any-return]


def _repeat_recorded(x: Tensor, sizes: Ints, each: bool) -> Tensor:
    n_in = list(x.shape)
    return _linear(
        x,
        None,
        lambda x, _: OPS.repeat.default(x, sizes, each),
        lambda g, _: OPS.repeat_adjoint.default(g, n_in, sizes, each),
    )


def _repeat_adjoint_recorded(g: Tensor, n_in: Ints, sizes: Ints, each: bool) -> Tensor:
    return _linear(
        g,
        None,
        lambda g, _: OPS.repeat_adjoint.default(g, n_in, sizes, each),
        lambda x, _: OPS.repeat.default(x, sizes, each),
    )


def _repeat_counts_recorded(x: Tensor, offsets: Tensor, dim: int, n_out: int) -> Tensor:
    return _linear(
        x,
        offsets,
        lambda x, offsets: OPS.repeat_counts.default(x, offsets, dim, n_out),
        lambda g, offsets: OPS.repeat_counts_adjoint.default(g, offsets, dim),
    )


def _repeat_counts_adjoint_recorded(g: Tensor, offsets: Tensor, dim: int) -> Tensor:
    n_out = g.shape  # of dim, which the operator has yet to look at
    return _linear(
        g,
        offsets,
        lambda g, offsets: OPS.repeat_counts_adjoint.default(g, offsets, dim),
        lambda x, offsets: OPS.repeat_counts.default(x, offsets, dim, n_out[dim]),
    )


def _interpolate_recorded(x: Tensor, size: Ints, *rule: Any) -> Tensor:
    n_in = list(x.shape[2:])
    return _linear(
        x,
        None,
        lambda x, _: OPS.interpolate.default(x, size, *rule),
        lambda g, _: OPS.interpolate_adjoint.default(g, n_in, *rule),
    )


def _interpolate_adjoint_recorded(g: Tensor, n_in: Ints, *rule: Any) -> Tensor:
    size = list(g.shape[2:])
    return _linear(
        g,
        None,
        lambda g, _: OPS.interpolate_adjoint.default(g, n_in, *rule),
        lambda x, _: OPS.interpolate.default(x, size, *rule),
    )


def _resize_recorded(x: Tensor, size: Ints, axes: Ints, *rule: Any) -> Tensor:
    n_in, kept = x.shape, _filters(rule[0])
    return _linear(
        x,
        None,
        lambda x, _: OPS.resize.default(x, size, axes, *rule),
        lambda g, _, kept=kept: OPS.resize_adjoint.default(g, [n_in[a] for a in axes], axes, *rule),
    )


def _resize_adjoint_recorded(g: Tensor, n_in: Ints, axes: Ints, *rule: Any) -> Tensor:
    size, kept = g.shape, _filters(rule[0])
    return _linear(
        g,
        None,
        lambda g, _: OPS.resize_adjoint.default(g, n_in, axes, *rule),
        lambda x, _, kept=kept: OPS.resize.default(x, [size[a] for a in axes], axes, *rule),
    )


def _filters(rule: str) -> Any:
    """Users' filters, which a gradient keeps; what is wrong with a rule the operator says."""
    try:
        return made(rule)
    except limits.Refusal:
        return None


AUTOGRAD: dict[str, Callable[..., Any]] = {
    "repeat": _repeat_recorded, "repeat_adjoint": _repeat_adjoint_recorded, "repeat_counts": _repeat_counts_recorded,
    "repeat_counts_adjoint": _repeat_counts_adjoint_recorded, "interpolate": _interpolate_recorded,
    "interpolate_adjoint": _interpolate_adjoint_recorded, "resize": _resize_recorded,
    "resize_adjoint": _resize_adjoint_recorded, "offsets": torch.library.fallthrough_kernel,
    "total": torch.library.fallthrough_kernel,
}  # fmt: skip
for name, kernel in AUTOGRAD.items():
    LIBRARY.impl(name, kernel, "Autograd")
