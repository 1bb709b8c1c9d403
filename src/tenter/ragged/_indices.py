"""Lengths, offsets, row ids and positions, each from the others, and ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenter import _native
from tenter._arrays.arguments import MISSING, error
from tenter._arrays.errors import Refusal
from tenter._arrays.library import traced
from tenter._arrays.names import misnamed, show_signature
from tenter._execution import indices_into, segments
from tenter._execution.calls import written
from tenter._specs.segments import Segments
from tenter.ragged import _signatures as signatures
from tenter.ragged._along import made
from tenter.ragged._given import held, with_total
from tenter.ragged._plan import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Ints, Lengths, OneEach


@signatures.of_lengths
def offsets(
    lengths: Lengths = MISSING, too_many: Any = None, total: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """Where each row begins, and the end: the n + 1 prefix sums of lengths, from 0.

    Known as cu_seqlens, indptr, crow_indices, row_splits or splits.

    lengths: n integers >= 0, or a Plan. total: their sum, verified. Returns integers of lengths' kind; of int32
    lengths on a device, which nothing waits for, offsets past int32 stay at its largest number.
    out: where to write the result, as `tenter.resize` has it.

    >>> offsets([2, 0, 3])
    array([0, 2, 2, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.offsets", offsets, no_other, too_many, lengths=lengths)
    if out is None and not traced() and (found := _native.ragged_offsets(lengths, total)) is not None:
        return found
    try:
        if out is not None:
            found = indices_into.offsets(held(lengths), total, out)
            return written(found, out, lambda: offsets(lengths, total=total))
        if isinstance(lengths, Plan):
            its = lengths._segments if total is None else with_total("ragged.offsets", lengths, total)
            return segments.offsets(its, True)
        return segments.offsets(segments.of_lengths(lengths, total, "ragged.offsets"), False)
    except Refusal as refusal:
        raise error(refusal, "ragged.offsets", lengths=lengths, total=total, out=out) from None


@signatures.of_offsets
def lengths(offsets: Ints | Tensor = MISSING, too_many: Any = None, out: Any = None, **no_other: Any) -> Any:
    """The lengths of rows from their offsets, the reverse of `offsets`.

    offsets: n + 1 ascending integers from 0. Returns n integers of their kind.
    out: where to write the result, as `tenter.resize` has it.

    >>> lengths([0, 2, 2, 5])
    array([2, 0, 3])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.lengths", lengths, no_other, too_many, offsets=offsets)
    return _lengths("lengths", segments.of_offsets, indices_into.lengths_of_offsets, out, offsets=offsets)


@signatures.of_row_ids
def lengths_from_row_ids(
    row_ids: Ints | Tensor = MISSING, n: int | None = None, too_many: Any = None, out: Any = None, **no_other: Any
) -> Any:
    """The lengths of rows from the row of each position, the reverse of `row_ids`.

    row_ids: ascending integers from 0 to n - 1. n: the number of rows; if it is not given, one more than the last id
    (for which a device is waited for). Returns n integers of their kind.
    out: where to write the result, as `tenter.resize` has it.

    >>> lengths_from_row_ids([0, 0, 2, 2, 2], n=4)
    array([2, 0, 3, 0])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.lengths_from_row_ids", lengths_from_row_ids, no_other, too_many, row_ids=row_ids, n=n)
    into = indices_into.lengths_of_row_ids
    return _lengths("lengths_from_row_ids", segments.of_row_ids, into, out, row_ids=row_ids, n=n)


@signatures.of_positions
def lengths_from_positions(
    positions: Ints | Tensor = MISSING, too_many: Any = None, out: Any = None, **no_other: Any
) -> Any:
    """The lengths of rows from the place of each position in its row, the reverse of `positions`.

    positions: integers that begin with 0 and go on by 1, or with 0, where the next row begins. Empty rows leave no
    trace in them. Returns integers of their kind; waits for a device.
    out: where to write the result, as `tenter.resize` has it.

    >>> lengths_from_positions([0, 1, 0, 1, 2])
    array([2, 3])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.lengths_from_positions", lengths_from_positions, no_other, too_many, positions=positions)
    into = indices_into.lengths_of_positions
    return _lengths("lengths_from_positions", segments.of_positions, into, out, positions=positions)


@signatures.of_mask
def lengths_from_mask(
    mask: NDArray[np.bool_] | Sequence[Sequence[bool]] | Tensor = MISSING,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """The lengths of rows from a padding mask, the reverse of `mask`.

    mask: bool[n, max_len], each row True and then False (which is not checked on a device). Returns int64[n].
    out: where to write the result, as `tenter.resize` has it.

    >>> lengths_from_mask([[True, True, False], [False, False, False]])
    array([2, 0])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.lengths_from_mask", lengths_from_mask, no_other, too_many, mask=mask)
    return _lengths("lengths_from_mask", segments.of_mask, indices_into.lengths_of_mask, out, mask=mask)


def _lengths(call: str, of: Callable[..., Segments], into: Callable[..., Any], out: Any, **given: Any) -> Any:
    """Lengths from another form, of which `of` makes segments; `into` writes them to out where it can."""
    return made(f"ragged.{call}", lambda: segments.lengths(of(**given)), lambda: into(**given, out=out), out, **given)


@signatures.of_lengths
def row_ids(
    lengths: Lengths = MISSING, too_many: Any = None, total: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """The row of each position: i, lengths[i] times in a row.

    Known as segment ids, batch index, value_rowids, or the rows of a COO matrix; `repeat_interleave(lengths)`.

    lengths: integers >= 0, or a Plan. total: their sum, verified; with it a device is not waited for. Returns total
    integers of lengths' kind; of a Plan those that it keeps, which are read-only.
    out: where to write the result, as `tenter.resize` has it.

    >>> row_ids([2, 0, 3])
    array([0, 0, 2, 2, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.row_ids", row_ids, no_other, too_many, lengths=lengths)
    if out is None and not traced() and (found := _native.ragged_row_ids(lengths, total)) is not None:
        return found
    return _of_positions("row_ids", lengths, total, out)


@signatures.of_lengths
def positions(
    lengths: Lengths = MISSING, too_many: Any = None, total: int | None = None, out: Any = None, **no_other: Any
) -> Any:
    """The place of each position in its row: 0, 1, ..., lengths[i] - 1 for each row.

    Known as position ids of packed sequences, or `cumcount`.

    lengths: integers >= 0, or a Plan. total: their sum, verified; with it a device is not waited for. Returns total
    integers of lengths' kind; of a Plan those that it keeps, which are read-only.
    out: where to write the result, as `tenter.resize` has it.

    >>> positions([2, 0, 3])
    array([0, 1, 0, 1, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.positions", positions, no_other, too_many, lengths=lengths)
    if out is None and not traced() and (found := _native.ragged_positions(lengths, total)) is not None:
        return found
    return _of_positions("positions", lengths, total, out)


def _of_positions(what: str, lengths: Any, total: Any, out: Any) -> Any:
    """row_ids or positions, past what the core makes at once."""

    def make() -> Any:
        if isinstance(lengths, Plan) and total is None:
            return getattr(lengths, what)
        return getattr(segments, what)(with_total(f"ragged.{what}", lengths, total))

    def into() -> Any:
        return getattr(indices_into, what)(held(lengths), total, out)

    return made(f"ragged.{what}", make, into, out, lengths=lengths, total=total)


@signatures.ranges
def ranges(
    starts: OneEach | Tensor = MISSING,
    lengths: Lengths = MISSING,
    steps: OneEach | Tensor = 1,
    too_many: Any = None,
    total: int | None = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Many aranges, one after the other: starts[i], starts[i] + steps[i], ..., lengths[i] numbers for each i.

    starts, steps: an int for all rows, or integers, one for each. lengths: integers >= 0, or a Plan. total: their sum,
    verified; with it a device is not waited for. Returns total integers: int32 if the arrays among starts and steps are
    (lengths, if there are none), else int64; a tensor if any argument is one.
    out: where to write the result, as `tenter.resize` has it.

    Raises ValueError for a range past the result's dtype, which wraps on a device.

    >>> ranges([10, 20, 30], [2, 0, 3])
    array([10, 11, 30, 31, 32])
    >>> ranges([4, 0], [3, 2], [-1, 5])
    array([4, 3, 2, 0, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.ranges", ranges, no_other, too_many, starts=starts, lengths=lengths, steps=steps)
    if out is None and not traced() and (found := _native.ragged_ranges(starts, lengths, steps, total)) is not None:
        return found
    try:
        if out is not None:
            found = indices_into.ranges(held(lengths), starts, steps, total, out)
            return written(found, out, lambda: ranges(starts, lengths, steps, total=total))
        return segments.ranges(with_total("ragged.ranges", lengths, total), starts, steps)
    except Refusal as refusal:
        how = {"starts": starts, "lengths": lengths, "steps": steps, "total": total, "out": out}
        raise error(refusal, "ragged.ranges", **how) from None


for _function in (
    offsets,
    lengths,
    lengths_from_row_ids,
    lengths_from_positions,
    lengths_from_mask,
    row_ids,
    positions,
    ranges,
):
    show_signature(_function)
