"""Padded arrays and reductions of rows in `out`, from lengths in host memory, chunk by chunk.

If x and `out` are contiguous the kernels write to `out`. Otherwise a chunk of a few MiB is made and copied. given:
lengths, or the segments of a plan. A function returns None if the result must be made in its own memory
(`chunks.readable`).
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tenter._arrays.arguments import describe
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, is_array, of
from tenter._arrays.types import Array
from tenter._execution import executor, into
from tenter._execution.chunks import BYTES, Place, along, signals_deferred
from tenter._plans.plan import plan, plan_adjoint
from tenter._ragged import padded, reduced
from tenter._ragged.chunks import ROWS, Chunk, RowLengths, chunks, disjoint, of_lengths, padded_length, readable
from tenter._ragged.indices_into import memory
from tenter._specs import segments as spec
from tenter._specs.fill_value import check_value
from tenter._specs.repeat import RepeatCounts
from tenter._specs.segments import Segments


def in_order(*arrays: Any) -> bool:
    """True if the core can read and write all arrays as they are."""
    return all(map(_in_order, arrays))


def _in_order(x: Any) -> bool:
    its, step = of(x), of(x).itemsize(x)
    expected = []
    for n in reversed(tuple(x.shape)):
        expected.append(step)
        step *= max(n, 1)
    contiguous = all(s == e or n <= 1 for n, s, e in zip(x.shape, its.strides(x), reversed(expected)))
    known = its.dtype_name(x) != "object" and getattr(x.dtype, "isnative", True) and its.resolve(x) is x
    return bool(contiguous and known and its.address(x) % max(1, its.itemsize(x)) == 0)


# ---- padded arrays


def pad(x: Any, given: Any, max_len: Any, value: Any, out: Any) -> Any:
    if (rows := readable(given, None, out, x)) is None:
        return None
    padded.check_positions(x, rows.total)
    length = padded_length(rows.longest, max_len)
    check_value(value, x)
    into.check(out, x, (rows.n, length, *x.shape[1:]))
    runs, each = executor.of_segments(x), _bytes(x, 1)
    straight = in_order(x, out) and x.dtype == out.dtype
    with signals_deferred(rows.n > ROWS or not straight):
        for p in _chunks(rows, straight, each, length):
            chunk = x[p.positions]
            if straight:
                runs.pad(chunk, p.segments, length, value, out[p.rows])
            elif p.segments.n == 1 and length * each > BYTES:
                row, n = out[p.rows.start], p.segments.total
                runs.copy_into(row[:n], chunk)
                _fill(x, row[n:], value, max(1, BYTES // each))
            else:
                runs.copy_into(out[p.rows], runs.pad(chunk, p.segments, length, value))
    runs.wrote(out)
    return out


def _fill(x: Any, row: Any, value: Any, step: int) -> None:
    runs = executor.of_segments(x)
    for at in range(0, row.shape[0], step):
        n = min(step, row.shape[0] - at)
        runs.copy_into(row[at : at + n], runs.pad(x[:0], _of_one_row(0), n, value)[0])


def unpad(x: Any, given: Any, total: Any, out: Any) -> Any:
    if (rows := readable(given, total, out, x)) is None:
        return None
    padded.check_padded(x, rows.n, rows.longest)
    into.check(out, x, (rows.total, *x.shape[2:]))
    runs, each, length = executor.of_segments(x), _bytes(x, 2), x.shape[1]
    straight = in_order(x, out) and x.dtype == out.dtype
    with signals_deferred(rows.n > ROWS or not straight):
        for p in _chunks(rows, straight, each, length):
            to = out[p.positions]
            if straight:
                runs.unpad(x[p.rows], p.segments, to)
            elif p.segments.n == 1 and length * each > BYTES:
                runs.copy_into(to, x[p.rows.start, : p.segments.total])
            else:
                runs.copy_into(to, runs.unpad(x[p.rows], p.segments))
    runs.wrote(out)
    return out


def _bytes(x: Any, dim: int) -> int:
    """Returns the bytes of x's dims from `dim` on."""
    found: int = math.prod(x.shape[dim:]) * of(x).itemsize(x)
    return max(1, found)


def _chunks(rows: RowLengths, straight: bool, each: int, length: int) -> Iterator[Chunk]:
    """Yields chunks of rows. each: bytes of a position. length: positions of a padded row."""
    return chunks(rows) if straight else chunks(rows, BYTES // each, BYTES // (each * max(1, length)))


def _of_one_row(n: int) -> Segments:
    return Segments(np.array([0, n]), 1, n, False, None, {})


def repeat_padded(x: Any, counts: Any, max_len: Any, value: Any, out: Any) -> tuple[Any, Any] | None:
    """Writes to out = (padded array, sums of counts)."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        refuse(TypeError, "out", "two arrays: for what is padded, and for its lengths", describe(out))
    if not (disjoint(out[0], x, counts, out[1]) and disjoint(out[1], x, counts)):
        return None
    spec.check_padded_counts(counts, x)
    check_value(value, x)
    given, width = spec.integers("repeats", counts, 2), x.shape[1]
    spec.check_padded_counts(given, x)
    whole = of_lengths("repeats", given.reshape(-1)) if given.flags.c_contiguous else None
    step = max(1, ROWS // max(1, width))
    batches = [slice(at, min(at + step, len(given))) for at in range(0, len(given), step)]
    if whole is None:
        total = sum(of_lengths("repeats", given[b].reshape(-1)).total for b in batches)
        spec.check_int32("repeats", total, given.dtype == np.int32)
    longest = max((int(given[b].sum(1, dtype=np.int64).max()) for b in batches), default=0)
    length = padded_length(longest, max_len)
    y, sums = out
    its = of(x)
    into.check(y, x, (len(given), length, *x.shape[2:]))
    int32 = is_array(counts) and dtype_name(counts) == "int32"
    to = memory(sums, (len(given),), np.int32 if int32 else np.int64, its)
    with signals_deferred(True):
        for b in batches:
            _repeated(x[b], given[b], length, value, y[b])
            np.sum(given[b], 1, dtype=np.int64, out=to[b])
    executor.of(x).wrote(y)
    return y, sums


def _repeated(x: Any, counts: Array, length: int, value: Any, out: Any) -> None:
    runs, each, width = executor.of_segments(x), _bytes(x, 2), x.shape[1]
    straight = in_order(x, out) and x.dtype == out.dtype
    step = len(counts) if straight else max(1, BYTES // (each * max(1, length)))
    for at in range(0, len(counts), max(1, step)):
        b = slice(at, at + step)
        if width <= ROWS and (straight or length * each <= BYTES):
            s = spec.of_lengths("repeats", counts[b].reshape(-1))
            ends = s.offsets[:: width or 1][: len(counts[b]) + 1]
            lengths = np.diff(ends) if width else np.zeros(len(counts[b]), np.int64)
            if lengths.max(initial=0) > length:
                refuse(ValueError, "repeats", "counts that stay as they are during the call", "some that were changed")
            made = runs.repeat_padded(
                x[b], s, spec.of_lengths("repeats", lengths), length, value, out[b] if straight else None
            )
            if not straight:
                runs.copy_into(out[b], made)
        else:
            for i in range(at, min(at + step, len(counts))):
                rows = of_lengths("repeats", counts[i])
                repeat_rows(x[i], rows, 0, out[i, : rows.total])
                _fill(x[i], out[i, rows.total :], value, max(1, BYTES // each))


# ---- repeats


def repeat(x: Any, given: Any, dim: Any, out: Any) -> Any:
    if (rows := readable(given, None, out, x)) is None:
        return None
    x, axis = reduced.repeated_axis(x, rows.n, dim)
    return repeat_rows(x, rows, axis, out)


def repeat_rows(x: Any, rows: RowLengths, axis: int, out: Any) -> Any:
    """Repeats row i of x, along an axis, by its length."""
    into.check(out, x, (*x.shape[:axis], rows.total, *x.shape[axis + 1 :]))
    with signals_deferred(rows.n > ROWS):
        for p in chunks(rows):
            given, to = x[along(axis, p.rows)], out[along(axis, p.positions)]
            into.write(given, plan(given, RepeatCounts(p.segments.offsets, axis, p.segments.total)), to)
    return out


# ---- reductions


def reduce(how: str, x: Any, given: Any, dim: Any, out: Any) -> Any:
    if (rows := readable(given, None, out, x)) is None:
        return None
    axis = reduced.checked_axis(how, x, rows.total, dim)
    into.check(out, x, tuple(x.shape) if how == "softmax" else (*x.shape[:axis], rows.n, *x.shape[axis + 1 :]))
    narrow = how == "mean" and DTYPES[dtype_name(x)].narrow
    straight = in_order(x, out) and math.prod(x.shape[:axis]) == 1 and how in ("max", "min")
    with signals_deferred(rows.n > ROWS or not straight):
        if how == "sum" or (how == "mean" and not narrow):
            _sums_into(x, rows, axis, out, how == "mean")
        elif straight:
            for p in chunks(rows):
                given, to = x[along(axis, p.positions)], out[along(axis, p.rows)]
                executor.of_segments(x).extremes(given, p.segments, axis, how == "max", to)
        else:
            _by_chunks(how, x, rows, axis, out)
    executor.of(x).wrote(out)
    return out


def _sums_into(x: Any, rows: RowLengths, axis: int, out: Any, mean: bool) -> None:
    runs = executor.of_segments(x)
    for p in chunks(rows):
        given, to = x[along(axis, p.positions)], out[along(axis, p.rows)]
        shape = (*x.shape[:axis], p.segments.n, *x.shape[axis + 1 :])
        into.write(given, plan_adjoint(given, RepeatCounts(p.segments.offsets, axis, p.segments.total), shape), to)
        if mean:
            runs.divided(to, p.segments.lengths, axis)


def _by_chunks(how: str, x: Any, rows: RowLengths, axis: int, out: Any) -> None:
    """Reduces chunks of a few MiB. A longer row is reduced by itself."""
    runs = executor.of_segments(x)
    for place in _slices(x, axis):
        given, to = x[place], out[place]
        positions = max(1, BYTES // max(1, math.prod(given.shape[:axis] + given.shape[axis + 1 :]) * of(x).itemsize(x)))
        for p in chunks(rows, positions):
            chunk = given[along(axis, p.positions)]
            here = to[along(axis, p.positions if how == "softmax" else p.rows)]
            if p.segments.total <= positions or (DTYPES[dtype_name(x)].narrow and how in ("mean", "softmax")):
                runs.copy_into(here, reduced.REDUCTIONS[how](chunk, p.segments, axis))
            elif how == "softmax":
                _softmax_of_one(chunk, positions, axis, here)
            else:
                runs.copy_into(here, _extreme_of_one(chunk, positions, axis, how == "max"))


def _slices(x: Any, axis: int) -> Iterator[Place]:
    """Cuts all dims except the axis, into slices of at most a quarter of a chunk's bytes."""
    steps = [1 if d == axis else max(1, n) for d, n in enumerate(x.shape)]
    for d in range(len(steps)):
        if (now := math.prod(steps) * of(x).itemsize(x)) > BYTES // 4:
            steps[d] = max(1, steps[d] * (BYTES // 4) // now)
    cuts = [
        [slice(None)] if d == axis else [slice(at, at + step) for at in range(0, n, step)]
        for d, (n, step) in enumerate(zip(x.shape, steps))
    ]
    return itertools.product(*cuts)


def _extreme_of_one(x: Any, positions: int, axis: int, largest: bool) -> Any:
    """Reduces one row, a few positions at a time together with the best value so far."""
    runs, best, total = executor.of_segments(x), None, x.shape[axis]
    for at in range(0, total, positions):
        chunk = x[along(axis, slice(at, min(at + positions, total)))]
        chunk = chunk if best is None else runs.joined(best, chunk, axis)
        best = runs.extremes(chunk, _of_one_row(chunk.shape[axis]), axis, largest)
    return best


def _softmax_of_one(x: Any, positions: int, axis: int, out: Any) -> None:
    runs, total = executor.of_segments(x), x.shape[axis]
    most = _extreme_of_one(x, positions, axis, True)
    places = [along(axis, slice(at, min(at + positions, total))) for at in range(0, total, positions)]
    for place in places:
        chunk = x[place]
        runs.copy_into(out[place], runs.exponentials(chunk, reduced.repeat(most, _of_one_row(chunk.shape[axis]), axis)))
    s = _of_one_row(total)
    sums = executor.of(x).run(out, plan_adjoint(out, RepeatCounts(s.offsets, axis, total), tuple(most.shape)))
    for place in places:
        runs.divide(out[place], sums)
