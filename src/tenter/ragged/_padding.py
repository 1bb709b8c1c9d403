"""Masks, and rows filled up to one length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from tenter import _native
from tenter._arrays.arguments import MISSING, error, numpy_or_torch
from tenter._arrays.errors import Refusal
from tenter._arrays.library import traced
from tenter._arrays.names import misnamed, show_signature
from tenter._execution import calls, indices_into, padded, rows_into
from tenter._execution.calls import written
from tenter.ragged import _signatures as signatures
from tenter.ragged._given import described, held, with_total

if TYPE_CHECKING:
    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Counts, Ints, Lengths, OneEach, Scalar


@signatures.mask
def mask(
    lengths: Lengths = MISSING, max_len: int | None = None, too_many: Any = None, out: Any = None, **no_other: Any
) -> Any:
    """Which places of a padded array hold a position: bool[n, max_len], row i lengths[i] times True and then False.

    Known as padding mask or attention mask (`sequence_mask`); some models want it inverted: `~mask(lengths)`.

    lengths: n integers >= 0, or a Plan. max_len: at least the largest length, which it is if it is not given; with it a
    device is not waited for, and lengths there are cut to it. out: where to write the result, as `tenter.resize` has
    it.

    >>> mask([2, 0, 3])
    array([[ True,  True, False],
           [False, False, False],
           [ True,  True,  True]])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.mask", mask, no_other, too_many, lengths=lengths, max_len=max_len)
    if out is None and not traced() and (found := _native.ragged_mask(lengths, max_len)) is not None:
        return found
    try:
        if out is not None:
            return written(indices_into.mask(held(lengths), max_len, out), out, lambda: mask(lengths, max_len))
        return padded.mask(described("ragged.mask", lengths), max_len)
    except Refusal as refusal:
        raise error(refusal, "ragged.mask", lengths=lengths, max_len=max_len, out=out) from None


@signatures.spans
def spans_to_mask(
    starts: OneEach | Tensor = MISSING,
    ends: Ints | Tensor = MISSING,
    n: SupportsIndex = MISSING,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Which of n positions lie in any of the spans: True from a start to its end, the end left out.

    starts, ends: integers of one shape [..., k]: k spans, 0 <= start <= end <= n, in any order; they may overlap. n:
    the number of positions. Returns bool[..., n]; a row for each of k spans is `spans_to_mask(starts[:, None],
    ends[:, None], n)`. On a device, where their values are not read, spans are cut to 0 .. n. out: where to write the
    result, as `tenter.resize` has it.

    >>> spans_to_mask([1, 4], [3, 5], 6)
    array([False,  True,  True, False,  True, False])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.spans_to_mask", spans_to_mask, no_other, too_many, starts=starts, ends=ends, n=n)
    if out is None and not traced() and (found := _native.ragged_spans(starts, ends, n)) is not None:
        return found
    try:
        if out is not None:
            return written(indices_into.spans(starts, ends, n, out), out, lambda: spans_to_mask(starts, ends, n))  # type: ignore[arg-type]
        return padded.spans_to_mask(starts, ends, n)
    except Refusal as refusal:
        raise error(refusal, "ragged.spans_to_mask", starts=starts, ends=ends, n=n, out=out) from None


@signatures.pad
def pad(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    max_len: int | None = None,
    too_many: Any = None,
    value: Scalar = 0,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Rows of unlike lengths as a padded array: x[total, ...] becomes [n, max_len, ...], `value` behind each row.

    x: array or tensor of any dtype; all rows, one after the other. lengths: n integers >= 0 whose sum is x's length,
    or a Plan. max_len: at least the largest length, which it is if it is not given; with it a device is not waited
    for. value: a number of x's dtype. out: where to write the result, as `tenter.resize` has it.

    The gradient is `unpad`'s. (`torch.nn.utils.rnn.pad_sequence` of `x.split(lengths)`.)

    >>> pad([1, 2, 3, 4, 5], [2, 0, 3])
    array([[1, 2, 0],
           [0, 0, 0],
           [3, 4, 5]])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.pad", pad, no_other, too_many, x=x, lengths=lengths, max_len=max_len)
    zeros = out is None and type(value) is int and value == 0
    if zeros and not traced() and (found := _native.ragged_pad(x, lengths, max_len)) is not None:
        return found
    try:
        x = numpy_or_torch("x", x)
        if out is not None:
            found = rows_into.pad(x, held(lengths), max_len, value, out)
            return written(found, out, lambda: pad(x, lengths, max_len, value=value))
        return padded.pad(x, described("ragged.pad", lengths, x.shape[0] if x.ndim else None), max_len, value)
    except Refusal as refusal:
        raise error(refusal, "ragged.pad", x, lengths=lengths, max_len=max_len, value=value, out=out) from None


@signatures.unpad
def unpad(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    too_many: Any = None,
    total: int | None = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """A padded array without its padding, the reverse of `pad`: x[n, max_len, ...] becomes [total, ...].

    x: array or tensor of any dtype. lengths: n integers from 0 to x's max_len, or a Plan. total: their sum, verified;
    with it a device is not waited for. out: where to write the result, as `tenter.resize` has it. The gradient is
    `pad`'s, with zeros.

    >>> unpad([[1, 2, 0], [0, 0, 0], [3, 4, 5]], [2, 0, 3])
    array([1, 2, 3, 4, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.unpad", unpad, no_other, too_many, x=x, lengths=lengths)
    if out is None and not traced() and (found := _native.ragged_unpad(x, lengths, total)) is not None:
        return found
    try:
        x = numpy_or_torch("x", x)
        if out is not None:
            return written(rows_into.unpad(x, held(lengths), total, out), out, lambda: unpad(x, lengths, total=total))
        return padded.unpad(x, with_total("ragged.unpad", lengths, total))
    except Refusal as refusal:
        raise error(refusal, "ragged.unpad", x, lengths=lengths, total=total, out=out) from None


@signatures.repeat_padded
def repeat_padded(
    x: Any = MISSING,
    counts: Counts = MISSING,
    max_len: int | None = None,
    too_many: Any = None,
    value: Scalar = 0,
    out: Any = None,
    **no_other: Any,
) -> tuple[Any, Any]:
    """repeat_interleave with counts of its own for each row of a batch, filled up: (padded, lengths).

    Phonemes become frames: x[b, t] is repeated counts[b, t] times along the second dim, and `value` stands behind
    each row.

    x: array or tensor [B, T, ...] of any dtype. counts: integers >= 0 of shape [B, T]; 0 at padded places. max_len:
    at least the largest of the rows' sums, which it is if it is not given; with it a device is not waited for. value:
    a number of x's dtype. Returns padded[B, max_len, ...] of x's dtype, and lengths[B], the sums of counts, int32 for
    int32 counts, else int64; both of x's kind. out: where to write the two, as `tenter.resize` has it.

    Gradients are segment sums. PyTorch and NumPy take no counts of two dims; usually rows are repeated in a loop.

    >>> padded, lengths = repeat_padded([[1, 2, 3], [4, 5, 6]], [[2, 0, 1], [1, 1, 0]])
    >>> padded
    array([[1, 1, 3],
           [4, 5, 0]])
    >>> lengths
    array([3, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.repeat_padded", repeat_padded, no_other, too_many, x=x, counts=counts, max_len=max_len)
    try:
        x = numpy_or_torch("x", x)
        if out is None:
            return padded.repeat_padded(x, counts, max_len, value)
        if (found := rows_into.repeat_padded(x, counts, max_len, value, out)) is None:
            made = padded.repeat_padded(x, counts, max_len, value)
            found = calls.copied(made[0], out[0]), calls.copied(made[1], out[1])
        return found
    except Refusal as refusal:
        raise error(refusal, "ragged.repeat_padded", x, counts=counts, max_len=max_len, value=value, out=out) from None


for _function in (mask, spans_to_mask, pad, unpad, repeat_padded):
    show_signature(_function)
