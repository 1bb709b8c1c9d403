"""Rows and columns of maps, found without the matrix and without a table of all outputs, which would be as long as the
stretched dim. The tables of windows are read chunk by chunk."""

from collections.abc import Iterator

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps import AxisMap, Copy, Gather, Window, _part
from tenter.maps._kinds import only_copies

CHUNK = 1 << 14


def copies(m: AxisMap | None) -> bool:
    """True if each output is an unchanged input."""
    return m is None or only_copies(m)


def run_ends(m: Copy) -> Ints:
    """Returns where the outputs of each input block end, in blocks, after a leading 0."""
    if m.repeat is not None:
        return np.arange(m.n_in // m.block + 1, dtype=np.int64) * m.repeat
    assert m.offsets is not None
    return m.offsets


def inputs_of(m: Copy | Gather, outputs: Ints) -> Ints:
    """Returns the inputs that outputs of a copy read."""
    if isinstance(m, Gather):
        return m.index[outputs]
    block, place = np.divmod(outputs, m.block)
    if m.repeat is not None:
        return np.asarray(block // max(m.repeat, 1) * m.block + place)
    return np.asarray((np.searchsorted(run_ends(m), block, side="right") - 1) * m.block + place)


def part(m: AxisMap, lo: int, hi: int) -> tuple[slice, AxisMap] | None:
    """Returns the inputs that outputs lo..hi - 1 read, and the map from these. None if m repeats blocks: the part is
    then no such map."""
    if m.block > 1:
        return None
    found = _part.part(m, lo, hi)
    found[1].__dict__["_whole"] = whole_of(m)
    return found


def rows_of(m: Window | Gather, outputs: Ints) -> AxisMap:
    """Returns the map of some outputs, in ascending order. A window must not have blocks. It is read chunk by chunk."""
    found: AxisMap
    if isinstance(m, Gather):
        counts, taps = _taps(m.offset, outputs)
        found = Gather(m.n_in, len(outputs), _running(counts), m.index[taps], m.weight[taps])
    else:
        read = []
        for chunk in np.split(outputs, np.flatnonzero(np.diff(outputs // CHUNK)) + 1):
            lo, hi = int(chunk[0]), int(chunk[-1]) + 1
            start, offset, weight = rows(m, lo, hi)
            counts, taps = _taps(offset, chunk - lo)
            read.append((start[chunk - lo], counts, weight[taps]))
        start, counts, weight = (np.concatenate(values) for values in zip(*read))
        found = Window(m.n_in, len(outputs), start, _running(counts), weight)
    found.__dict__["_whole"] = whole_of(m)
    return found


def _taps(offset: Ints, chunk: Ints) -> tuple[Ints, Ints]:
    """Returns how many taps each row has, and the positions of these taps."""
    counts = offset[chunk + 1] - offset[chunk]
    ends = np.cumsum(counts)
    return counts, np.arange(ends[-1]) - np.repeat(ends - counts - offset[chunk], counts)


def _running(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)])


def whole_of(m: AxisMap) -> AxisMap:
    """Returns the map that m is a part of. It decides the order in which axes are summed."""
    whole: AxisMap = m.__dict__.get("_whole", m)
    return whole


def rows(m: Window, lo: int, hi: int) -> tuple[Ints, Ints, Floats]:
    """Returns the first input, the running number of taps, and the weights of rows lo..hi - 1. A window must not have
    blocks."""
    start, offset, weight = _part.rows(m, lo, hi)
    return start, offset, np.ones(int(offset[-1])) if weight is None else weight


def chunks(m: Window) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yields row (counted from the chunk's first), column and weight of all taps, chunk by chunk."""
    for lo in range(0, m.n_out, CHUNK):
        start, offset, weight = rows(m, lo, min(lo + CHUNK, m.n_out))
        row = np.repeat(np.arange(len(start)), np.diff(offset))
        yield row, np.arange(len(row)) - offset[row] + start[row], weight


def column_sums(m: AxisMap) -> int | Ints | Floats:
    """Returns how much each input adds to the sum of all outputs; one int if it is the same for all."""
    if isinstance(m, Copy):
        return m.repeat if m.repeat is not None else np.repeat(np.diff(run_ends(m)), m.block)
    if isinstance(m, Gather):
        return np.bincount(m.index, None if m.picks else m.weight, m.n_in)
    sums = np.zeros(m.n_in)
    for _, column, weight in chunks(m):
        if len(column):
            first = int(column.min())
            found = np.bincount(column - first, weight)
            sums[first : first + len(found)] += found
    return sums


def keeps_constants(m: AxisMap) -> bool:
    """True if the weights of every row sum to one."""
    if isinstance(m, Gather):
        return bool(np.allclose(np.bincount(m.rows(), m.weight, m.n_out), 1, 0, 1e-12))
    assert isinstance(m, Window)
    lengths = [min(CHUNK, m.n_out - lo) for lo in range(0, m.n_out, CHUNK)]
    sums = (np.bincount(row, weight, n) for n, (row, _, weight) in zip(lengths, chunks(m)))
    return all(np.allclose(s, 1, 0, 1e-12) for s in sums)


def same(a: AxisMap, b: AxisMap) -> bool:
    """True if both are the same map or have equal tables."""
    if a is b:
        return True
    if type(a) is not type(b) or (a.n_in, a.n_out, a.block) != (b.n_in, b.n_out, b.block):
        return False
    if isinstance(a, Copy) and isinstance(b, Copy):
        closed = a.repeat is not None and b.repeat is not None  # equal, because their lengths are
        return closed or np.array_equal(run_ends(a), run_ends(b))
    if isinstance(a, Window) and isinstance(b, Window):
        return all(all(map(np.array_equal, p, q)) for p, q in zip(chunks(a), chunks(b)))
    return a == b
