"""Maps between axes whose positions are given."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._rules.between import Rows, rows
from tenter.maps._algebra import Entries, Map, of_entries, summed
from tenter.maps._copy import Copy
from tenter.maps._values import trusted
from tenter.maps._window import Window

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tenter._arrays.signatures import Coordinates, InterpEdge, InterpMode


def from_coordinates(
    at: "Coordinates", coordinates: "Coordinates", mode: "InterpMode" = "linear", *,
    period: "float | np.number[Any] | np.timedelta64 | None" = None, edge: "InterpEdge" = "replicate",
    weights: "ArrayLike | None" = None,
) -> Map:  # fmt: skip
    """The map that `tenter.interp` applies: from values at given coordinates to values at other positions.
    Provisional: it may change before 1.0.

    Parameters
    ----------
    at : array of float, int or datetime64
        (n_out,): positions, in the unit of coordinates. In mode "area", (n_out + 1,): the edges of output cells.
    coordinates : array of float, int or datetime64
        (n_in,): where the inputs are, ascending or descending. In mode "area", (n_in + 1,): the edges of input cells.
    mode, period
        As for `tenter.interp`.
    edge : {"replicate", "extrapolate"}, default "replicate"
        As for `tenter.interp`. A map has no fill value.
    weights
        As for `tenter.interp`.

    Returns
    -------
    Copy, Window or Gather
        The sparse matrix of n_out rows and n_in columns: a Gather if positions descend where coordinates ascend, or lie
        across the seam of a period.

    Raises
    ------
    TypeError, ValueError
        As `tenter.interp`.

    See Also
    --------
    tenter.interp : Applies it.
    tenter.axis_map : The map of a mode of `tenter.resize`, for equal steps.

    Examples
    --------
    >>> A = from_coordinates([0.5, 3.0], [0.0, 1.0, 5.0])
    >>> A.dense()
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5]])
    >>> A.T.apply(np.ones(2), 0)
    array([0.5, 1. , 0.5])
    """
    try:
        if edge == "constant":
            refuse(ValueError, "edge", "replicate or extrapolate, as a map has no fill value", repr(edge))
        return of_rows(rows(at, coordinates, mode, period, edge, weights))
    except Refusal as refusal:
        how = {"period": period, "edge": None if edge == "replicate" else edge, "weights": weights}
        raise error(refusal, "maps.from_coordinates", at=at, coordinates=coordinates, mode=mode, **how) from None


def of_rows(found: Rows) -> Map:
    """Returns the map of rows. In it the inputs of each row ascend, as the inputs of all maps are summed."""
    n_in, start, offset, inputs, weight, *_ = found
    n_out = len(start)
    if inputs is None and np.all(start[1:] >= start[:-1]):
        if weight is None:
            return Copy.from_index(start, n_in)
        stop = start + np.diff(offset)
        if np.all(stop[1:] >= stop[:-1]) and int(offset[-1]) > n_out:
            tables = {"start": start, "offset": offset, "weight": weight}
            return trusted(Window, n_in=n_in, n_out=n_out, width=None, block=1, **tables)
    row = np.repeat(np.arange(n_out), np.diff(offset))
    read = np.arange(int(offset[-1])) + np.repeat(start - offset[:-1], np.diff(offset))
    read = read if inputs is None else inputs[read]
    weight = np.ones(len(read)) if weight is None else weight
    if np.any((read[1:] <= read[:-1]) & (row[1:] == row[:-1])):
        return of_entries(n_in, summed(row, read, weight, n_out))
    return of_entries(n_in, Entries(offset, read, weight))


def outside(n_in: int, rows: Any) -> Map:
    """Returns the map to outputs that read input 0 where they are outside, and nothing elsewhere."""
    offset = np.concatenate([[0], np.cumsum(rows)])
    return of_entries(n_in, Entries(offset, np.zeros(int(offset[-1]), np.int64), np.ones(int(offset[-1]))))
