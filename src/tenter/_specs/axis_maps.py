"""The map of a resampled axis, which the core makes from its rule, as the cheapest kind of map that can hold it."""

from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse
from tenter._arrays.types import Bools, Ints
from tenter._rules import filters
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter._rules.geometry import LARGEST, Geometry, units
from tenter._rules.rounding import by_axis
from tenter._specs.spline_maps import SINGLE, is_spline, spline_map
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._computed import computed, copied
from tenter.maps._values import trusted

# Maps of images and volumes are cached. Maps of longer axes would fill the memory.
CACHED_LENGTH = 1 << 15
# Denominators of positions from FINEST on would lose bits in the core. They are rounded to ROUNDED.
FINEST, ROUNDED = 1 << 90, 1 << 80
# All kinds except users' filters.
KINDS = frozenset((*_native.WORDS["kind"], "cubic", *filters.NAMED)) - {"filter"}


def axis_map(rule: AxisRule, n_in: int, n_out: int) -> AxisMap:
    """Returns the map of one axis. The rule's arithmetic must be settled."""
    make = cached_axis_map if n_in + n_out <= CACHED_LENGTH else new_axis_map
    return make(rule.named(), n_in, n_out)


def new_axis_map(rule: AxisRule, n_in: int, n_out: int) -> AxisMap:
    """Returns the map, not cached. rule: with a filter's name as its kind."""
    if is_spline(rule, n_in, n_out):
        return spline_map(rule, n_in, n_out)
    core, filter_ = in_core(rule)
    made = _made(core, rule, n_in, n_out, None)
    if made is None:
        wide = _wide(rule, rule._replace(align=core.lined_up_by).geometry(n_in, n_out))
        made = _made(core, rule, n_in, n_out, wide)
        if made is None:
            return _indexed(*_nearest(rule, n_in, n_out, wide), n_in)
    if isinstance(made, int):
        return Copy.repeat_each(n_in, made)
    if isinstance(made, _native.SourceIndex):
        if made.reads_padding and not made.is_long:
            return _indexed(made.index(0, n_out), np.zeros(n_out, np.bool_), n_in)
        return copied(made)
    if isinstance(made, _native.Sampling):
        return computed(n_in, n_out, made, filter_ is not None and not filters.in_core(filter_))
    start, index, offset, weight = made
    if start is None:
        return trusted(Gather, n_in=n_in, n_out=n_out, offset=offset, index=index, weight=weight)
    return trusted(Window, n_in=n_in, n_out=n_out, start=start, offset=offset, weight=weight, width=None, block=1)


cached_axis_map = lru_cache(maxsize=512)(new_axis_map)


class AxisCall(NamedTuple):
    """What else of a call decides how an axis is resampled (native/rules/axis_rule.hpp)."""

    n_axes: int
    sum_of_sizes: float
    keeps_lengths: bool
    doubles: bool
    on_device: bool
    rounding: str
    bytes: bool


def settled(
    rules: tuple[AxisRule, ...], lengths: tuple[int, ...], sizes: tuple[int, ...], dtype: str, on_device: bool,
    rounding: str,
) -> tuple[AxisRule, ...]:  # fmt: skip
    """Returns the rules of a call's axes with their arithmetic decided, and without scales that have no effect: which
    of PyTorch's kernels rounds nearest positions, and how 8-bit values are summed (native/rules/axis_rule.cpp)."""
    found = []
    keeps, doubles = lengths == sizes, dtype == "float64"
    for rule, n_in, n_out in zip(rules, lengths, sizes):
        if is_spline(rule, n_in, n_out):
            if dtype in DTYPES and DTYPES[dtype].sums == "float32":
                rule = rule._replace(arithmetic=SINGLE)
        elif by_axis(rounding) or dtype == "uint8" or rule.arithmetic in ("torch", "torch-direct", "opencv"):
            box = None
            if rule.box is not None:  # the box's position only matters for 8-bit values
                box = (float(Fraction(rule.box[0])), float(Fraction(rule.box[1]))) if by_axis(rounding) else (0.0, 1.0)
            call = AxisCall(len(sizes), float(sum(sizes)), keeps, doubles, on_device, rounding, dtype == "uint8")
            arithmetic, follows = in_core(rule.named())[0].settled(n_in, n_out, rule.scale is not None, box, call)
            rule = rule._replace(arithmetic=arithmetic, scale=rule.scale if follows else None)
        found.append(rule)
    return tuple(found)


def in_core(rule: AxisRule) -> tuple[_native.AxisRule, filters.Filter | None]:
    """Returns the core's form of a rule, and its filter."""
    how = rule.align, rule.tie, rule.arithmetic, rule.edge, rule.antialias
    kind = rule.kind
    if kind == "cubic":
        filter_: filters.Filter | None = filters.keys(rule.cubic)
    elif kind in KINDS:
        filter_ = filters.NAMED.get("linear" if kind == "gaussian" else kind)
    else:
        filter_ = kind if isinstance(kind, filters.Filter) else filters.by_name(kind)
    made = _native.AxisRule(kind if kind in _native.WORDS["kind"] else "filter", *how)
    if filter_ is not None:
        made.set_filter(filters.core_of(filter_), *filter_[1:])
    return made, filter_


def _made(core: _native.AxisRule, rule: AxisRule, n_in: int, n_out: int, wide: Any) -> Any:
    return core.map(n_in, n_out, rule.scale, rule.box, _check_memory, filters.gaussian, wide)


def _check_memory(n: float, itemsize: int) -> None:
    limits.memory((int(min(n, 2.0**62)),), itemsize, limits.TABLES)


# ---- numbers with more bits than the core has


class CoreLine(NamedTuple):
    """Positions of outputs in input pixels: whole pixels, and rests in units of 1 / unit. Rests and unit have 128 bits:
    their upper and lower half."""

    first: int
    first_rest: tuple[int, int]
    step: int
    step_rest: tuple[int, int]
    unit: tuple[int, int]


class WideNumbers(NamedTuple):
    """Numbers of an axis that do not fit in the core's integers, computed in Python: the line of positions, the stretch
    as a fraction and as a float, the ends of the box, and the scale."""

    line: CoreLine
    numerator: int
    denominator: int
    ratio: float
    begin: float
    end: float
    scale: float


def _wide(rule: AxisRule, geometry: Geometry) -> WideNumbers:
    first, step, unit = units(geometry) if rule.kind not in NEAREST else (0, 1, 1)
    wide, one = 1, 1  # the stretch, as a fraction
    if rule.antialias or rule.kind == "gaussian":
        wide, one = max(geometry.pitch(), Fraction(1)).as_integer_ratio()
        if rule.align == "corner_areas" and rule.kind != "gaussian":
            wide, one = max(step, unit), unit
    ratio = wide / one
    if wide >= LARGEST:
        wide = one = 0
    if unit >= FINEST:
        first, step, unit = first * ROUNDED // unit, step * ROUNDED // unit, ROUNDED
    (whole, rest), (whole_step, step_rest) = divmod(first, unit), divmod(step, unit)
    if abs(whole) + geometry.n_out * (abs(whole_step) + 1) >= 1 << 61:
        refuse(ValueError, "box", "positions below 2**61 pixels", repr(geometry))
    rest_of_first, rest_of_step, units_each = (divmod(n, 1 << 64) for n in (rest, step_rest, unit))
    line = CoreLine(whole, rest_of_first, whole_step, rest_of_step, units_each)
    begin, end = map(float, geometry.box or (0, 0))
    return WideNumbers(line, wide, one, ratio, begin, end, float(geometry.scale or 1))


def _nearest(rule: AxisRule, n_in: int, n_out: int, wide: Any) -> tuple[Ints, Bools]:
    """Returns the source index of each output, and which outputs are outside the axis and have none. Positions may
    descend."""
    geometry = rule.geometry(n_in, n_out)
    by_library = _made(in_core(rule._replace(edge="replicate"))[0], rule, n_in, n_out, wide)
    found = geometry.nearest(rule.tie) if by_library is None else by_library.index(0, n_out)
    nowhere = np.zeros(n_out, np.bool_)
    if rule.edge == "constant":
        nowhere = (found < 0) | (found >= n_in)
    if rule.edge == "extrapolate":
        at = geometry.index()
        nowhere = (at < 0) | (at > n_in - 1)
    return _native.folded(found, n_in, rule.edge), nowhere


def _indexed(index: Ints, nowhere: Bools, n_in: int) -> AxisMap:
    n_out = len(index)
    if nowhere.any():
        stop = np.maximum.accumulate(np.where(nowhere, 0, index + 1))  # empty rows are at the ends
        start = np.where(nowhere, stop, index)
        return Window(n_in, n_out, start, np.concatenate([[0], np.cumsum(~nowhere)]))
    if np.any(index[1:] < index[:-1]):
        return Gather(n_in, n_out, np.arange(n_out + 1), index, np.ones(n_out))
    return Copy.from_index(index, n_in)
