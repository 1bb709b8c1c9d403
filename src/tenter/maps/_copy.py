"""Maps whose every output is one input."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from tenter import _native
from tenter._arrays.kept import kept
from tenter._arrays.signatures import Apply
from tenter._arrays.types import Floats, Ints
from tenter.maps._operators import Operators
from tenter.maps._rows import check_offsets, index_of, inputs_at, runs_of
from tenter.maps._values import (
    Table,
    as_int,
    frozen,
    int_fields,
    rebuilt,
    require,
    room_for,
    sealed,
    short,
    span,
    unchecked,
    within,
)  # fmt: skip

if TYPE_CHECKING:
    from tenter.maps._window import Window


@dataclass(frozen=True, eq=False, repr=False)
class Copy(Operators):
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
    T: ClassVar["Window"]  # `maps/_transposed.py`

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

    @kept
    def form(self) -> _native.AxisMap:
        """The form that the core plans with, of blocks."""
        made, n_in, n_out = _native.AxisMap(), self.n_in // self.block, self.n_out // self.block
        if self.repeat is not None:
            made.set_repeat(n_in, self.repeat)
        elif self.native is not None:
            made.set_picking(self.native)
        else:
            made.set_runs(n_in, n_out, self.offsets)
        return made

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

    @kept
    def _block_index(self) -> memoryview:
        if self.native is not None:
            room_for(self.n_out, 8)
            return sealed(self.native.index(0, self.n_out))
        return sealed(index_of(self.n_out // self.block, self.repeat, self.offsets))

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
