"""Arrays with maps that are not applied yet: stretched arrays of which only the input exists.

`repeat_interleave`, `repeat`, `tile`, `interpolate` and `resize` take the arguments of `tenter`'s functions and return
a `LazyArray`, for NumPy arrays and PyTorch tensors. Work on it is done on the input where that gives the same:

- functions of elements past maps that copy; linear ones past maps that weigh (`f(A x) = A f(x)`);
- sums, means, extremes, any and all, along stretched dims by weights or without the copies;
- matrix products over other dims; indexing and slicing, of which only what is asked for is computed.

Anything else materializes, and `explain` says what and why.
"""

from typing import TYPE_CHECKING, Any

from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter.lazy import arrow, explanation
from tenter.lazy.array import LazyArray
from tenter.lazy.making import interpolate, repeat, repeat_interleave, resize, tile

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "LazyArray", "explain", "from_arrow", "interpolate", "repeat", "repeat_interleave", "resize", "tile", "to_arrow",
]  # fmt: skip


def explain(s: LazyArray) -> str:
    """What a lazy array stands for and holds, then the calls that it took part in: how many elements were computed, and
    why what was materialized was.

    The last 32 calls are remembered, with those on the arrays that it was made from. Raises TypeError for anything but
    a lazy array.

    >>> import numpy as np
    >>> s = repeat_interleave(np.arange(3.0), [1, 3, 2])
    >>> total = np.exp(s).sum()
    >>> c = s.cumsum()
    >>> print(explain(s))
    LazyArray(float64[6]; dim 0: Copy(3 -> 6: counts [1, 3, 2]))
      stands for 48 B, holds float64[3], 24 B, and 32 B of maps
      exp: 3 elements for 6
      cumsum: 6 elements; all is materialized: cumsum is no function of elements, sum or product that is known here
    """
    try:
        if not isinstance(s, LazyArray):
            refuse(TypeError, "s", "a lazy array", describe(s))
        return explanation.text(s._stretched, s._events)
    except Refusal as refusal:
        raise error(refusal, "lazy.explain", s) from None


def to_arrow(s: LazyArray) -> "pyarrow.RunEndEncodedArray":
    """A lazy array of one dim that `repeat_interleave` made, as Arrow's run-end-encoded array, without expanding it.

    Needs pyarrow (`pip install "tenter[pyarrow]"`). Values are shared where Arrow can; runs of length 0 are left out,
    as Arrow has none. Run ends are int32 where they fit, else int64. `pyarrow.array(s)` does the same.

    Raises TypeError for anything but a lazy array and for dtypes that Arrow lacks, ValueError for other dims and maps.

    >>> to_arrow(repeat_interleave([10, 20, 30], [1, 0, 2])).run_ends.to_pylist()
    [1, 3]
    """
    try:
        if not isinstance(s, LazyArray):
            refuse(TypeError, "s", "a lazy array", describe(s))
        return arrow.run_ends_of("s", s._held)
    except Refusal as refusal:
        raise error(refusal, "lazy.to_arrow", s) from None


def from_arrow(a: Any) -> LazyArray:
    """A run-end-encoded array of Arrow as a lazy array over NumPy, without expanding it.

    Needs pyarrow (`pip install "tenter[pyarrow]"`). Slices of arrays are taken as they are; values are shared where
    NumPy can read them.

    Raises TypeError for other arrays, ValueError for nulls.

    >>> import pyarrow as pa
    >>> from_arrow(pa.RunEndEncodedArray.from_arrays([2, 5], [7.0, 8.0]))
    LazyArray(float64[5]; dim 0: Copy(2 -> 5: counts [2, 3]))
    """
    try:
        return LazyArray(arrow.from_run_ends(a))
    except Refusal as refusal:
        raise error(refusal, "lazy.from_arrow", a) from None
