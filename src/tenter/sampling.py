"""resize's axis maps: positions from geometry.py, weights from filters.py, and what lies past the edges."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tenter import coordinates, filters, limits
from tenter.geometry import ALIGNS, TIES, Geometry
from tenter.maps import AxisMap, Copy, Gather, Window, window_of

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# What stands for pixels past the edges of abcd: aa|abcd|dd, cb|abcd|cb, ba|abcd|dc, cd|abcd|ab, a constant, nothing
# (the other weights make up for it), and a constant for every output that itself lies outside.
EDGES = ("replicate", "reflect", "symmetric", "wrap", "constant", "renormalise", "extrapolate")
# Whose rounding of nearest positions: a position on the edge between two pixels may come out on either side.
ARITHMETIC = ("exact", "torch", "pillow", "opencv", "scipy", "jax")


class AxisRule(NamedTuple):
    """How one axis is resized, but for its lengths: plain values, which can be written down and hashed.

    kind: nearest, nearest-exact, area, overlap, cubic, gaussian (linear, after a Gaussian when shrinking), or a name of
    filters.NAMED. cubic: its `a`. scale and box as fractions in words. arithmetic: of nearest positions.
    """

    kind: str
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
        lines.append(
            f"{r.kind},{r.align},{r.scale or ''},{begin},{end},{r.tie},{r.arithmetic},{r.edge},{antialias},{r.cubic}"
        )
    return ";".join(lines)


@lru_cache(maxsize=256)
def read(words: str) -> tuple[AxisRule, ...]:
    """The rules that were written."""
    try:
        return tuple(_read(*line.split(",")) for line in words.split(";") if line)
    except (ValueError, TypeError, ZeroDivisionError):
        return limits.refuse(ValueError, "rule", "what sampling.written wrote", repr(words))


def _read(
    kind: str, align: str, scale: str, begin: str, end: str, tie: str, arithmetic: str, edge: str, antialias: str,
    cubic: str,
) -> AxisRule:  # fmt: skip
    box = (begin, end) if begin else None
    rule = AxisRule(kind, align, scale or None, box, tie, arithmetic, edge, antialias == "1", float(cubic))
    known = _known(kind) and align in ALIGNS and tie in TIES and edge in EDGES and arithmetic in ARITHMETIC
    rule.geometry(2, 2).line()
    if not known or (scale and Fraction(scale) <= 0) or not np.isfinite(rule.cubic):
        raise ValueError
    return rule


def _known(kind: str) -> bool:
    return kind in filters.NAMED or kind in ("nearest", "nearest-exact", "area", "overlap", "cubic", "gaussian")


def sampled(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    """The map of one axis. nearest_rule: of PyTorch's roundings, where the rule's arithmetic is its."""
    # As build.resample: maps of images are kept, those of long signals would fill the memory.
    make = _kept if n_in + n_out <= 1 << 15 else _sampled
    return make(rule, n_in, n_out, nearest_rule)


def _sampled(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    if rule.kind in ("nearest", "nearest-exact"):
        return _nearest(rule, n_in, n_out, nearest_rule)
    geometry = rule.geometry(n_in, n_out)
    if rule.kind == "area" and rule.box is None:
        start, stop = coordinates.area_bounds(n_in, n_out)
        return window_of(n_in, start, stop, np.repeat(1.0 / (stop - start), stop - start))
    if rule.kind in ("area", "overlap"):
        return _overlap(geometry, rule)
    at = geometry.index()
    if rule.kind == "gaussian":
        return _after_gaussian(n_in, at, float(geometry.pitch()), rule.edge)
    fir = filters.Filter(lambda x: filters.cubic(x, rule.cubic), 2.0, True)
    if rule.kind != "cubic":
        fir = filters.NAMED[rule.kind]
    pitch = geometry.line()[1] if rule.align == "corner_areas" else geometry.pitch()
    return weighted(n_in, at, fir, max(float(pitch), 1.0) if rule.antialias else 1.0, rule.edge)


_kept = lru_cache(maxsize=512)(_sampled)


def weighted(n_in: int, at: Floats, fir: filters.Filter, stretch: float, edge: str) -> AxisMap:
    """Each output a sum under a filter, `stretch` times as wide as it is, around index `at`."""
    return _gathered(n_in, len(at), *_taps(n_in, at, fir, stretch, edge))


def _after_gaussian(n_in: int, at: Floats, pitch: float, edge: str) -> AxisMap:
    """Linear, after a Gaussian that takes out what an axis shrunk by `pitch` cannot hold, as scikit-image has it."""
    row, column, weight = _taps(n_in, at, filters.LINEAR, 1.0, edge)
    if pitch > 1.0:
        tap, bell = filters.gaussian((pitch - 1) / 2)
        row = np.repeat(row, len(tap))
        column = (column[:, None] + tap).ravel()
        weight = (weight[:, None] * bell).ravel()
        if edge in ("constant", "extrapolate", "renormalise"):
            weight[(column < 0) | (column >= n_in)] = 0.0
        if edge == "renormalise":
            weight = _of_sum_one(row, weight, len(at))
    return _gathered(n_in, len(at), row, folded(column, n_in, edge), weight)


def _taps(n_in: int, at: Floats, fir: filters.Filter, stretch: float, edge: str) -> tuple[Ints, Ints, Floats]:
    """Row, column and weight of every pixel that an output reads."""
    n_out, reach = len(at), fir.support * stretch
    lowest, highest = np.floor(at - reach).astype(np.int64) + 1, np.floor(at + reach).astype(np.int64)
    count = np.maximum(highest - lowest + 1, 0)
    offset = np.concatenate([[0], np.cumsum(count)])
    row = np.repeat(np.arange(n_out), count)
    column = np.arange(offset[-1]) - offset[row] + lowest[row]
    weight = fir.f((column - at[row]) / stretch)
    outside = (column < 0) | (column >= n_in)
    if edge == "extrapolate":
        weight[((at < 0) | (at > n_in - 1))[row]] = 0.0
    elif edge == "renormalise":
        weight[outside] = 0.0
    if edge == "renormalise" or not fir.whole or stretch != 1.0:
        weight = _of_sum_one(row, weight, n_out)
    if edge == "constant":
        weight[outside] = 0.0
    used = weight != 0
    return row[used], folded(column[used], n_in, edge), weight[used]


def _of_sum_one(row: Ints, weight: Floats, n_out: int) -> Floats:
    total = np.bincount(row, weight, n_out)
    return np.asarray(weight / np.where(total == 0, 1.0, total)[row], np.float64)


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


def _gathered(n_in: int, n_out: int, row: Ints, column: Ints, weight: Floats) -> AxisMap:
    """Rows with their taps in any order: a window where adjacent inputs can hold them, else a gather."""
    first, last = np.full(n_out, n_in), np.full(n_out, -1)
    np.minimum.at(first, row, column)
    np.maximum.at(last, row, column)
    first = np.minimum.accumulate(first[::-1])[::-1]
    stop = np.maximum(np.maximum.accumulate(last) + 1, first)
    span = stop - first
    if span.sum() > 2 * len(row) + 4 * n_out:
        order = np.lexsort((column, row))
        offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_out))])
        return Gather(n_in, n_out, offset, column[order], weight[order])
    offset = np.concatenate([[0], np.cumsum(span)])
    held = np.bincount(offset[row] + column - first[row], weight, int(offset[-1]))
    return window_of(n_in, first, stop, np.asarray(held, np.float64))


def _nearest(rule: AxisRule, n_in: int, n_out: int, nearest_rule: str) -> AxisMap:
    scale = float(Fraction(rule.scale)) if rule.scale is not None else None
    box = (float(Fraction(rule.box[0])), float(Fraction(rule.box[1]))) if rule.box is not None else None
    if rule.arithmetic == "torch" and rule.box is None:
        exact = rule.kind == "nearest-exact"
        return Copy.index_of(coordinates.nearest_index(n_in, n_out, scale, exact, nearest_rule), n_in)
    geometry = rule.geometry(n_in, n_out)
    if rule.arithmetic not in ("exact", "torch") and (rule.box is None or rule.arithmetic == "pillow"):
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
    first, step = geometry.line()
    begin = float(first - step / 2 + Fraction(1, 2)) + np.arange(n_out) * float(step)
    end = begin + float(step)
    lowest, highest = np.floor(begin).astype(np.int64), np.ceil(end - 1e-12).astype(np.int64)
    count = np.maximum(highest - lowest, 1)
    offset = np.concatenate([[0], np.cumsum(count)])
    row = np.repeat(np.arange(n_out), count)
    column = np.arange(offset[-1]) - offset[row] + lowest[row]
    weight = np.maximum(np.minimum(column + 1, end[row]) - np.maximum(column, begin[row]), 0.0) / float(step)
    outside = (column < 0) | (column >= n_in)
    if rule.edge in ("renormalise", "constant", "extrapolate"):
        weight[outside] = 0.0
    if rule.edge == "renormalise":
        weight = _of_sum_one(row, weight, n_out)
    used = weight > 1e-12
    return _gathered(n_in, n_out, row[used], folded(column[used], n_in, rule.edge), weight[used])
