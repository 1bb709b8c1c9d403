"""Which inputs a position between coordinates reads, with which weights. Steps may have any lengths."""

from typing import Any, NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays import blocks
from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._arrays.numpy_arrays import address
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array, Bools, Floats, Ints
from tenter._rules.coordinates import COPIES, Axis, axis_of

# Of a periodic axis, so many coordinates are repeated before the first and after the last: as many as a cubic reads.
BESIDE = 2
EPSILON = float(np.finfo(np.float64).eps)


class Rows(NamedTuple):
    """Row o reads offset[o + 1] - offset[o] places from start[o] on, with weight[offset[o] : offset[o + 1]].

    n_in: the number of inputs
    inputs: the input of each place, if it is not the place itself
    weight: None for ones
    below, above: whether an output is outside
    """

    n_in: int
    start: Ints
    offset: Ints
    inputs: Ints | None
    weight: Floats | None
    below: Bools
    above: Bools


class _Placed(NamedTuple):
    """Positions in coordinates that ascend.

    last: the last coordinate that is not above a position; -1 for none
    ahead: the first that is not below it; their number for none
    """

    at: Array
    last: Ints
    ahead: Ints


def rows(at: object, coordinates: object, mode: str, period: object, edge: str, weights: object = None) -> Rows:
    """Returns the rows of positions, checked."""
    axis = axis_of(at, coordinates, mode, period, edge)
    if weights is not None and mode != "area":
        refuse(ValueError, "weights", "none, unless mode is area", describe(weights))
    with np.errstate(all="ignore"):  # what overflows is refused below
        found = _areas(axis, weights) if mode == "area" else _points(axis, mode, edge)
    if found.weight is not None and not np.isfinite(found.weight).all():
        refuse(ValueError, "coordinates", "steps whose weights are finite numbers", "steps too unequal for float64")
    return found


def _placed(at: Array, coordinates: Array) -> _Placed:
    """A position within rounding of a coordinate is there: it reads no neighbor, which may be NaN."""
    rounding: float = 0
    if at.dtype.kind == "f" and len(coordinates) > 1:
        magnitude = max(abs(float(coordinates[0])), abs(float(coordinates[-1])))
        rounding = min(4 * EPSILON * magnitude, float(np.diff(coordinates).min()) / 1024)
    found, last, ahead = _room(len(at), at.dtype), _room(len(at), np.int64), _room(len(at), np.int64)
    _native.place_between(
        np.ascontiguousarray(at), np.ascontiguousarray(coordinates), rounding, address(found), address(last),
        address(ahead), thread_count(),
    )  # fmt: skip
    return _Placed(found, last, ahead)


def _room(n: int, dtype: Any) -> Array:
    return blocks.empty((n,), np.dtype(dtype))[0]


def _points(axis: Axis, mode: str, edge: str) -> Rows:
    c, inputs, n_in, m = axis.coordinates, axis.inputs, axis.n_in, len(axis.at)
    if not m:
        outside = np.zeros(0, bool)
        return Rows(n_in, np.zeros(0, np.int64), np.zeros(1, np.int64), None, None, outside, outside)
    if axis.period is not None:
        which = np.arange(-BESIDE, n_in + BESIDE)
        c = c[which % n_in] + which // n_in * axis.period
        inputs = which % n_in if inputs is None else inputs[which % n_in]
    n = len(c)
    at, last, ahead = _placed(axis.at, c)
    below, above = last < 0, ahead >= n
    np.maximum(last, 0, out=last)
    np.minimum(ahead, n - 1, out=ahead)
    if n == 1 or mode in COPIES:
        first = ahead if mode == "next" else last
        if mode == "nearest":
            first = np.where(c[ahead] - at < at - c[last], ahead, last)
        return Rows(n_in, first, np.arange(m + 1), inputs, None, below, above)
    clips = edge != "extrapolate"
    if mode == "linear" or n == 2:
        first, offset, weight = _lines(c, at, last, clips)
        return Rows(n_in, first, offset, inputs, weight, below, above)
    if clips and (below.any() or above.any()):
        at = np.clip(at, c[0], c[-1])
    first, weight = _cubic(c, at, np.minimum(last, n - 2))
    read = weight != 0
    if read.all():
        return Rows(n_in, first, np.arange(m + 1) * weight.shape[1], inputs, weight.reshape(-1), below, above)
    # At a coordinate its value alone is read: weights of zero are at the ends of rows.
    offset = np.concatenate([[0], np.cumsum(read.sum(1))])
    return Rows(n_in, first + read.argmax(1), offset, inputs, weight[read], below, above)


def _lines(c: Array, at: Array, last: Ints, clips: bool) -> tuple[Ints, Ints, Floats]:
    """Returns the first input, the offset and the weights of each row. At a coordinate its value alone is read."""
    start, offset, weight = _room(len(at), np.int64), _room(len(at) + 1, np.int64), _room(2 * len(at), np.float64)
    n = _native.lines_between(
        at, np.ascontiguousarray(c), last, clips, address(start), address(offset), address(weight), thread_count()
    )
    return start, offset, weight[:n]


def _cubic(c: Array, at: Array, i: Ints) -> tuple[Ints, Floats]:
    """The cubic through two coordinates with the slopes of `np.gradient(x, c, edge_order=2)`: at a coordinate, that of
    the parabola through it and its neighbors; at an end, of the parabola through the last three."""
    n, rows = len(c), np.arange(len(at))
    taps = min(4, n)
    first = np.clip(i - 1, 0, n - taps)
    step = np.asarray(c[i + 1] - c[i], np.float64)
    u = (at - c[i]) / step
    weight = np.zeros((len(at), taps))
    at_left = (1 + 2 * u) * (1 - u) ** 2
    weight[rows, i - first] += at_left
    weight[rows, i + 1 - first] += 1 - at_left
    for node, slope in ((i, u * (1 - u) ** 2), (i + 1, u * u * (u - 1))):
        parabola = np.clip(node - 1, 0, n - 3)
        # The three coordinates, in steps from the node, so that no product leaves the range of floats.
        p = [(c[parabola + k] - c[node]) / step for k in range(3)]
        for k in range(3):
            one, other = p[k - 1], p[k - 2]
            weight[rows, parabola + k - first] -= slope * (one + other) / ((p[k] - one) * (p[k] - other))
    return first, weight


def _areas(axis: Axis, weights: object) -> Rows:
    """Returns the shares of each output cell that input cells cover, times their weights."""
    n, m = axis.n_in, len(axis.at) - 1
    each = _densities(weights, n)
    each = each if axis.inputs is None else each[axis.inputs]
    e, inputs, period = axis.coordinates, axis.inputs, axis.period
    a, b = np.minimum(axis.at[:-1], axis.at[1:]), np.maximum(axis.at[:-1], axis.at[1:])
    if period is not None:
        if len(a) and (b - a).max() > period * (1 + 1e-9):
            refuse(ValueError, "at", f"edges of cells no wider than the period, {period}", f"{(b - a).max()}")
        b -= a
        a = (a - e[0]) % period + e[0]
        b += a
        inputs = np.tile(np.arange(n) if inputs is None else inputs, 2)
        e, each = np.append(e, e[1:] + period), np.tile(each, 2)
    begin, end = _placed(a, e), _placed(b, e)
    if len(narrow := np.flatnonzero(end.at <= begin.at)):
        refuse(ValueError, "at", "cells wider than what coordinates are rounded by", f"cell {narrow[0]}")
    below, above = begin.last < 0, end.ahead > len(e) - 1
    first, stop = np.maximum(begin.last, 0), np.minimum(end.ahead, len(e) - 1)
    # Where a cell is outside, the cell at the edge goes on.
    first, stop = np.minimum(first, len(e) - 2), np.maximum(stop, 1)
    e = e.copy()
    e[0], e[-1] = min(e[0], begin.at.min()), max(e[-1], end.at.max())
    count = stop - first
    offset = np.concatenate([[0], np.cumsum(count)])
    row = np.repeat(np.arange(m), count)
    cell = np.arange(int(offset[-1])) + np.repeat(first - offset[:-1], count)
    covered = (np.minimum(end.at[row], e[cell + 1]) - np.maximum(begin.at[row], e[cell])) * each[cell]
    return Rows(n, first, offset, inputs, covered / np.bincount(row, covered, m)[row], below, above)


def _densities(weights: object, n: int) -> Floats:
    if weights is None:
        return np.ones(n)
    try:
        found = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        refuse(TypeError, "weights", "numbers", describe(weights))
    if found.shape != (n,):
        refuse(ValueError, "weights", f"{n}, one for each cell of x", describe(weights))
    if not (np.isfinite(found).all() and (found > 0).all()):
        refuse(ValueError, "weights", "finite ones above 0", describe(weights))
    return found
