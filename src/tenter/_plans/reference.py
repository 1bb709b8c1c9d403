"""The definition: maps applied in plain NumPy, one output at a time. It is slow on purpose. It also runs the dtypes
without a native kernel (object and long double).

Weighted sums are taken in float64 (or long double), and integers are rounded half to even and saturated at the end.
Unweighted sums of integers are exact: 64-bit sums wrap, others saturate.
"""

from typing import Any

import numpy as np

from tenter._arrays.types import Array
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._kinds import only_copies

Maps = tuple[tuple[int, AxisMap], ...]


def run(x: Array, maps: Maps) -> Array:
    """y[..., o, ...] = sum_i A[o, i] * x[..., i, ...] for each (axis, A) in maps."""
    if all(only_copies(m) for _, m in maps):
        for axis, m in maps:
            assert not isinstance(m, Window)
            x = copy(x, axis, m)
        return x if maps else x.copy()
    y = x.astype(accumulator(x.dtype, maps))
    if y.dtype.kind != "c":
        return into(_summed(y, maps), x.dtype)
    # Complex weights would add 0 * inf to the other part.
    real, imaginary = (_summed(part, maps) for part in (y.real, y.imag))
    joined = np.empty(real.shape, y.dtype)
    joined.real, joined.imag = real, imaginary
    return into(joined, x.dtype)


def _summed(y: Array, maps: Maps) -> Array:
    for axis, a in maps:
        y = copy(y, axis, a) if isinstance(a, Copy) else weighted_sum(y, axis, a)
    return y


def copy(x: Array, axis: int, m: Copy | Gather) -> Array:
    return x.take(m.index() if isinstance(m, Copy) else m.index, axis)


def weighted_sum(x: Array, axis: int, m: AxisMap) -> Array:
    assert not isinstance(m, Copy)
    block = 1 if isinstance(m, Gather) else m.block
    x = np.moveaxis(x, axis, 0).reshape(m.n_in // block, block, *x.shape[:axis], *x.shape[axis + 1 :])
    y = np.zeros((m.n_out // block, *x.shape[1:]), x.dtype)
    for o in range(len(y)):
        for i, w in row(m, o):
            # Without a weight there is no product: integers have no float weights, and 1.0 * x is x.
            y[o] += x[i] if w is None else x[i] * w
    return np.moveaxis(y.reshape(m.n_out, *y.shape[2:]), 0, axis)


def row(m: AxisMap, o: int) -> list[tuple[int, float | None]]:
    """Returns the inputs that output block o reads, each with its weight (None for 1)."""
    assert not isinstance(m, Copy)
    if isinstance(m, Gather):
        taps = slice(m.offset[o], m.offset[o + 1])
        index = m.index[taps].tolist()
        return list(zip(index, [None] * len(index) if m.ones else m.weight[taps].tolist()))
    start, offset = m.rows()
    count = int(offset[o + 1] - offset[o])
    weights = [None] * count if m.weight is None else m.weight[offset[o] : offset[o + 1]].tolist()
    return [(int(start[o]) + k, w) for k, w in enumerate(weights)]


def _unweighted(m: AxisMap) -> bool:
    return isinstance(m, Copy) or m.ones


def accumulator(dtype: np.dtype[Any], maps: Maps) -> np.dtype[Any]:
    if dtype.kind in "biu" and all(_unweighted(m) for _, m in maps):
        return np.dtype(np.int64)
    if dtype.kind == "c":
        return np.result_type(dtype, np.complex128)
    return np.result_type(dtype, np.float64) if dtype.kind == "f" else np.dtype(np.float64)


def into(y: Array, dtype: np.dtype[Any]) -> Array:
    if dtype.kind not in "iu":
        return y.astype(dtype)
    if y.dtype.kind == "i" and dtype.itemsize == 8:
        return y.astype(dtype)
    info = np.iinfo(dtype)
    if y.dtype.kind == "i":
        return np.clip(y, info.min, info.max).astype(dtype)
    y = np.rint(y)
    over, under = y >= float(info.max), y <= float(info.min)
    result = np.where(over | under, 0, y).astype(dtype)
    result[over], result[under] = info.max, info.min
    return result
