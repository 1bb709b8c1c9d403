"""Facts about PyTorch's functions. Imported only after the caller has imported torch."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch

# Functions whose operators have other names. An operator's tags say whether it is elementwise.
OPERATORS = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "absolute": "abs", "negative": "neg", "greater": "gt", "less": "lt", "greater_equal": "ge",
    "less_equal": "le", "not_equal": "ne", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "invert": "bitwise_not", "pos": "positive", "conj": "conj_physical", "logsigmoid": "log_sigmoid_forward",
    "detach": "clone",
}  # fmt: skip


def is_elementwise(name: str, args: Sequence[Any]) -> bool:
    if name in ("max", "min"):  # elementwise with two tensors, reductions with one
        return len(args) == 2 and not isinstance(args[1], int)
    return _is_pointwise(OPERATORS.get(name, name))


@cache
def _is_pointwise(name: str) -> bool:
    """True if the operator's tags say that it is elementwise. Operators that draw random numbers are excluded."""
    packet = None if name.startswith("_") else getattr(torch.ops.aten, name, None)
    if packet is None:
        return False
    tags = [getattr(packet, overload).tags for overload in packet.overloads()]
    random = torch.Tag.nondeterministic_seeded
    return any(torch.Tag.pointwise in t for t in tags) and not any(random in t for t in tags)


class Extreme(torch.autograd.Function):
    """amax or amin of a tensor whose elements stand for `counts` copies each. Equal extremes share the gradient by
    their numbers of copies, as in PyTorch."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, counts: torch.Tensor, dims: tuple[int, ...], largest: bool) -> torch.Tensor:
        y = x.amax(dims, keepdim=True) if largest else x.amin(dims, keepdim=True)
        ctx.save_for_backward(x, y, counts)
        ctx.dims = dims
        return y

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        x, y, counts = ctx.saved_tensors
        share = (x == y) * counts.to(at_least_single(x.dtype))
        return (grads[0] * share / share.sum(ctx.dims, keepdim=True)).to(x.dtype), None, None, None


def extreme(
    name: str, x: torch.Tensor, dims: tuple[int, ...], keep: bool, counts: Sequence[torch.Tensor]
) -> torch.Tensor:
    """amax, amin, any or all. counts: for the dims whose positions stand for different numbers of copies."""
    if name in ("any", "all"):
        return getattr(torch, name)(x, dims, keep)  # type: ignore[no-any-return]
    largest = name in ("max", "amax")
    if not (counts and x.requires_grad and torch.is_grad_enabled()):
        return x.amax(dims, keep) if largest else x.amin(dims, keep)
    copies = counts[0]
    for more in counts[1:]:
        copies = copies * more
    y: torch.Tensor = Extreme.apply(x, copies, dims, largest)  # type: ignore[no-untyped-call]
    return y if keep else y.squeeze(dims)


def at_least_single(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)
