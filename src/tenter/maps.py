"""Axis maps: every operation here is a sparse matrix along one axis, `y[o] = sum_i A[o, i] * x[i]`.

A map is an immutable value. `A.T` is its gradient, `A.dense()` its matrix, `A.reads(lo, hi)` the inputs that a slice of
outputs needs, and `A.apply(x, axis)` runs it on an array or tensor. The matrix is never formed to be applied.

Three kinds, by what a row of the matrix holds: `Copy` one 1; `Window` weights for adjacent inputs; `Gather` weights for
any inputs. `block` makes the map one of whole blocks: `A` with `block=b` is the Kronecker product of `A` with the identity of
size `b`, so a tile is one block copied `r` times.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tenter import _native

__all__ = ["AxisMap", "Copy", "Gather", "Window"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Map = TypeVar("_Map", "Copy", "Window")


def _frozen(values: npt.ArrayLike, dtype: type) -> npt.NDArray[Any]:
    """Contiguous and read-only, copied unless it is both already."""
    array = np.asarray(values, dtype)
    if array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()
        array.flags.writeable = False
    return array


def _trusted(kind: type[_Map], **fields: Any) -> _Map:
    """A map from fields whose invariants the caller has seen to, without checking them again."""
    new = object.__new__(kind)
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(new, name, value)
    return new


def _require(holds: object, what: str) -> None:
    if not holds:
        raise ValueError(f"axis map: expected {what}")


def _span(first: int, last: int, lo: int, hi: int, block: int) -> slice:
    """Inputs read by outputs lo..hi, if their blocks read input blocks first..last."""
    if first == last and lo // block == (hi - 1) // block:
        return slice(first * block + lo % block, first * block + (hi - 1) % block + 1)
    return slice(first * block, (last + 1) * block)


def _same(a: Any, b: Any) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


@dataclass(frozen=True, eq=False, repr=False)
class Copy:
    """Each output is one input, in ascending order: output block `o` reads input block `o // repeat`, or the `i` with
    `offsets[i] <= o < offsets[i + 1]`.

    >>> Copy.counts([1, 3, 2])
    Copy(3 -> 6: counts [1, 3, 2])
    >>> Copy.every(3, 2).index()
    array([0, 0, 1, 1, 2, 2])
    >>> Copy.cycle(3, 2).index()
    array([0, 1, 2, 0, 1, 2])
    """

    n_in: int
    n_out: int
    repeat: int | None = None
    offsets: Ints | None = None
    block: int = 1

    def __post_init__(self) -> None:
        _require(self.block > 0 and self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        _require((self.repeat is None) != (self.offsets is None), "either repeat or offsets")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        if self.offsets is None:
            assert self.repeat is not None
            _require(self.repeat >= 0 and n_out == n_in * self.repeat, "n_out == n_in * repeat >= 0")
        else:
            offsets = _frozen(self.offsets, np.int64)
            _require(offsets.shape == (n_in + 1,) and offsets[0] == 0 and offsets[-1] == n_out, "offsets from 0 to n_out")
            _require(np.all(offsets[1:] >= offsets[:-1]), "ascending offsets")
            object.__setattr__(self, "offsets", offsets)

    @classmethod
    def every(cls, n_in: int, repeat: int) -> Copy:
        """Each input `repeat` times in a row: output `o` reads input `o // repeat`."""
        return cls(n_in, n_in * repeat, repeat=repeat)

    @classmethod
    def cycle(cls, n_in: int, repeat: int) -> Copy:
        """The whole axis `repeat` times: output `o` reads input `o % n_in`."""
        return cls(n_in, n_in * repeat, repeat=repeat, block=n_in) if n_in else cls.every(0, repeat)

    @classmethod
    def counts(cls, counts: npt.ArrayLike) -> Copy:
        """Input `i` `counts[i]` times in a row; `counts` are non-negative integers, one per input."""
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        return cls(len(offsets) - 1, int(offsets[-1]), offsets=offsets)

    @classmethod
    def index_of(cls, index: npt.ArrayLike, n_in: int) -> Copy:
        """Output `o` reads input `index[o]`; the indices must not descend."""
        index = np.asarray(index, np.int64)
        _require(index.ndim == 1 and (not index.size or (index[0] >= 0 and index[-1] < n_in)), "indices in [0, n_in)")
        _require(np.all(index[1:] >= index[:-1]), "indices that do not descend")
        n_out = len(index)
        repeat = n_out // n_in if n_in else 0
        if n_out == n_in * repeat and np.array_equal(index, np.arange(n_out) // max(repeat, 1)):
            return cls.every(n_in, repeat)
        return cls(n_in, n_out, offsets=np.searchsorted(index, np.arange(n_in + 1)).astype(np.int64))

    def index(self) -> Ints:
        """The input that each output reads: int64[n_out]."""
        blocks = self.block_index
        if self.block == 1:
            return blocks
        return (blocks[:, None] * self.block + np.arange(self.block)).reshape(-1)

    @cached_property
    def block_index(self) -> Ints:
        if self.offsets is None:
            assert self.repeat is not None
            index = np.arange(self.n_out // self.block) // max(self.repeat, 1)
        else:
            index = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return _frozen(index, np.int64)

    @property
    def T(self) -> Window:
        """The transpose: segment sums."""
        # Without a reference to self: a cycle would keep large offsets alive until the garbage collector looks.
        if self.offsets is None:
            return _trusted(Window, n_in=self.n_out, n_out=self.n_in, start=None, offset=None, weight=None,
                            width=self.repeat, block=self.block)
        return _trusted(Window, n_in=self.n_out, n_out=self.n_in, start=self.offsets[:-1], offset=self.offsets, weight=None,
                        width=None, block=self.block)

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        matrix = np.zeros((self.n_out, self.n_in))
        matrix[np.arange(self.n_out), self.index()] = 1
        return matrix

    def reads(self, lo: int, hi: int) -> slice:
        """The slice of inputs that outputs lo..hi - 1 read."""
        if lo >= hi:
            return slice(0, 0)
        first, last = (int(self.block_index[o // self.block]) for o in (lo, hi - 1))
        return _span(first, last, lo, hi, self.block)

    def apply(self, x: Any, axis: int, out: Any = None) -> Any:
        """The map applied along one axis; see `tenter.apply.apply`."""
        return _apply(self, x, axis, out)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Copy) and (self.n_in, self.n_out) == (other.n_in, other.n_out) and np.array_equal(
            self.index(), other.index())

    def __hash__(self) -> int:
        return hash((Copy, self.n_in, self.n_out))

    def __repr__(self) -> str:
        if self.offsets is not None:
            rule = f"counts {_short(np.diff(self.offsets))}"
        elif self.block == 1:
            rule = f"o // {self.repeat}"
        elif self.n_in == self.block:
            rule = f"o % {self.n_in}"
        else:
            rule = f"o // {self.repeat}"
        return f"Copy({self.n_in} -> {self.n_out}: {rule}{_blocks(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class Window:
    """Each output is a weighted sum of adjacent inputs: block `o` reads `start[o] .. start[o] + offset[o + 1] - offset[o]`
    with `weight[offset[o] : offset[o + 1]]`. Without weights they are ones; with `width` alone row `o` reads the
    `width` inputs from `o * width`.

    Invariant: neither first nor last inputs descend from row to row. That makes the transpose of a window a window.

    >>> Window(4, 2, start=[0, 2], offset=[0, 2, 4], weight=[0.5, 0.5, 0.5, 0.5]).apply(np.arange(4.0), 0)
    array([0.5, 2.5])
    """

    n_in: int
    n_out: int
    start: Ints | None = None
    offset: Ints | None = None
    weight: Floats | None = None
    width: int | None = None
    block: int = 1

    def __post_init__(self) -> None:
        _require(self.block > 0 and self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        if self.start is None:
            _require(self.offset is None and self.weight is None and self.width is not None, "start and offset, or width")
            assert self.width is not None
            _require(self.width >= 0 and n_in == n_out * self.width, "n_in == n_out * width >= 0")
            return
        _require(self.offset is not None and self.width is None, "start and offset, or width")
        start, offset = _frozen(self.start, np.int64), _frozen(self.offset, np.int64)  # type: ignore[arg-type]
        _require(start.shape == (n_out,) and offset.shape == (n_out + 1,) and offset[0] == 0, "a start and stop per row")
        stop = start + np.diff(offset)
        _require(np.all(stop >= start) and np.all(start >= 0) and np.all(stop <= n_in), "windows inside [0, n_in)")
        _require(np.all(start[1:] >= start[:-1]) and np.all(stop[1:] >= stop[:-1]), "windows that do not descend")
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "offset", offset)
        if self.weight is not None:
            weight = _frozen(self.weight, np.float64)
            _require(weight.shape == (offset[-1],), "a weight per tap")
            object.__setattr__(self, "weight", weight)

    def rows(self) -> tuple[Ints, Ints]:
        """First input block of each row, and running number of taps, also where only `width` is stored."""
        if self.start is not None and self.offset is not None:
            return self.start, self.offset
        assert self.width is not None
        offset = np.arange(self.n_out // self.block + 1, dtype=np.int64) * self.width
        return offset[:-1], offset

    def taps(self) -> tuple[Ints, Ints, Floats]:
        """Row block, input block and weight of every stored entry, row by row."""
        start, offset = self.rows()
        count = np.diff(offset)
        row = np.repeat(np.arange(len(start)), count)
        column = np.arange(offset[-1]) - offset[row] + start[row]
        return row, column, np.ones(len(row)) if self.weight is None else self.weight

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
            return _trusted(Copy, n_in=self.n_out, n_out=self.n_in, repeat=None, offsets=offset, block=self.block)
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
        return _trusted(Window, n_in=self.n_out, n_out=self.n_in, start=first.astype(np.int64), offset=offset_t,
                        weight=weight_t, width=None, block=self.block)

    @cached_property
    def native(self) -> _native.WindowMap:
        """The form that the compiled kernel reads, made once."""
        from tenter import _native

        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        return _native.WindowMap(n_in, n_out, self.width or 0, self.start, self.offset, self.weight)

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        row, column, weight = self.taps()
        matrix = np.zeros((self.n_out // self.block, self.n_in // self.block))
        matrix[row, column] = weight
        return np.kron(matrix, np.eye(self.block)) if self.block > 1 else matrix

    def reads(self, lo: int, hi: int) -> slice:
        """The slice of inputs that outputs lo..hi - 1 read."""
        if lo >= hi:
            return slice(0, 0)
        start, offset = self.rows()
        first, end = lo // self.block, (hi - 1) // self.block
        a, b = int(start[first]), int(start[end] + offset[end + 1] - offset[end])
        return _span(a, b - 1, lo, hi, self.block) if b > a else slice(0, 0)

    def apply(self, x: Any, axis: int, out: Any = None) -> Any:
        """The map applied along one axis; see `tenter.apply.apply`."""
        return _apply(self, x, axis, out)

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, Window) and (self.n_in, self.n_out, self.block) == (other.n_in, other.n_out, other.block)
                and all(map(np.array_equal, self.taps(), other.taps())))

    def __hash__(self) -> int:
        return hash((Window, self.n_in, self.n_out))

    def __repr__(self) -> str:
        count = np.diff(self.rows()[1])
        taps = "no taps" if not count.size else f"{count.min()}" if count.min() == count.max() else f"{count.min()}..{count.max()}"
        return f"Window({self.n_in} -> {self.n_out}: {'sums' if self.weight is None else 'weights'} of {taps}{_blocks(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class Gather:
    """Each output is a weighted sum of any inputs: row `o` reads `index[offset[o] : offset[o + 1]]` with the weights at
    the same places. The escape hatch for periodic or reflected edges and unsorted indices.

    >>> Gather(3, 2, offset=[0, 1, 3], index=[2, 0, 1], weight=[1.0, 0.5, 0.5]).apply(np.array([2.0, 4.0, 6.0]), 0)
    array([6., 3.])
    """

    n_in: int
    n_out: int
    offset: Ints
    index: Ints
    weight: Floats = field(repr=False)

    def __post_init__(self) -> None:
        offset, index = _frozen(self.offset, np.int64), _frozen(self.index, np.int64)
        weight = _frozen(self.weight, np.float64)
        _require(offset.shape == (self.n_out + 1,) and offset[0] == 0, "n_out + 1 offsets from 0")
        _require(np.all(offset[1:] >= offset[:-1]), "ascending offsets")
        _require(index.shape == weight.shape == (offset[-1],), "an index and a weight per tap")
        _require(not index.size or (index.min() >= 0 and index.max() < self.n_in), "indices in [0, n_in)")
        for name, value in (("offset", offset), ("index", index), ("weight", weight)):
            object.__setattr__(self, name, value)

    @property
    def T(self) -> Gather:
        """The transpose, by a stable sort: sums keep the order of the rows."""
        order = np.argsort(self.index, kind="stable")
        offset = np.concatenate([[0], np.cumsum(np.bincount(self.index, minlength=self.n_in))])
        return Gather(self.n_out, self.n_in, offset, self.rows()[order], self.weight[order])

    def rows(self) -> Ints:
        """The row of every stored entry."""
        return np.repeat(np.arange(self.n_out), np.diff(self.offset))

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        matrix = np.zeros((self.n_out, self.n_in))
        np.add.at(matrix, (self.rows(), self.index), self.weight)
        return matrix

    def reads(self, lo: int, hi: int) -> slice:
        """The smallest slice of inputs that holds what outputs lo..hi - 1 read."""
        used = self.index[self.offset[lo] : self.offset[hi]] if lo < hi else self.index[:0]
        return slice(int(used.min()), int(used.max()) + 1) if used.size else slice(0, 0)

    def apply(self, x: Any, axis: int, out: Any = None) -> Any:
        """The map applied along one axis; see `tenter.apply.apply`."""
        return _apply(self, x, axis, out)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gather) or (self.n_in, self.n_out) != (other.n_in, other.n_out):
            return False
        # The order of the entries within a row is no part of the value.
        a, b = (np.lexsort((m.weight, m.index, m.rows())) for m in (self, other))
        return (np.array_equal(self.offset, other.offset) and np.array_equal(self.index[a], other.index[b])
                and np.array_equal(self.weight[a], other.weight[b]))

    def __hash__(self) -> int:
        return hash((Gather, self.n_in, self.n_out))

    def __repr__(self) -> str:
        return f"Gather({self.n_in} -> {self.n_out}: {len(self.index)} weights)"


AxisMap = Copy | Window | Gather


def _apply(map_: AxisMap, x: Any, axis: int, out: Any) -> Any:
    from tenter import apply  # late: apply reads the kinds of this module

    return apply.apply(map_, x, axis, out)


def _short(values: Ints) -> str:
    head = ", ".join(str(v) for v in values[:8])
    return f"[{head}, ... {len(values)} in all]" if len(values) > 8 else f"[{head}]"


def _blocks(map_: Copy | Window) -> str:
    whole = isinstance(map_, Copy) and map_.offsets is None and map_.n_in == map_.block
    return f", in blocks of {map_.block}" if map_.block > 1 and not whole else ""
