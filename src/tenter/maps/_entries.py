"""The entries of single rows of a map, for drawings and text. It never makes more entries than are shown."""

from typing import NamedTuple

from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._window import Window

# The longest computed row, in weights, that is computed in order to be shown.
LONGEST_ROW = 1 << 16


class Row(NamedTuple):
    """The entries of a row.

    n: how many inputs the output reads
    taps: (input, weight) of the first of them; empty if n is an estimate
    """

    n: int
    taps: list[tuple[int, float]]


def row(m: Copy | Window | Gather, o: int, most: int) -> Row:
    """Returns what output o reads, at most `most` inputs."""
    if isinstance(m, Gather):
        offset = m.offset
        lo, hi = int(offset[o]), int(offset[o + 1])
        shown = slice(lo, min(hi, lo + most))
        return Row(hi - lo, list(zip(m.index[shown].tolist(), m.weight[shown].tolist())))
    if isinstance(m, Copy):
        return Row(1, [(m.reads(o, o + 1).start, 1.0)])
    block, inside = divmod(o, m.block)
    start, n, weights = _window_row(m, block, most)
    return Row(n, [((start + k) * m.block + inside, w) for k, w in enumerate(weights)])


def entries(m: Copy | Window | Gather, n_out: int, most: int) -> list[tuple[int, int, float]]:
    """Returns (output, input, weight) of the first outputs, at most `most` for each."""
    return [(o, i, w) for o in range(n_out) for i, w in row(m, o, most).taps]


def _window_row(m: Window, block: int, most: int) -> tuple[int, int, list[float]]:
    """Returns the first input block of a row, the number of blocks, and the first weights."""
    if m._is_computed:
        if (about := m._core.n_taps // max(m.n_out, 1)) > LONGEST_ROW:
            return 0, about, []
        start, offset, *weight = m._core.tables(block, block + 1)
        n = int(offset[-1] - offset[0])
        return int(start[0]), n, weight[0][:most].tolist() if weight else [1.0] * min(n, most)
    if m.width is not None:
        return block * m.width, m.width, [1.0] * min(m.width, most)
    starts, offsets, weights = m.start, m.offset, m.weight
    assert starts is not None and offsets is not None
    lo, hi = int(offsets[block]), int(offsets[block + 1])
    end = min(hi, lo + most)
    return int(starts[block]), hi - lo, [1.0] * (end - lo) if weights is None else weights[lo:end].tolist()
