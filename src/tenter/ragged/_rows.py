"""What describes the rows of a plan: computed on first use and cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

import numpy as np

from tenter import _native
from tenter._arrays.errors import refuse
from tenter._arrays.library import compiling
from tenter._arrays.names import misnamed, show_signature
from tenter._ragged import padded, segments
from tenter._specs.segments import Segments, padded_on
from tenter.maps import Copy
from tenter.maps._values import trusted
from tenter.ragged import _signatures as signatures
from tenter.ragged._calls import called, made
from tenter.ragged._signatures import Indices

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Index, OneEach, OnHost, Side

# What a plan keeps: with so much, it drops its masks, one for each width and side that was asked for.
MOST = 16


class Rows(Generic[Indices]):
    """The segments of a plan, and the arrays that follow from them."""

    _segments: Segments
    _cached: dict[str, Any]

    def _begin(self, s: Segments) -> None:
        self._segments = s
        self._cached: dict[str, Any] = {}

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
        if no_other or too_many is not None:
            raise misnamed("Plan.ranges", self.ranges, no_other, too_many, starts=starts, steps=steps)

        def make() -> Any:
            return segments.ranges(self._with_total(), starts, steps)

        def quick(room: Any) -> Any:
            return _native.ragged_ranges(starts, self._in_host_memory(), steps, None, room)

        return made("Plan.ranges", make, quick, out, False, starts, steps)

    # fmt: off
    @overload
    def mask(self: Rows[OnHost], max_len: Index = None, *, padding_side: Side = None) -> NDArray[np.bool_]: ...
    @overload
    def mask(self: Rows[Tensor], max_len: Index = None, *, padding_side: Side = None) -> Tensor: ...
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

    def _with_total(self) -> Segments:
        s = self._segments
        if s.total is None:
            s = s.changed(total=segments.total(s))
            if not compiling():  # whose symbols mean nothing outside of its graph
                self._segments = s
        return s

    def _once(self, name: str, f: Callable[[Segments], Any]) -> Any:
        if (known := self._cached.get(name)) is not None:
            return known
        found = f(self._segments)
        if isinstance(found, np.ndarray):  # the next caller gets the same array
            found.flags.writeable = False
        if compiling():
            return found
        if len(self._cached) >= MOST:
            for mask in [other for other in list(self._cached) if other.startswith("mask ")]:
                self._cached.pop(mask, None)
        return self._cached.setdefault(name, found)

    def _in_host_memory(self) -> Any:
        """The lengths as the core reads them; where only a device knows them, the plan, which the core declines."""
        return self.lengths if self._segments.known() else self


show_signature(Rows.ranges)


def _map(s: Segments) -> Copy:
    if not s.known():
        refuse(TypeError, "lengths", "lengths that the host knows", "a tensor elsewhere")
    return trusted(Copy, n_in=s.n, n_out=s.total, repeat=None, offsets=s.offsets, block=1)
