"""Reductions of the values of rows that are there: `where` and `skipna` of `tenter.ragged`."""

from typing import Any

import numpy as np

from tenter._arrays.arguments import flag
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.library import dtype_name
from tenter._execution import executor, masked
from tenter._ragged import reduced
from tenter._specs.segments import Segments


def reduce(how: str, x: Any, s: Segments, dim: Any, where: Any, skipna: Any) -> Any:
    axis = reduced.checked_axis(how, x, s.total, dim)
    flag("skipna", skipna)
    where = masked.checked(where, x)
    valid = None if where is None else masked.laid_out(where, x, (axis,))
    of = DTYPES.get(dtype_name(x))
    if skipna and of is not None and of.kind in "fc":
        there = x == x
        valid = there if valid is None else there & valid
    if valid is None:
        return reduced.reduce(how, x, s, dim)
    runs = executor.of_segments(x)
    some = runs.filled(x.copy() if isinstance(x, np.ndarray) else x, valid, _nothing(how, of))
    if how == "mean":
        sums = reduced.reduce("sum", runs.widened(some) if of is not None and of.narrow else some, s, dim)
        counts = reduced.reduce("sum", runs.cast(valid, "float64"), s, dim)
        there = counts > 0
        means = runs.narrowed(runs.over(sums, runs.filled(counts, there, 1)), x)
        return runs.filled(means, there, float("nan"))
    found = reduced.reduce(how, some, s, dim)
    return runs.filled(found, valid, 0) if how == "softmax" else found


def _nothing(how: str, of: Any) -> Any:
    """What changes no result."""
    if how in ("sum", "mean"):
        return 0
    least = how != "min"
    if of is not None and of.kind in "iu":
        return (0 if of.kind == "u" else -of.largest - 1) if least else of.largest
    if of is None:  # bool
        return not least
    return float("-inf") if least else float("inf")
