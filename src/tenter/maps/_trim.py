"""Windows as builders make them: without the weights that count for nothing."""

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps._copy import Copy
from tenter.maps._values import require, trusted
from tenter.maps._window import Window

# Rows whose taps are looked at together while a map is made, as those of long axes fill memory.
ROWS = 1 << 16


def window_of(n_in: int, start: Ints, stop: Ints, weight: Floats) -> Copy | Window:
    """A window without the zero weights at its rows' ends, as far as rows still do not descend; or the identity.

    Fewer taps to add, and a pixel that counts for nothing cannot spread its inf or NaN. weight becomes the map's.
    """
    n_out = len(start)
    offset = offsets_of(stop - start)
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
    kept = offsets_of(last - first)
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


def offsets_of(count: Ints) -> Ints:
    """The prefix sums of counts, from 0."""
    offset = np.empty(len(count) + 1, np.int64)
    offset[0] = 0
    np.cumsum(count, out=offset[1:])
    return offset


def _taps(start: Ints, offset: Ints) -> tuple[Ints, Ints]:
    """Row, from 0, and input of every tap of some rows."""
    row = np.repeat(np.arange(len(start)), np.diff(offset))
    return row, np.arange(offset[0], offset[-1]) - offset[row] + start[row]
