"""resize's axis maps: positions from geometry.py, weights from filters.py, and what lies past the edges."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tenter import coordinates, filters, interpolation, limits
from tenter.geometry import ALIGNS, TIES, Geometry, on_one_denominator, places
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps.window import window_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# What stands for pixels past the edges of abcd: aa|abcd|dd, cb|abcd|cb, ba|abcd|dc, cd|abcd|ab, a constant, nothing
# (the other weights make up for it), and a constant for every output that itself lies outside.
EDGES = ("replicate", "reflect", "symmetric", "wrap", "constant", "renormalise", "extrapolate")
# Those at which the axis goes on.
PERIODIC = ("reflect", "symmetric", "wrap")
# Whose rounding of nearest positions: a position on the edge between two pixels may come out on either side.
ARITHMETIC = ("exact", "torch", "pillow", "opencv", "scipy", "jax")
# Of positions, beyond which float64 has no fractions.
LARGEST = 2**53
_FRACTION = re.compile(r"-?\d{1,400}(/0*[1-9]\d{0,400})?")


class AxisRule(NamedTuple):
    """How one axis is resized, but for its lengths: plain values, which can be written down and hashed.

    kind: nearest, nearest-exact, area, overlap, cubic, gaussian (linear, after a Gaussian where it shrinks), a name of
    filters.NAMED, or a user's Filter, which the rule keeps; caches and operators have its name. cubic: its `a`. scale
    and box as fractions in words. arithmetic: of nearest positions.
    """

    kind: str | filters.Filter
    align: str
    scale: str | None
    box: tuple[str, str] | None
    tie: str
    arithmetic: str
    edge: str
    antialias: bool
    cubic: float

    def geometry(self, n_in: int, n_out: int) -> Geometry:
        scale = Fraction(self.scale) if self.scale is not None else None
        box = (Fraction(self.box[0]), Fraction(self.box[1])) if self.box is not None else None
        return Geometry(n_in, n_out, self.align, scale, box)


def written(rules: tuple[AxisRule, ...]) -> str:
    """Rules in words, for PyTorch's operators, whose arguments are no tuples. By hand, as its compiler follows it."""
    lines = []
    for r in rules:
        begin, end = r.box if r.box is not None else ("", "")
        antialias = "1" if r.antialias else ""
        kind, scale = _name(r.kind), r.scale or ""
        lines.append(f"{kind},{r.align},{scale},{begin},{end},{r.tie},{r.arithmetic},{r.edge},{antialias},{r.cubic}")
    return ";".join(lines)


@lru_cache(maxsize=256)
def read(words: str) -> tuple[AxisRule, ...]:
    """The rules that were written."""
    try:
        return tuple(_read(*line.split(",")) for line in words.split(";") if line)
    except (ValueError, TypeError):
        return limits.refuse(ValueError, "rule", "what sampling.written wrote", repr(words))


def _read(
    kind: str, align: str, scale: str, begin: str, end: str, tie: str, arithmetic: str, edge: str, antialias: str,
    cubic: str,
) -> AxisRule:  # fmt: skip
    box = (begin, end) if begin else None
    rule = AxisRule(kind, align, scale or None, box, tie, arithmetic, edge, antialias == "1", float(cubic))
    known = _known(kind) and align in ALIGNS and tie in TIES and edge in EDGES and arithmetic in ARITHMETIC
    plain = all(not word or _FRACTION.fullmatch(word) for word in (scale, begin, end))
    if not known or not plain or (box and not end) or not abs(rule.cubic) <= LARGEST:
        raise ValueError
    if scale and not Fraction(scale) * LARGEST >= 1:
        raise ValueError
    if box and not -LARGEST <= Fraction(begin) < Fraction(end) <= LARGEST:
        raise ValueError
    return rule


def _known(kind: str) -> bool:
    """Of users' filters, those that there may be: `made` says whether there are."""
    plain = ("nearest", "nearest-exact", "area", "overlap", "cubic", "gaussian")
    return kind in filters.NAMED or kind in plain or kind.startswith(filters.MADE)


def made(words: str) -> tuple[filters.Filter, ...]:
    """The users' filters that written rules name; what holds this keeps them."""
    if filters.MADE not in words:
        return ()
    return tuple(filters.by_name(_name(r.kind)) for r in read(words) if _name(r.kind).startswith(filters.MADE))


def _name(kind: str | filters.Filter) -> str:
    return kind if isinstance(kind, str) else filters.named(*kind)


def sampled(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    """The map of one axis. nearest_rule: of PyTorch's roundings, where the rule's arithmetic is its."""
    # As interpolation.resample: maps of images are kept, those of long signals would fill the memory.
    make = _kept if n_in + n_out <= 1 << 15 else _sampled
    return make(rule._replace(kind=_name(rule.kind)), n_in, n_out, nearest_rule)


def _sampled(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    assert isinstance(rule.kind, str)
    if rule.kind in ("nearest", "nearest-exact"):
        return _nearest(rule, n_in, n_out, nearest_rule)
    if _interpolates(rule, n_in, n_out):
        scale = float(Fraction(rule.scale)) if rule.scale is not None else None
        kind = "lanczos" if rule.kind == "lanczos3" else rule.kind
        return interpolation.resample(kind, n_in, n_out, scale, rule.align != "centre", rule.antialias)
    geometry = rule.geometry(n_in, n_out)
    if rule.kind in ("area", "overlap"):
        if rule.align in ("corners", "corner_areas", "tf_crop_and_resize"):  # which line up points; areas have edges
            geometry = replace(geometry, align="centre")
        return _overlap(geometry, rule)
    if rule.kind == "gaussian":
        return _after_gaussian(geometry, rule.edge)
    fir = filters.Filter(lambda x: filters.cubic(x, rule.cubic), 2.0, True)
    if rule.kind != "cubic":
        fir = filters.by_name(rule.kind)
    pitch = geometry.line()[1] if rule.align == "corner_areas" else geometry.pitch()
    stretch = max(pitch, Fraction(1)) if rule.antialias else Fraction(1)
    return _gathered(n_in, n_out, *_taps(geometry, fir, stretch, rule.edge), rule.edge)


def _interpolates(rule: AxisRule, n_in: int, n_out: int) -> bool:
    """Is it what a mode of PyTorch's does? Then the map is the one that interpolate has."""
    if rule.box is not None or 0 in (n_in, n_out):
        return False
    if rule.kind == "area":
        return True
    if rule.antialias:
        aligned = rule.align in ("centre", "corner_areas") and rule.edge == "renormalise"
        known = rule.kind in ("linear", "lanczos3") or (rule.kind == "cubic" and rule.cubic == -0.5)
    else:
        aligned = rule.align in ("centre", "corners") and rule.edge == "replicate"
        known = rule.kind == "linear" or (rule.kind == "cubic" and rule.cubic == -0.75)
    # interpolate knows no scale of corners, and leaves axes alone that keep their length.
    follows = rule.scale is None or (rule.align == "centre" and n_in != n_out)
    return known and aligned and follows


_kept = lru_cache(maxsize=512)(_sampled)


def _after_gaussian(geometry: Geometry, edge: str) -> AxisMap:
    """Linear, after a Gaussian that takes out what an axis that shrinks cannot hold, as scikit-image has it."""
    n_in, pitch = geometry.n_in, float(geometry.pitch())
    row, column, weight = _taps(geometry, filters.LINEAR, Fraction(1), edge)
    if pitch > 1.0:
        tap, bell = filters.gaussian((pitch - 1) / 2)
        row = np.repeat(row, len(tap))
        column = column if edge in PERIODIC else folded(column, n_in, edge)
        column = (column[:, None] + tap).ravel()
        weight = (weight[:, None] * bell).ravel()
        if edge in ("constant", "renormalise"):
            weight[(column < 0) | (column >= n_in)] = 0.0
        if edge == "renormalise":
            weight = _normalised(weight, row, geometry.n_out)
    return _gathered(n_in, geometry.n_out, row, column, weight, edge)


def _taps(geometry: Geometry, fir: filters.Filter, stretch: Fraction, edge: str) -> tuple[Ints, Ints, Floats]:
    """Row, column, which may lie past the edges, and weight of all that outputs read under a filter `stretch` times as
    wide as it is."""
    n_in, n_out = geometry.n_in, geometry.n_out
    line = geometry.line()
    at, reach = places(*line, n_out), fir.support * float(stretch)
    slack = 1e-9 * (1 + reach)  # of positions that are roundings
    lowest, highest = np.ceil(at - reach - slack), np.floor(at + reach + slack)
    if edge == "renormalise":
        lowest, highest = np.clip(lowest, 0, n_in), np.clip(highest, -1, n_in - 1)
    count = np.maximum(highest - lowest + 1, 0)
    _tables(float(count.sum()))
    lowest, count = lowest.astype(np.int64), count.astype(np.int64)
    offset = np.concatenate([[0], np.cumsum(count)])
    row = np.repeat(np.arange(n_out), count)
    column = np.arange(offset[-1]) - offset[row] + lowest[row]
    unit = lcm(line[0].denominator, line[1].denominator)
    if (reach + 2) * unit * stretch.denominator < LARGEST > unit * stretch.numerator:  # exact, as filters have edges
        numerator, unit = on_one_denominator(*line, n_out)
        distance = (column * unit - numerator[row]) * stretch.denominator / (unit * stretch.numerator)
    else:
        distance = (column - at[row]) / float(stretch)
    weight = np.array(fir.f(np.asarray(distance, np.float64)), np.float64)
    weight[(distance <= -fir.support) | (distance > fir.support)] = 0.0
    outside = (column < 0) | (column >= n_in)
    if edge == "extrapolate":
        weight[((at < 0) | (at > n_in - 1))[row]] = 0.0
    if edge == "renormalise" or not fir.whole or stretch != 1:
        weight = _normalised(weight, row, n_out)
    if edge == "constant":
        weight[outside] = 0.0
    used = weight != 0
    return row[used], column[used], weight[used]


def folded(column: Ints, n_in: int, edge: str) -> Ints:
    """Which pixel stands for each position, those past the edges too."""
    if edge == "reflect" and n_in > 1:
        column = column % (2 * n_in - 2)
        return np.where(column >= n_in, 2 * n_in - 2 - column, column)
    if edge == "symmetric":
        column = column % (2 * n_in)
        return np.where(column >= n_in, 2 * n_in - 1 - column, column)
    if edge == "wrap":
        return column % n_in
    return np.clip(column, 0, n_in - 1)


def _gathered(n_in: int, n_out: int, row: Ints, column: Ints, weight: Floats, edge: str) -> AxisMap:
    """Rows with their taps in any order past the edges: a window where adjacent inputs hold them, else a gather."""
    at = folded(column, n_in, edge)
    found = _adjacent(n_in, n_out, row, at, weight, edge in PERIODIC)
    if found is not None:
        return found
    if edge in PERIODIC:  # windows on the axis as it goes on past its edges: rows share what they read
        lowest = int(column.min())
        window = _adjacent(int(column.max()) + 1 - lowest, n_out, row, column - lowest, weight, False)
        if isinstance(window, Window):
            taps = window.taps()
            return Gather(n_in, n_out, window.rows()[1], folded(taps[1] + lowest, n_in, edge), taps[2])
    order = np.lexsort((at, row))
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_out))])
    return Gather(n_in, n_out, offset, at[order], weight[order])


def _distinct(keys: Ints) -> int:
    """How many there are. Not by np.unique, in which a daemon thread aborts when the interpreter ends."""
    keys = np.sort(keys)
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + min(1, len(keys))


def _adjacent(n_in: int, n_out: int, row: Ints, column: Ints, weight: Floats, exactly: bool) -> Copy | Window | None:
    """Rows of adjacent inputs that hold these taps, if such rows need not be much longer, or no longer at all."""
    first, last = np.full(n_out, n_in), np.full(n_out, -1)
    count = np.bincount(row, minlength=n_out)  # rows ascend
    some = count > 0
    begin = (np.cumsum(count) - count)[some]
    if len(begin):
        first[some], last[some] = np.minimum.reduceat(column, begin), np.maximum.reduceat(column, begin)
    first = np.minimum.accumulate(first[::-1])[::-1]
    stop = np.maximum(np.maximum.accumulate(last) + 1, first)
    span = stop - first
    # Holes between taps would spread what lies there if it is inf or NaN.
    if span.sum() > 2 * len(row) + 4 * n_out or (exactly and span.sum() > _distinct(row * n_in + column)):
        return None
    offset = np.concatenate([[0], np.cumsum(span)])
    held = np.asarray(np.bincount(offset[row] + column - first[row], weight, int(offset[-1])), np.float64)
    return window_of(n_in, first, stop, held)


def _nearest(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    scale = float(Fraction(rule.scale)) if rule.scale is not None else None
    if rule.arithmetic == "torch" and rule.box is None and n_out:
        exact = rule.kind == "nearest-exact"
        return Copy.index_of(coordinates.nearest_index(n_in, n_out, scale, exact, nearest_rule), n_in)
    geometry = rule.geometry(n_in, n_out)
    if rule.arithmetic not in ("exact", "torch") and n_out and (rule.box is None or rule.arithmetic == "pillow"):
        box = (float(Fraction(rule.box[0])), float(Fraction(rule.box[1]))) if rule.box is not None else None
        index = coordinates.rounded_index(n_in, n_out, scale, box, rule.align, rule.arithmetic)
    else:
        index = geometry.nearest(rule.tie)
    outside = (index < 0) | (index >= n_in)
    if rule.edge == "extrapolate":
        at = geometry.index()
        outside = (at < 0) | (at > n_in - 1)
    index = folded(index, n_in, rule.edge)
    descends = bool(np.any(index[1:] < index[:-1]))
    if rule.edge in ("constant", "extrapolate") and outside.any():
        stop = np.maximum.accumulate(np.where(outside, 0, index + 1))  # rows of nothing lie at the ends
        start = np.where(outside, stop, index)
        return Window(n_in, n_out, start, np.concatenate([[0], np.cumsum(~outside)]))
    if descends:
        return Gather(n_in, n_out, np.arange(n_out + 1), index, np.ones(n_out))
    return Copy.index_of(index, n_in)


def _overlap(geometry: Geometry, rule: AxisRule) -> AxisMap:
    """Means over the area between two output edges, each pixel by how much of it lies there."""
    n_in, n_out = geometry.n_in, geometry.n_out
    edge, unit = geometry.edges()
    begin, end = edge[:-1], edge[1:]  # which are Python's ints where int64 is too small
    lowest, highest = (np.asarray(e, np.int64) for e in (begin // unit, -(-end // unit)))
    if rule.edge == "renormalise":
        lowest, highest = np.clip(lowest, 0, n_in), np.clip(highest, 0, n_in)
    offset = np.concatenate([[0], np.cumsum(highest - lowest)])
    _tables(int(offset[-1]))
    row = np.repeat(np.arange(n_out), highest - lowest)
    column = np.arange(offset[-1]) - offset[row] + lowest[row]
    left = column.astype(edge.dtype) * unit
    shared = np.minimum(left + unit, end[row]) - np.maximum(left, begin[row])
    weight = np.asarray(shared / (end - begin)[row], np.float64)
    if rule.edge == "constant":
        weight[(column < 0) | (column >= n_in)] = 0.0
    if rule.edge == "extrapolate":
        at = geometry.index()
        weight[((at < 0) | (at > n_in - 1))[row]] = 0.0
    if rule.edge == "renormalise":
        weight = _normalised(weight, row, n_out)
    used = weight > 0
    return _gathered(n_in, n_out, row[used], column[used], weight[used], rule.edge)


def _normalised(weight: Floats, row: Ints, n_out: int) -> Floats:
    """Weights of rows that sum to one, or to nothing: what is left of a row past an edge may be roundings alone."""
    total = np.bincount(row, weight, n_out)
    nothing = np.abs(total) < filters.NOTHING
    return np.asarray(np.where(nothing[row], 0.0, weight) / np.where(nothing, 1.0, total)[row], np.float64)


def _tables(taps: float) -> None:
    limits.memory((int(min(taps, 2.0**62)),), 100, "the tables of the axis maps")
