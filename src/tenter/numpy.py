"""NumPy's own dialect: `numpy.repeat` and `numpy.tile`, argument for argument.

tenter computes ordinary arrays of every dtype, and Dask's. Subclasses (masked arrays, matrices) and arguments that
tenter refuses go to NumPy, for its result or error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
from numpy import repeat as _numpy_repeat, tile as _numpy_tile

from tenter._arrays import limits
from tenter._arrays.arguments import describe, dim, error, several
from tenter._arrays.errors import Refusal, refuse, refuse_short
from tenter._arrays.library import is_array, of
from tenter._arrays.types import Array
from tenter._execution import calls, repeated
from tenter._execution.calls import FIND
from tenter._specs import counts
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.repeat_arguments import tile_sizes

__all__ = ["repeat", "tile"]

Element = TypeVar("Element", bound=np.generic)
Axes: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None


@overload
def repeat(
    a: npt.NDArray[Element], repeats: npt.ArrayLike, axis: SupportsIndex | None = None
) -> npt.NDArray[Element]: ...
@overload
def repeat(a: npt.ArrayLike, repeats: npt.ArrayLike, axis: SupportsIndex | None = None) -> npt.NDArray[Any]: ...


def repeat(a: npt.ArrayLike, repeats: npt.ArrayLike, axis: SupportsIndex | None = None) -> Any:
    """Repeats each element of a along an axis: `numpy.repeat`, faster.

    Parameters
    ----------
    a : array_like
        Any dtype that NumPy has, also of masked arrays and subclasses.
    repeats : int or array of ints
        How many times each element is repeated, broadcast to the length of axis. Bools count as 0 and 1, as in NumPy.
    axis : int, optional
        None flattens a.

    Returns
    -------
    numpy.ndarray
        A new array of a's dtype.

    Raises
    ------
    ValueError
        If repeats are negative, too many or too few.
    TypeError
        If repeats are floats.
    numpy.exceptions.AxisError
        If there is no such axis.

    See Also
    --------
    tenter.repeat_interleave : PyTorch's arguments, any library's arrays.

    Examples
    --------
    >>> repeat(np.array([[1, 2], [3, 4]]), [1, 2], axis=0)
    array([[1, 2],
           [3, 4],
           [3, 4]])
    """
    if type(a) is np.ndarray and type(repeats) in (int, np.ndarray):
        cached = FIND[np.ndarray]("numpy.repeat", a, repeats, axis)
        if cached is not None:
            return cached
    _check_memory("numpy.repeat", a=a, repeats=repeats, axis=axis)
    try:
        return _repeated(a, repeats, axis)
    except Exception:
        _refuse_unknown("numpy.repeat", a=a, repeats=repeats, axis=axis)
        raise


def _repeated(a: Any, repeats: Any, axis: Any) -> Any:
    if not _is_ordinary(a):
        return _numpy_repeat(a, repeats, axis=axis)
    try:
        array = _array(a)
        x, spec = repeat_spec(array, repeats, axis)
        if isinstance(spec, Repeat):
            return calls.perform("numpy.repeat", array, (repeats, axis), x, spec)
        return calls.execute(x, spec)
    except Refusal as refusal:
        if refusal.args[0] is MemoryError:
            raise error(refusal, "numpy.repeat", a, repeats, axis) from None
        return _numpy_repeat(a, repeats, axis=axis)


def repeat_spec(a: Any, repeats: Any, axis: Any = None) -> tuple[Any, Repeat | RepeatCounts]:
    """a in the shape in which it is repeated, and how."""
    x, dim = repeated.along(a, "axis", axis)
    values = np.asarray(repeats)
    limits.memory(values.shape, 8, "repeats")
    if values.dtype.kind == "f" and isinstance(repeats, (list, tuple)) and all(map(_is_count, repeats)):
        values = np.asarray([int(r) for r in repeats], np.int64)  # of none, or of uint64 and others
    if not np.can_cast(values.dtype, np.int64, "safe"):
        refuse(TypeError, "repeats", "counts that cast safely to int64", str(values.dtype))
    if values.ndim > 1:
        refuse(ValueError, "repeats", "0-d or 1-D counts", f"{values.ndim}-D")
    return x, counts.checked(values.reshape(-1).astype(np.int64), x.shape[dim], dim, None).spec(x.ndim, dim)


@overload
def tile(A: npt.NDArray[Element], reps: npt.ArrayLike, axis: Axes = None) -> npt.NDArray[Element]: ...
@overload
def tile(A: npt.ArrayLike, reps: npt.ArrayLike, axis: Axes = None) -> npt.NDArray[Any]: ...
def tile(A: npt.ArrayLike, reps: npt.ArrayLike, axis: Axes = None) -> Any:
    """Repeats the whole array reps[k] times along each axis: `numpy.tile`, faster.

    Parameters
    ----------
    A : array_like
        Any dtype that NumPy has.
    reps : int or sequence of ints
        How many times; ones are put in front of the shorter of A's shape and reps.
    axis : int or sequence of ints, optional
        The axes that reps are for, one number each or one for all; the others stay. NumPy has no such argument.

    Returns
    -------
    numpy.ndarray
        A new array of A's dtype.

    Raises
    ------
    ValueError
        If reps are negative.
    TypeError
        If reps are not ints.

    See Also
    --------
    tenter.tile : Any library's arrays.

    Examples
    --------
    >>> tile([1, 2], (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]])
    >>> tile(np.array([[1], [2]]), 3, axis=-1)
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    if axis is not None:
        try:
            reps = _reps_of_every_axis(A, reps, axis)
        except Refusal as refusal:
            raise error(refusal, "numpy.tile", A, reps, axis=axis) from None
    if type(A) is np.ndarray:
        given: Any = reps
        cached = FIND[np.ndarray]("numpy.tile", A, *(given if type(given) is tuple else (given,)))
        if cached is not None:
            return cached
    _check_memory("numpy.tile", A=A, reps=reps)
    try:
        return _tiled(A, reps)
    except Exception:
        _refuse_unknown("numpy.tile", A=A, reps=reps)
        raise


def _tiled(A: Any, reps: Any) -> Any:
    if not _is_ordinary(A):
        return _numpy_tile(A, reps)
    given = reps if type(reps) is tuple else (reps,)
    try:
        x: Array = _array(A)
        several = np.ndim(reps)
    except ValueError:  # nested lists of different lengths
        return _numpy_tile(A, reps)
    try:
        front, spec = tile_spec(x, reps if several else [reps])
        return calls.perform("numpy.tile", x, given, front, spec)
    except Refusal as refusal:
        if refusal.args[0] is MemoryError:
            raise error(refusal, "numpy.tile", A, reps) from None
        return _numpy_tile(A, reps)


def _reps_of_every_axis(A: Any, reps: Any, axis: Any) -> tuple[Any, ...]:
    """reps for all axes of A, ones where `axis` does not name them."""
    several_axes, several_reps = several("axis", axis), several("reps", reps)
    given = [axis] if several_axes is None else several_axes
    each = [reps] * len(given) if several_reps is None else several_reps
    ndim = A.ndim if is_array(A) else np.ndim(A)
    axes = [dim("axis", a, ndim) for a in given]
    if len(set(axes)) < len(axes):
        refuse(ValueError, "axis", "each axis once", describe(axis))
    if len(each) != len(axes):
        refuse(ValueError, "reps", f"one number for all axes, or {len(axes)}, one each", str(len(each)))
    by_axis = dict(zip(axes, each))
    return tuple(by_axis.get(a, 1) for a in range(ndim))


def tile_spec(A: Any, reps: Any) -> tuple[Any, Repeat]:
    """A with as many dims as reps, and how it is repeated."""
    return repeated.as_a_whole(A, "reps", tile_sizes("reps", (reps,), A.ndim))


def _check_memory(function: str, **given: Any) -> None:
    """Refuses tensors whose memory NumPy would read past its end, and numbers that would not fit in memory as int64."""
    for name, value in given.items():
        try:
            if type(value) is not np.ndarray and is_array(value) and (found := of(value).short(value)):
                refuse_short(name, found)
            if name not in ("a", "A") and isinstance(value, (range, np.ndarray)):
                limits.memory((value.size if isinstance(value, np.ndarray) else len(value),), 8, name)
        except Refusal as refusal:
            raise error(refusal, function, **given) from None


def _refuse_unknown(function: str, **given: Any) -> None:
    """Says of what failed that NumPy can't read it, as a tracer of JAX or a tensor on a device."""
    _check_memory(function, **given)
    for name, value in given.items():
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if is_array(each) and (unknown := of(each).unreadable(each)):
                refusal = Refusal(TypeError, f"{name}: expected values that NumPy can read, got {unknown}")
                raise error(refusal, function, **given) from None


def _is_count(r: Any) -> bool:
    return isinstance(r, (int, np.integer, np.bool_)) and abs(int(r)) <= limits.INT64_MAX


def _is_ordinary(a: Any) -> bool:
    """Whether a is an array or makes one, and its type does not define `repeat`."""
    return (
        type(a) is np.ndarray
        or _is_dask(a)
        or isinstance(a, (list, tuple, int, float, complex, str, bytes, np.generic))
    )


def _is_dask(a: Any) -> bool:
    return is_array(a) and of(a).PACKAGE == "dask.array" and not of(a).problem(a)


def _array(a: Any) -> Any:
    return a if _is_dask(a) else np.asarray(a)


def __dir__() -> list[str]:
    return __all__
