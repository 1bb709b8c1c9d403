"""Maps whose outputs are weighted sums of adjacent inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tenter.maps.copy import Copy
from tenter.maps.values import (
    Floats,
    Ints,
    Table,
    applied,
    rebuilt,
    require,
    span,
    trusted,
    unchecked,
    whole_fields,
    within,
)

if TYPE_CHECKING:
    from tenter import _native


@dataclass(frozen=True, eq=False, repr=False)
class Window:
    """Each output is a weighted sum of adjacent inputs: block `o` reads `start[o] .. start[o] + offset[o + 1] -
    offset[o]` with `weight[offset[o] : offset[o + 1]]`. Without weights they are ones; with `width` alone row `o`
    reads the `width` inputs from `o * width`.

    Invariant: neither first nor last inputs descend from row to row. That makes the transpose of a window a window.

    >>> Window(4, 2, start=[0, 2], offset=[0, 2, 4], weight=[0.5, 0.5, 0.5, 0.5]).apply(np.arange(4.0), 0)
    array([0.5, 2.5])
    """

    n_in: int
    n_out: int
    start: Ints | None = Table(np.int64)  # type: ignore[assignment]
    offset: Ints | None = Table(np.int64)  # type: ignore[assignment]
    weight: Floats | None = Table(np.float64)  # type: ignore[assignment]
    width: int | None = None
    block: int = 1

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __post_init__(self) -> None:
        whole_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        start, offset, weight = self.start, self.offset, self.weight
        if start is None:
            require(offset is None and weight is None and self.width is not None, "start and offset, or width")
            whole_fields(self, "width")
            assert self.width is not None
            require(n_in == n_out * self.width, "n_in == n_out * width")
            return
        require(offset is not None and self.width is None, "start and offset, or width")
        assert offset is not None
        require(start.shape == (n_out,) and offset.shape == (n_out + 1,) and offset[0] == 0, "a start and stop per row")
        require(np.all(offset[1:] >= offset[:-1]), "ascending offsets")  # as differences and sums of others may wrap
        count = np.diff(offset)
        require(
            np.all(start >= 0) and np.all(count <= n_in) and np.all(start <= n_in - count), "windows inside [0, n_in)"
        )
        stop = start + count
        require(np.all(start[1:] >= start[:-1]) and np.all(stop[1:] >= stop[:-1]), "windows that do not descend")
        require(weight is None or weight.shape == (offset[-1],), "a weight per tap")

    def rows(self) -> tuple[Ints, Ints]:
        """First input block of each row, and running number of taps, also where only `width` is stored."""
        start, offset = self.start, self.offset
        if start is not None and offset is not None:
            return start, offset
        assert self.width is not None
        offset = np.arange(self.n_out // self.block + 1, dtype=np.int64) * self.width
        return offset[:-1], offset

    def taps(self) -> tuple[Ints, Ints, Floats]:
        """Row block, input block and weight of every stored entry, row by row."""
        start, offset = self.rows()
        count = np.diff(offset)
        row = np.repeat(np.arange(len(start)), count)
        column = np.arange(offset[-1]) - offset[row] + start[row]
        weight = self.weight
        return row, column, np.ones(len(row)) if weight is None else weight

    @property
    def T(self) -> Copy | Window:
        """The transpose: a `Copy` if the rows are unweighted and share out the inputs, else a `Window`."""
        return self._transpose

    @cached_property
    def _transpose(self) -> Copy | Window:
        if self.width is not None:
            return Copy(self.n_out, self.n_in, repeat=self.width, block=self.block)
        start, offset = self.rows()
        stop, n_in = start + np.diff(offset), self.n_in // self.block
        if self.weight is None and np.array_equal(offset[:-1], start) and offset[-1] == n_in:
            return trusted(Copy, n_in=self.n_out, n_out=self.n_in, repeat=None, offsets=offset, block=self.block)
        # Row i of the transpose: the rows o with start[o] <= i < stop[o], adjacent by the invariant.
        columns = np.arange(n_in)
        first = np.searchsorted(stop, columns, side="right")
        counts = np.searchsorted(start, columns, side="right") - first
        offset_t = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        weight_t = None
        if self.weight is not None:
            row, column, weight = self.taps()
            weight_t = np.empty(len(weight))
            weight_t[offset_t[column] + row - first[column]] = weight
        return trusted(
            Window,
            n_in=self.n_out,
            n_out=self.n_in,
            start=first.astype(np.int64),
            offset=offset_t,
            weight=weight_t,
            width=None,
            block=self.block,
        )

    @cached_property
    def native(self) -> _native.WindowMap:
        """The form that the compiled kernel reads, made once."""
        from tenter import _native

        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        return _native.WindowMap(n_in, n_out, self.width or 0, self.start, self.offset, self.weight)

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        row, column, weight = self.taps()
        matrix: Floats = np.zeros((self.n_out // self.block, self.n_in // self.block))
        matrix[row, column] = weight
        return np.asarray(np.kron(matrix, np.eye(self.block)), np.float64) if self.block > 1 else matrix

    def reads(self, lo: int, hi: int) -> slice:
        """The slice of inputs that outputs lo..hi - 1 read."""
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        start, offset = self.rows()
        first, end = lo // self.block, (hi - 1) // self.block
        a, b = int(start[first]), int(start[end] + offset[end + 1] - offset[end])
        return span(a, b - 1, lo, hi, self.block) if b > a else slice(0, 0)

    def apply(self, x: Any, axis: int, out: Any = None) -> Any:
        """The map applied along one axis; see `tenter.apply.apply`."""
        return applied(self, x, axis, out)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Window)
            and (self.n_in, self.n_out, self.block) == (other.n_in, other.n_out, other.block)
            and all(map(np.array_equal, self.taps(), other.taps()))
        )

    def __hash__(self) -> int:
        return hash((Window, self.n_in, self.n_out))

    def __repr__(self) -> str:
        count = np.diff(self.rows()[1])
        taps = (
            "no taps"
            if not count.size
            else f"{count.min()}"
            if count.min() == count.max()
            else f"{count.min()}..{count.max()}"
        )
        blocks = f", in blocks of {self.block}" if self.block > 1 else ""
        kind = "sums" if self.weight is None else "weights"
        return f"Window({self.n_in} -> {self.n_out}: {kind} of {taps}{blocks})"


# Rows whose taps are looked at together while a map is made, as those of long axes fill memory.
ROWS = 1 << 16


def window_of(n_in: int, start: Ints, stop: Ints, weight: Floats) -> Copy | Window:
    """A window without the zero weights at its rows' ends, as far as rows still do not descend; or the identity.

    Fewer taps to add, and a pixel that counts for nothing cannot spread its inf or NaN. weight becomes the map's.
    """
    n_out = len(start)
    offset = running(stop - start)
    first, last = stop.copy(), start.copy()
    for lo in range(0, n_out, ROWS):
        some = slice(lo, min(lo + ROWS, n_out))
        row, column = _taps(start[some], offset[some.start : some.stop + 1])
        used = np.flatnonzero(weight[offset[some.start] : offset[some.stop]])
        changes = row[used[1:]] != row[used[:-1]]
        firsts, lasts = used[np.append(True, changes)[: len(used)]], used[np.append(changes, True)[: len(used)]]
        first[some][row[firsts]], last[some][row[lasts]] = column[firsts], column[lasts] + 1
    np.minimum.accumulate(first[::-1], out=first[::-1])
    np.maximum.accumulate(last, out=last)
    np.maximum(last, first, out=last)
    np.maximum(first, start, out=first)
    np.minimum(last, stop, out=last)
    kept = running(last - first)
    if kept[-1] < offset[-1]:
        for lo in range(0, n_out, ROWS):  # in place: nothing moves to the right
            some = slice(lo, min(lo + ROWS, n_out))
            row, column = _taps(start[some], offset[some.start : some.stop + 1])
            keep = (column >= first[some][row]) & (column < last[some][row])
            weight[kept[some.start] : kept[some.stop]] = weight[offset[some.start] : offset[some.stop]][keep]
        weight.resize(int(kept[-1]), refcheck=False)
    if n_in == n_out == kept[-1] and np.array_equal(first, np.arange(n_in)) and np.all(weight == 1):
        return Copy.every(n_in, 1)
    require(np.all(first[1:] >= first[:-1]) and np.all(last[1:] >= last[:-1]), "windows that do not descend")
    return trusted(Window, n_in=n_in, n_out=n_out, start=first, offset=kept, weight=weight, width=None, block=1)


def running(count: Ints) -> Ints:
    """Running totals from 0."""
    offset = np.empty(len(count) + 1, np.int64)
    offset[0] = 0
    np.cumsum(count, out=offset[1:])
    return offset


def _taps(start: Ints, offset: Ints) -> tuple[Ints, Ints]:
    """Row, from 0, and input of every tap of some rows."""
    row = np.repeat(np.arange(len(start)), np.diff(offset))
    return row, np.arange(offset[0], offset[-1]) - offset[row] + start[row]
