"""Repeats of rows, and sums, means, extremes and softmax along rows. A repeat is the axis map of `RepeatCounts`. A sum
is the transpose of that map."""

from collections.abc import Callable
from typing import Any

from tenter import _native
from tenter._arrays import library
from tenter._arrays.arguments import dim as one_dim
from tenter._arrays.dtypes import DTYPES, NUMBERS, is_numeric
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, surely, traced
from tenter._arrays.limits import machine_memory, memory, number
from tenter._execution import calls, executor, into
from tenter._plans import cache
from tenter._plans.plan import CallPlan, plan, plan_adjoint
from tenter._ragged.segments import expressions, later, total
from tenter._specs import segments as spec
from tenter._specs.repeat import RepeatCounts
from tenter._specs.segments import Segments


def repeat(x: Any, s: Segments, dim: Any, out: Any) -> Any:
    axis = one_dim("axis", dim, x.ndim)
    x = x if x.ndim else x.reshape(1)
    if surely(x.shape[axis] != s.n):
        refuse(ValueError, "x", f"length {number(s.n)} along axis {axis}, one for each row", number(x.shape[axis]))
    if (made := _cached_plan("repeat", x, s, axis)) is None:
        found = _repeated(x, _map(x, s, axis, total(s)))
        return found if out is None else calls.copied(found, out)
    if out is None:
        return executor.of_segments(x).execute(x, made)
    into.check(out, x, made.shape_out)
    return into.write(x, made, out)


def reduce(how: str, x: Any, s: Segments, dim: Any) -> Any:
    return _REDUCTIONS[how](x, s, checked_axis(how, x, s.total, dim))


def checked_axis(how: str, x: Any, total: Any, dim: Any) -> int:
    """Returns the dim that has all positions. total: the number of positions; None if only a device knows it."""
    axis = one_dim("axis", dim, x.ndim)
    if x.ndim == 0:
        refuse(ValueError, "x", "an array with an axis to reduce", "0-d")
    spec.check_length(total, "x", x, axis)
    if _is_promised(x):
        memory(tuple(x.shape), library.of(x).itemsize(x), "x")
    name = dtype_name(x)
    if how in ("max", "min") and name not in NUMBERS:
        refuse(TypeError, "x", "real numbers of at most 64 bits", name)
    if how == "softmax" and (name not in NUMBERS or DTYPES[name].kind != "f"):
        refuse(TypeError, "x", "floats of at most 64 bits", name)
    if how == "mean" and (not is_numeric(name) or DTYPES[name].kind not in "fc"):
        refuse(TypeError, "x", "floats or complex numbers (convert integers first)", name)
    if not is_numeric(name):
        refuse(TypeError, "x", "numbers to take sums of", name)
    return axis


def _sum(x: Any, s: Segments, axis: int) -> Any:
    if (made := _cached_plan("sum", x, s, axis)) is not None:
        return executor.of_segments(x).execute(x, made)
    shape = (*x.shape[:axis], s.n, *x.shape[axis + 1 :])
    return executor.of_segments(x).execute_adjoint(x, _map(x, s, axis, x.shape[axis]), shape)


def _mean(x: Any, s: Segments, axis: int) -> Any:
    runs = executor.of_segments(x)
    sums = _sum(runs.widened(x) if DTYPES[dtype_name(x)].narrow else x, s, axis)
    lengths = s.lengths if s.known() else expressions(x).beside(s, x).diff()
    return runs.narrowed(runs.divided(sums, lengths, axis), x)


def _extremes(x: Any, s: Segments, axis: int, largest: bool) -> Any:
    here = s.known() and not later(x)
    return (executor.of_segments(x) if here else expressions(x)).extremes(x, s, axis, largest)


def _softmax(x: Any, s: Segments, axis: int) -> Any:
    """Subtracts each row's largest value first, so that exp does not overflow. That value has no gradient, because it
    does not change the result."""
    runs = executor.of_segments(x)
    wide = runs.widened(x) if DTYPES[dtype_name(x)].narrow else x
    spread = _map(x, s, axis, x.shape[axis])
    powers = runs.exponentials(wide, _repeated(_extremes(runs.detached(wide), s, axis, True), spread))
    return runs.narrowed(runs.ratio(powers, _repeated(_sum(powers, s, axis), spread)), x)


def _bytes(x: Any) -> int:
    try:
        return getattr(x, "nbytes", 0)
    except RuntimeError:  # a sparse tensor
        return 0


def _is_promised(x: Any) -> bool:
    """Whether x is larger than the machine, and repeats its memory, unlike a memory map. Its tables or copies would
    fill what there is."""
    return not library.compiling() and _bytes(x) > machine_memory() and 0 in library.of(x).strides(x)


def _quick(how: str, x: Any, lengths: Any, axis: Any, out: Any) -> Any:
    return None if _bytes(x) > machine_memory() else _native.segment(how, x, lengths, axis, out)


def _quick_softmax(how: str, x: Any, lengths: Any, axis: Any, out: Any) -> Any:
    y = _quick("less_max", x, lengths, axis, None)
    return None if y is None else _native.segment("share", executor.of_segments(y).exponential(y), lengths, axis, out)


# By the core alone, from (name, x, lengths, axis, out) to the result; None if x is no ordinary array on the host.
QUICK: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("sum", "mean", "max", "min"), _quick),
    "softmax": _quick_softmax,
}
# Cached plans for one object's segments.
MOST_PLANS = 32
_REDUCTIONS: dict[str, Callable[[Any, Segments, int], Any]] = {
    "sum": _sum,
    "mean": _mean,
    "max": lambda x, s, axis: _extremes(x, s, axis, True),
    "min": lambda x, s, axis: _extremes(x, s, axis, False),
    "softmax": _softmax,
}


def _cached_plan(what: str, x: Any, s: Segments, axis: int) -> CallPlan | None:
    """Returns the cached plan for arrays with x's layout. None if x or the offsets are traced or on a device."""
    if not s.known() or later(x):
        return None
    key = cache.key(what, library.of(x), x, axis)
    if (found := s.cached.get(key)) is not None:
        return found  # type: ignore[no-any-return]
    if len(s.cached) >= MOST_PLANS:
        s.cached.clear()
    spec_of = RepeatCounts(s.offsets, axis, s.total)
    shape = (*x.shape[:axis], s.n, *x.shape[axis + 1 :])
    made = plan(x, spec_of) if what == "repeat" else plan_adjoint(x, spec_of, shape)
    return s.cached.setdefault(key, made)  # type: ignore[no-any-return]


def _map(x: Any, s: Segments, axis: int, n_out: Any) -> RepeatCounts:
    """Returns the repeat, with offsets where x is."""
    return RepeatCounts(s.offsets if s.known() and not later(x) else expressions(x).beside(s, x), axis, n_out)


def _repeated(x: Any, of: RepeatCounts) -> Any:
    return executor.of_segments(x).dispatched(x, of) if traced(of.offsets) else calls.execute(x, of)
