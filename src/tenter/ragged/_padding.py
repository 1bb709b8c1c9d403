"""Masks, and rows filled up to one length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from tenter import _native
from tenter._arrays.arguments import MISSING, numpy_or_torch
from tenter._arrays.library import in_dynamo
from tenter._arrays.names import misnamed, show_signature
from tenter._ragged import padded
from tenter._specs.segments import padded_on
from tenter.ragged import _signatures as signatures
from tenter.ragged._calls import called, made
from tenter.ragged._given import as_array, described, side_of, with_total

if TYPE_CHECKING:
    from tenter._arrays.signatures import Tensor
    from tenter.ragged._signatures import Counts, Ints, Lengths, OneEach, Scalar, Side


@signatures.mask
def mask(
    lengths: Lengths = MISSING,
    max_len: int | None = None,
    too_many: Any = None,
    padding_side: Side = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Which places of a padded array hold a position.

    Known as padding mask, attention mask or `sequence_mask`; some models want it inverted: `~mask(lengths)`.

    Parameters
    ----------
    lengths : array of ints or Plan
        The length of each row.
    max_len : int, optional
        The width of the padded rows: at least the largest length, which is the default. With lengths on a CUDA
        device, the call then does not wait for the device.
    padding_side : {"left", "right"}, optional
        The side of the padding. By default that of a plan made from a mask, else the right.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of bool
        [n, max_len]; row i is lengths[i] times True and then False; with padding on the left, False and then True.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    spans_to_mask : The mask of spans.
    Plan.from_mask : The reverse.

    Notes
    -----
    Lengths on a device are cut to max_len if it is given. On the host longer ones are refused:
    `mask(lengths.clip(max=n), n)` cuts them, as `sequence_mask` does.

    Examples
    --------
    >>> mask([2, 0, 3])
    array([[ True,  True, False],
           [False, False, False],
           [ True,  True,  True]])
    >>> mask([2, 0, 3], padding_side="left")
    array([[False,  True,  True],
           [False, False, False],
           [ True,  True,  True]])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.mask", mask, no_other, too_many, lengths=lengths, max_len=max_len)
    quickly = out is None and not in_dynamo()
    if quickly and (found := _native.ragged_mask(lengths, max_len, padding_side, None)) is not None:
        return found

    def make() -> Any:
        return padded.mask(padded_on(described("ragged.mask", lengths), padding_side), max_len)

    def quick(room: Any) -> Any:
        return _native.ragged_mask(as_array(lengths), max_len, side_of(lengths, padding_side), room)

    said = {} if padding_side is None else {"padding_side": padding_side}
    return made("ragged.mask", make, quick, out, False, lengths=lengths, max_len=max_len, **said)


@signatures.spans
def spans_to_mask(
    starts: OneEach | Tensor = MISSING,
    ends: Ints | Tensor = MISSING,
    n: SupportsIndex = MISSING,
    too_many: Any = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Which of n positions are in any of the spans: True from a start to its end, the end left out.

    Parameters
    ----------
    starts, ends : array of ints
        Arrays of one shape [..., k], for k spans: 0 <= start <= end <= n, in any order; they may overlap.
    n : int
        The number of positions.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array of bool
        [..., n].

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    mask : The mask of rows that begin at 0.

    Notes
    -----
    `spans_to_mask(starts[:, None], ends[:, None], n)` has a row for each span. On a device, spans are cut to 0 .. n.

    Examples
    --------
    >>> spans_to_mask([1, 4], [3, 5], 6)
    array([False,  True,  True, False,  True, False])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.spans_to_mask", spans_to_mask, no_other, too_many, starts=starts, ends=ends, n=n)
    if out is None and not in_dynamo() and (found := _native.ragged_spans(starts, ends, n, None)) is not None:
        return found

    def make() -> Any:
        return padded.spans_to_mask(starts, ends, n)

    def quick(room: Any) -> Any:
        return _native.ragged_spans(starts, ends, n, room)

    return made("ragged.spans_to_mask", make, quick, out, False, starts=starts, ends=ends, n=n)


@signatures.pad
def pad(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    max_len: int | None = None,
    too_many: Any = None,
    value: Scalar = 0,
    padding_side: Side = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """Variable-length rows as a padded array: x[positions, ...] becomes [n, max_len, ...].

    The same as `torch.nn.utils.rnn.pad_sequence` of `x.split(lengths)`.

    Parameters
    ----------
    x : array
        All rows, one after the other; any dtype.
    lengths : array of ints or Plan
        The length of each row.
    max_len : int, optional
        The width of the padded rows: at least the largest length, which is the default. With lengths on a CUDA
        device, the call then does not wait for the device.
    value : number, default 0
        The fill value of the padding.
    padding_side : {"left", "right"}, optional
        "left" puts it before each row, as generation by language models needs it, "right" behind. By default that of a
        plan made from a mask, else the right.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        A new array of x's library and dtype.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    unpad : The reverse, and the gradient.

    Examples
    --------
    >>> pad([1, 2, 3, 4, 5], [2, 0, 3])
    array([[1, 2, 0],
           [0, 0, 0],
           [3, 4, 5]])
    >>> pad([1, 2, 3, 4, 5], [2, 0, 3], padding_side="left")
    array([[0, 1, 2],
           [0, 0, 0],
           [3, 4, 5]])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.pad", pad, no_other, too_many, x=x, lengths=lengths, max_len=max_len)
    quickly = out is None and type(value) is int and value == 0 and not in_dynamo()
    if quickly and (found := _native.ragged_pad(x, lengths, max_len, None, padding_side, None)) is not None:
        return found

    def make() -> Any:
        given = numpy_or_torch("x", x, rows=True)
        positions = given.shape[0] if given.ndim else None
        s = padded_on(described("ragged.pad", lengths, positions), padding_side)
        return padded.pad(given, s, max_len, value)

    def quick(room: Any) -> Any:
        return padded.pad_plain(x, as_array(lengths), max_len, value, side_of(lengths, padding_side), room)

    said = {} if padding_side is None else {"padding_side": padding_side}
    return made("ragged.pad", make, quick, out, True, x, lengths=lengths, max_len=max_len, value=value, **said)


@signatures.unpad
def unpad(
    x: Any = MISSING,
    lengths: Lengths = MISSING,
    too_many: Any = None,
    output_size: int | None = None,
    padding_side: Side = None,
    out: Any = None,
    **no_other: Any,
) -> Any:
    """A padded array without its padding: x[n, max_len, ...] becomes [positions, ...].

    Parameters
    ----------
    x : array
        Any dtype.
    lengths : array of ints or Plan
        The length of each row.
    output_size : int, optional
        The sum of the lengths, if it is known: it is verified. With lengths on a CUDA device, the call then does not
        wait for the device.
    padding_side : {"left", "right"}, optional
        The side of x's padding. By default that of a plan made from a mask, else the right.
    out : array, optional
        Where to write the result, as for `tenter.resize`.

    Returns
    -------
    array
        A new array of x's library and dtype: all rows, one after the other.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    pad : The reverse, and the gradient.

    Examples
    --------
    >>> unpad([[1, 2, 0], [0, 0, 0], [3, 4, 5]], [2, 0, 3])
    array([1, 2, 3, 4, 5])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.unpad", unpad, no_other, too_many, x=x, lengths=lengths)
    quickly = out is None and not in_dynamo()
    if quickly and (found := _native.ragged_unpad(x, lengths, output_size, padding_side, None)) is not None:
        return found

    def make() -> Any:
        s = padded_on(with_total("ragged.unpad", lengths, output_size), padding_side)
        return padded.unpad(numpy_or_torch("x", x), s)

    def quick(room: Any) -> Any:
        return _native.ragged_unpad(x, as_array(lengths), output_size, side_of(lengths, padding_side), room)

    said = {} if padding_side is None else {"padding_side": padding_side}
    return made("ragged.unpad", make, quick, out, True, x, lengths=lengths, output_size=output_size, **said)


@signatures.repeat_padded
def repeat_padded(
    x: Any = MISSING,
    repeats: Counts = MISSING,
    max_len: int | None = None,
    too_many: Any = None,
    value: Scalar = 0,
    out: Any = None,
    **no_other: Any,
) -> tuple[Any, Any]:
    """repeat_interleave with other counts for each row of a batch, padded.

    Phonemes become frames: x[b, t] is repeated repeats[b, t] times along the second axis.

    Parameters
    ----------
    x : array
        [B, T, ...] of any dtype.
    repeats : array of ints
        [B, T]: how many times each element is repeated; 0 at padded places.
    max_len : int, optional
        The width of the padded rows: at least the largest length, which is the default. With lengths on a CUDA
        device, the call then does not wait for the device.
    value : number, default 0
        The fill value behind each row.
    out : (array, array), optional
        Where to write the two results, as for `tenter.resize`.

    Returns
    -------
    (array, array)
        padded[B, max_len, ...] of x's dtype, and lengths[B], the sums of repeats: int32 for int32 repeats, else int64.

    Raises
    ------
    TypeError
        If an argument has the wrong type or dtype.
    ValueError
        If lengths are negative, or an argument does not go with another.

    See Also
    --------
    tenter.repeat_interleave : The same counts for all rows.

    Notes
    -----
    Gradients are segment sums.

    Examples
    --------
    >>> padded, lengths = repeat_padded([[1, 2, 3], [4, 5, 6]], [[2, 0, 1], [1, 1, 0]])
    >>> padded
    array([[1, 1, 3],
           [4, 5, 0]])
    >>> lengths
    array([3, 2])
    """
    if no_other or too_many is not None:
        raise misnamed("ragged.repeat_padded", repeat_padded, no_other, too_many, x=x, repeats=repeats, max_len=max_len)

    def make() -> Any:
        return padded.repeat_padded(numpy_or_torch("x", x), repeats, max_len, value, out)

    found: tuple[Any, Any] = called(
        "ragged.repeat_padded", make, x, repeats=repeats, max_len=max_len, value=value, out=out
    )
    return found


for _function in (mask, spans_to_mask, pad, unpad, repeat_padded):
    show_signature(_function)
