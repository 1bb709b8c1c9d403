"""repeat_interleave in memory of the caller's, where a plan would take memory of x's size or the counts': of counts of
each position some at a time, and of an x that is flattened in another order than its memory's."""

import math
from typing import Any

from tenter._arrays.arguments import dim as one_dim
from tenter._arrays.errors import Refusal
from tenter._arrays.library import is_array, of
from tenter._execution import calls, executor, into, pieces, rows_into
from tenter._execution.bands import answered_after
from tenter._execution.segments import later
from tenter._plans.plan import plan
from tenter._specs import counts
from tenter._specs.repeat import RepeatCounts, every


def write(x: Any, repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    """out, with the result in it; None for calls that take no such memory, or are to be looked at more closely."""
    if type(repeats) is int:
        return _all_alike(x, repeats, output_size, out) if dim is None else None
    return _each(x, repeats, dim, output_size, out)


def _all_alike(x: Any, each: int, output_size: Any, out: Any) -> Any:
    """Flattened: the last dim is repeated, and the result is read as one of x's dims."""
    total = each * math.prod(x.shape)
    if x.ndim < 2 or not is_array(out) or later(x) or later(out) or total < 1 or not pieces.apart(out, x):
        return None
    counts.check_total(total, output_size)
    into.check(out, x, (total,))
    shape = (*x.shape[:-1], x.shape[-1] * each)
    calls.execute(x, every(x.ndim, x.ndim - 1, each), executor.of(x).reshape(out, shape))
    return out


def _each(x: Any, repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    if x.ndim == 0 or (rows := readable(repeats, output_size, out, x)) is None:
        return None
    axis = 0 if dim is None else one_dim("dim", dim, x.ndim)
    if rows.n < 2 or rows.n != (math.prod(x.shape) if dim is None else x.shape[axis]):
        return None
    if dim is not None or x.ndim == 1:
        return rows_into.repeat_rows(x, rows, axis, out)
    into.check(out, x, (rows.total,))
    runs = executor.of_segments(x)
    with answered_after(rows.n > pieces.ROWS):
        for p in pieces.pieces(rows):
            some = runs.flat_part(x, p.rows)
            into.write(some, plan(some, RepeatCounts(p.segments.offsets, 0, p.segments.total)), out[p.positions])
    return out


def readable(repeats: Any, output_size: Any, out: Any, *read: Any) -> pieces.Rows | None:
    """Counts, one each, that the host can read now, verified against output_size; None for others, and for what is to
    be refused, which is done as without out."""
    given = (*read, repeats, out)
    if not is_array(out) or any(is_array(v) and of(v).PACKAGE not in ("numpy", "torch") for v in given):
        return None
    if any(map(later, given)):
        return None
    try:
        rows = pieces.readable(counts.unwrapped("repeats", repeats), None, out, *read, name="repeats")
        if rows is not None:
            counts.check_total(rows.total, output_size)
        return rows
    except Refusal:
        return None
