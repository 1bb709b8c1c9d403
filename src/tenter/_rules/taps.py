"""Which inputs an output reads under a filter, and with which weights."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tenter import filters
from tenter._arrays import limits
from tenter._arrays.types import Floats, Ints
from tenter._rules.axis_rule import LARGEST, AxisRule
from tenter._rules.edges import PERIODIC
from tenter.geometry import Geometry, positions

Line = tuple[Fraction, Fraction]  # the index of output 0, and the distance between neighbors
# Weights that are computed together, so that what lies between two steps stays in cache.
TOGETHER = 1 << 18


class Rows(NamedTuple):
    """Adjacent inputs, start to stop, of each output, and their weights, row after row."""

    start: Ints
    stop: Ints
    weight: Floats

    def entries(self) -> "Entries":
        count = self.stop - self.start
        offset = np.cumsum(count) - count
        row = np.repeat(np.arange(len(count)), count)
        return Entries(row, np.arange(len(row)) - offset[row] + self.start[row], self.weight)


class Entries(NamedTuple):
    """Row, column and weight of entries; rows ascend, columns may lie past the edges."""

    row: Ints
    column: Ints
    weight: Floats

    def used(self) -> "Entries":
        kept = self.weight != 0
        return Entries(self.row[kept], self.column[kept], self.weight[kept])


def filtered(geometry: Geometry, line: Line, filter_: filters.Filter, stretch: Fraction, edge: str) -> Rows:
    """What outputs read under a filter `stretch` times as wide as it is; line: the geometry's. At periodic edges
    rows reach past the axis, else they are cut to it, pixels outside being added to those that they stand for.

    Distances are exact integers up to a last division, as filters have edges, which a rounding must not cross.
    """
    n_in, n_out = geometry.n_in, geometry.n_out
    numerator, unit, at = positions(*line, n_out)
    reach = filter_.support * float(stretch)
    slack = 1e-9 * (1 + reach)  # of positions that are roundings
    lowest, highest = np.ceil(at - reach - slack), np.floor(at + reach + slack)
    if edge == "renormalize":  # inputs outside are not read, and may be very many
        lowest, highest = np.minimum(np.maximum(lowest, 0), n_in), np.minimum(highest, n_in - 1)
    width = int(np.max(highest - lowest, initial=0)) + 1
    check_room(width * float(n_out))
    lowest, highest = lowest.astype(np.int64), highest.astype(np.int64)
    exact = (reach + 2) * unit * stretch.denominator < LARGEST > unit * stretch.numerator
    normalize = edge == "renormalize" or not filter_.normalized or stretch != 1
    start, stop = _cut(lowest, highest + 1, n_in, edge)
    tap = np.arange(width)[:, None]
    held, done = np.empty(int((stop - start).sum())), 0
    for lo in range(0, n_out, max(1, TOGETHER // width)):
        some = slice(lo, lo + max(1, TOGETHER // width))
        first = lowest[some]
        if exact:
            whole = (first.astype(numerator.dtype) * unit - numerator[some]) * stretch.denominator
            distance = (whole.astype(np.int64) + tap * (unit * stretch.denominator)) / (unit * stretch.numerator)
        else:
            distance = (first + tap - at[some]) / float(stretch)
        weight = np.array(filter_.f(distance.ravel()), np.float64).reshape(distance.shape)
        weight[(distance <= -filter_.support) | (distance > filter_.support)] = 0.0
        cut = np.flatnonzero((first < 0) | (first > n_in - width))  # rows that may reach past an edge
        column = first[cut] + tap
        if edge == "renormalize":
            weight[:, cut] *= column < n_in
        if edge == "extrapolate":
            weight[:, (at[some] < 0) | (at[some] > n_in - 1)] = 0.0
        if normalize:
            weight = normalized(weight)
        if edge not in PERIODIC and len(cut):
            weight[:, cut] = _inside(weight[:, cut], column, start[some][cut], n_in, edge)
        rows = weight.T[(stop - start)[some, None] > tap.T]
        held[done : done + len(rows)] = rows
        done += len(rows)
    return Rows(start, stop, held)


def _cut(start: Ints, stop: Ints, n_in: int, edge: str) -> tuple[Ints, Ints]:
    if edge in PERIODIC:
        return start, stop
    # Not by np.clip, which takes several times as long on short axes.
    if edge in ("replicate", "extrapolate") and n_in:
        return np.minimum(np.maximum(start, 0), n_in - 1), np.minimum(np.maximum(stop, 1), n_in)
    start = np.minimum(np.maximum(start, 0), n_in)
    return start, np.minimum(np.maximum(stop, start), n_in)


def _inside(weight: Floats, column: Ints, start: Ints, n_in: int, edge: str) -> Floats:
    """Weights of rows that reach past an edge, from the first input that each row reads on."""
    found = np.zeros(weight.shape)
    if edge in ("constant", "renormalize"):
        weight = np.where((column >= 0) & (column < n_in), weight, 0.0)
    at = np.minimum(np.maximum(column, 0), n_in - 1) - np.minimum(start, n_in - 1)
    np.add.at(found, (at, np.arange(weight.shape[1])), weight)
    return found


def normalized(weight: Floats) -> Floats:
    """Weights by (tap, row) of rows that sum to one, or to zero: what is left of a row past an edge may be roundings.

    Taps are added one after the other, in the order of the inputs.
    """
    total = np.add.reduce(weight, axis=0)
    nothing = np.abs(total) < filters.NOTHING
    return np.asarray(np.where(nothing, 0.0, weight) / np.where(nothing, 1.0, total), np.float64)


def blurred(geometry: Geometry, edge: str) -> Entries:
    """Linear interpolation after a Gaussian that removes what a shrinking axis cannot hold, as scikit-image has it."""
    n_in, pitch = geometry.n_in, float(geometry.pitch())
    row, column, weight = filtered(geometry, geometry.line(), filters.LINEAR, Fraction(1), edge).entries().used()
    if pitch <= 1.0:
        return Entries(row, column, weight)
    tap, bell = filters.gaussian((pitch - 1) / 2)
    row = np.repeat(row, len(tap))
    column = (column[:, None] + tap).ravel()
    weight = (weight[:, None] * bell).ravel()
    if edge in ("constant", "renormalize"):
        weight[(column < 0) | (column >= n_in)] = 0.0
    if edge == "renormalize":
        weight = _summing_to_one(weight, row, geometry.n_out)
    return Entries(row, column, weight)


def _summing_to_one(weight: Floats, row: Ints, n_out: int) -> Floats:
    total = np.bincount(row, weight, n_out)
    nothing = np.abs(total) < filters.NOTHING
    return np.asarray(np.where(nothing[row], 0.0, weight) / np.where(nothing, 1.0, total)[row], np.float64)


def touched(n_in: int, n_out: int) -> Rows:
    """Means of the pixels that each output's area touches; PyTorch's adaptive average pooling."""
    o = np.arange(n_out, dtype=np.int64)
    start, stop = o * n_in // n_out, -(-(o + 1) * n_in // n_out)
    return Rows(start, stop, np.repeat(1.0 / (stop - start), stop - start))


def overlapped(geometry: Geometry, rule: AxisRule) -> Entries:
    """Means over the area between two output edges, each pixel by how much of it lies there."""
    n_in, n_out = geometry.n_in, geometry.n_out
    edge, unit = geometry.edges()
    begin, end = edge[:-1], edge[1:]  # which are Python's ints where int64 is too small
    lowest, highest = (np.asarray(e, np.int64) for e in (begin // unit, -(-end // unit)))
    if rule.edge == "renormalize":
        lowest, highest = np.clip(lowest, 0, n_in), np.clip(highest, 0, n_in)
    check_room(float((highest - lowest).sum()))
    row, column, _ = Rows(lowest, highest, np.empty(0)).entries()
    left = column.astype(edge.dtype) * unit
    shared = np.minimum(left + unit, end[row]) - np.maximum(left, begin[row])
    weight = np.asarray(shared / (end - begin)[row], np.float64)
    if rule.edge == "constant":
        weight[(column < 0) | (column >= n_in)] = 0.0
    if rule.edge == "extrapolate":
        at = geometry.index()
        weight[((at < 0) | (at > n_in - 1))[row]] = 0.0
    if rule.edge == "renormalize":
        weight = _summing_to_one(weight, row, n_out)
    used = weight > 0
    return Entries(row[used], column[used], weight[used])


def entries_of(rule: AxisRule, geometry: Geometry) -> Entries:
    return blurred(geometry, rule.edge) if rule.kind == "gaussian" else overlapped(geometry, rule)


def check_room(taps: float) -> None:
    limits.memory((int(min(taps, 2.0**62)),), 100, limits.TABLES)
