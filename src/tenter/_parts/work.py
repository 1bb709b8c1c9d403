"""A checked call on an array that is not in memory, and the parts of its result.

work = of_call(spec, shape, dtype)
reads, slices = work.reads(axis, lo, hi, ends)        what outputs lo..hi - 1 read; ends: those of the input chunks
work.part([reads, ...], [(lo, hi), ...]).made(...)    the outputs, computed from these slices
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.library import dtype_name
from tenter._arrays.types import Array, Ints
from tenter._execution import numpy_executor
from tenter._parts.part import FillValue, Part, Reads
from tenter._parts.rows import MapRows, OwnRows, SharedMaps, SharedRows, positions, stays, without_blocks
from tenter._rules.rounding import ONCE
from tenter._specs.applied import Applied
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap

# A slice of an input chunk along an axis: the chunk's number, and the positions in it.
InputSlice = tuple[int, slice]


class Work(NamedTuple):
    """A checked call.

    maps: those of the axes that change
    rounding: of the result
    shared: where the maps come from; None if each part carries its own rows
    fill_value: for all outputs; `part` sets its rows
    labels: of labels, the one outside of x, or None in it
    gaps: what the command line does with missing values (`cli/volumes/gaps.py`)
    """

    shape: Shape
    shape_out: Shape
    dtype: np.dtype[Any]
    maps: dict[int, AxisMap]
    rounding: str = ONCE
    shared: SharedMaps | None = None
    fill_value: FillValue | None = None
    labels: tuple[int | None] | None = None
    gaps: Any = None

    def rows(self, axis: int, lo: int, hi: int) -> MapRows:
        return OwnRows(self.maps[axis], lo, hi) if self.shared is None else SharedRows(self.shared, axis, lo, hi)

    def reads(self, axis: int, lo: int, hi: int, ends: Ints) -> tuple[Reads, list[InputSlice]]:
        """Returns what outputs lo..hi - 1 read along an axis. ends: where the input chunks end."""
        m = self.maps.get(axis)
        at = slice(lo, hi) if m is None else positions(m, lo, hi)
        slices, index = _neighbors(at, ends) if isinstance(at, slice) else _scattered(at, ends)
        rows = None if m is None or stays(m, lo, hi) else self.rows(axis, lo, hi)
        return Reads(tuple([piece.stop - piece.start for _, piece in slices]), index, rows), slices

    def part(self, reads: Sequence[Reads], ranges: Sequence[tuple[int, int]]) -> Part:
        fill_value = self.fill_value
        if fill_value is not None:
            inside = tuple(
                [(axis, r._replace(lo=ranges[axis][0], hi=ranges[axis][1])) for axis, r in fill_value.inside]
            )
            fill_value = fill_value._replace(inside=inside)
        return Part(tuple(reads), self.dtype, self.rounding, fill_value, self.labels)


def _neighbors(at: slice, ends: Ints) -> tuple[list[InputSlice], None]:
    slices: list[InputSlice] = []
    k, lo = int(np.searchsorted(ends, at.start, side="right")), at.start
    while lo < at.stop:
        begin, end = int(ends[k - 1]) if k else 0, int(ends[k])
        if end > lo:  # chunks may be empty
            slices.append((k, slice(lo - begin, min(end, at.stop) - begin)))
            lo = min(end, at.stop)
        k += 1
    return slices, None


def _scattered(at: Ints, ends: Ints) -> tuple[list[InputSlice], Ints | None]:
    """Returns one slice for each chunk, from the first to the last position that is read, and the index of the
    positions in the joined slices (None if they are in order)."""
    if not len(at):
        return [], None
    of = np.searchsorted(ends, at, side="right")
    slices: list[InputSlice] = []
    index, n = np.empty(len(at), np.int64), 0
    for k in np.flatnonzero(np.bincount(of)).tolist():
        here = of == k
        begin = int(ends[k - 1]) if k else 0
        lo, hi = int(at[here].min()), int(at[here].max()) + 1
        slices.append((k, slice(lo - begin, hi - begin)))
        index[here] = at[here] - lo + n
        n += hi - lo
    in_order = n == len(at) and np.array_equal(index, np.arange(n))
    return slices, None if in_order else index


def of_call(spec: Spec, shape: Shape, dtype: np.dtype[Any]) -> Work:
    name = dtype_name(np.empty(0, dtype))
    shape_out = spec.shape_out(shape)
    if isinstance(spec, (RepeatCounts, Applied)):  # their tables may be large
        found = {axis: without_blocks(m) for axis, m in spec.maps(shape, name, False)}
        return Work(shape, shape_out, dtype, found)
    shared = SharedMaps(spec, shape, name)
    return Work(shape, shape_out, dtype, shared.maps, spec.rounding_of(name), shared)


def of_labels(spec: Resize, shape: Shape, dtype: np.dtype[Any], outside: int | None) -> Work:
    """Returns the work of `resize` of labels. outside: the label outside of x, None if no output reads it."""
    shared = SharedMaps(spec, shape, "float32")
    return Work(shape, spec.shape_out(shape), dtype, shared.maps, shared=shared, labels=(outside,))


def of_value(spec: Resize, shape: Shape, like: Array, value: Any) -> Work:
    """Returns the work of `resize` with a fill value. `_execution/fill_value.py` does the same for arrays in memory.

    like: an array of x's dtype with no elements
    """
    all_or_nothing = spec.is_all_or_nothing
    widens = not all_or_nothing and DTYPES[dtype_name(like)].narrow
    alone = {axis: SharedMaps(one, (shape[axis],), "float64") for axis, one in spec.alone().items()}
    inside = tuple([(axis, SharedRows(one, 0, 0, 0)) for axis, one in alone.items() if one.maps])
    if all_or_nothing:
        spec = spec.replicated()
    name = dtype_name(numpy_executor.widened(like) if widens else like)
    shared = SharedMaps(spec, shape, name)
    filled = FillValue(value, all_or_nothing, widens, inside)
    return Work(shape, spec.shape_out(shape), like.dtype, shared.maps, spec.rounding_of(name), shared, filled)
