"""Operators on DTensors, which are tensors sharded over processes. Imported when the first DTensor is seen.

A strategy lists the placements with which an operator can run on each process's own shard. PyTorch picks the one that
moves least, and redistributes the inputs. Batch dims may be sharded. A dim that changes its length may not: its shards
would need their neighbors, and their results would not be the shards that PyTorch expects.
"""

from functools import partial
from typing import Any

from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from tenter._arrays.torch_private import caches_by_all_arguments
from tenter._arrays.torch_tensors import NAMES
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec
from tenter._torch import schema

Strategy = list[Any]
# Operators whose results PyTorch would confuse, because its cache ignores some arguments. They run on gathered tensors.
WITHOUT: set[Any] = set()


def beside(x: Any, spec: Spec) -> Spec:
    """Returns the specification with offsets as a DTensor, because PyTorch refuses a mixture."""
    if not isinstance(spec, RepeatCounts):
        return spec
    mesh = x.device_mesh
    return spec._replace(offsets=DTensor.from_local(spec.offsets, mesh, [Replicate()] * mesh.ndim, run_check=False))


def gathered(x: Any) -> Any:
    """Returns x, whole on each process; differentiable."""
    return x.redistribute(placements=[Replicate()] * x.device_mesh.ndim)


def call(operator: Any, x: Any, *operands: Any) -> Any:
    if operator not in WITHOUT:
        return operator(x, *operands)
    own = [o.to_local() if isinstance(o, DTensor) else o for o in operands]
    mesh = x.device_mesh
    return DTensor.from_local(operator(x.full_tensor(), *own), mesh, [Replicate()] * mesh.ndim, run_check=False)


# ---- strategies: tensor arguments are given by their specs


def _forward(op: Operator, x: Any, *operands: Any) -> Strategy:
    meta, given = _read(x, operands)
    return _placements(op.read(*meta, *given).batch_dims(x.ndim), operands, [])


def _adjoint(op: Operator, g: Any, *operands: Any) -> Strategy:
    """Strategy of the adjoint. A gradient that is still to be summed over processes may be summed after it has shrunk.
    An input may not, because results are mostly larger. Integers may not either, because they are rounded."""
    meta, given = _read(g, operands)
    spec, _ = op.read_adjoint(*meta, *given)
    dtype = g.tensor_meta.dtype
    return _placements(
        spec.batch_dims(g.ndim), operands, [Partial()] if dtype.is_floating_point or dtype.is_complex else []
    )


def _read(x: Any, operands: tuple[Any, ...]) -> tuple[tuple[Any, str], list[Any]]:
    dtype = x.tensor_meta.dtype
    return (tuple(x.shape), NAMES.get(dtype, str(dtype))), [getattr(o, "tensor_meta", o) for o in operands]


def _placements(dims: list[int], operands: tuple[Any, ...], more: list[Any]) -> Strategy:
    """Placements sharded along one of dims, or along none. Offsets are replicated."""
    rest = [Replicate() if hasattr(o, "tensor_meta") else None for o in operands]
    return [([p], [p, *rest]) for p in [Replicate(), *map(Shard, dims), *more]]


for _op in OPERATORS.values():
    for _operator, _strategy in ((schema.forward(_op), _forward), (schema.adjoint(_op), _adjoint)):
        register_sharding(_operator)(partial(_strategy, _op))
        if not caches_by_all_arguments(_operator):
            WITHOUT.add(_operator)
