"""Maps whose every output is one input, and their transposes, sums of adjacent inputs."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tenter import _native
from tenter._arrays.signatures import Apply
from tenter._arrays.types import Floats, Ints
from tenter.maps._rows import check_offsets, check_rows, index_of, inputs_at, runs_of, transposed_rows
from tenter.maps._values import (
    Table,
    as_int,
    extent,
    frozen,
    int_fields,
    rebuilt,
    require,
    room_for,
    sealed,
    short,
    span,
    trusted,
    unchecked,
    within,
)  # fmt: skip


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
    offsets: Ints | None = Table(np.int64)  # type: ignore[assignment]
    block: int = 1
    apply: ClassVar[Apply]  # `tenter._execution.apply`

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __post_init__(self) -> None:
        int_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        offsets, n_in, n_out = self.offsets, self.n_in // self.block, self.n_out // self.block
        require((self.repeat is None) != (offsets is None), "either repeat or offsets")
        if offsets is None:
            int_fields(self, "repeat")
            assert self.repeat is not None
            require(n_out == n_in * self.repeat, "n_out == n_in * repeat")
        else:
            check_offsets(n_in, n_out, offsets)

    @classmethod
    def every(cls, n_in: int, repeat: int) -> "Copy":
        """Each input `repeat` times in a row: output `o` reads input `o // repeat`."""
        n_in, repeat = as_int("n_in", n_in), as_int("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat)

    @classmethod
    def cycle(cls, n_in: int, repeat: int) -> "Copy":
        """The whole axis `repeat` times: output `o` reads input `o % n_in`."""
        n_in, repeat = as_int("n_in", n_in), as_int("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat, block=n_in) if n_in else cls.every(0, repeat)

    @classmethod
    def counts(cls, counts: npt.ArrayLike) -> "Copy":
        """Input `i` `counts[i]` times in a row; `counts` are non-negative integers, one per input."""
        each = np.frombuffer(frozen("counts", counts, np.int64), np.int64)
        require(
            np.all(each >= 0) and float(each.sum(dtype=np.float64)) < 2.0**63,
            "counts of at least 0, below 2**63 in all",
        )
        offsets = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
        return cls(len(offsets) - 1, int(offsets[-1]), offsets=offsets)

    @classmethod
    def index_of(cls, index: npt.ArrayLike, n_in: int) -> "Copy":
        """Output `o` reads input `index[o]`; the indices must not descend."""
        index, n_in = np.frombuffer(frozen("index", index, np.int64), np.int64), as_int("n_in", n_in)
        repeat, offsets = runs_of(index, n_in)
        return cls(n_in, len(index), repeat=repeat, offsets=offsets)

    def _make_tables(self) -> None:
        room_for(self.n_in + 1.0, 8)
        self.__dict__["offsets"] = sealed(self.__dict__["native"].offsets(0, self.n_in))

    @property
    def native(self) -> "_native.Picking | None":
        """What computes the inputs of outputs, of a copy made by a rule: its tables exist once they are asked for."""
        return self.__dict__.get("native")

    @property
    def has_tables(self) -> bool:
        return self.repeat is None and ("offsets" in self.__dict__ or "_block_index" in self.__dict__)

    def index(self) -> Ints:
        """The input that each output reads: int64[n_out]."""
        blocks = self.block_index
        if self.block == 1:
            return blocks
        return (blocks[:, None] * self.block + np.arange(self.block)).reshape(-1)

    @property
    def block_index(self) -> Ints:
        """The input block that each output block reads."""
        return np.frombuffer(self._block_index, np.int64)

    @cached_property
    def _block_index(self) -> memoryview:
        if self.native is not None:
            room_for(self.n_out, 8)
            return sealed(self.native.index(0, self.n_out))
        return sealed(index_of(self.n_out // self.block, self.repeat, self.offsets))

    @property
    def T(self) -> "Window":
        """The transpose: segment sums."""
        # Without a reference to self: a cycle would keep large offsets alive until the garbage collector looks.
        if self.native is not None:
            return sums(self.native, True)
        offsets = self.offsets
        if offsets is None:
            return trusted(
                Window, n_in=self.n_out, n_out=self.n_in, start=None, offset=None, weight=None, width=self.repeat,
                block=self.block,
            )  # fmt: skip
        return trusted(
            Window, n_in=self.n_out, n_out=self.n_in, start=offsets[:-1], offset=offsets, weight=None, width=None,
            block=self.block,
        )  # fmt: skip

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        matrix = np.zeros((self.n_out, self.n_in))
        matrix[np.arange(self.n_out), self.index()] = 1
        return matrix

    def reads(self, lo: int, hi: int) -> "slice[int, int, None]":
        """The slice of inputs that outputs lo..hi - 1 read."""
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        blocks = [o // self.block for o in (lo, hi - 1)]
        if self.repeat is not None:
            first, last = (o // self.repeat for o in blocks)
        elif (native := self.native) is not None:
            first, last = (int(native.index(o, o + 1)[0]) for o in blocks)
        else:
            first, last = inputs_at(self.offsets, blocks)
        return span(first, last, lo, hi, self.block)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Copy)
            and (self.n_in, self.n_out) == (other.n_in, other.n_out)
            and np.array_equal(self.index(), other.index())
        )

    def __hash__(self) -> int:
        return hash((Copy, self.n_in, self.n_out))

    def __repr__(self) -> str:
        whole = self.repeat is not None and self.n_in == self.block > 1
        if (native := self.native) is not None:
            rule = f"counts {short(np.diff(native.offsets(0, min(self.n_in, 9))), self.n_in)}"
        elif self.offsets is not None:
            rule = f"counts {short(np.diff(self.offsets[:10]), self.n_in // self.block)}"
        else:
            rule = f"o % {self.n_in}" if whole else f"o // {self.repeat}"
        blocks = f", in blocks of {self.block}" if self.block > 1 and not whole else ""
        return f"Copy({self.n_in} -> {self.n_out}: {rule}{blocks})"


@dataclass(frozen=True, eq=False, repr=False)
class Window:
    """Each output is a weighted sum of adjacent inputs: block `o` reads `start[o] .. start[o] + offset[o + 1] -
    offset[o]` with `weight[offset[o] : offset[o + 1]]`. Without weights they are ones; with `width` alone row `o`
    reads the `width` inputs from `o * width`.

    Of a window that the core computes (`maps/_computed.py`) the tables exist once they are asked for.

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
    apply: ClassVar[Apply]

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __post_init__(self) -> None:
        int_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        start, offset, weight = self.start, self.offset, self.weight
        if start is None:
            require(offset is None and weight is None and self.width is not None, "start and offset, or width")
            int_fields(self, "width")
            assert self.width is not None
            require(n_in == n_out * self.width, "n_in == n_out * width")
            return
        require(offset is not None and self.width is None, "start and offset, or width")
        assert offset is not None
        check_rows(n_in, n_out, start, offset, weight)

    def _make_tables(self) -> None:
        room_for(self.native.n_taps + 2.0 * self.n_out, 16)
        for name, values in zip(("start", "offset", "weight"), self.native.tables(0, self.n_out)):
            if name not in self.__dict__:  # weights of ones are None
                self.__dict__[name] = sealed(values)

    @property
    def is_computed(self) -> bool:
        """True if there are no tables unless they are asked for: of long axes."""
        return self.width is None and "native" in self.__dict__ and self.native.is_computed

    @property
    def ones(self) -> bool:
        """True if all weights are one."""
        return "weight" in self.__dict__ and self.weight is None

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
    def T(self) -> "Copy | Window":
        """The transpose: a `Copy` if the rows are unweighted and share out the inputs, else a `Window`."""
        return self._transpose

    @cached_property
    def _transpose(self) -> "Copy | Window":
        if self.width is not None:
            return Copy(self.n_out, self.n_in, repeat=self.width, block=self.block)
        native = self.__dict__.get("native")
        if native is not None and (rule := native.picking) is not None:
            if native.transposed and rule.reads_all:
                return trusted(Copy, n_in=self.n_out, n_out=self.n_in, repeat=None, block=1, native=rule)
            return sums(rule, not native.transposed)
        if native is not None and native.sampling is not None:
            made = _native.WindowMap(native.sampling, not native.transposed, False)
            return trusted(Window, n_in=self.n_out, n_out=self.n_in, width=None, block=1, native=made)
        start, offset = self.rows()
        n_in = self.n_in // self.block
        if self.weight is None and np.array_equal(offset[:-1], start) and offset[-1] == n_in:
            return trusted(Copy, n_in=self.n_out, n_out=self.n_in, repeat=None, offsets=offset, block=self.block)
        weight = None if self.weight is None else self.taps()
        first, offset_t, weight_t = transposed_rows(start, offset, n_in, weight)
        return trusted(
            Window, n_in=self.n_out, n_out=self.n_in, start=first, offset=offset_t, weight=weight_t, width=None,
            block=self.block,
        )  # fmt: skip

    @cached_property
    def native(self) -> _native.WindowMap:
        """The form that the compiled kernel reads, made once."""
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        return _native.WindowMap(n_in, n_out, self.width or 0, self.start, self.offset, self.weight)

    @cached_property
    def native_tables(self) -> _native.WindowMap:
        """The same, with tables also of a long axis: for kernels of several axes."""
        native = self.native
        if not native.is_computed:
            return native
        return _native.WindowMap(self.n_in, self.n_out, 0, self.start, self.offset, self.weight)

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        row, column, weight = self.taps()
        matrix: Floats = np.zeros((self.n_out // self.block, self.n_in // self.block))
        matrix[row, column] = weight
        return np.asarray(np.kron(matrix, np.eye(self.block)), np.float64) if self.block > 1 else matrix

    def reads(self, lo: int, hi: int) -> "slice[int, int, None]":
        """The slice of inputs that outputs lo..hi - 1 read."""
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        if self.is_computed:
            ends = [self.native.tables(o, o + 1) for o in (lo, hi - 1)]
            a, b = int(ends[0][0][0]), int(ends[1][0][0] + ends[1][1][1])
            return slice(a, b) if b > a else slice(0, 0)
        start, offset = self.rows()
        first, end = lo // self.block, (hi - 1) // self.block
        a, b = int(start[first]), int(start[end] + offset[end + 1] - offset[end])
        return span(a, b - 1, lo, hi, self.block) if b > a else slice(0, 0)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Window)
            and (self.n_in, self.n_out, self.block) == (other.n_in, other.n_out, other.block)
            and all(map(np.array_equal, self.taps(), other.taps()))
        )

    def __hash__(self) -> int:
        return hash((Window, self.n_in, self.n_out))

    def __repr__(self) -> str:
        if self.is_computed:
            taps_each = self.native.n_taps // max(self.n_out, 1)
            return f"Window({self.n_in} -> {self.n_out}: about {taps_each} weights, made as they are used)"
        taps = extent(np.diff(self.rows()[1])) or "no taps"
        blocks = f", in blocks of {self.block}" if self.block > 1 else ""
        kind = "sums" if self.weight is None else "weights"
        return f"Window({self.n_in} -> {self.n_out}: {kind} of {taps}{blocks})"


def sums(rule: _native.Picking, transposed: bool) -> Window:
    """The window of ones of a rule that picks inputs, or its transpose."""
    native = _native.WindowMap(rule, transposed)
    n_in, n_out = (rule.n_out, rule.n_in) if transposed else (rule.n_in, rule.n_out)
    return trusted(Window, n_in=n_in, n_out=n_out, weight=None, width=None, block=1, native=native)
