"""Which inputs an output reads under a filter, and with which weights: rules as the core computes rows by."""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from tenter import _native, filters
from tenter._arrays import limits
from tenter._arrays.errors import refuse
from tenter._arrays.types import Floats, Ints
from tenter._rules.axis_rule import AxisRule
from tenter._rules.edges import PERIODIC
from tenter.geometry import Geometry

Line = tuple[Fraction, Fraction]  # the index of output 0, and the distance between neighbors
# As the core numbers them (native/sampling.hpp); past periodic edges rows reach beyond the axis.
FILTERED, TOUCHED, OVERLAPPED = range(3)
EDGES = {"replicate": 0, "constant": 1, "renormalize": 2, "extrapolate": 3}
BEYOND = 4
# Units of positions beyond which the core would lose bits; finer ones are rounded to the second.
FINEST, ROUNDED = 1 << 90, 1 << 80


class Entries(NamedTuple):
    """Row, column and weight of entries; rows ascend, columns may lie past the edges."""

    row: Ints
    column: Ints
    weight: Floats

    def used(self) -> "Entries":
        kept = self.weight != 0
        return Entries(self.row[kept], self.column[kept], self.weight[kept])


def sampling(rule: AxisRule, geometry: Geometry, filter_: filters.Filter) -> _native.Sampling:
    """The rows of an axis under a filter, which is stretched where it shrinks with antialias."""
    line, stretch = geometry.line(), Fraction(1)
    if rule.antialias:
        stretch = max(line[1] if rule.align == "corner_areas" else geometry.pitch(), stretch)
    normalize = not filter_.normalized or stretch != 1
    return _sampling(FILTERED, geometry, line, filter_, stretch, normalize, rule.edge)


def touched(n_in: int, n_out: int) -> _native.Sampling:
    """Means of the pixels that each output's area touches; PyTorch's adaptive average pooling."""
    line = Fraction(0), Fraction(n_in, n_out)
    return _sampling(TOUCHED, Geometry(n_in, n_out), line, None, Fraction(1), False, "renormalize")


def overlapped(geometry: Geometry, edge: str) -> _native.Sampling:
    """Means over the area between two output edges, each pixel by how much of it lies there."""
    return _sampling(OVERLAPPED, geometry, geometry.line(), None, Fraction(1), False, edge)


def _sampling(
    rule: int, geometry: Geometry, line: Line, filter_: filters.Filter | None, stretch: Fraction, normalize: bool,
    edge: str,
) -> _native.Sampling:  # fmt: skip
    n_in, n_out = geometry.n_in, geometry.n_out
    unit = lcm(line[0].denominator, line[1].denominator)
    if unit >= FINEST:
        unit = ROUNDED
    (first, rest), (step, step_rest) = (divmod(round(f * unit), unit) for f in line)
    if abs(first) + n_out * (abs(step) + 1) >= 1 << 61:
        refuse(ValueError, "box", "positions below 2**61 pixels", f"output {n_out - 1} at {first + n_out * step}")
    fits = max(stretch.numerator, stretch.denominator) < 1 << 53
    found = _native.Sampling(
        n_in, n_out, rule,
        (first, divmod(rest, 1 << 64), step, divmod(step_rest, 1 << 64), divmod(unit, 1 << 64)),
        None if filter_ is None else filters.core_of(filter_),
        0.0 if filter_ is None else filter_.support,
        stretch.numerator if fits else 0, stretch.denominator if fits else 0, float(stretch),
        normalize, BEYOND if edge in PERIODIC else EDGES[edge],
    )  # fmt: skip
    check_room(float(found.taps_each))
    return found


def entries(of: _native.Sampling) -> Entries:
    """All rows of an axis, one tap after the other."""
    check_room(of.taps_each * float(of.n_out))
    start, offset, weight = of.untrimmed()
    row = np.repeat(np.arange(len(start)), np.diff(offset))
    return Entries(row, np.arange(len(row)) - offset[row] + start[row], weight).used()


def blurred(rule: AxisRule, geometry: Geometry) -> Entries:
    """Linear interpolation after a Gaussian that removes what a shrinking axis cannot hold, as scikit-image has it."""
    n_in, pitch, edge = geometry.n_in, float(geometry.pitch()), rule.edge
    row, column, weight = entries(sampling(rule._replace(antialias=False), geometry, filters.NAMED["linear"]))
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


def check_room(taps: float) -> None:
    limits.memory((int(min(taps, 2.0**62)),), 100, limits.TABLES)
