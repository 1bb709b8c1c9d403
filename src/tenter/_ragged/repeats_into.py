"""repeat_interleave in `out`, where a plan would need memory of the size of x or of the counts: repeats by counts, made
chunk by chunk, and repeats of a flattened x whose memory is in another order."""

import math
from typing import Any

from tenter._arrays.arguments import dim as one_dim
from tenter._arrays.errors import Refusal
from tenter._arrays.library import is_array, of
from tenter._execution import calls, executor, into
from tenter._execution.chunks import signals_deferred
from tenter._plans.plan import plan
from tenter._ragged import chunks, rows_into
from tenter._ragged.segments import later
from tenter._specs import counts
from tenter._specs.repeat import RepeatCounts, every


def write(x: Any, repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    """Returns `out` with the result in it. None if the call needs no such memory, or needs all checks."""
    if type(repeats) is int:
        return _by_int(x, repeats, output_size, out) if dim is None else None
    return _by_counts(x, repeats, dim, output_size, out)


def _by_int(x: Any, each: int, output_size: Any, out: Any) -> Any:
    """Repeats a flattened x by one int. It repeats the last dim, and then `out` holds the flattened result."""
    total = each * math.prod(x.shape)
    if x.ndim < 2 or not is_array(out) or later(x) or later(out) or total < 1 or not chunks.disjoint(out, x):
        return None
    counts.check_total(total, output_size)
    into.check(out, x, (total,))
    shape = (*x.shape[:-1], x.shape[-1] * each)
    calls.execute(x, every(x.ndim, x.ndim - 1, each), executor.of(x).reshape(out, shape))
    return out


def _by_counts(x: Any, repeats: Any, dim: Any, output_size: Any, out: Any) -> Any:
    if x.ndim == 0 or (rows := readable(repeats, output_size, out, x)) is None:
        return None
    axis = 0 if dim is None else one_dim("dim", dim, x.ndim)
    if rows.n < 2 or rows.n != (math.prod(x.shape) if dim is None else x.shape[axis]):
        return None
    if dim is not None or x.ndim == 1:
        return rows_into.repeat_rows(x, rows, axis, out)
    into.check(out, x, (rows.total,))
    runs = executor.of_segments(x)
    with signals_deferred(rows.n > chunks.ROWS):
        for p in chunks.chunks(rows):
            chunk = runs.flat_part(x, p.rows)
            into.write(chunk, plan(chunk, RepeatCounts(p.segments.offsets, 0, p.segments.total)), out[p.positions])
    return out


def readable(repeats: Any, output_size: Any, out: Any, *read: Any) -> chunks.RowLengths | None:
    """Returns counts, one for each position, that the host can read now, checked against output_size. None for other
    counts and for wrong ones, which are refused as without `out`."""
    given = (*read, repeats, out)
    if not is_array(out) or any(is_array(v) and of(v).PACKAGE not in ("numpy", "torch") for v in given):
        return None
    if any(map(later, given)):
        return None
    try:
        rows = chunks.readable(counts.unwrapped("repeats", repeats), None, out, *read, name="repeats")
        if rows is not None:
            counts.check_total(rows.total, output_size)
        return rows
    except Refusal:
        return None
