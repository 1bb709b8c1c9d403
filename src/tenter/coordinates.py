"""interp: values at given coordinates, read at other positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np

from tenter._arrays.arguments import MISSING, array, describe, dim, error
from tenter._arrays.dtypes import is_numeric
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, in_dynamo
from tenter._arrays.names import as_written, misnamed, show_signature
from tenter._execution import fill_value
from tenter._execution.apply import applied
from tenter._execution.calls import copied
from tenter._rules.between import rows
from tenter._rules.coordinates import COPIES
from tenter._specs.fill_value import check_value
from tenter.maps._coordinates import of_rows, outside

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tenter._arrays.signatures import (
        Coordinates,
        Element,
        Held,
        InterpEdge,
        InterpMode,
        InterpRule,
        Nested,
        Other,
        Tensor,
        Unpack,
    )


# fmt: off
@overload
def interp(x: NDArray[Element], at: Coordinates, coordinates: Coordinates, axis: SupportsIndex = -1, *,
    out: NDArray[Element] | None = None, **how: Unpack[InterpRule]) -> NDArray[Element]: ...
@overload
def interp(x: Nested, at: Coordinates, coordinates: Coordinates, axis: SupportsIndex = -1, *,
    out: NDArray[Any] | None = None, **how: Unpack[InterpRule]) -> NDArray[Any]: ...
@overload
def interp(x: Other, at: Coordinates, coordinates: Coordinates, axis: SupportsIndex = -1, *,
    out: Other | None = None, **how: Unpack[InterpRule]) -> Other: ...
@overload
def interp(x: Tensor, at: Coordinates, coordinates: Coordinates, axis: SupportsIndex = -1, *,
    out: Tensor | None = None, **how: Unpack[InterpRule]) -> Tensor: ...
@overload
def interp(x: Held, at: Coordinates, coordinates: Coordinates, axis: SupportsIndex = -1, *,
    out: NDArray[Any] | None = None, **how: Unpack[InterpRule]) -> NDArray[Any]: ...
# fmt: on
def interp(
    x: Any = MISSING,
    at: Coordinates = MISSING,
    coordinates: Coordinates = MISSING,
    axis: SupportsIndex = -1,
    too_many: Any = None,
    mode: InterpMode = "linear",
    period: float | np.number[Any] | np.timedelta64 | None = None,
    edge: InterpEdge = "replicate",
    value: complex | tuple[complex, complex] = 0,
    weights: ArrayLike | None = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Interpolates an array along one axis whose coordinates are given, at other positions.

    Parameters
    ----------
    x : array
        An array, tensor or list of any shape; its length along axis is n_in. Every real and complex dtype; modes that
        copy ("nearest", "previous", "next") take any dtype.
    at : array of float, int, datetime64 or timedelta64
        (n_out,): positions in the unit of coordinates, in any order, the same for all rows of x. In mode "area",
        (n_out + 1,): the edges of the output cells, ascending or descending.
    coordinates : array of float, int, datetime64 or timedelta64
        (n_in,): where x's values along axis are, ascending or descending, with steps of any length. In mode "area",
        (n_in + 1,): the edges of x's cells.
    axis : int, default -1
        The axis.
    mode : str, default "linear"
        "linear", "nearest" (the lower one if both are equally near), "previous", "next" (of coordinates, also if they
        descend), "catmull-rom" (the cubic with the slopes of `np.gradient(x, coordinates, edge_order=2)`, of which each
        result reads four values) or "area" (the mean of what each output cell covers: conservative regridding).
    period : number or timedelta64, optional
        Coordinates and positions repeat with it, as in `np.interp`: 360 for degrees of longitude. Coordinates may then
        be in any order. In mode "area", the edges of x's cells go once around.
    edge : str, default "replicate"
        What outputs outside the coordinates are: "replicate" (the value at the end, as in `np.interp`), "constant"
        (`value`; in mode "area" of each cell that is not covered in whole) or "extrapolate" (the line or cubic of the
        last step goes on, as in SciPy; modes "linear" and "catmull-rom").
    value : number or (below, above), default 0
        The fill value of edge "constant", such as NaN; a pair has one for each side.
    weights : array of float, optional
        (n_in,), above 0: what a unit of length of each cell counts in mode "area", such as the cosine of latitude.
    out : array, optional
        Memory for the result, which is also returned, as for `tenter.resize`.

    Returns
    -------
    array
        A new array of x's library and dtype, of length n_out along axis. Integers are rounded half to even and
        saturated.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or x does not hold numbers and mode takes sums.
    ValueError
        If coordinates contain NaN, repeat, or neither ascend nor descend, if lengths do not fit, or a value is not
        allowed.
    IndexError
        If there is no such axis.

    See Also
    --------
    tenter.maps.from_coordinates : The same as a map, to be made once and applied often.
    resize : Equal steps, several axes.

    Notes
    -----
    The order of arguments is x, at, coordinates; `np.interp` has (at, coordinates, x). A value that an output gives no
    weight is not read: NaN reaches those outputs only that lie between it and a neighbor. Positions within rounding of
    a coordinate (2^-50 of the largest one) are at it.

    Mode "area" keeps sums: `(y * np.diff(at)).sum()` is `(x * np.diff(coordinates)).sum()` if both cover the same
    range. Weights are computed in float64, those of integers and times from exact differences. Gradients, in PyTorch
    and JAX, go to x, by the transposed map; at and coordinates have none.

    Modes "pchip", "akima" and "makima" are not there, as their results are not linear in x. Neither are SciPy's
    cubic splines: each of their results reads about 56 values with weights above 2^-53, where SciPy solves one banded
    system.

    Examples
    --------
    >>> interp([10.0, 20.0, 60.0], at=[0.5, 2.0, 9.0], coordinates=[0.0, 1.0, 5.0])
    array([15., 30., 60.])

    Longitude, which is periodic, and cells of 2 degrees that become cells of 3:

    >>> interp([1.0, 2.0, 4.0, 3.0], [315.0, -45.0], [0.0, 90.0, 180.0, 270.0], period=360)
    array([2., 2.])
    >>> interp([3.0, 6.0, 9.0], [0, 3, 6], [0, 2, 4, 6], mode="area")
    array([4., 8.])

    Times, and a value for what is outside:

    >>> days = np.array(["2020-01-01", "2020-01-03"], "datetime64[D]")
    >>> at = np.array(["2020-01-02T12", "2020-01-04T00"], "datetime64[h]")
    >>> interp([0.0, 8.0], at, days, edge="constant", value=np.nan)
    array([ 6., nan])
    """
    if no_other or too_many is not None:
        raise misnamed("interp", interp, no_other, too_many, x=x, at=at, coordinates=coordinates, axis=axis)
    if in_dynamo():  # not within `try`, where the compiler could not end a graph
        from tenter._torch import uncompiled  # imports torch

        how = {"mode": mode, "period": period, "edge": edge, "value": value, "weights": weights}
        return uncompiled.with_coordinates(interp, x, at, coordinates, axis, out=out, **how)
    try:
        x = array("x", x)
        along = dim("axis", axis, x.ndim)
        found = rows(at, coordinates, mode, period, edge, weights)
        n = x.shape[along] if x.ndim else 1
        if n != found.n_in:
            more, edges = (1, " edges") if mode == "area" else (0, "")
            expected = f"{n + more}{edges}, as x has {n} along axis {along}"
            refuse(ValueError, "coordinates", expected, f"{found.n_in + more}")
        if mode not in COPIES and not is_numeric(dtype_name(x)):
            refuse(TypeError, "x", f"numbers, of which mode {mode} takes sums", dtype_name(x))
        fills = _fills(value, x, edge)
        sides = [(side, fill) for side, fill in zip((found.below, found.above), fills) if side.any()]
        y = applied(of_rows(found), x, along, None if sides else out)
        for side, fill in sides:
            y = fill_value.filled(y, x, along, outside(found.n_in, side), fill)
        return copied(y, out) if sides and out is not None else y
    except Refusal as refusal:
        given = {"axis": axis, "mode": mode, "period": period, "edge": edge, "value": value, "weights": weights}
        shown = {"x": x, "at": at, "coordinates": coordinates, **as_written(interp, given)}
        raise error(refusal, "interp", **shown, out=out) from None


def _fills(value: Any, x: Any, edge: str) -> tuple[Any, ...]:
    """Returns the fill values below and above, if any."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        refuse(ValueError, "value", "a number or two, below and above", describe(value))
    for each in pair:
        if edge != "constant" and not (isinstance(each, (int, float, complex, np.number)) and each == 0):
            refuse(ValueError, "value", "none, unless edge is constant", describe(value))
        check_value(each, x)
    return pair if edge == "constant" else ()


show_signature(interp)
