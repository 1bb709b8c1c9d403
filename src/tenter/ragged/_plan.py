"""`Plan`: lengths, and all that follows from them, computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, cast, overload

import numpy as np

from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import compiling
from tenter._arrays.names import show_signature
from tenter._ragged import padded, segments
from tenter._specs.segments import Segments, padded_on
from tenter.maps import Copy
from tenter.maps._values import trusted
from tenter.ragged import _along as along, _shown as shown, _signatures as signatures
from tenter.ragged._along import called, read
from tenter.ragged._signatures import Indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Given, Index, Ints, OneEach, OnHost, Scalar, Side


class Plan(Generic[Indices]):
    """Variable-length rows: their lengths, offsets, row ids and positions, each computed on first use and cached.

    Parameters
    ----------
    lengths : array of ints
        The length of each row. They are copied: later changes have no effect.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    tenter.ragged : Functions that take lengths or a plan.

    Notes
    -----
    A plan caches the arrays that it returns, so NumPy arrays are read-only. Tensors cannot be read-only: copy one
    before you write to it. The plan itself reads memory that nothing else refers to.

    Examples
    --------
    >>> plan = Plan([2, 0, 3])
    >>> plan
    Plan(3 rows -> 5: lengths [2, 0, 3])
    >>> plan.repeat(np.array([10, 20, 30]))
    array([10, 10, 30, 30, 30])
    >>> plan.sum(np.arange(5))
    array([1, 0, 9])
    >>> plan.offsets, plan.positions
    (array([0, 2, 2, 5]), array([0, 1, 0, 1, 2]))
    """

    # fmt: off
    @overload
    def __init__(self: Plan[Given], lengths: Given, *, output_size: Index = None) -> None: ...
    @overload
    def __init__(self: Plan[NDArray[np.int64]], lengths: Ints, *, output_size: Index = None) -> None: ...
    # fmt: on
    def __init__(self, lengths: Ints | Tensor, *, output_size: Index = None) -> None:
        try:
            self._begin(segments.of_lengths(lengths, output_size, "ragged.Plan"))
        except Refusal as refusal:
            raise error(refusal, "ragged.Plan", lengths=lengths, output_size=output_size) from None

    def _begin(self, s: Segments) -> None:
        self._segments = s
        self._cached: dict[str, Any] = {}

    # fmt: off
    @overload
    @classmethod
    def from_offsets(cls, offsets: Given, *, output_size: Index = None) -> Plan[Given]: ...
    @overload
    @classmethod
    def from_offsets(cls, offsets: Ints, *, output_size: Index = None) -> Plan[NDArray[np.int64]]: ...
    # fmt: on
    @classmethod
    def from_offsets(cls, offsets: Any, *, output_size: Any = None) -> Any:
        """The plan of offsets (cu_seqlens, indptr, splits).

        Parameters
        ----------
        offsets : array of ints
            n + 1 ascending integers from 0.
        output_size : int, optional
            The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does
            not wait for the device.

        Returns
        -------
        Plan

        Examples
        --------
        >>> Plan.from_offsets([0, 2, 2, 5])
        Plan(3 rows -> 5: lengths [2, 0, 3])
        """
        return _planned(read("ragged.Plan.from_offsets", segments.of_offsets, offsets=offsets, output_size=output_size))

    # fmt: off
    @overload
    @classmethod
    def from_row_ids(cls, row_ids: Given, n: Index = None) -> Plan[Given]: ...
    @overload
    @classmethod
    def from_row_ids(cls, row_ids: Ints, n: Index = None) -> Plan[NDArray[np.int64]]: ...
    # fmt: on
    @classmethod
    def from_row_ids(cls, row_ids: Any, n: Any = None) -> Any:
        """The plan of row ids.

        Parameters
        ----------
        row_ids : array of ints
            Ascending, from 0 to n - 1.
        n : int, optional
            The number of rows. None: the last id plus one, which waits for a device.

        Returns
        -------
        Plan

        Examples
        --------
        >>> Plan.from_row_ids([0, 0, 2, 2, 2], 4).lengths
        array([2, 0, 3, 0])
        """
        return _planned(read("ragged.Plan.from_row_ids", segments.of_row_ids, row_ids=row_ids, n=n))

    # fmt: off
    @overload
    @classmethod
    def from_positions(cls, positions: Given) -> Plan[Given]: ...
    @overload
    @classmethod
    def from_positions(cls, positions: Ints) -> Plan[NDArray[np.int64]]: ...
    # fmt: on
    @classmethod
    def from_positions(cls, positions: Any) -> Any:
        """The plan of positions: a row begins at each 0, so there are no empty rows.

        Parameters
        ----------
        positions : array of ints
            They begin with 0, and go on by 1 or with 0.

        Returns
        -------
        Plan

        Examples
        --------
        >>> Plan.from_positions([0, 1, 0, 1, 2])
        Plan(2 rows -> 5: lengths [2, 3])
        """
        return _planned(read("ragged.Plan.from_positions", segments.of_positions, positions=positions))

    # fmt: off
    @overload
    @classmethod
    def from_mask(cls, mask: Given, *, padding_side: Side = None) -> Plan[Given]: ...
    @overload
    @classmethod
    def from_mask(cls, mask: NDArray[np.bool_ | np.integer[Any]] | Sequence[Sequence[SupportsIndex]], *,
        padding_side: Side = None) -> Plan[NDArray[np.int64]]: ...
    # fmt: on
    @classmethod
    def from_mask(cls, mask: Any, *, padding_side: Any = None) -> Any:
        """The plan of a padding mask, such as the `attention_mask` of tokenizers.

        `pad`, `unpad` and `mask` of this plan have the padding on the mask's side.

        Parameters
        ----------
        mask : array of bool or of the integers 0 and 1
            [n, max_len]. The positions of each row are together at one side, which is the same for all rows.
        padding_side : {"left", "right"}, optional
            The side of the padding. By default it is found, and is the right if no row has both positions and padding.
            With a mask on a CUDA device, the call waits for the device to find and check it. If the side is given,
            the call does not wait, and the mask is not checked. Compiled code and `vmap` find the side without a wait,
            when the code runs, and check the mask there.

        Returns
        -------
        Plan

        Examples
        --------
        >>> Plan.from_mask(np.array([[True, True, False], [False, False, False]]))
        Plan(2 rows -> 2: lengths [2, 0])
        >>> plan = Plan.from_mask([[0, 1, 1], [1, 1, 1]])
        >>> plan
        Plan(2 rows -> 5: lengths [2, 3], padded on the left)
        >>> plan.pad([7, 8, 4, 5, 6])
        array([[0, 7, 8],
               [4, 5, 6]])
        """
        return _planned(read("ragged.Plan.from_mask", segments.of_mask, mask=mask, padding_side=padding_side))

    # ---- what describes the rows

    @property
    def n(self) -> int:
        """The number of rows; `len(plan)` too."""
        return self._segments.n  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self.n

    @property
    def padding_side(self) -> Literal["left", "right"]:
        """Where `pad`, `unpad` and `mask` have the padding: "left" for the plan of such a mask, else "right". If only a
        graph of compiled code knows it, it cannot be read there."""
        return cast(Literal["left", "right"], segments.side(self._segments))

    @property
    def output_size(self) -> int:
        """The sum of the lengths. If only a device knows it, the call waits for the device."""
        return self._with_total().total  # type: ignore[no-any-return]

    @property
    def max_len(self) -> int:
        """The largest length; 0 if there are no rows. If only a device knows it, the call waits for the device."""
        return self._once("max_len", segments.longest)  # type: ignore[no-any-return]

    @property
    def lengths(self) -> Indices:
        """How many positions each row has: n integers."""
        return cast(Indices, self._once("lengths", segments.lengths))

    @property
    def offsets(self) -> Indices:
        """Where each row begins, and the end: n + 1 ascending integers from 0."""
        return cast(Indices, self._once("offsets", lambda s: segments.offsets(s, True)))

    @property
    def row_ids(self) -> Indices:
        """The row of each position: output_size integers, ascending."""
        return cast(Indices, self._once("row_ids", lambda s: segments.row_ids(self._with_total())))

    @property
    def positions(self) -> Indices:
        """The place of each position in its row: output_size integers."""
        return cast(Indices, self._once("positions", lambda s: segments.positions(self._with_total())))

    @signatures.plan_ranges
    def ranges(
        self,
        starts: OneEach | Tensor,
        steps: OneEach | Tensor = 1,
        too_many: Any = None,
        out: Any = None,
        **no_other: Any,
    ) -> Any:
        """Many aranges, one for each row: `tenter.ragged.ranges`.

        Parameters
        ----------
        starts : int or array of ints
            Where each range begins.
        steps : int or array of ints, default 1
            The distance between numbers.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array of ints

        Examples
        --------
        >>> Plan([2, 0, 3]).ranges([10, 20, 30])
        array([10, 11, 30, 31, 32])
        """
        return along.ranges(self, starts, steps, out, too_many, no_other)

    # fmt: off
    @overload
    def mask(self: Plan[OnHost], max_len: Index = None, *, padding_side: Side = None) -> NDArray[np.bool_]: ...
    @overload
    def mask(self: Plan[Tensor], max_len: Index = None, *, padding_side: Side = None) -> Tensor: ...
    # fmt: on
    def mask(self, max_len: Any = None, *, padding_side: Any = None) -> Any:
        """Which places of a padded array hold a position: `tenter.ragged.mask`. It is cached.

        Parameters
        ----------
        max_len : int, optional
            The width, by default the largest length.
        padding_side : {"left", "right"}, optional
            The side of the padding, by default the plan's.

        Returns
        -------
        array of bool
            [n, max_len].

        Examples
        --------
        >>> Plan([2, 0, 1]).mask().sum()
        np.int64(3)
        """

        def make(s: Segments) -> Any:
            said = {} if padding_side is None else {"padding_side": padding_side}
            return called("Plan.mask", lambda: padded.mask(padded_on(s, padding_side), max_len), max_len, **said)

        return self._once(f"mask {max_len} {padding_side}", make)

    @property
    def map(self) -> Copy:
        """The axis map, which repeats row i lengths[i] times; `map.T` takes sums. For lengths that the host knows.

        >>> Plan([2, 0, 3]).map
        Copy(3 -> 5: counts [2, 0, 3])
        """
        return self._once("map", lambda s: called("Plan.map", lambda: _map(s)))  # type: ignore[no-any-return]

    # ---- what is done along the rows

    @signatures.plan_along
    def repeat(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """Row i of x, lengths[i] times in a row: `tenter.repeat_interleave` by the lengths.

        Parameters
        ----------
        x : array
            Its length along axis is the number of rows.
        axis : int, default 0
            The axis of the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 0, 1]).repeat([[1, 2], [3, 4], [5, 6]])
        array([[1, 2],
               [1, 2],
               [5, 6]])
        """
        return along.repeat(self, x, axis, out, too_many, no_other)

    @signatures.plan_pad
    def pad(
        self,
        x: Any,
        max_len: int | None = None,
        too_many: Any = None,
        value: Scalar = 0,
        padding_side: Side = None,
        out: Any = None,
        **no_other: Any,
    ) -> Any:
        """Rows as a padded array: `tenter.ragged.pad`.

        Parameters
        ----------
        x : array
            All rows, one after the other.
        max_len : int, optional
            The width, by default the largest length.
        value : number, default 0
            The fill value of the padding.
        padding_side : {"left", "right"}, optional
            The side of the padding, by default the plan's.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array
            [n, max_len, ...].

        Examples
        --------
        >>> Plan([2, 0, 1]).pad([1, 2, 3])
        array([[1, 2],
               [0, 0],
               [3, 0]])
        """
        return along.pad(self, x, max_len, value, padding_side, out, too_many, no_other)

    @signatures.plan_unpad
    def unpad(self, x: Any, too_many: Any = None, padding_side: Side = None, out: Any = None, **no_other: Any) -> Any:
        """A padded array without its padding: `tenter.ragged.unpad`.

        Parameters
        ----------
        x : array
            [n, max_len, ...].
        padding_side : {"left", "right"}, optional
            The side of x's padding, by default the plan's.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 0, 1]).unpad([[1, 2], [0, 0], [3, 0]])
        array([1, 2, 3])
        """
        return along.unpad(self, x, padding_side, out, too_many, no_other)

    @signatures.plan_along
    def sum(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The sum of each row: `tenter.ragged.segment_sum`.

        Parameters
        ----------
        x : array
            All rows, one after the other along axis.
        axis : int, default 0
            The axis that holds the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 0, 1]).sum([1, 2, 3])
        array([3, 0, 3])
        """
        return along.reduce("sum", self, x, axis, out, too_many, no_other)

    @signatures.plan_along
    def mean(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The mean of each row: `tenter.ragged.segment_mean`.

        Parameters
        ----------
        x : array
            All rows, one after the other along axis.
        axis : int, default 0
            The axis that holds the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 0, 1]).mean([1.0, 2.0, 3.0])
        array([1.5, 0. , 3. ])
        """
        return along.reduce("mean", self, x, axis, out, too_many, no_other)

    @signatures.plan_along
    def max(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The largest value of each row: `tenter.ragged.segment_max`.

        Parameters
        ----------
        x : array
            All rows, one after the other along axis.
        axis : int, default 0
            The axis that holds the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).max([1, 2, 3])
        array([2, 3])
        """
        return along.reduce("max", self, x, axis, out, too_many, no_other)

    @signatures.plan_along
    def min(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The smallest value of each row: `tenter.ragged.segment_min`.

        Parameters
        ----------
        x : array
            All rows, one after the other along axis.
        axis : int, default 0
            The axis that holds the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).min([1, 2, 3])
        array([1, 3])
        """
        return along.reduce("min", self, x, axis, out, too_many, no_other)

    @signatures.plan_along
    def softmax(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """exp(x) over its sum within each row: `tenter.ragged.segment_softmax`.

        Parameters
        ----------
        x : array
            All rows, one after the other along axis.
        axis : int, default 0
            The axis that holds the rows.
        out : array, optional
            Where to write the result, as for `tenter.resize`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).softmax([5.0, 5.0, 7.0])
        array([0.5, 0.5, 1. ])
        """
        return along.reduce("softmax", self, x, axis, out, too_many, no_other)

    def to(self: Plan[Tensor], device: Any) -> Plan[Tensor]:
        """The plan with its indices on a device. It is this plan if they are there.

        A plan with lengths on the host serves tensors on any device. Only its own tensors, such as `offsets`, need the
        move. A move to a device does not wait; from one it does.

        Parameters
        ----------
        device : torch.device or str
            For example `x.device`.

        Returns
        -------
        Plan

        Raises
        ------
        TypeError
            If the plan's indices are NumPy arrays.

        Examples
        --------
        >>> import torch
        >>> Plan(torch.tensor([2, 0, 3])).to("cpu").offsets.device
        device(type='cpu')
        """
        s = called("Plan.to", lambda: segments.moved(self._segments, device), device)
        if s is self._segments:
            return self
        plan = _planned(s)
        if "max_len" in self._cached or self._segments.known():  # so that the new plan does not wait for it
            plan._cached["max_len"] = self.max_len
        return cast("Plan[Tensor]", plan)

    def __reduce__(self) -> Any:
        """Copies and pickles carry the offsets, which are checked again."""
        return _carried, (self.offsets, self.padding_side)

    def __repr__(self) -> str:
        return shown.line(self._segments)

    def _repr_html_(self) -> str:
        return shown.html(self._segments, self.map if self._segments.known() else None)

    def _with_total(self) -> Segments:
        s = self._segments
        if s.total is None:
            s = s._replace(total=segments.total(s))
            if not compiling():  # whose symbols mean nothing outside of its graph
                self._segments = s
        return s

    def _once(self, name: str, f: Callable[[Segments], Any]) -> Any:
        if name in self._cached:
            return self._cached[name]
        found = f(self._segments)
        if isinstance(found, np.ndarray):  # the next caller gets the same array
            found.flags.writeable = False
        if not compiling():
            self._cached[name] = found
        return found


for _name in ("ranges", "repeat", "pad", "unpad", "sum", "mean", "max", "min", "softmax"):
    show_signature(getattr(Plan, _name))


def _carried(offsets: Any, padding_side: str) -> Plan:
    s = Plan.from_offsets(offsets)._segments
    return _planned(padded_on(s, padding_side))


def _planned(s: Segments) -> Plan:
    plan = Plan.__new__(Plan)
    plan._begin(s)
    return plan


def _map(s: Segments) -> Copy:
    if not s.known():
        refuse(TypeError, "lengths", "lengths that the host knows", "a tensor elsewhere")
    return trusted(Copy, n_in=s.n, n_out=s.total, repeat=None, offsets=s.offsets, block=1)
