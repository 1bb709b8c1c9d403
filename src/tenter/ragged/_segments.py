"""Reductions of the positions of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenter._arrays.arguments import MISSING, dim as one_dim, numpy_or_torch
from tenter._arrays.library import in_dynamo
from tenter._arrays.names import misnamed, show_signature
from tenter._execution import calls
from tenter._ragged import gaps, reduced
from tenter.lazy import LazyArray
from tenter.ragged import _signatures as signatures
from tenter.ragged._calls import called, made
from tenter.ragged._given import as_array, described
from tenter.ragged._plan import Plan

if TYPE_CHECKING:
    from tenter._arrays.signatures import Where
    from tenter.ragged._signatures import Lengths


@signatures.reduction
def segment_sum(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    axis: int = 0,
    too_many: Any = None,
    where: Where | None = None,
    skipna: bool = False,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The sum of each row's positions.

    Parameters
    ----------
    x : array
        Numbers of any dtype and shape; its length along axis is the sum of the lengths.
    lengths : array of ints or Plan
        The length of each row.
    axis : int, default 0
        The axis that holds the rows.
    where : array of bool, optional
        Where values count; it broadcasts against x.
    skipna : bool, default False
        Whether NaN is left out.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        An array of x's dtype with one position per row along axis; 0 for a row without values. Sums of integers are
        exact and saturated (64-bit ones wrap), sums of half types are computed in float32.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    Plan.repeat : The transpose.

    Notes
    -----
    It is the transpose of repeating, and its gradient. `np.add.reduceat`, `index_add`, `scatter_add` and
    `torch.segment_reduce` differ for empty rows.

    Examples
    --------
    >>> segment_sum([1, 2, 3, 4, 5], [2, 0, 3])
    array([ 3,  0, 12])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_sum", segment_sum, no_other, too_many, x=x, lengths=lengths, axis=axis)
    return _reduced("sum", x, lengths, axis, where, skipna, out)


@signatures.reduction
def segment_mean(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    axis: int = 0,
    too_many: Any = None,
    where: Where | None = None,
    skipna: bool = False,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The mean of each row's positions.

    Parameters
    ----------
    x : array
        Floats or complex numbers of any shape; its length along axis is the sum of the lengths.
    lengths : array of ints or Plan
        The length of each row.
    axis : int, default 0
        The axis that holds the rows.
    where : array of bool, optional
        Where values count; it broadcasts against x.
    skipna : bool, default False
        Whether NaN is left out.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        An array of x's dtype with one position per row along axis; 0 for an empty row, and NaN for a row
        without values if where or skipna is given.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    segment_sum : The sum.

    Notes
    -----
    Half types are summed in float32.

    Examples
    --------
    >>> segment_mean([1.0, 2.0, 3.0, 4.0, 5.0], [2, 0, 3])
    array([1.5, 0. , 4. ])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_mean", segment_mean, no_other, too_many, x=x, lengths=lengths, axis=axis)
    return _reduced("mean", x, lengths, axis, where, skipna, out)


@signatures.reduction
def segment_max(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    axis: int = 0,
    too_many: Any = None,
    where: Where | None = None,
    skipna: bool = False,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The largest of each row's values.

    Parameters
    ----------
    x : array
        Integers or floats of up to 64 bits; its length along axis is the sum of the lengths.
    lengths : array of ints or Plan
        The length of each row.
    axis : int, default 0
        The axis that holds the rows.
    where : array of bool, optional
        Where values count; it broadcasts against x.
    skipna : bool, default False
        Whether NaN is left out.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        An array of x's dtype with one position per row along axis; for an empty row -inf, or the least integer. NaN
        is larger than all else.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    segment_min : The smallest.

    Notes
    -----
    The gradient goes to the first of the largest values, like that of PyTorch's `max` along a dim. -0.0 is less than
    0.0; in PyTorch's transforms and compiled code, where PyTorch's `max` runs, they are equal.

    Examples
    --------
    >>> segment_max([1.0, 2.0, 5.0, 4.0, 3.0], [2, 0, 3])
    array([  2., -inf,   5.])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_max", segment_max, no_other, too_many, x=x, lengths=lengths, axis=axis)
    return _reduced("max", x, lengths, axis, where, skipna, out)


@signatures.reduction
def segment_min(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    axis: int = 0,
    too_many: Any = None,
    where: Where | None = None,
    skipna: bool = False,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The smallest of each row's values.

    Parameters
    ----------
    x : array
        Integers or floats of up to 64 bits; its length along axis is the sum of the lengths.
    lengths : array of ints or Plan
        The length of each row.
    axis : int, default 0
        The axis that holds the rows.
    where : array of bool, optional
        Where values count; it broadcasts against x.
    skipna : bool, default False
        Whether NaN is left out.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        An array of x's dtype with one position per row along axis; for an empty row inf, or the largest integer. NaN
        is smaller than all else.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    segment_max : The largest.

    Notes
    -----
    The gradient goes to the first of the smallest values.

    Examples
    --------
    >>> segment_min([1.0, 2.0, 5.0, 4.0, 3.0], [2, 0, 3])
    array([ 1., inf,  3.])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_min", segment_min, no_other, too_many, x=x, lengths=lengths, axis=axis)
    return _reduced("min", x, lengths, axis, where, skipna, out)


@signatures.reduction
def segment_softmax(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    axis: int = 0,
    too_many: Any = None,
    where: Where | None = None,
    skipna: bool = False,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Softmax within each row: exp(x) divided by its sum, so each row sums to 1.

    Parameters
    ----------
    x : array
        Floats of any shape; its length along axis is the sum of the lengths.
    lengths : array of ints or Plan
        The length of each row.
    axis : int, default 0
        The axis that holds the rows.
    where : array of bool, optional
        Where values count; it broadcasts against x.
    skipna : bool, default False
        Whether NaN is left out.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        x's shape and dtype.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    segment_sum : The sum.

    Notes
    -----
    Used for attention over the edges of each node of a graph. Half types are computed in float32. A row of -inf gives
    NaN, like PyTorch's `softmax`.

    Examples
    --------
    >>> segment_softmax([5.0, 5.0, 7.0], [2, 0, 1])
    array([0.5, 0.5, 1. ])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.segment_softmax", segment_softmax, no_other, too_many, x=x, lengths=lengths, axis=axis)
    return _reduced("softmax", x, lengths, axis, where, skipna, out)


def _reduced(how: str, x: Any, lengths: Any, axis: Any, where: Any, skipna: Any, out: Any) -> Any:
    if where is not None or skipna is not False:
        return _with_gaps(how, x, lengths, axis, where, skipna, out)
    if out is None and not in_dynamo() and (found := reduced.QUICK[how](how, x, lengths, axis, None)) is not None:
        return found
    if isinstance(x, LazyArray):
        if how == "sum" and out is None:
            return x.segment_sum(lengths.map if isinstance(lengths, Plan) else lengths, axis)
        x = x.materialize()

    def make() -> Any:
        given = numpy_or_torch("x", x, rows=True)
        positions = given.shape[one_dim("axis", axis, given.ndim)] if given.ndim else None
        return reduced.reduce(how, given, described(f"ragged.segment_{how}", lengths, positions), axis)

    def quick(room: Any) -> Any:
        return reduced.QUICK[how](how, x, as_array(lengths), axis, room)

    return made(f"ragged.segment_{how}", make, quick, out, True, x, lengths=lengths, axis=axis)


def _with_gaps(how: str, x: Any, lengths: Any, axis: Any, where: Any, skipna: Any, out: Any) -> Any:
    name = f"ragged.segment_{how}"

    def make() -> Any:
        given = numpy_or_torch("x", x.materialize() if isinstance(x, LazyArray) else x, rows=True)
        positions = given.shape[one_dim("axis", axis, given.ndim)] if given.ndim else None
        found = gaps.reduce(how, given, described(name, lengths, positions), axis, where, skipna)
        return found if out is None else calls.copied(found, out)

    return called(name, make, x, lengths=lengths, axis=axis, where=where, skipna=skipna, out=out)


for _function in (segment_sum, segment_mean, segment_max, segment_min, segment_softmax):
    show_signature(_function)
