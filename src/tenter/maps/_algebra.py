"""Sums, products and rows of maps, and their exchange with SciPy. All use the stored entries, row by row."""

import numbers
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps import _part
from tenter.maps._copy import Copy
from tenter.maps._gather import Gather
from tenter.maps._values import check_table_size
from tenter.maps._window import Window

Map = Copy | Window | Gather


class Entries(NamedTuple):
    """Entries of a map, as in a CSR matrix: row `o` has `inputs[offset[o] : offset[o + 1]]`, with the weights at the
    same positions."""

    offset: Ints
    inputs: Ints
    weight: Floats


def entries(m: Map) -> Entries:
    """Returns all entries of a map, with blocks expanded."""
    if isinstance(m, Gather):
        return Entries(m.offset, m.index, m.weight)
    if isinstance(m, Copy):
        return Entries(np.arange(m.n_out + 1), m.index(), np.ones(m.n_out))
    _, column, weight = m.taps()
    _, offset = m.rows()
    if m.block == 1:
        return Entries(offset, column, weight)
    # Each row of a block has the block's taps, at its own position in the blocks that they read.
    check_table_size(4.0 * len(column) * m.block, 8)
    count = np.repeat(np.diff(offset), m.block)
    end = np.cumsum(count)
    tap = np.arange(int(count.sum())) + np.repeat(np.repeat(offset[:-1], m.block) - (end - count), count)
    inside = np.repeat(np.arange(m.n_out) % m.block, count)
    return Entries(np.concatenate([[0], end]), column[tap] * m.block + inside, weight[tap])


def of_entries(n_in: int, found: Entries) -> Map:
    """Returns the simplest map of these entries: a copy, else a window, else a gather."""
    offset, index, weight = found
    n_out, count = len(offset) - 1, np.diff(offset)
    ones = bool(np.all(weight == 1))
    if ones and np.all(count == 1) and np.all(index[1:] >= index[:-1]):
        return Copy.from_index(index, n_in)
    start = _starts(n_in, offset, index)
    if start is None:
        return Gather(n_in, n_out, offset=offset, index=index, weight=weight)
    return Window(n_in, n_out, start=start, offset=offset, weight=None if ones else weight)


def _starts(n_in: int, offset: Ints, index: Ints) -> Ints | None:
    """Returns the first input of each row if the inputs of each row are adjacent, and neither first nor last inputs
    descend; else None. An empty row starts where the row before it ends."""
    row_of = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    if len(index) > 1 and not np.all((index[1:] == index[:-1] + 1) | (row_of[1:] != row_of[:-1])):
        return None
    filled = offset[1:] > offset[:-1]
    stop = np.zeros(len(filled), np.int64)
    stop[filled] = index[offset[1:][filled] - 1] + 1
    stop = np.maximum.accumulate(stop)
    start: Ints = stop.copy()
    start[filled] = index[offset[:-1][filled]]
    ends_at = start + np.diff(offset)
    if np.array_equal(ends_at, stop) and np.all(start[1:] >= start[:-1]):
        return start
    return None


def summed(row: Ints, index: Ints, weight: Floats, n_out: int) -> Entries:
    """Returns entries given in any order. Entries at the same position are added in the given order."""
    order = np.lexsort((index, row))
    row, index, weight = row[order], index[order], weight[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (index[1:] != index[:-1])
    at = np.flatnonzero(first)
    weight = np.add.reduceat(weight, at) if len(at) else weight
    return Entries(np.searchsorted(row[at], np.arange(n_out + 1)), index[at], weight)


def product(left: Map, right: Map) -> Map:
    """Returns the map that applies `right`, then `left`."""
    if left.n_in != right.n_out:
        raise ValueError(
            f"right: expected a map to {left.n_in} positions, from which left maps, got one to {right.n_out}\n"
            f"  in {left!r} @ {right!r}"
        )
    (offset, index, weight), inner = entries(left), entries(right)
    count = np.diff(inner.offset)[index]
    total = int(count.sum())
    check_table_size(6.0 * total, 8)
    # Each entry of left is replaced by the row of right that it reads.
    end = np.cumsum(count)
    tap = np.arange(total) + np.repeat(inner.offset[index] - (end - count), count)
    row = np.repeat(np.repeat(np.arange(left.n_out), np.diff(offset)), count)
    found = summed(row, inner.inputs[tap], np.repeat(weight, count) * inner.weight[tap], left.n_out)
    return of_entries(right.n_in, found)


def total(left: Map, right: Map) -> Map:
    """Returns the sum of two maps of the same axes."""
    if (left.n_in, left.n_out) != (right.n_in, right.n_out):
        raise ValueError(
            f"right: expected a map from {left.n_in} to {left.n_out} positions, as left is, "
            f"got one from {right.n_in} to {right.n_out}\n  in {left!r} + {right!r}"
        )
    pairs = [entries(left), entries(right)]
    row = np.concatenate([np.repeat(np.arange(left.n_out), np.diff(each.offset)) for each in pairs])
    index, weight = (np.concatenate([each[k] for each in pairs]) for k in (1, 2))
    return of_entries(left.n_in, summed(row, index, weight, left.n_out))


def scaled(m: Map, factor: float) -> Map:
    """Returns the map with all weights multiplied."""
    if isinstance(m, Window):
        start, offset = m.rows()
        weight = (np.ones(int(offset[-1])) if m.weight is None else m.weight) * factor
        return Window(m.n_in, m.n_out, start=start, offset=offset, weight=weight, block=m.block)
    offset, index, weight = entries(m)
    return of_entries(m.n_in, Entries(offset, index, weight * factor))


def rows(m: Map, lo: int, hi: int) -> Map:
    """Returns outputs lo..hi - 1 of a map, from all of its inputs. It makes no table of a whole long axis."""
    if not isinstance(m, Gather) and m.block == 1:
        if isinstance(m, Copy):
            at, found = _part.part(m, lo, hi)
            assert isinstance(found, Copy)
            return Copy.from_index(found.index() + at.start, m.n_in)
        start, offset, weight = _part.rows(m, lo, hi)
        return Window(m.n_in, hi - lo, start=start, offset=offset, weight=weight)
    offset, index, weight = entries(m)
    taps = slice(int(offset[lo]), int(offset[hi]))
    return of_entries(m.n_in, Entries(offset[lo : hi + 1] - offset[lo], index[taps], weight[taps]))


def matmul(self: Map, other: Any) -> Any:
    if isinstance(other, (Copy, Window, Gather)):
        return product(self, other)
    nested = isinstance(other, (list, tuple)) and len(other) > 0 and isinstance(other[0], (list, tuple))
    return self.apply(other, -2 if nested or getattr(other, "ndim", 1) > 1 else 0)


def add(self: Map, other: Any) -> Any:
    return total(self, other) if isinstance(other, (Copy, Window, Gather)) else NotImplemented


def times(self: Map, factor: Any) -> Any:
    if not isinstance(factor, numbers.Real):  # includes NumPy's numbers
        return NotImplemented
    return scaled(self, float(factor))


def item(self: Map, at: Any) -> Map:
    if not isinstance(at, slice) or at.step not in (None, 1):
        raise TypeError(f"rows: expected a slice of outputs without a step, got {at!r}\n  in {self!r}[...]")
    lo, hi, _ = at.indices(self.n_out)
    return rows(self, lo, max(lo, hi))


def to_scipy(self: Map) -> Any:
    """The matrix as a `scipy.sparse.csr_array` of float64, with an entry for each stored weight.

    Returns
    -------
    scipy.sparse.csr_array

    Examples
    --------
    >>> Copy.repeat_each(2, 2).to_scipy().toarray().tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    from scipy.sparse import csr_array

    offset, index, weight = entries(self)
    return csr_array((weight, index, offset), shape=(self.n_out, self.n_in))


def from_scipy(kind: type[Map], matrix: Any) -> Any:
    """The map of a sparse matrix of SciPy's.

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        2-d, of numbers, in any format; entries at the same place are added.

    Returns
    -------
    Window or Gather

    Raises
    ------
    TypeError
        If matrix is none, or not of numbers.
    ValueError
        If a window cannot hold the rows: their entries must be adjacent, and neither the first nor the last may descend
        from row to row. `Gather.from_scipy` takes any rows.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> Window.from_scipy(csr_array([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]))
    Window(3 -> 2: weights of 2)
    """
    name = f"{kind.__name__}.from_scipy"
    if not hasattr(matrix, "tocoo") or getattr(matrix, "ndim", 2) != 2:
        raise TypeError(f"matrix: expected a 2-d sparse array of SciPy, got {type(matrix).__name__}\n  in {name}(...)")
    found = matrix.tocoo()
    if found.dtype.kind not in "biuf":
        raise TypeError(f"matrix: expected real numbers, got {found.dtype}\n  in {name}(...)")
    n_out, n_in = map(int, found.shape)
    row, column = (np.asarray(each, np.int64) for each in (found.row, found.col))
    offset, index, weight = summed(row, column, np.asarray(found.data, np.float64), n_out)
    if kind is Gather:
        return Gather(n_in, n_out, offset=offset, index=index, weight=weight)
    start = _starts(n_in, offset, index)
    if start is None:
        raise ValueError(
            "matrix: expected rows of adjacent entries that do not descend (Gather.from_scipy takes any), got others"
            f"\n  in {name}({n_out} x {n_in}, {len(index)} entries)"
        )
    return Window(n_in, n_out, start=start, offset=offset, weight=None if np.all(weight == 1) else weight)
