"""What a plan does to arrays along its rows: in fresh memory, or in `out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from tenter import _native
from tenter._arrays.arguments import dim as one_dim, numpy_or_torch
from tenter._arrays.names import misnamed, show_signature
from tenter._ragged import padded, reduced, segments
from tenter._specs.segments import Segments, padded_on
from tenter.lazy import LazyArray
from tenter.ragged import _signatures as signatures
from tenter.ragged._calls import called, made
from tenter.ragged._rows import Rows
from tenter.ragged._signatures import Indices

if TYPE_CHECKING:
    from tenter.ragged._signatures import Scalar, Side


class Along(Rows[Indices]):
    """The methods of a plan that take an array of its rows."""

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
        if no_other or too_many is not None:
            raise misnamed("Plan.repeat", self.repeat, no_other, too_many, x=x, axis=axis)

        def make() -> Any:
            return reduced.repeat(numpy_or_torch("x", x), self._with_total(), axis, out)

        return called("Plan.repeat", make, x, axis, out=out)

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
        if no_other or too_many is not None:
            raise misnamed("Plan.pad", self.pad, no_other, too_many, x=x, max_len=max_len)

        def make() -> Any:
            room = self.max_len if max_len is None else max_len
            given = numpy_or_torch("x", x, rows=True)
            s = padded_on(_beside(self._segments, given, 0, "ragged.Plan.pad"), padding_side)
            return padded.pad(given, s, room, value)

        def quick(room: Any) -> Any:
            its_side = self._segments.padding_side if padding_side is None else padding_side
            return padded.pad_plain(x, self._in_host_memory(), max_len, value, its_side, room)

        return made("Plan.pad", make, quick, out, True, x, max_len)

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
        if no_other or too_many is not None:
            raise misnamed("Plan.unpad", self.unpad, no_other, too_many, x=x)

        def make() -> Any:
            s = padded_on(self._with_total().changed(called="ragged.Plan.unpad"), padding_side)
            return padded.unpad(numpy_or_torch("x", x), s)

        def quick(room: Any) -> Any:
            its_side = self._segments.padding_side if padding_side is None else padding_side
            return _native.ragged_unpad(x, self._in_host_memory(), None, its_side, room)

        return made("Plan.unpad", make, quick, out, True, x)

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
        return self._reduce("sum", x, axis, out, too_many, no_other)

    @signatures.plan_along
    def mean(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The mean of each row: `tenter.ragged.segment_mean`.

        Parameters
        ----------
        x, axis, out
            As for `sum`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 0, 1]).mean([1.0, 2.0, 3.0])
        array([1.5, 0. , 3. ])
        """
        return self._reduce("mean", x, axis, out, too_many, no_other)

    @signatures.plan_along
    def max(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The largest value of each row: `tenter.ragged.segment_max`.

        Parameters
        ----------
        x, axis, out
            As for `sum`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).max([1, 2, 3])
        array([2, 3])
        """
        return self._reduce("max", x, axis, out, too_many, no_other)

    @signatures.plan_along
    def min(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """The smallest value of each row: `tenter.ragged.segment_min`.

        Parameters
        ----------
        x, axis, out
            As for `sum`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).min([1, 2, 3])
        array([1, 3])
        """
        return self._reduce("min", x, axis, out, too_many, no_other)

    @signatures.plan_along
    def softmax(self, x: Any, axis: SupportsIndex = 0, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
        """exp(x) over its sum within each row: `tenter.ragged.segment_softmax`.

        Parameters
        ----------
        x, axis, out
            As for `sum`.

        Returns
        -------
        array

        Examples
        --------
        >>> Plan([2, 1]).softmax([5.0, 5.0, 7.0])
        array([0.5, 0.5, 1. ])
        """
        return self._reduce("softmax", x, axis, out, too_many, no_other)

    def _reduce(self, how: str, x: Any, axis: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
        """The reductions, by their names in `_ragged/reduced.py`."""
        if no_other or too_many is not None:
            raise misnamed(f"Plan.{how}", getattr(self, how), no_other, too_many, x=x, axis=axis)
        if isinstance(x, LazyArray):
            if how == "sum" and out is None:
                return x.segment_sum(self.map, axis)
            x = x.materialize()

        def make() -> Any:
            given = numpy_or_torch("x", x, rows=True)
            return reduced.reduce(how, given, _beside(self._segments, given, axis, f"ragged.Plan.{how}"), axis)

        def quick(room: Any) -> Any:
            return reduced.QUICK[how](how, x, self._in_host_memory(), axis, room)

        return made(f"Plan.{how}", make, quick, out, True, x, axis)


for _name in ("repeat", "pad", "unpad", "sum", "mean", "max", "min", "softmax"):
    show_signature(getattr(Along, _name))


def _beside(s: Segments, x: Any, axis: Any, call: str) -> Segments:
    """Where only a device knows the total, it is to be x's length; what is found wrong later names this call."""
    if s.known() or s.total is not None or not x.ndim:
        return s
    found = segments.of_lengths(segments.lengths(s), x.shape[one_dim("axis", axis, x.ndim)], call)
    return found.changed(padding_side=segments.side(s) if found.known() else s.padding_side)
