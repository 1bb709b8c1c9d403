"""`Plan`: lengths, and all that follows from them, computed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex, cast, overload

import numpy as np

from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal
from tenter._ragged import segments
from tenter._specs.segments import Segments, padded_on
from tenter.ragged import _shown as shown
from tenter.ragged._along import Along
from tenter.ragged._calls import called, read
from tenter.ragged._signatures import Indices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Given, Index, Ints, Side


class Plan(Along[Indices]):
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
            # Segments come from `_planned`.
            s = lengths if isinstance(lengths, Segments) else segments.of_lengths(lengths, output_size, "ragged.Plan")
        except Refusal as refusal:
            raise error(refusal, "ragged.Plan", lengths=lengths, output_size=output_size) from None
        self._begin(s)

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

    def to(self: Plan[Tensor], device: Any) -> Plan[Tensor]:
        """The plan with its indices on a device. It is this plan if they are there.

        A plan with lengths on the host takes tensors on any device. Only its own tensors, such as `offsets`, need the
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
        if s.offsets is self._segments.offsets:
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


def _carried(offsets: Any, padding_side: str) -> Plan:
    s = Plan.from_offsets(offsets)._segments
    return _planned(padded_on(s, padding_side))


def _planned(s: Segments) -> Plan:
    """Not by `Plan.__new__`, which the compiler of PyTorch 2.6 does not follow."""
    return Plan(cast("Any", s))
