"""Maps whose outputs are weighted sums of adjacent inputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenter import _native
from tenter._arrays.cached import cached
from tenter._arrays.types import Floats, Ints
from tenter.maps._operators import Operators
from tenter.maps._rows import check_rows
from tenter.maps._values import (
    Table,
    check_table_size,
    extent,
    int_fields,
    rebuilt,
    require,
    sealed,
    span,
    unchecked,
    within,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tenter._arrays.signatures import Apply
    from tenter.maps._copy import Copy


class Window(Operators):
    """A map whose every output is a weighted sum of adjacent inputs. Provisional: it may change before 1.0.

    Block o reads inputs start[o] to start[o] + offset[o + 1] - offset[o] with weight[offset[o] : offset[o + 1]].
    The first and the last input of a row never decrease from row to row, so the transpose of a window is a window.

    Parameters
    ----------
    n_in, n_out : int
        The number of inputs and outputs.
    start : array of ints, optional
        The first input of each row.
    offset : array of ints, optional
        Where the weights of each row begin, and the end.
    weight : array of floats, optional
        The weights, row after row; None for ones.
    width : int, optional
        In place of start and offset: row o reads `width` inputs from o * width on.
    block : int, default 1
        The number of elements that a weight is applied to together.

    Raises
    ------
    ValueError
        If the arguments do not go together.

    See Also
    --------
    Gather : Rows that read any inputs.
    tenter.axis_map : The window of a mode of `tenter.resize`.

    Examples
    --------
    >>> Window(4, 2, start=[0, 2], offset=[0, 2, 4], weight=[0.5, 0.5, 0.5, 0.5]).apply(np.arange(4.0), 0)
    array([0.5, 2.5])
    """

    __match_args__ = ("n_in", "n_out", "start", "offset", "weight", "width", "block")
    n_in: int
    n_out: int
    start: Ints | None = Table(np.int64)  # type: ignore[assignment]
    offset: Ints | None = Table(np.int64)  # type: ignore[assignment]
    weight: Floats | None = Table(np.float64)  # type: ignore[assignment]
    width: int | None
    block: int
    apply: "ClassVar[Apply]"
    T: ClassVar["Copy | Window"]
    from_scipy: ClassVar[Callable[[Any], "Window"]]

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __init__(
        self, n_in: int, n_out: int, start: "ArrayLike | None" = None, offset: "ArrayLike | None" = None,
        weight: "ArrayLike | None" = None, width: int | None = None, block: int = 1,
    ) -> None:  # fmt: skip
        self._set(n_in=n_in, n_out=n_out, start=start, offset=offset, weight=weight, width=width, block=block)
        int_fields(self, "n_in", "n_out", "block")
        require(self.n_in % self.block == 0 and self.n_out % self.block == 0, "whole blocks")
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        if self.start is None:
            require(offset is None and weight is None and width is not None, "start and offset, or width")
            int_fields(self, "width")
            assert self.width is not None
            require(n_in == n_out * self.width, "n_in == n_out * width")
            return
        require(self.offset is not None and width is None, "start and offset, or width")
        assert self.offset is not None
        check_rows(n_in, n_out, self.start, self.offset, self.weight)

    def _make_tables(self) -> None:
        check_table_size(self._core.n_taps + 2.0 * self.n_out, 16)
        for name, values in zip(("start", "offset", "weight"), self._core.tables(0, self.n_out)):
            if name not in self.__dict__:  # weights of ones are None
                self.__dict__[name] = sealed(values)

    @property
    def _is_computed(self) -> bool:
        """True if tables are only made when they are read, as for long axes."""
        return self.width is None and "_core" in self.__dict__ and self._core.is_computed

    @property
    def ones(self) -> bool:
        """True if all weights are one."""
        return "weight" in self.__dict__ and self.weight is None

    def rows(self) -> tuple[Ints, Ints]:
        """The first input block of each row, and the offsets of the rows' weights. Computed if only `width` is stored.

        Returns
        -------
        (numpy.ndarray, numpy.ndarray)
            int64[rows] and int64[rows + 1].

        Examples
        --------
        >>> Window(4, 2, width=2).rows()
        (array([0, 2]), array([0, 2, 4]))
        """
        start, offset = self.start, self.offset
        if start is not None and offset is not None:
            return start, offset
        assert self.width is not None
        offset = np.arange(self.n_out // self.block + 1, dtype=np.int64) * self.width
        return offset[:-1], offset

    def taps(self) -> tuple[Ints, Ints, Floats]:
        """Every weight, row by row.

        Returns
        -------
        (numpy.ndarray, numpy.ndarray, numpy.ndarray)
            Row block, input block and weight of each.

        Examples
        --------
        >>> Window(2, 1, width=2).taps()
        (array([0, 0]), array([0, 1]), array([1., 1.]))
        """
        start, offset = self.rows()
        count = np.diff(offset)
        row = np.repeat(np.arange(len(start)), count)
        column = np.arange(offset[-1]) - offset[row] + start[row]
        weight = self.weight
        return row, column, np.ones(len(row)) if weight is None else weight

    @cached
    def _core(self) -> _native.WindowMap:
        """The form that the compiled kernel reads. It is made once."""
        n_in, n_out = self.n_in // self.block, self.n_out // self.block
        return _native.WindowMap(n_in, n_out, self.width or 0, self.start, self.offset, self.weight)

    @cached
    def _form(self) -> _native.AxisMap:
        """The core's form of the map, in blocks."""
        made = _native.AxisMap()
        made.set_map(self._core)
        return made

    def dense(self) -> Floats:
        """The matrix.

        Returns
        -------
        numpy.ndarray
            float64[n_out, n_in].

        Examples
        --------
        >>> Window(4, 2, width=2).dense()
        array([[1., 1., 0., 0.],
               [0., 0., 1., 1.]])
        """
        row, column, weight = self.taps()
        matrix: Floats = np.zeros((self.n_out // self.block, self.n_in // self.block))
        matrix[row, column] = weight
        return np.asarray(np.kron(matrix, np.eye(self.block)), np.float64) if self.block > 1 else matrix

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
        >>> Window(4, 2, width=2).reads(1, 2)
        slice(2, 4, None)
        """
        lo, hi = within(lo, hi, self.n_out)
        if lo == hi:
            return slice(0, 0)
        if self._is_computed:
            ends = [self._core.tables(o, o + 1) for o in (lo, hi - 1)]
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
        if self._is_computed:
            taps_each = self._core.n_taps // max(self.n_out, 1)
            return f"Window({self.n_in} -> {self.n_out}: about {taps_each} weights, made as they are used)"
        taps = extent(np.diff(self.rows()[1])) or "no taps"
        blocks = f", in blocks of {self.block}" if self.block > 1 else ""
        kind = "sums" if self.weight is None else "weights"
        return f"Window({self.n_in} -> {self.n_out}: {kind} of {taps}{blocks})"
