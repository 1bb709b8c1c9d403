"""Arrays with maps that are not applied yet: only their input is in memory. Provisional: it may
change before 1.0.

`repeat_interleave`, `repeat`, `tile`, `interpolate` and `resize` take the arguments of `tenter`'s functions and return
a `LazyArray`, for NumPy arrays and PyTorch tensors. Work on it is done on the input where that gives the same:

- elementwise functions, if maps copy; linear ones, if maps interpolate (`f(A x) = A f(x)`);
- sums, means, extremes, any and all, along stretched dims by weights or without the copies;
- functions along other dims (softmax, norms, attention) and matrix products over other dims; reshaping;
- indexing and slicing, which compute only the selected elements.

Anything else materializes, and `tenter.explain(s)` says what and why.
"""

from typing import TYPE_CHECKING, Any

from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter.lazy import arrow
from tenter.lazy.array import LazyArray
from tenter.lazy.making import interpolate, repeat, repeat_interleave, resize, tile

if TYPE_CHECKING:
    import pyarrow

__all__ = [
    "LazyArray", "from_arrow", "interpolate", "repeat", "repeat_interleave", "resize", "tile", "to_arrow",
]  # fmt: skip


def to_arrow(s: LazyArray) -> "pyarrow.RunEndEncodedArray":
    """A lazy array of one dim that `repeat_interleave` made, as Arrow's run-end-encoded array. Provisional: it may
    change before 1.0.

    Needs pyarrow (the extra `pyarrow`). `pyarrow.array(s)` does the same.

    Parameters
    ----------
    s : LazyArray
        A one-dimensional array; it is not expanded.

    Returns
    -------
    pyarrow.RunEndEncodedArray
        Values are shared if Arrow can; runs of length 0 are left out. Run ends are int32 if they fit, else int64.

    Raises
    ------
    TypeError
        If s is not a lazy array, or Arrow lacks its dtype.
    ValueError
        If s is not one-dimensional, or was not made by `repeat_interleave`.

    See Also
    --------
    from_arrow : The reverse.

    Examples
    --------
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
    """A run-end-encoded array of Arrow as a lazy array over NumPy. Provisional: it may change before 1.0.

    Needs pyarrow (the extra `pyarrow`).

    Parameters
    ----------
    a : pyarrow.RunEndEncodedArray
        Also a slice of one; it is not expanded.

    Returns
    -------
    LazyArray
        Values are shared if NumPy can read them.

    Raises
    ------
    TypeError
        If a is another kind of array.
    ValueError
        If it has nulls.

    See Also
    --------
    to_arrow : The reverse.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_arrow(pa.RunEndEncodedArray.from_arrays([2, 5], [7.0, 8.0]))
    LazyArray(float64[5]; dim 0: Copy(2 -> 5: counts [2, 3]))
    """
    try:
        return LazyArray(arrow.from_run_ends(a))
    except Refusal as refusal:
        raise error(refusal, "lazy.from_arrow", a) from None


def __dir__() -> list[str]:
    return __all__
