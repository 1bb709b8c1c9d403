"""Row ids, positions, offsets, lengths, ranges and masks in `out`, from lengths in host memory, chunk by chunk.

Nothing is written before all checks have passed. given: lengths, or the segments of a plan. A function returns None if
the result must be made in its own memory (`chunks.readable`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tenter._arrays.arguments import integer
from tenter._arrays.library import is_array, of
from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array
from tenter._execution import executor, into
from tenter._execution.chunks import BYTES, signals_deferred
from tenter._ragged import segmented, segments
from tenter._ragged.chunks import ROWS, Chunk, RowLengths, chunks, disjoint, padded_length, readable
from tenter._specs import segments as spec

# Numbers that are made at a time if `out` is not contiguous.
NUMBERS = BYTES // 8


def memory(out: Any, shape: tuple[int, ...], dtype: Any, its: Any) -> Array:
    """Returns `out` as a NumPy array. Refuses an `out` that cannot hold a result of that shape, dtype and library."""
    into.check(out, its.from_numpy(np.empty(0, dtype), None), shape, f"{its.PACKAGE}'s, of dtype")
    executor.of(out).wrote(out)
    return of(out).to_numpy(out)


def in_order(to: Array) -> bool:
    """True if the core can write there."""
    return to.flags.c_contiguous and to.flags.aligned and to.dtype.isnative


# ---- of lengths


def offsets(given: Any, total: Any, out: Any) -> Any:
    if (rows := readable(given, total, out)) is None:
        return None
    to = memory(out, (rows.n + 1,), rows.dtype, rows.library)
    with signals_deferred(rows.n > ROWS):
        to[0] = 0
        for p in chunks(rows):
            np.add(p.segments.offsets[1:], p.at, out=to[p.rows.start + 1 : p.rows.stop + 1], casting="same_kind")
    return out


def row_ids(given: Any, total: Any, out: Any) -> Any:
    rows = readable(given, total, out)
    return None if rows is None else write_row_ids(rows, out)


def write_row_ids(rows: RowLengths, out: Any) -> Any:
    to = memory(out, (rows.total,), rows.dtype, rows.library)
    _numbers(rows, to, lambda p: (np.arange(p.rows.start, p.rows.stop), 0))
    return out


def positions(given: Any, total: Any, out: Any) -> Any:
    if (rows := readable(given, total, out)) is None:
        return None
    _numbers(rows, memory(out, (rows.total,), rows.dtype, rows.library), lambda p: (0, 1))
    return out


def ranges(given: Any, starts: Any, steps: Any, total: Any, out: Any) -> Any:
    if (rows := readable(given, total, out, starts, steps)) is None:
        return None
    starts, steps, int32, its = segments.kind_of_ranges(starts, steps, rows.n, rows.int32, rows.library)
    starts, steps = (of(v).to_numpy(v) if is_array(v) else v for v in (starts, steps))
    to = memory(out, (rows.total,), np.int32 if int32 else np.int64, its)

    def start_and_step(p: Chunk) -> tuple[Any, Any]:
        found = [spec.table("starts", v[p.rows]) if isinstance(v, np.ndarray) else v for v in (starts, steps)]
        return found[0], found[1]

    for p in chunks(rows):
        segmented.check_ranges(p.segments, *start_and_step(p), int32, p.rows.start)
    _numbers(rows, to, start_and_step)
    return out


def _numbers(rows: RowLengths, to: Array, start_and_step: Callable[[Chunk], tuple[Any, Any]]) -> None:
    dtype: type = np.int32 if to.dtype.itemsize == 4 else np.int64
    straight = in_order(to)
    with signals_deferred(rows.n > ROWS or not straight):
        for p in chunks(rows, None if straight else NUMBERS):
            start, step = start_and_step(p)
            if straight:
                segmented.write_ranges(p.segments, address(to) + p.at * to.itemsize, dtype, start, step)
            else:
                _with_gaps(p, to, dtype, start, step)


def _with_gaps(p: Chunk, to: Array, dtype: type, start: Any, step: Any) -> None:
    """Writes numbers to memory that is not contiguous, a few at a time. A longer row is one chunk."""
    total = p.segments.total
    for k in range(0, total, NUMBERS):
        n = min(NUMBERS, total - k)
        s = p.segments if n == total else p.segments._replace(offsets=np.array([0, n]), n=1, total=n)
        made = np.empty(n, dtype)
        segmented.write_ranges(s, address(made), dtype, start + k * step if k else start, step)
        to[p.at + k : p.at + k + n] = made


def mask(given: Any, max_len: Any, out: Any) -> Any:
    if (rows := readable(given, None, out)) is None:
        return None
    length = padded_length(rows.longest, max_len)
    to = memory(out, (rows.n, length), np.bool_, rows.library)
    straight = in_order(to)
    with signals_deferred(rows.n > ROWS or not straight):
        for p in chunks(rows, None, ROWS if straight else BYTES // max(1, length)):
            if straight:
                segmented.mask(p.segments, length, to[p.rows])
            elif length > BYTES:
                n = p.segments.total
                to[p.rows.start, :n], to[p.rows.start, n:] = True, False
            else:
                to[p.rows] = segmented.mask(p.segments, length)
    return out


def spans(starts: Any, ends: Any, n: Any, out: Any) -> Any:
    """Writes a mask of spans. The spans of a chunk of rows are copied."""
    if not disjoint(out, starts, ends):
        return None
    length = integer("n", n, "a length", 0)
    its = of(next((v for v in (starts, ends) if is_array(v) and not isinstance(v, np.ndarray)), np.empty(0)))
    starts, ends = (spec.integers(name, v, None) for name, v in (("starts", starts), ("ends", ends)))
    spec.check_spans(starts, ends)
    to = memory(out, (*starts.shape[:-1], length), np.bool_, its)
    blocks = list(_of_rows(starts.shape, max(length, 16 * starts.shape[-1])))
    for chunk in blocks:
        spec.spans(starts[chunk], ends[chunk], length)
    with signals_deferred(len(blocks) > 1):
        for chunk in blocks:
            to[chunk] = segmented.spans(*spec.spans(starts[chunk], ends[chunk], length), length)
    return out


def _of_rows(shape: tuple[int, ...], each: int) -> Any:
    """Cuts an array of that shape into chunks of whole rows (its last dim). each: bytes of a row."""
    if len(shape) == 1:
        return [()]
    step = max(1, BYTES // max(1, each))
    return [(*lead, slice(at, at + step)) for lead in np.ndindex(*shape[:-2]) for at in range(0, shape[-2], step)]


# ---- to lengths


def lengths_of_offsets(offsets: Any, out: Any) -> Any:
    if not disjoint(out, offsets):
        return None
    values = spec.integers("offsets", offsets)
    n = len(values) - 1
    blocks = [slice(at, min(at + ROWS, n)) for at in range(0, n, ROWS)]
    if n < 0 or values[0] != 0 or any(np.any(values[b.start + 1 : b.stop + 1] < values[b]) for b in blocks):
        spec.of_offsets("offsets", offsets)  # raises the error
    to = _lengths(out, n, offsets, values)
    with signals_deferred(n > ROWS):
        for b in blocks:
            np.subtract(values[b.start + 1 : b.stop + 1], values[b], out=to[b], casting="unsafe")
    return out


def _lengths(out: Any, n: int, given: Any, values: Array | None) -> Array:
    """Returns `out` as an array of n lengths. values: integers whose dtype the lengths take."""
    its = of(given if is_array(given) else np.empty(0))
    int32 = values is not None and values.dtype == np.int32 and is_array(given)
    return memory(out, (n,), np.int32 if int32 else np.int64, its)
