"""What describes rows of unlike lengths, and masks, in memory of the caller's: of lengths on the host, some rows at a
time. Nothing is written before all is checked. given: lengths, or the segments of a plan. Where a result has to be made
apart (`pieces.readable`), that is left to the caller: None."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tenter._arrays.arguments import integer
from tenter._arrays.library import is_array, of
from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array
from tenter._execution import executor, into, segmented, segments
from tenter._execution.bands import BYTES, answered_after
from tenter._execution.pieces import ROWS, Piece, Rows, apart, pieces, readable, room
from tenter._specs import segments as spec

# Numbers that are made at a time where out has gaps.
NUMBERS = BYTES // 8


def memory(out: Any, shape: tuple[int, ...], dtype: Any, its: Any) -> Array:
    """The caller's memory as an array of NumPy; refused where a result of that dtype, and of a library's kind, can't be
    written there."""
    into.check(out, its.from_numpy(np.empty(0, dtype), None), shape, f"{its.PACKAGE}'s, of dtype")
    executor.of(out).wrote(out)
    return of(out).to_numpy(out)


def in_order(to: Array) -> bool:
    """Whether the core can write there."""
    return to.flags.c_contiguous and to.flags.aligned and to.dtype.isnative


# ---- of lengths


def offsets(given: Any, total: Any, out: Any) -> Any:
    if (rows := readable(given, total, out)) is None:
        return None
    to = memory(out, (rows.n + 1,), rows.dtype, rows.library)
    with answered_after(rows.n > ROWS):
        to[0] = 0
        for p in pieces(rows):
            np.add(p.segments.offsets[1:], p.at, out=to[p.rows.start + 1 : p.rows.stop + 1], casting="same_kind")
    return out


def row_ids(given: Any, total: Any, out: Any) -> Any:
    rows = readable(given, total, out)
    return None if rows is None else write_row_ids(rows, out)


def write_row_ids(rows: Rows, out: Any) -> Any:
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

    def some(p: Piece) -> tuple[Any, Any]:
        found = [spec.table("starts", v[p.rows]) if isinstance(v, np.ndarray) else v for v in (starts, steps)]
        return found[0], found[1]

    for p in pieces(rows):
        segmented.check_ranges(p.segments, *some(p), int32, p.rows.start)
    _numbers(rows, to, some)
    return out


def _numbers(rows: Rows, to: Array, start_and_step: Callable[[Piece], tuple[Any, Any]]) -> None:
    dtype: type = np.int32 if to.dtype.itemsize == 4 else np.int64
    straight = in_order(to)
    with answered_after(rows.n > ROWS or not straight):
        for p in pieces(rows, None if straight else NUMBERS):
            start, step = start_and_step(p)
            if straight:
                segmented.write_ranges(p.segments, address(to) + p.at * to.itemsize, dtype, start, step)
            else:
                _with_gaps(p, to, dtype, start, step)


def _with_gaps(p: Piece, to: Array, dtype: type, start: Any, step: Any) -> None:
    """By way of few numbers at a time. A row that has more is alone in its piece."""
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
    length = room(rows.longest, max_len)
    to = memory(out, (rows.n, length), np.bool_, rows.library)
    straight = in_order(to)
    with answered_after(rows.n > ROWS or not straight):
        for p in pieces(rows, None, ROWS if straight else BYTES // max(1, length)):
            if straight:
                segmented.mask(p.segments, length, to[p.rows])
            elif length > BYTES:
                n = p.segments.total
                to[p.rows.start, :n], to[p.rows.start, n:] = True, False
            else:
                to[p.rows] = segmented.mask(p.segments, length)
    return out


def spans(starts: Any, ends: Any, n: Any, out: Any) -> Any:
    """Of the spans of some rows, or one, copies are made."""
    if not apart(out, starts, ends):
        return None
    length = integer("n", n, "a length", 0)
    its = of(next((v for v in (starts, ends) if is_array(v) and not isinstance(v, np.ndarray)), np.empty(0)))
    starts, ends = (spec.integers(name, v, None) for name, v in (("starts", starts), ("ends", ends)))
    spec.check_spans(starts, ends)
    to = memory(out, (*starts.shape[:-1], length), np.bool_, its)
    blocks = list(_of_rows(starts.shape, max(length, 16 * starts.shape[-1])))
    for some in blocks:
        spec.spans(starts[some], ends[some], length)
    with answered_after(len(blocks) > 1):
        for some in blocks:
            to[some] = segmented.spans(*spec.spans(starts[some], ends[some], length), length)
    return out


def _of_rows(shape: tuple[int, ...], each: int) -> Any:
    """Where all rows along the last dim lie, some at a time. each: bytes of a row."""
    if len(shape) == 1:
        return [()]
    step = max(1, BYTES // max(1, each))
    return [(*lead, slice(at, at + step)) for lead in np.ndindex(*shape[:-2]) for at in range(0, shape[-2], step)]


# ---- to lengths


def lengths_of_offsets(offsets: Any, out: Any) -> Any:
    if not apart(out, offsets):
        return None
    values = spec.integers("offsets", offsets)
    n = len(values) - 1
    blocks = [slice(at, min(at + ROWS, n)) for at in range(0, n, ROWS)]
    if n < 0 or values[0] != 0 or any(np.any(values[b.start + 1 : b.stop + 1] < values[b]) for b in blocks):
        spec.of_offsets("offsets", offsets)  # which refuses them
    to = _lengths(out, n, offsets, values)
    with answered_after(n > ROWS):
        for b in blocks:
            np.subtract(values[b.start + 1 : b.stop + 1], values[b], out=to[b], casting="unsafe")
    return out


def lengths_of_row_ids(row_ids: Any, n: Any, out: Any) -> Any:
    if not apart(out, row_ids):
        return None
    values = spec.integers("row_ids", row_ids)
    blocks = [slice(at, at + ROWS) for at in range(0, len(values), ROWS)]
    least = int(values[-1]) + 1 if values.size else 0
    rows = least if n is None else integer("n", n, "a number of rows", 0)
    if values.size and (int(values[0]) < 0 or least > rows or not _ascending(values, blocks)):
        spec.of_row_ids("row_ids", row_ids, n)
    to = _lengths(out, rows, row_ids, values)
    with answered_after(len(blocks) > 1):
        to[...] = 0
        for b in blocks:
            some = np.minimum(values[b], max(rows - 1, 0)).astype(np.int64)  # whatever they are by now
            begins = np.flatnonzero(np.append(True, some[1:] != some[:-1]))
            to[some[begins]] += np.diff(begins, append=len(some)).astype(to.dtype)
    return out


def _ascending(values: Array, blocks: list[slice]) -> bool:
    return not any(np.any(values[b.start + 1 : b.stop + 1] < values[b][: len(values) - b.start - 1]) for b in blocks)


def lengths_of_positions(positions: Any, out: Any) -> Any:
    if not apart(out, positions):
        return None
    values = spec.integers("positions", positions)
    blocks = [slice(at, at + ROWS) for at in range(0, len(values), ROWS)]
    n, right = 0, True
    for b in blocks:
        some, before = values[b], values[b.start - 1] if b.start else None
        n += int((some == 0).sum())
        follows = (some[1:] == 0) | (some[1:] == some[:-1] + 1)
        right = right and bool(follows.all()) and bool(some[0] == 0 or (before is not None and some[0] == before + 1))
    if not right:
        spec.of_positions("positions", positions)
    to = _lengths(out, n, positions, values)
    with answered_after(len(blocks) > 1):
        row, last = -1, 0
        for b in blocks:
            begins = np.flatnonzero(values[b] == 0)[: max(0, n - row - 1)] + b.start
            if len(begins):
                if row >= 0:
                    to[row] = begins[0] - last
                to[row + 1 : row + len(begins)] = np.diff(begins)
                row, last = row + len(begins), int(begins[-1])
        if row >= 0:
            to[row] = len(values) - last
    return out


def lengths_of_mask(mask: Any, out: Any) -> Any:
    if not apart(out, mask):
        return None
    spec.check_mask("mask", mask)
    values = of(mask).to_numpy(mask) if is_array(mask) else np.asarray(mask)
    rows, width = values.shape
    step, part = max(1, BYTES // max(1, width)), min(max(1, width), BYTES)
    for at in range(0, rows, step):
        for left in range(0, width, part):
            some = values[at : at + step, left : left + part + 1]
            if np.any(some[:, 1:] > some[:, :-1]):
                spec.of_mask("mask", mask)
    to = _lengths(out, rows, mask, None)
    with answered_after(rows > step):
        np.sum(values, 1, dtype=np.int64, out=to)
    return out


def _lengths(out: Any, n: int, given: Any, values: Array | None) -> Array:
    """values: integers, whose dtype lengths have."""
    its = of(given if is_array(given) else np.empty(0))
    int32 = values is not None and values.dtype == np.int32 and is_array(given)
    return memory(out, (n,), np.int32 if int32 else np.int64, its)
