"""Lengths, offsets, row ids and positions, each from the others, and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenter import _native
from tenter._arrays.arguments import MISSING
from tenter._arrays.library import in_dynamo
from tenter._arrays.names import misnamed, show_signature
from tenter._ragged import segments
from tenter.ragged import _signatures as signatures
from tenter.ragged._calls import made
from tenter.ragged._given import as_array, with_total
from tenter.ragged._plan import Plan

if TYPE_CHECKING:
    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Ints, Lengths, OneEach


@signatures.of_lengths
def offsets(
    lengths: Lengths = MISSING, too_many: Any = None, output_size: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """Where each row begins, and the end: the n + 1 prefix sums of lengths, from 0.

    Known as cu_seqlens, indptr, crow_indices, row_splits or splits.

    Parameters
    ----------
    lengths : array of ints or Plan
        The length of each row.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of ints
        int32 for int32 lengths, else int64. Offsets above int32's maximum stay at that maximum for int32 lengths
        on a device.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    lengths : The reverse.
    Plan : Keeps offsets and what follows from them.

    Examples
    --------
    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.offsets", offsets, no_other, too_many, lengths=lengths)
    if out is None and not in_dynamo() and (found := _native.ragged_offsets(lengths, output_size, None)) is not None:
        return found

    def make() -> Any:
        if isinstance(lengths, Plan):
            its = lengths._segments if output_size is None else with_total("ragged.offsets", lengths, output_size)
            return segments.offsets(its, True)
        return segments.offsets(segments.of_lengths(lengths, output_size, "ragged.offsets"), False)

    def quick(room: Any) -> Any:
        return _native.ragged_offsets(as_array(lengths), output_size, room)

    return made("ragged.offsets", make, quick, out, False, lengths=lengths, output_size=output_size)


@signatures.of_offsets
def lengths(offsets: Ints | Tensor = MISSING, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
    """The lengths of rows from their offsets.

    Parameters
    ----------
    offsets : array of ints
        n + 1 ascending integers from 0.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of ints
        n integers of the dtype of offsets.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    offsets : The reverse.
    Plan.from_row_ids : Reads row ids; `from_positions` and `from_mask` the other forms.

    Examples
    --------
    >>> lengths([0, 2, 2, 5])
    array([2, 0, 3])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.lengths", lengths, no_other, too_many, offsets=offsets)

    def make() -> Any:
        return segments.lengths(segments.of_offsets(offsets))

    return made("ragged.lengths", make, lambda room: None, out, False, offsets=offsets)


@signatures.of_lengths
def row_ids(
    lengths: Lengths = MISSING, too_many: Any = None, output_size: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """The row of each position: i, lengths[i] times in a row.

    Known as segment ids, batch index, value_rowids, or the rows of a COO matrix.

    Parameters
    ----------
    lengths : array of ints or Plan
        The length of each row.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of ints
        As many as there are positions; int32 for int32 lengths, else int64. A Plan returns the read-only array
        that it caches.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    positions : The place of each position in its row.

    Examples
    --------
    >>> row_ids([2, 0, 3])
    array([0, 0, 2, 2, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.row_ids", row_ids, no_other, too_many, lengths=lengths)
    if out is None and not in_dynamo() and (found := _native.ragged_row_ids(lengths, output_size, None)) is not None:
        return found
    return _of_positions("row_ids", _native.ragged_row_ids, lengths, output_size, out)


@signatures.of_lengths
def positions(
    lengths: Lengths = MISSING, too_many: Any = None, output_size: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """The place of each position in its row: 0, 1, ..., lengths[i] - 1 for each row.

    Known as position ids of packed sequences, or `cumcount`.

    Parameters
    ----------
    lengths : array of ints or Plan
        The length of each row.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of ints
        As many as there are positions; int32 for int32 lengths, else int64. A Plan returns the read-only array
        that it caches.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    row_ids : The row of each position.

    Examples
    --------
    >>> positions([2, 0, 3])
    array([0, 1, 0, 1, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.positions", positions, no_other, too_many, lengths=lengths)
    if out is None and not in_dynamo() and (found := _positions(lengths, output_size, None)) is not None:
        return found
    return _of_positions("positions", _positions, lengths, output_size, out)


def _positions(lengths: Any, output_size: Any, out: Any) -> Any:
    return _native.ragged_ranges(0, lengths, 1, output_size, out)


def _of_positions(what: str, by_core: Any, lengths: Any, output_size: Any, out: Any) -> Any:
    """row_ids or positions, past what the core makes at once."""

    def make() -> Any:
        if isinstance(lengths, Plan) and output_size is None:
            return getattr(lengths, what)
        return getattr(segments, what)(with_total(f"ragged.{what}", lengths, output_size))

    def quick(room: Any) -> Any:
        return by_core(as_array(lengths), output_size, room)

    return made(f"ragged.{what}", make, quick, out, False, lengths=lengths, output_size=output_size)


@signatures.ranges
def ranges(
    starts: OneEach | Tensor = MISSING,
    lengths: Lengths = MISSING,
    steps: OneEach | Tensor = 1,
    too_many: Any = None,
    output_size: int | None = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Many aranges, one after the other: starts[i], starts[i] + steps[i], ..., lengths[i] numbers for each row i.

    Parameters
    ----------
    starts : int or array of ints
        Where each range begins; one number for all, or one for each row.
    lengths : array of ints or Plan
        The length of each row.
    steps : int or array of ints, default 1
        The distance between numbers; one for all, or one for each row.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of ints
        int32 if the arrays among starts and steps are (lengths, if there are none), else int64; a tensor if any
        argument is.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another. Or if a range goes beyond the dtype; on a
        device it wraps.

    See Also
    --------
    positions : Ranges from 0.

    Examples
    --------
    >>> ranges([10, 20, 30], [2, 0, 3])
    array([10, 11, 30, 31, 32])
    >>> ranges([4, 0], [3, 2], [-1, 5])
    array([4, 3, 2, 0, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.ranges", ranges, no_other, too_many, starts=starts, lengths=lengths, steps=steps)
    if (
        out is None
        and not in_dynamo()
        and (found := _native.ragged_ranges(starts, lengths, steps, output_size, None)) is not None
    ):
        return found

    def make() -> Any:
        return segments.ranges(with_total("ragged.ranges", lengths, output_size), starts, steps)

    def quick(room: Any) -> Any:
        return _native.ragged_ranges(starts, as_array(lengths), steps, output_size, room)

    how = {"starts": starts, "lengths": lengths, "steps": steps, "output_size": output_size}
    return made("ragged.ranges", make, quick, out, False, **how)


for _function in (
    offsets,
    lengths,
    row_ids,
    positions,
    ranges,
):
    show_signature(_function)
