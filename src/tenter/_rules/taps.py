"""Which inputs an output reads under a filter, and with which weights: rules as the core computes rows by."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from tenter import _native, filters
from tenter._arrays import limits
from tenter._arrays.errors import refuse
from tenter._arrays.types import Floats, Ints
from tenter._rules.axis_rule import LARGEST, AxisRule
from tenter._rules.edges import NUMBERS
from tenter.geometry import ALIGNS, Geometry

# As the core numbers them (native/sampling.hpp).
FILTERED, TOUCHED, OVERLAPPED = range(3)
# Aligns by which the core makes the rows of whole axes: all but ONNX's own.
WHOLE = ALIGNS[:4]
LONG_ROW = 1 << 16  # taps whose memory is checked
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
    n_in, n_out = geometry.n_in, geometry.n_out
    is_whole = geometry.scale is None and geometry.box is None and rule.align in WHOLE
    if is_whole and max(n_in, n_out) <= _native.LONGEST_WHOLE_AXIS:
        return _checked(whole_axis(rule, filter_).sampling(n_in, n_out))
    units = geometry.units()
    wide, one = 1, 1  # the stretch, as a fraction
    if rule.antialias:
        if rule.align == "corner_areas":
            wide, one = max(units[1], units[2]), units[2]
        else:
            wide, one = max(geometry.pitch(), Fraction(1)).as_integer_ratio()
    stretched = wide != one and one > 0
    normalize = not filter_.normalized or stretched
    return _sampling(FILTERED, geometry, units, filter_, (wide, one) if stretched else (1, 1), normalize, rule.edge)


def whole_axis(rule: AxisRule, filter_: filters.Filter) -> _native.WholeAxis:
    """How the core makes the rows of axes of any length."""
    return _native.WholeAxis(
        FILTERED, ALIGNS.index(rule.align), filters.core_of(filter_), filter_.support, rule.antialias,
        filter_.normalized, NUMBERS[rule.edge],
    )  # fmt: skip


def overlapped_axis(rule: AxisRule) -> _native.WholeAxis:
    """The same for means over areas."""
    align, edge = ALIGNS.index(of_areas(rule.align)), NUMBERS[rule.edge]
    return _native.WholeAxis(OVERLAPPED, align, None, 0.0, False, False, edge)


def of_areas(align: str) -> str:
    """Corners line up points; areas have edges."""
    return "center" if align in ("corners", "corner_areas", "tf_crop_and_resize") else align


TOUCHED_AXIS = _native.WholeAxis(TOUCHED, 0, None, 0.0, False, False, NUMBERS["renormalize"])


def touched(n_in: int, n_out: int) -> _native.Sampling:
    """Means of the pixels that each output's area touches; PyTorch's adaptive average pooling."""
    if max(n_in, n_out) > _native.LONGEST_WHOLE_AXIS:
        return _sampling(TOUCHED, Geometry(n_in, n_out), (0, n_in, n_out), None, (1, 1), False, "renormalize")
    return _checked(TOUCHED_AXIS.sampling(n_in, n_out))


def overlapped(geometry: Geometry, edge: str) -> _native.Sampling:
    """Means over the area between two output edges, each pixel by how much of it lies there."""
    return _sampling(OVERLAPPED, geometry, geometry.units(), None, (1, 1), False, edge)


def _sampling(
    rule: int, geometry: Geometry, units: tuple[int, int, int], filter_: filters.Filter | None,
    stretch: tuple[int, int], normalize: bool, edge: str,
) -> _native.Sampling:  # fmt: skip
    first, step, unit = units
    if unit >= FINEST:
        first, step, unit = first * ROUNDED // unit, step * ROUNDED // unit, ROUNDED
    (whole, rest), (whole_step, step_rest) = divmod(first, unit), divmod(step, unit)
    if abs(whole) + geometry.n_out * (abs(whole_step) + 1) >= 1 << 61:
        refuse(ValueError, "box", "positions below 2**61 pixels", repr(geometry))
    wide, one = stretch
    ratio = wide / one
    if wide >= LARGEST:
        wide = one = 0
    found = _native.Sampling(
        geometry.n_in, geometry.n_out, rule,
        (whole, divmod(rest, 1 << 64), whole_step, divmod(step_rest, 1 << 64), divmod(unit, 1 << 64)),
        None if filter_ is None else filters.core_of(filter_),
        0.0 if filter_ is None else filter_.support,
        wide, one, ratio, normalize, NUMBERS[edge],
    )  # fmt: skip
    return _checked(found)


def _checked(found: _native.Sampling) -> _native.Sampling:
    if (each := found.taps_each) > LONG_ROW:
        check_room(float(each))
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
