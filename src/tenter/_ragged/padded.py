"""Masks and padded arrays: rows padded to one length."""

from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays import library
from tenter._arrays.arguments import describe, integer
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, is_array, on_device, surely, traced
from tenter._arrays.limits import number
from tenter._execution import calls, executor, into
from tenter._ragged import segmented
from tenter._ragged.segments import expressions, later, longest
from tenter._specs import segments as spec
from tenter._specs.fill_value import check_value
from tenter._specs.segments import Segments


def mask(s: Segments, max_len: Any) -> Any:
    length = _padded_length(s, max_len, of_mask=True)
    if not s.known():
        return expressions(s.offsets).mask(s, length)
    return s.library.from_numpy(segmented.mask(s, length), s.offsets)


def spans_to_mask(starts: Any, ends: Any, n: Any) -> Any:
    length = integer("n", n, "a length", 0)
    if later(starts) or later(ends):
        like = next(v for v in (starts, ends) if later(v))
        runs = expressions(like)
        starts, ends = runs.placed("starts", starts, like), runs.placed("ends", ends, like)
        spec.check_spans(starts, ends)
        return runs.spans(starts, ends, length)
    found = segmented.spans(*spec.spans(starts, ends, length), length)
    tensors = [v for v in (starts, ends) if is_array(v) and not isinstance(v, np.ndarray)]
    return library.of(tensors[0]).from_numpy(found, tensors[0]) if tensors else found


def pad(x: Any, s: Segments, max_len: Any, value: Any) -> Any:
    if x.ndim == 0:
        refuse(ValueError, "x", "positions along its first dim", "0-d")
    spec.check_length(s.total, "x", x, 0)
    length = _padded_length(s, max_len)
    check_value(value, x)
    if s.known() and not later(x):
        return executor.of_segments(x).pad(x, s, length, value)
    return expressions(x).pad(x, s, length, value)


def unpad(x: Any, s: Segments) -> Any:
    longest_row = spec.longest(s) if s.known() else 0
    if x.ndim < 2:
        refuse(ValueError, "x", "a padded array: rows, positions, ...", f"{x.ndim}-D")
    if surely(x.shape[0] != s.n):
        refuse(ValueError, "x", f"{number(s.n)} rows, one for each length", number(x.shape[0]))
    if surely(x.shape[1] < longest_row):
        last = x.ndim > 2 and surely(x.shape[-1] >= longest_row)
        got = f"{number(x.shape[1])}{spec.positions_second(x) if last else ''}"
        refuse(ValueError, "x", f"at least {longest_row} positions a row, as the longest has", got)
    if s.known() and not later(x):
        return executor.of_segments(x).unpad(x, s)
    return expressions(x).unpad(x, s)


def pad_plain(x: Any, lengths: Any, max_len: Any, value: Any, padding_side: Any, out: Any) -> Any:
    """`pad` of a plain array, by the core. None if the call needs all checks."""
    if type(x) not in executor.EXACT or later(x):
        return None
    check_value(value, x)
    return _native.ragged_pad(x, lengths, max_len, executor.of_segments(x).element(x, value), padding_side, out)


def _padded_length(s: Segments, max_len: Any, of_mask: bool = False) -> Any:
    """Returns the number of positions of a padded row."""
    if s.known():
        return spec.padded_length(s, max_len, of_mask)
    return longest(s) if max_len is None else integer("max_len", max_len, "a length", 0)


def repeat_padded(x: Any, counts: Any, max_len: Any, value: Any, out: Any) -> tuple[Any, Any]:
    """out: None, or two arrays for the results."""
    if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2):
        refuse(TypeError, "out", "two arrays: for what is padded, and for its lengths", describe(out))
    made = _repeated(x, counts, max_len, value)
    if out is None:
        return made
    for each, room in zip(made, out):
        into.check(room, each, tuple(each.shape))
    return calls.copied(made[0], out[0]), calls.copied_indices(made[1], out[1])


def _repeated(x: Any, counts: Any, max_len: Any, value: Any) -> tuple[Any, Any]:
    spec.check_padded_counts(counts, x)
    check_value(value, x)
    if later(counts) or traced(x) or on_device(x):
        return expressions(x).repeat_padded(x, counts, max_len, value)  # type: ignore[no-any-return]
    rows, width = x.shape[:2]
    given = spec.integers("repeats", counts, 2)
    spec.check_padded_counts(given, x)
    if given.min(initial=0) < 0:
        row, at = np.argwhere(given < 0)[0]
        refuse(ValueError, "repeats", "non-negative counts", f"{given[row, at]} at position {at} of row {row}")
    runs = spec.of_lengths("repeats", given.reshape(-1))
    ends = runs.offsets[:: width or 1][: rows + 1]
    each = spec.of_lengths("repeats", np.diff(ends) if width else np.zeros(rows, np.int64))
    length = spec.padded_length(each, max_len)
    y = executor.of_segments(x).repeat_padded(x, runs, each, length, value)
    int32 = is_array(counts) and dtype_name(counts) == "int32"
    sums = library.of(x).from_numpy(each.lengths.astype(np.int32 if int32 else np.int64), x)
    return y, sums
