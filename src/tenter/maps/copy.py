"""Maps whose every output is one input."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tenter.maps.values import (
    Floats,
    Ints,
    Table,
    applied,
    frozen,
    rebuilt,
    require,
    sealed,
    short,
    span,
    trusted,
    unchecked,
    whole,
    whole_fields,
    within,
)

if TYPE_CHECKING:
    from tenter.maps.window import Window


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

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __post_init__(self) -> None:
        whole_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        offsets, n_in, n_out = self.offsets, self.n_in // self.block, self.n_out // self.block
        require((self.repeat is None) != (offsets is None), "either repeat or offsets")
        if offsets is None:
            whole_fields(self, "repeat")
            assert self.repeat is not None
            require(n_out == n_in * self.repeat, "n_out == n_in * repeat")
        else:
            require(
                offsets.shape == (n_in + 1,) and offsets[0] == 0 and offsets[-1] == n_out, "offsets from 0 to n_out"
            )
            require(np.all(offsets[1:] >= offsets[:-1]), "ascending offsets")

    @classmethod
    def every(cls, n_in: int, repeat: int) -> Copy:
        """Each input `repeat` times in a row: output `o` reads input `o // repeat`."""
        n_in, repeat = whole("n_in", n_in), whole("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat)

    @classmethod
    def cycle(cls, n_in: int, repeat: int) -> Copy:
        """The whole axis `repeat` times: output `o` reads input `o % n_in`."""
        n_in, repeat = whole("n_in", n_in), whole("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat, block=n_in) if n_in else cls.every(0, repeat)

    @classmethod
    def counts(cls, counts: npt.ArrayLike) -> Copy:
        """Input `i` `counts[i]` times in a row; `counts` are non-negative integers, one per input."""
        each = np.frombuffer(frozen("counts", counts, np.int64), np.int64)
        require(
            np.all(each >= 0) and float(each.sum(dtype=np.float64)) < 2.0**63,
            "counts of at least 0, below 2**63 in all",
        )
        offsets = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
        return cls(len(offsets) - 1, int(offsets[-1]), offsets=offsets)

    @classmethod
    def index_of(cls, index: npt.ArrayLike, n_in: int) -> Copy:
        """Output `o` reads input `index[o]`; the indices must not descend."""
        index, n_in = np.frombuffer(frozen("index", index, np.int64), np.int64), whole("n_in", n_in)
        require((not index.size or (index[0] >= 0 and index[-1] < n_in)), "indices in [0, n_in)")
        require(np.all(index[1:] >= index[:-1]), "indices that do not descend")
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

    @property
    def block_index(self) -> Ints:
        """The input block that each output block reads."""
        return np.frombuffer(self._block_index, np.int64)

    @cached_property
    def _block_index(self) -> memoryview:
        offsets = self.offsets
        if offsets is None:
            assert self.repeat is not None
            index = np.arange(self.n_out // self.block) // max(self.repeat, 1)
        else:
            index = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return sealed(index.astype(np.int64))

    @property
    def T(self) -> Window:
        """The transpose: segment sums."""
        from tenter.maps.window import Window

        # Without a reference to self: a cycle would keep large offsets alive until the garbage collector looks.
        offsets = self.offsets
        if offsets is None:
            return trusted(
                Window,
                n_in=self.n_out,
                n_out=self.n_in,
                start=None,
                offset=None,
                weight=None,
                width=self.repeat,
                block=self.block,
            )
        return trusted(
            Window,
            n_in=self.n_out,
            n_out=self.n_in,
            start=offsets[:-1],
            offset=offsets,
            weight=None,
            width=None,
            block=self.block,
        )

    def dense(self) -> Floats:
        """The matrix: float64[n_out, n_in]."""
        matrix = np.zeros((self.n_out, self.n_in))
        matrix[np.arange(self.n_out), self.index()] = 1
        return matrix

    def reads(self, lo: int, hi: int) -> slice:
        """The slice of inputs that outputs lo..hi - 1 read."""
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        first, last = (int(self.block_index[o // self.block]) for o in (lo, hi - 1))
        return span(first, last, lo, hi, self.block)

    def apply(self, x: Any, axis: int, out: Any = None) -> Any:
        """The map applied along one axis; see `tenter.apply.apply`."""
        return applied(self, x, axis, out)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Copy)
            and (self.n_in, self.n_out) == (other.n_in, other.n_out)
            and np.array_equal(self.index(), other.index())
        )

    def __hash__(self) -> int:
        return hash((Copy, self.n_in, self.n_out))

    def __repr__(self) -> str:
        whole = self.offsets is None and self.n_in == self.block > 1
        if self.offsets is not None:
            rule = f"counts {short(np.diff(self.offsets))}"
        else:
            rule = f"o % {self.n_in}" if whole else f"o // {self.repeat}"
        blocks = f", in blocks of {self.block}" if self.block > 1 and not whole else ""
        return f"Copy({self.n_in} -> {self.n_out}: {rule}{blocks})"
