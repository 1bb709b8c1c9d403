"""NumPy's own dialect: `numpy.repeat` and `numpy.tile`, argument for argument.

Plain arrays of every dtype are served here; subclasses (masked arrays, matrices), which may do more than hold
elements, go to NumPy; so does what tenter refuses, for NumPy's own result or error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import repeat as _numpy_repeat
from numpy import tile as _numpy_tile

from tenter import calls, check, limits
from tenter.apply import stretch
from tenter.stretch import Repeat, RepeatCounts, every

__all__ = ["repeat", "tile"]


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeats each element of a along axis; `numpy.repeat`, which is `tenter.repeat_interleave`.

    a: array-like of any dtype. repeats: int or array of ints (bools count as 0 and 1, as NumPy has it), broadcast to
    the length of axis. axis: None flattens. Returns an array of a's dtype.

    Raises ValueError for negative repeats and for a wrong number of them, TypeError for floats, AxisError for axis.

    >>> repeat(np.array([[1, 2], [3, 4]]), [1, 2], axis=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    if not _plain(a):
        return _numpy_repeat(a, repeats, axis=axis)
    given, kinds = (repeats, axis), (type(repeats), type(axis))
    if type(repeats) is np.ndarray:
        known = calls.recall_counts(a, repeats, axis, None)
    else:
        known = calls.recall("numpy.repeat", a, given, kinds) if type(repeats) is int else None
    if known is not None:
        return known
    try:
        x = array = np.asarray(a)
        x = x.reshape(-1) if axis is None else x.reshape(1) if x.ndim == 0 else x
        dim = 0 if axis is None else check.dim("axis", axis, x.ndim)
        n = x.shape[dim]
        values = np.asarray(repeats)
        if values.size == 0 and values.dtype.kind == "f" and isinstance(repeats, (list, tuple)):
            values = values.astype(np.int64)
        if not np.can_cast(values.dtype, np.int64, "safe"):
            limits.refuse(TypeError, "repeats", "counts that cast safely to int64", str(values.dtype))
        if values.ndim > 1:
            limits.refuse(ValueError, "repeats", "0-d or 1-D counts", f"{values.ndim}-D")
        counts = check.counts(values.reshape(-1).astype(np.int64), n, dim, None)
        if counts.each is not None:
            return calls.serve("numpy.repeat", array, given, kinds, x, every(x.ndim, dim, counts.each))
        return stretch(x, RepeatCounts(counts.offsets, dim, counts.total(n)))
    except limits.Refusal:
        return _numpy_repeat(a, repeats, axis=axis)


def tile(A: Any, reps: Any) -> Any:
    """Repeats the whole array reps[k] times along each axis; `numpy.tile`.

    A: array-like of any dtype. reps: int or sequence of ints; ones are put in front of the shorter of shape and reps.
    Returns an array of A's dtype, always fresh.

    Raises ValueError for negative reps, TypeError for reps that are no ints.

    >>> tile([1, 2], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    """
    if not _plain(A):
        return _numpy_tile(A, reps)
    given = reps if type(reps) is tuple else (reps,)
    kinds = tuple(map(type, given))
    if (known := calls.recall("numpy.tile", A, given, kinds)) is not None:
        return known
    try:
        x: npt.NDArray[Any] = np.asarray(A)
        several = np.ndim(reps)
    except ValueError:  # nested lists of unlike lengths
        return _numpy_tile(A, reps)
    try:
        array = x
        each = check.sizes("reps", (reps if several else [reps],))
        sizes = (1,) * (x.ndim - len(each)) + each
        check.rank("reps", len(sizes))
        x = x.reshape((1,) * (len(sizes) - x.ndim) + x.shape)
        limits.addressable("reps", [int(x.shape[k]) * s for k, s in enumerate(sizes)], x.dtype.itemsize)
        return calls.serve("numpy.tile", array, given, kinds, x, Repeat(sizes, False))
    except limits.Refusal:
        return _numpy_tile(A, reps)


def _plain(a: Any) -> bool:
    """An array or what makes one, and nothing that may have a repeat of its own."""
    return type(a) is np.ndarray or isinstance(a, (list, tuple, int, float, complex, str, bytes, np.generic))
