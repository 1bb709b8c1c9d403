"""How DTensors, tensors cut into shards over processes, go through the operators. Imported when the first one is seen.

A strategy lists the placements with which an operator may run on each process's own shard. PyTorch takes the one that
moves least and redistributes inputs to it. Dims that keep their length may be sharded. A dim that stretches may not:
its shards would need their neighbors, and what they gave would not be the shards that PyTorch expects.
"""

from functools import partial
from typing import Any

from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from tenter._arrays.torch_private import remembers_by_all_arguments
from tenter._arrays.torch_tensors import NAMES
from tenter._execution.torch import schema
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec

Strategy = list[Any]
# Operators of which PyTorch would take one call's results for another's; they run on gathered tensors.
WITHOUT: set[Any] = set()


def beside(x: Any, spec: Spec) -> Spec:
    """What is done to x, its offsets being a DTensor too, as PyTorch refuses a mixture."""
    if not isinstance(spec, RepeatCounts):
        return spec
    mesh = x.device_mesh
    return spec._replace(offsets=DTensor.from_local(spec.offsets, mesh, [Replicate()] * mesh.ndim, run_check=False))


def gathered(x: Any) -> Any:
    """x, whole on each process; differentiable."""
    return x.redistribute(placements=[Replicate()] * x.device_mesh.ndim)


def call(operator: Any, x: Any, *operands: Any) -> Any:
    if operator not in WITHOUT:
        return operator(x, *operands)
    own = [o.to_local() if isinstance(o, DTensor) else o for o in operands]
    mesh = x.device_mesh
    return DTensor.from_local(operator(x.full_tensor(), *own), mesh, [Replicate()] * mesh.ndim, run_check=False)


# ---- strategies: an operator's arguments, tensors by their specs


def _forward(op: Operator, x: Any, *operands: Any) -> Strategy:
    meta, given = _read(x, operands)
    return _placements(op.read(*meta, *given).kept(x.ndim), operands, [])


def _adjoint(op: Operator, g: Any, *operands: Any) -> Strategy:
    """A gradient still to be summed over processes may be summed after it has shrunk. Inputs may not, as results are
    mostly larger; nor may integers, which are rounded."""
    meta, given = _read(g, operands)
    spec, _ = op.read_adjoint(*meta, *given)
    dtype = g.tensor_meta.dtype
    return _placements(spec.kept(g.ndim), operands, [Partial()] if dtype.is_floating_point or dtype.is_complex else [])


def _read(x: Any, operands: tuple[Any, ...]) -> tuple[tuple[Any, str], list[Any]]:
    dtype = x.tensor_meta.dtype
    return (tuple(x.shape), NAMES.get(dtype, str(dtype))), [getattr(o, "tensor_meta", o) for o in operands]


def _placements(dims: list[int], operands: tuple[Any, ...], more: list[Any]) -> Strategy:
    """Sharded along one of dims, or on no dim; offsets are the same everywhere."""
    rest = [Replicate() if hasattr(o, "tensor_meta") else None for o in operands]
    return [([p], [p, *rest]) for p in [Replicate(), *map(Shard, dims), *more]]


for _op in OPERATORS.values():
    for _operator, _strategy in ((schema.forward(_op), _forward), (schema.adjoint(_op), _adjoint)):
        register_sharding(_operator)(partial(_strategy, _op))
        if not remembers_by_all_arguments(_operator):
            WITHOUT.add(_operator)
