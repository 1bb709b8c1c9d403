"""How DTensors, tensors cut into shards over processes, go through the operators. Imported when the first one is seen.

A strategy lists the placements with which an operator may run on each process's own shard. PyTorch takes the one that
moves least and redistributes inputs to it. Dims that keep their length may be sharded. A dim that stretches may not:
its shards would need their neighbours, and what they gave would not be the shards that PyTorch expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from tenter.frontends.torch.private import remember_by_all_arguments
from tenter.frontends.torch.schema import OPS
from tenter.stretch import RepeatCounts, Stretch

Strategy = list[Any]


def beside(x: Any, does: Stretch) -> Stretch:
    """What is done to x, offsets being a DTensor too: PyTorch refuses a mixture."""
    if not isinstance(does, RepeatCounts):
        return does
    mesh = x.device_mesh
    offsets = DTensor.from_local(does.offsets, mesh, [Replicate()] * mesh.ndim, run_check=False)
    return does._replace(offsets=offsets)


def gathered(x: Any) -> Any:
    """x, on no process a part of it; differentiable."""
    return x.redistribute(placements=[Replicate()] * x.device_mesh.ndim)


def whole(counts: DTensor) -> Tensor:
    return counts.full_tensor()


# ---- strategies: an operator's arguments, tensors by their specs


def _acceptable(dims: Iterable[int], *rest: Replicate | None, grad: Any = None) -> Strategy:
    """Sharded along one of dims, or on no dim; rest: what the other arguments need.

    A gradient still to be summed over processes may be summed after it has shrunk. Inputs may not, as results are
    mostly larger; nor may integers, which are rounded.
    """
    placements: list[Any] = [Replicate(), *map(Shard, dims)]
    if grad is not None and (grad.tensor_meta.dtype.is_floating_point or grad.tensor_meta.dtype.is_complex):
        placements.append(Partial())
    return [([p], [p, *rest]) for p in placements]


def _repeat(x: Any, sizes: Sequence[int], each: bool) -> Strategy:
    return _acceptable(_unstretched(sizes), None, None)


def _repeat_adjoint(g: Any, n_in: Sequence[int], sizes: Sequence[int], each: bool) -> Strategy:
    return _acceptable(_unstretched(sizes), None, None, None, grad=g)


def _unstretched(sizes: Sequence[int]) -> list[int]:
    return [d for d, r in enumerate(sizes) if r == 1]


def _repeat_counts(x: Any, offsets: Any, dim: int, n_out: int) -> Strategy:
    return _acceptable([d for d in range(x.ndim) if d != dim], Replicate(), None, None)


def _repeat_counts_adjoint(g: Any, offsets: Any, dim: int) -> Strategy:
    return _acceptable([d for d in range(g.ndim) if d != dim], Replicate(), None, grad=g)


def _interpolate(x: Any, size: Any, scales: Any, kind: str, *rule: bool) -> Strategy:
    return _acceptable(_batch(kind, *rule), *[None] * 6)


def _interpolate_adjoint(g: Any, n_in: Any, scales: Any, kind: str, *rule: bool) -> Strategy:
    return _acceptable(_batch(kind, *rule), *[None] * 6, grad=g)


def _resize(x: Any, size: Any, axes: Sequence[int], rule: str, saturate: bool) -> Strategy:
    return _acceptable([d for d in range(x.ndim) if d not in axes], *[None] * 4)


def _resize_adjoint(g: Any, n_in: Any, axes: Sequence[int], rule: str, saturate: bool) -> Strategy:
    return _acceptable([d for d in range(g.ndim) if d not in axes], *[None] * 4, grad=g)


def _batch(kind: str, align_corners: bool, antialias: bool, channels_last: bool) -> list[int]:
    """How nearest kinds round channels-last images depends on the number of channels: a shard must have them all."""
    return [0] if channels_last and kind.startswith("nearest") else [0, 1]


STRATEGIES: dict[Any, Callable[..., Strategy]] = {
    OPS.repeat.default: _repeat,
    OPS.repeat_adjoint.default: _repeat_adjoint,
    OPS.repeat_counts.default: _repeat_counts,
    OPS.repeat_counts_adjoint.default: _repeat_counts_adjoint,
    OPS.interpolate.default: _interpolate,
    OPS.interpolate_adjoint.default: _interpolate_adjoint,
    OPS.resize.default: _resize,
    OPS.resize_adjoint.default: _resize_adjoint,
}
for operator, strategy in STRATEGIES.items():
    register_sharding(operator)(strategy)
    remember_by_all_arguments(operator)
