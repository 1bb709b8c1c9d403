"""The operators as expressions of PyTorch's own functions, which PyTorch differentiates. They take several times as
long as the kernels. They are for torch.func, if PyTorch records Functions differently from what `autograd.py`
expects."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tenter._arrays.torch_tensors import device, dtype_name
from tenter._arrays.types import Array
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap, Copy, Gather

# Dtypes in which sums are taken. Other real dtypes are summed in float32.
WIDE = {torch.float64: torch.float64, torch.complex64: torch.complex64, torch.complex128: torch.complex128}
WIDE_COMPLEX = {torch.complex32: torch.complex64}


def expressed(x: Tensor, spec: Spec, shape: Shape, transposed: bool) -> Tensor:
    """Returns the operation's result, or its adjoint's if transposed. shape: the input's."""
    wide = {**WIDE, **WIDE_COMPLEX}.get(x.dtype, torch.float32)
    y = x.to(wide)
    if isinstance(spec, RepeatCounts):
        counts = spec.offsets.diff()
        rows = torch.repeat_interleave(torch.arange(counts.shape[0], device=x.device), counts, output_size=spec.n_out)
        y = _added(y, spec.dim, rows, shape[spec.dim]) if transposed else y.index_select(spec.dim, rows)
    else:
        for axis, m in spec.maps(shape, dtype_name(x), device(x) is not None):
            y = _applied(y, axis, m.T if transposed else m)
    return y.to(x.dtype)


def _applied(x: Tensor, axis: int, m: AxisMap) -> Tensor:
    if isinstance(m, Copy):
        return x.index_select(axis, _index(m.index(), x))
    if isinstance(m, Gather):
        rows, inputs, weight = m.rows(), m.index, m.weight
    else:
        rows, inputs, weight = m.taps()
        inside = np.arange(m.block)
        rows, inputs = ((v[:, None] * m.block + inside).reshape(-1) for v in (rows, inputs))
        weight = np.repeat(weight, m.block)
    taken = x.index_select(axis, _index(inputs, x))
    if (weight != 1).any():
        taken = taken * torch.tensor(weight, dtype=x.real.dtype, device=x.device).reshape(
            -1, *(1,) * (x.ndim - axis - 1)
        )
    return _added(taken, axis, _index(rows, x), m.n_out)


def _added(x: Tensor, axis: int, rows: Tensor, n: Any) -> Tensor:
    """Sums x's elements along an axis, by the row that each belongs to."""
    return x.new_zeros((*x.shape[:axis], n, *x.shape[axis + 1 :])).index_add(axis, rows, x)


def _index(values: Array, x: Tensor) -> Tensor:
    return torch.tensor(values, device=x.device)
