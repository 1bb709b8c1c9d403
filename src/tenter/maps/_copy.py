"""Maps that copy: every output is one input."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tenter import _native
from tenter._arrays.cached import cached
from tenter._arrays.types import Floats, Ints
from tenter.maps._operators import Operators
from tenter.maps._rows import check_offsets, index_of, inputs_at, runs_of
from tenter.maps._values import (
    Table,
    as_int,
    check_table_size,
    frozen,
    int_fields,
    rebuilt,
    require,
    sealed,
    short,
    span,
    unchecked,
    within,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tenter._arrays.signatures import Apply
    from tenter.maps._window import Window


class Copy(Operators):
    """A map whose every output is one input, in ascending order. Provisional: it may change before 1.0.

    Output block o reads input block o // repeat, or the i with offsets[i] <= o < offsets[i + 1].

    Parameters
    ----------
    n_in, n_out : int
        The number of inputs and outputs.
    repeat : int, optional
        How many times each block is repeated.
    offsets : array of ints, optional
        Where the outputs of each input block begin, and the end; in place of repeat.
    block : int, default 1
        The number of elements that are copied together.

    Raises
    ------
    ValueError
        If the arguments do not go together.

    See Also
    --------
    Window : Outputs that are weighted sums.
    tenter.repeat_interleave : Applies such a map.

    Examples
    --------
    >>> Copy.repeats([1, 3, 2])
    Copy(3 -> 6: counts [1, 3, 2])
    >>> Copy.repeat_each(3, 2).index()
    array([0, 0, 1, 1, 2, 2])
    >>> Copy.tile(3, 2).index()
    array([0, 1, 2, 0, 1, 2])
    """

    __match_args__ = ("n_in", "n_out", "repeat", "offsets", "block")
    n_in: int
    n_out: int
    repeat: int | None
    offsets: Ints | None = Table(np.int64)  # type: ignore[assignment]
    block: int
    apply: "ClassVar[Apply]"  # set by `tenter._execution.apply`
    T: ClassVar["Window"]  # set by `maps/_transposed.py`

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __init__(
        self, n_in: int, n_out: int, repeat: int | None = None, offsets: "ArrayLike | None" = None, block: int = 1
    ) -> None:
        self._set(n_in=n_in, n_out=n_out, repeat=repeat, offsets=offsets, block=block)
        int_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        require((repeat is None) != (self.offsets is None), "either repeat or offsets")
        if self.offsets is None:
            int_fields(self, "repeat")
            assert self.repeat is not None
            require(n_out == n_in * self.repeat, "n_out == n_in * repeat")
        else:
            check_offsets(n_in, n_out, self.offsets)

    @classmethod
    def repeat_each(cls, n_in: int, repeat: int) -> "Copy":
        """Each input in a row: output o reads input o // repeat.

        Parameters
        ----------
        n_in : int
            The number of inputs.
        repeat : int
            How many times each is repeated.

        Returns
        -------
        Copy

        Examples
        --------
        >>> Copy.repeat_each(3, 2).index()
        array([0, 0, 1, 1, 2, 2])
        """
        n_in, repeat = as_int("n_in", n_in), as_int("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat)

    @classmethod
    def tile(cls, n_in: int, repeat: int) -> "Copy":
        """The whole axis several times: output o reads input o % n_in.

        Parameters
        ----------
        n_in : int
            The number of inputs.
        repeat : int
            How many times the axis is repeated.

        Returns
        -------
        Copy

        Examples
        --------
        >>> Copy.tile(3, 2).index()
        array([0, 1, 2, 0, 1, 2])
        """
        n_in, repeat = as_int("n_in", n_in), as_int("repeat", repeat)
        return cls(n_in, n_in * repeat, repeat=repeat, block=n_in) if n_in else cls.repeat_each(0, repeat)

    @classmethod
    def repeats(cls, repeats: "ArrayLike") -> "Copy":
        """Input i repeats[i] times in a row.

        Parameters
        ----------
        repeats : array of ints
            Non-negative, one for each input.

        Returns
        -------
        Copy

        Examples
        --------
        >>> Copy.repeats([1, 0, 2]).index()
        array([0, 2, 2])
        """
        each = np.frombuffer(frozen("repeats", repeats, np.int64), np.int64)
        require(
            np.all(each >= 0) and float(each.sum(dtype=np.float64)) < 2.0**63,
            "repeats of at least 0, below 2**63 in all",
        )
        offsets = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
        return cls(len(offsets) - 1, int(offsets[-1]), offsets=offsets)

    @classmethod
    def from_index(cls, index: "ArrayLike", n_in: int) -> "Copy":
        """Output o reads input index[o].

        Parameters
        ----------
        index : array of ints
            They must not descend.
        n_in : int
            The number of inputs.

        Returns
        -------
        Copy

        Examples
        --------
        >>> Copy.from_index([0, 2, 2], 4)
        Copy(4 -> 3: counts [1, 0, 2, 0])
        """
        index, n_in = np.frombuffer(frozen("index", index, np.int64), np.int64), as_int("n_in", n_in)
        repeat, offsets = runs_of(index, n_in)
        return cls(n_in, len(index), repeat=repeat, offsets=offsets)

    def _make_tables(self) -> None:
        check_table_size(self.n_in + 1.0, 8)
        self.__dict__["offsets"] = sealed(self.__dict__["_core"].offsets(0, self.n_in))

    @property
    def _core(self) -> "_native.SourceIndex | None":
        """What computes the source indices of a copy made by a rule. Its tables are made when they are first read."""
        return self.__dict__.get("_core")

    @cached
    def _form(self) -> _native.AxisMap:
        """The core's form of the map, in blocks."""
        made, n_in, n_out = _native.AxisMap(), self.n_in // self.block, self.n_out // self.block
        if self.repeat is not None:
            made.set_repeat(n_in, self.repeat)
        elif self._core is not None:
            made.set_source_index(self._core)
        else:
            made.set_runs(n_in, n_out, self.offsets)
        return made

    def index(self) -> Ints:
        """The input that each output reads.

        Returns
        -------
        numpy.ndarray
            int64[n_out].

        Examples
        --------
        >>> Copy.repeats([1, 0, 2]).index()
        array([0, 2, 2])
        """
        blocks = self._blocks
        if self.block == 1:
            return blocks
        return (blocks[:, None] * self.block + np.arange(self.block)).reshape(-1)

    @property
    def _blocks(self) -> Ints:
        """The input block that each output block reads."""
        return np.frombuffer(self._block_index, np.int64)

    @cached
    def _block_index(self) -> memoryview:
        if self._core is not None:
            check_table_size(self.n_out, 8)
            return sealed(self._core.index(0, self.n_out))
        return sealed(index_of(self.n_out // self.block, self.repeat, self.offsets))

    def dense(self) -> Floats:
        """The matrix.

        Returns
        -------
        numpy.ndarray
            float64[n_out, n_in].

        Examples
        --------
        >>> Copy.repeats([1, 2]).dense()
        array([[1., 0.],
               [0., 1.],
               [0., 1.]])
        """
        matrix = np.zeros((self.n_out, self.n_in))
        matrix[np.arange(self.n_out), self.index()] = 1
        return matrix

    def reads(self, lo: int, hi: int) -> "slice[int, int, None]":
        """The inputs that some outputs read.

        Parameters
        ----------
        lo, hi : int
            The first of the outputs, and the one after the last.

        Returns
        -------
        slice
            The smallest that holds these inputs.

        Examples
        --------
        >>> Copy.repeat_each(3, 2).reads(1, 4)
        slice(0, 2, None)
        """
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        blocks = [o // self.block for o in (lo, hi - 1)]
        if self.repeat is not None:
            first, last = (o // self.repeat for o in blocks)
        elif (native := self._core) is not None:
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
        if (native := self._core) is not None:
            rule = f"counts {short(np.diff(native.offsets(0, min(self.n_in, 9))), self.n_in)}"
        elif self.offsets is not None:
            rule = f"counts {short(np.diff(self.offsets[:10]), self.n_in // self.block)}"
        else:
            rule = f"o % {self.n_in}" if whole else f"o // {self.repeat}"
        blocks = f", in blocks of {self.block}" if self.block > 1 and not whole else ""
        return f"Copy({self.n_in} -> {self.n_out}: {rule}{blocks})"
