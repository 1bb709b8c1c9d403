"""The operators under vmap. The mapped dim is moved to the front, where it is one more batch dim."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from tenter._arrays.errors import refuse
from tenter._arrays.library import surely
from tenter._arrays.limits import INT64_MAX
from tenter._arrays.torch_tensors import dtype_name
from tenter._specs.operands import OPERATORS, Operator
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Interpolate
from tenter._torch import schema
from tenter._torch.offsets import check_counts, check_offsets
from tenter._torch.operators import refusing
from tenter._torch.schema import LIBRARY, OPS


def _own_shape(x: Tensor, mapped: int | None) -> tuple[Any, ...]:
    """Returns the shape without the mapped dim, which the operands describe."""
    shape = list(x.shape)
    if mapped is not None:
        del shape[mapped]
    return tuple(shape)


def _front(x: Tensor, mapped: int | None) -> Tensor:
    assert mapped is not None
    return x.movedim(mapped, 0)


class _Own:
    """The offsets of one position of the mapped dim."""

    def __init__(self, offsets: Tensor, mapped: int | None) -> None:
        self.shape, self.dtype = _own_shape(offsets, mapped), offsets.dtype


def _forward(op: Operator, info: Any, dims: Any, x: Tensor, *operands: Any) -> tuple[Tensor, int]:
    shape, dtype = _own_shape(x, dims[0]), dtype_name(x)
    if op is OPERATORS[RepeatCounts]:
        offsets, dim, n_out = operands
        op.read(shape, dtype, _Own(offsets, dims[1]), dim, n_out)
        if dims[1] is not None:
            x, joined = _joined(x, dims[0], offsets.movedim(dims[1], 0), dim, info.batch_size)
            y = schema.forward(op)(x, joined, dim, _together(info.batch_size, n_out, "n_out"))
            return y.unflatten(dim, (info.batch_size, n_out)), dim
        return schema.forward(op)(_front(x, dims[0]), offsets, dim + 1, n_out), 0
    spec, x = op.read(shape, dtype, *operands), _front(x, dims[0])
    if isinstance(spec, Interpolate):
        return schema.forward(op)(x.flatten(0, 1), *operands).unflatten(0, x.shape[:2]), 0
    return schema.forward(op)(x, *spec.batched().operands()), 0


def _adjoint(op: Operator, info: Any, dims: Any, g: Tensor, *operands: Any) -> tuple[Tensor, int]:
    shape, dtype = _own_shape(g, dims[0]), dtype_name(g)
    if op is OPERATORS[RepeatCounts]:
        offsets, dim = operands
        op.read_adjoint(shape, dtype, _Own(offsets, dims[1]), dim)
        if dims[1] is not None:
            offsets = offsets.movedim(dims[1], 0)
            n_in = offsets.shape[1] - 1
            g, joined = _joined(g, dims[0], offsets, dim, info.batch_size)
            return schema.adjoint(op)(g, joined, dim).unflatten(dim, (info.batch_size, n_in)), dim
        return schema.adjoint(op)(_front(g, dims[0]), offsets, dim + 1), 0
    (spec, own), g = op.read_adjoint(shape, dtype, *operands), _front(g, dims[0])
    if isinstance(spec, Interpolate):
        return schema.adjoint(op)(g.flatten(0, 1), *operands).unflatten(0, g.shape[:2]), 0
    return schema.adjoint(op)(g, *spec.batched().adjoint_operands((info.batch_size, *own))), 0


def _joined(x: Tensor, mapped: int | None, offsets: Tensor, dim: int, batch: int) -> tuple[Tensor, Tensor]:
    """For counts that differ over the mapped dim: merges the mapped dim of x into dim, and returns x and the offsets of
    all counts."""
    x = x.unsqueeze(dim).expand(*x.shape[:dim], batch, *x.shape[dim:]) if mapped is None else x.movedim(mapped, dim)
    starts = torch.cat([offsets.new_zeros(1), offsets[:, -1].cumsum(0)])
    return x.flatten(dim, dim + 1), torch.cat([(offsets[:, :-1] + starts[:-1, None]).flatten(), starts[-1:]])


def _together(batch: int, n: int, name: str) -> int:
    if surely(batch * n > INT64_MAX):
        refuse(ValueError, name, "a length that fits int64 for all that vmap maps over", f"{n} of {batch}")
    return batch * n


def _offsets(
    info: Any, dims: Any, counts: Tensor, n: int, output_size: int | None, called: str = ""
) -> tuple[Tensor, int]:
    check_counts(_own_shape(counts, dims[0]), dtype_name(counts), n, output_size)
    return OPS.offsets.default(_front(counts, dims[0]), n, output_size, called), 0


def _total(info: Any, dims: Any, offsets: Tensor) -> tuple[int, None]:
    check_offsets(offsets, _own_shape(offsets, dims[0]))
    return OPS.total.default(_front(offsets, dims[0])), None


for _op in OPERATORS.values():
    for _name, _rule in ((_op.name, _forward), (f"{_op.name}_adjoint", _adjoint)):
        torch.library.register_vmap(f"tenter::{_name}", refusing(_name, partial(_rule, _op), 2), lib=LIBRARY)
torch.library.register_vmap("tenter::offsets", refusing("offsets", _offsets, 2), lib=LIBRARY)
torch.library.register_vmap("tenter::total", refusing("total", _total, 2), lib=LIBRARY)
