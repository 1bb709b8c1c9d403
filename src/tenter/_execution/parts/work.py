"""A checked call on an array that is not in memory, and the parts of its result.

work = of_call(spec, shape, dtype)
reads, pieces = work.reads(axis, lo, hi, ends)        what outputs lo..hi - 1 read along an axis whose pieces end there
work.part([reads, ...], [(lo, hi), ...]).made(...)    the outputs, of those pieces
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.library import dtype_name
from tenter._arrays.types import Ints
from tenter._execution import numpy_executor
from tenter._execution.parts.part import Outside, Part, Reads
from tenter._execution.parts.rows import Given, Rows, Rule, Ruled, positions, stays, without_blocks
from tenter._specs.applied import Applied
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap

# A piece of the input along an axis: its number, and which of its positions.
Piece = tuple[int, slice]


class Work(NamedTuple):
    """maps: of the axes that change. rule: where they come from; None where they are given. outside: of all outputs,
    its rows those of the whole axes."""

    shape: Shape
    shape_out: Shape
    dtype: Any
    maps: dict[int, AxisMap]
    rule: Rule | None
    saturate: bool
    outside: Outside | None

    def rows(self, axis: int, lo: int, hi: int) -> Rows:
        return Given(self.maps[axis], lo, hi) if self.rule is None else Ruled(self.rule, axis, lo, hi)

    def reads(self, axis: int, lo: int, hi: int, ends: Ints) -> tuple[Reads, list[Piece]]:
        """What outputs lo..hi - 1 read along an axis whose pieces end at some positions."""
        m = self.maps.get(axis)
        at = slice(lo, hi) if m is None else positions(m, lo, hi)
        pieces, index = _neighbors(at, ends) if isinstance(at, slice) else _scattered(at, ends)
        rows = None if m is None or stays(m, lo, hi) else self.rows(axis, lo, hi)
        return Reads(tuple([some.stop - some.start for _, some in pieces]), index, rows), pieces

    def part(self, reads: Sequence[Reads], ranges: Sequence[tuple[int, int]]) -> Part:
        outside = self.outside
        if outside is not None:
            inside = tuple([(axis, r._replace(lo=ranges[axis][0], hi=ranges[axis][1])) for axis, r in outside.inside])
            outside = outside._replace(inside=inside)
        return Part(tuple(reads), self.dtype, self.saturate, outside)


def _neighbors(at: slice, ends: Ints) -> tuple[list[Piece], None]:
    pieces: list[Piece] = []
    k, lo = int(np.searchsorted(ends, at.start, side="right")), at.start
    while lo < at.stop:
        begin, end = int(ends[k - 1]) if k else 0, int(ends[k])
        if end > lo:  # pieces may be empty
            pieces.append((k, slice(lo - begin, min(end, at.stop) - begin)))
            lo = min(end, at.stop)
        k += 1
    return pieces, None


def _scattered(at: Ints, ends: Ints) -> tuple[list[Piece], Ints | None]:
    """Of each piece what lies from the first to the last of some positions; and where these are, then."""
    if not len(at):
        return [], None
    of = np.searchsorted(ends, at, side="right")
    pieces: list[Piece] = []
    index, n = np.empty(len(at), np.int64), 0
    for k in np.flatnonzero(np.bincount(of)).tolist():
        here = of == k
        begin = int(ends[k - 1]) if k else 0
        lo, hi = int(at[here].min()), int(at[here].max()) + 1
        pieces.append((k, slice(lo - begin, hi - begin)))
        index[here] = at[here] - lo + n
        n += hi - lo
    in_order = n == len(at) and np.array_equal(index, np.arange(n))
    return pieces, None if in_order else index


def of_call(spec: Spec, shape: Shape, dtype: np.dtype[Any]) -> Work:
    name = dtype_name(np.empty(0, dtype))
    shape_out = spec.shape_out(shape)
    if isinstance(spec, (RepeatCounts, Applied)):  # which hold what they map by
        found = {axis: without_blocks(m) for axis, m in spec.maps(shape, name, False)}
        return Work(shape, shape_out, dtype, found, None, False, None)
    rule = Rule.of(spec, shape, name)
    return Work(shape, shape_out, dtype, rule.maps, rule, spec.saturates(name), None)


def of_value(spec: Resize, shape: Shape, like: Any, value: Any, runs: Any = numpy_executor) -> Work:
    """`resize` with a value for what lies past the edges, as `_execution/outside.py` has it for arrays in memory. like:
    an array of no elements. runs: its library's executor."""
    fills = spec.is_all_or_nothing
    widens = not fills and DTYPES[dtype_name(like)].narrow
    alone = {axis: Rule.of(one, (shape[axis],), "float64") for axis, one in spec.alone().items()}
    inside = tuple([(axis, Ruled(one, 0, 0, 0)) for axis, one in alone.items() if one.maps])
    if fills:
        spec = spec.replicated()
    name = dtype_name(runs.widened(like) if widens else like)
    rule = Rule.of(spec, shape, name)
    shape_out = spec.shape_out(shape)
    return Work(
        shape, shape_out, like.dtype, rule.maps, rule, spec.saturates(name), Outside(value, fills, widens, inside)
    )
