"""Segment sums of a repeat. If the segments are the runs of copies, each sum is an input times its count."""

from typing import Any

import numpy as np

from tenter._arrays.dtypes import DTYPES, is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, of
from tenter._arrays.types import Array, Ints
from tenter._specs import counts
from tenter.lazy.reductions import work_dtype
from tenter.lazy.rows import copies, run_ends, same
from tenter.lazy.stretched import Stretched, applied, beside, cast, is_float, stretched
from tenter.maps import Copy


def segment_sum(s: Stretched, lengths: Any, dim: int, notes: list[str]) -> Stretched:
    """lengths: counts, or the map that repeats by them."""
    runs = lengths if isinstance(lengths, Copy) else _runs(lengths)
    if runs.n_out != s.shape[dim]:
        refuse(ValueError, "lengths", f"a sum of {s.shape[dim]}, the length of dim {dim}", f"{runs.n_out}")
    if not is_numeric(dtype_name(s.base)):
        refuse(TypeError, "s", "numbers, to take sums of", dtype_name(s.base))
    m = s.maps[dim]
    if isinstance(m, Copy) and m.block == 1 and same(m, runs):
        return stretched(_times(s.base, np.diff(run_ends(m)), dim), _but(s, dim, None), s.summing)
    notes.append(f"dim {dim} is materialized: the lengths are not the counts that stretch it")
    weighing = [] if is_float(s.base) else [d for d in s.stretched_dims if not copies(s.maps[d])]
    s = applied(s, [dim, *weighing])
    return applied(s._replace(maps=_but(s, dim, runs.T)), [dim])


def _runs(lengths: Any) -> Copy:
    values = counts.count_array("lengths", lengths)
    if values.ndim != 1:
        refuse(ValueError, "lengths", "1-D lengths", f"{values.ndim}-D")
    ends = counts.offsets("lengths", values)
    return Copy(len(values), int(ends[-1]), offsets=ends)


def _but(s: Stretched, dim: int, m: Any) -> tuple[Any, ...]:
    return (*s.maps[:dim], m, *s.maps[dim + 1 :])


def _times(x: Any, count: Ints, dim: int) -> Any:
    """Multiplies each position of a dim by its count: floats in single precision at least, integers exactly and
    saturated, 64-bit integers modulo 2^64."""
    column = count.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
    if is_float(x):
        work, dtype = work_dtype(x), x.dtype
        if not count.all():  # the sum of no elements is 0, even if the value is inf
            x = np.where(column, x, 0) if isinstance(x, np.ndarray) else x.where(beside(column > 0, x), 0)
        return cast(cast(x, work) * cast(beside(column, x), work), dtype)
    values = of(x).to_numpy(x if isinstance(x, np.ndarray) else x.cpu())
    return beside(_integers_times(values, column, int(DTYPES[dtype_name(x)].largest)), x)


def _integers_times(x: Array, count: Ints, largest: int) -> Array:
    if x.itemsize == 8:
        wrapped: Array = x * count.astype(x.dtype)
        return wrapped
    least = -largest - 1 if x.dtype.kind == "i" else 0
    each = np.maximum(count, 1)
    wide = x.astype(np.int64)
    over, under = wide > largest // each, wide < -(-least // each)
    product = np.where(over | under, 0, wide) * count
    return np.where(over, largest, np.where(under, least, product)).astype(x.dtype)
