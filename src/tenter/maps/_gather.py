"""Maps that gather: every output is a weighted sum of any inputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenter import _native
from tenter._arrays.cached import cached
from tenter._arrays.types import Floats, Ints
from tenter.maps._operators import Operators
from tenter.maps._values import (
    Table,
    check_table_size,
    int_fields,
    rebuilt,
    require,
    sealed,
    trusted,
    unchecked,
    within,
)
from tenter.maps._window import Window

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tenter._arrays.signatures import Apply


class Gather(Operators):
    """A map whose every output is a weighted sum of any inputs. Provisional: it may change before 1.0.

    Row o reads index[offset[o] : offset[o + 1]] with the weights at the same places: for periodic or reflected edges,
    and indices that are not sorted.

    Parameters
    ----------
    n_in, n_out : int
        The number of inputs and outputs.
    offset : array of ints
        Where the entries of each row begin, and the end.
    index : array of ints
        The inputs, row after row.
    weight : array of floats
        Their weights.

    Raises
    ------
    ValueError
        If the arguments do not go together.

    See Also
    --------
    Window : Rows of adjacent inputs, which is faster.

    Examples
    --------
    >>> Gather(3, 2, offset=[0, 1, 3], index=[2, 0, 1], weight=[1.0, 0.5, 0.5]).apply(np.array([2.0, 4.0, 6.0]), 0)
    array([6., 3.])
    """

    __match_args__ = ("n_in", "n_out", "offset", "index", "weight")
    n_in: int
    n_out: int
    offset: Ints = Table(np.int64, required=True)  # type: ignore[assignment]
    index: Ints = Table(np.int64, required=True)  # type: ignore[assignment]
    weight: Floats = Table(np.float64, required=True)  # type: ignore[assignment]
    block: ClassVar[int] = 1
    apply: "ClassVar[Apply]"
    from_scipy: ClassVar[Callable[[Any], "Gather"]]

    __reduce__ = rebuilt
    __setstate__ = unchecked

    def __init__(self, n_in: int, n_out: int, offset: "ArrayLike", index: "ArrayLike", weight: "ArrayLike") -> None:
        self._set(n_in=n_in, n_out=n_out, offset=offset, index=index, weight=weight)
        int_fields(self, "n_in", "n_out")
        begins, inputs = self.offset, self.index
        require(begins.shape == (self.n_out + 1,) and begins[0] == 0, "n_out + 1 offsets from 0")
        require(np.all(begins[1:] >= begins[:-1]), "ascending offsets")
        require(inputs.shape == self.weight.shape == (begins[-1],), "an index and a weight per tap")
        require(not inputs.size or (inputs.min() >= 0 and inputs.max() < self.n_in), "indices in [0, n_in)")

    def _make_tables(self) -> None:
        if (rule := self.picking) is not None:
            check_table_size(3.0 * self.n_out, 8)
            offset, index, weight = np.arange(self.n_out + 1), rule.index(0, self.n_out), np.ones(self.n_out)
            for name, made in zip(("offset", "index", "weight"), (offset, index, weight)):
                self.__dict__[name] = sealed(made)
            return
        order, start, offset, weight = self._gathered
        index = order[np.arange(len(weight)) + np.repeat(start - offset[:-1], np.diff(offset))]
        for name, values in zip(("offset", "index", "weight"), (offset, index, weight)):
            self.__dict__[name] = sealed(values)

    @property
    def _gathered(self) -> tuple[Ints, Ints, Ints, Floats]:
        native = self.__dict__["_core"]
        check_table_size(native.n_taps + 2.0 * (self.n_in + self.n_out), 32)
        return native.gathered()  # type: ignore[no-any-return]

    @property
    def _core(self) -> _native.WindowMap | None:
        """What computes the rows; None if the map only has tables."""
        return self.__dict__.get("_core")

    @property
    def picking(self) -> _native.SourceIndex | None:
        """What computes the source index of each output; None if the map only has tables."""
        return self.__dict__.get("picking")

    @property
    def _is_computed(self) -> bool:
        """True if tables are only made when they are read, as for long axes."""
        return self.picking is not None or (self._core is not None and self._core.is_computed)

    @property
    def picks(self) -> bool:
        """True if every output is one unchanged input."""
        if self._core is not None or self.picking is not None:
            return self.picking is not None
        return len(self.index) == self.n_out and self.ones and bool(np.all(np.diff(self.offset) == 1))

    @property
    def _in_order(self) -> tuple[Ints, Window]:
        """The map as (order, window). In that order of inputs, each row's inputs are adjacent, and the window sums
        them. A row that begins with the inputs that end the previous row shares them. So a window that slides over a
        periodic axis needs that axis and what continues past its ends, not every tap."""
        order, sums = self._laid_out
        return np.frombuffer(order, np.int64), sums

    @cached
    def _laid_out(self) -> tuple[memoryview, Window]:
        if self._core is not None:
            order, start, offset, weight = self._gathered
            rows = {"start": start, "offset": offset, "weight": weight}
            return sealed(order), trusted(Window, n_in=len(order), n_out=self.n_out, width=None, block=1, **rows)
        order, start = _native.laid_out(self.offset, self.index)
        weights = None if self.ones else self.weight
        return sealed(order), Window(len(order), self.n_out, start, self.offset, weights)

    @cached
    def _form(self) -> _native.AxisMap:
        """The core's form of the map."""
        made = _native.AxisMap()
        if self.picking is not None:
            made.set_source_index(self.picking)
        elif self._core is not None:
            made.set_map(self._core)
        elif self.picks:
            made.set_index(self.n_in, self.index)
        else:
            made.set_gather(self.n_in, self.offset, self.index, None if self.ones else self.weight)
        return made

    @cached
    def ones(self) -> bool:
        """True if all weights are one, so that integers are summed exactly."""
        return self.picking is not None or (self._core is None and bool(np.all(self.weight == 1)))

    @property
    def T(self) -> "Gather":
        """The transpose. Sums keep the order of the rows. Its own transpose is this map, because the order in which
        rows add their taps changes the last bits."""
        if (original := self.__dict__.get("_original")) is not None:
            return original  # type: ignore[no-any-return]
        native = self._core
        if native is not None and native.sampling is not None:
            made = _native.WindowMap(native.sampling, not native.transposed, False)
            transposed: Gather = trusted(Gather, n_in=self.n_out, n_out=self.n_in, _core=made)
            transposed.__dict__["_original"] = self
            return transposed
        offset, index, weight = _native.transposed_gather(self.n_in, self.offset, self.index, self.weight)
        transposed = trusted(Gather, n_in=self.n_out, n_out=self.n_in, offset=offset, index=index, weight=weight)
        transposed.__dict__["_original"] = self
        if (factors := self.__dict__.get("_factors")) is not None:
            transposed.__dict__["_factors"] = factors.T
        return transposed

    def rows(self) -> Ints:
        """The row of every entry.

        Returns
        -------
        numpy.ndarray
            int64, ascending.

        Examples
        --------
        >>> Gather(2, 1, offset=[0, 2], index=[1, 0], weight=[1.0, 3.0]).rows()
        array([0, 0])
        """
        return np.repeat(np.arange(self.n_out), np.diff(self.offset))

    def dense(self) -> Floats:
        """The matrix.

        Returns
        -------
        numpy.ndarray
            float64[n_out, n_in].

        Examples
        --------
        >>> Gather(2, 2, offset=[0, 1, 2], index=[1, 0], weight=[1.0, 3.0]).dense()
        array([[0., 1.],
               [3., 0.]])
        """
        matrix = np.zeros((self.n_out, self.n_in))
        np.add.at(matrix, (self.rows(), self.index), self.weight)
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
        >>> Gather(2, 2, offset=[0, 1, 2], index=[1, 0], weight=[1.0, 3.0]).reads(0, 1)
        slice(1, 2, None)
        """
        lo, hi = within(lo, hi, self.n_out)
        used = self.index[self.offset[lo] : self.offset[hi]]
        return slice(int(used.min()), int(used.max()) + 1) if used.size else slice(0, 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gather) or (self.n_in, self.n_out) != (other.n_in, other.n_out):
            return False
        # Two maps are equal even if a row's entries are in another order.
        a, b = (np.lexsort((m.weight, m.index, m.rows())) for m in (self, other))
        return (
            np.array_equal(self.offset, other.offset)
            and np.array_equal(self.index[a], other.index[b])
            and np.array_equal(self.weight[a], other.weight[b])
        )

    def __hash__(self) -> int:
        return hash((Gather, self.n_in, self.n_out))

    def __repr__(self) -> str:
        if self.picking is not None:
            return f"Gather({self.n_in} -> {self.n_out}: one input each)"
        if self._core is not None and self._is_computed:
            taps_each = self._core.n_taps // max(self.n_out, 1)
            return f"Gather({self.n_in} -> {self.n_out}: about {taps_each} weights, made as they are used)"
        return f"Gather({self.n_in} -> {self.n_out}: {len(self.index)} weights)"
