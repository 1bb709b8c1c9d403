"""What a plan does to arrays along its rows: in fresh memory, or in `out`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenter._arrays.arguments import dim as one_dim, error, numpy_or_torch
from tenter._arrays.errors import Refusal
from tenter._arrays.names import misnamed
from tenter._execution.calls import written
from tenter._ragged import indices_into, padded, reduced, rows_into, segments
from tenter._specs.segments import Segments
from tenter.lazy import LazyArray

if TYPE_CHECKING:
    from tenter.ragged._plan import Plan


def ranges(plan: Plan[Any], starts: Any, steps: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.ranges", plan.ranges, no_other, too_many, starts=starts, steps=steps)

    def make() -> Any:
        return segments.ranges(plan._with_total(), starts, steps)

    def into() -> Any:
        return indices_into.ranges(plan._segments, starts, steps, None, out)

    return made("Plan.ranges", make, into, out, starts, steps)


def repeat(plan: Plan[Any], x: Any, axis: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.repeat", plan.repeat, no_other, too_many, x=x, axis=axis)

    def make() -> Any:
        return reduced.repeat(numpy_or_torch("x", x), plan._with_total(), axis)

    def into() -> Any:
        return rows_into.repeat(numpy_or_torch("x", x), plan._segments, axis, out)

    return made("Plan.repeat", make, into, out, x, axis)


def pad(plan: Plan[Any], x: Any, max_len: Any, value: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.pad", plan.pad, no_other, too_many, x=x, max_len=max_len)

    def make() -> Any:
        room = plan.max_len if max_len is None else max_len
        given = numpy_or_torch("x", x)
        return padded.pad(given, _beside(plan._segments, given, 0, "ragged.Plan.pad"), room, value)

    def into() -> Any:
        return rows_into.pad(numpy_or_torch("x", x), plan._segments, max_len, value, out)

    return made("Plan.pad", make, into, out, x, max_len)


def unpad(plan: Plan[Any], x: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.unpad", plan.unpad, no_other, too_many, x=x)

    def make() -> Any:
        return padded.unpad(numpy_or_torch("x", x), plan._with_total()._replace(called="ragged.Plan.unpad"))

    def into() -> Any:
        return rows_into.unpad(numpy_or_torch("x", x), plan._segments, None, out)

    return made("Plan.unpad", make, into, out, x)


def reduce(how: str, plan: Plan[Any], x: Any, axis: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    """The reductions, by their names in `_ragged/reduced.py`."""
    if no_other or too_many is not None:
        raise misnamed(f"Plan.{how}", getattr(plan, how), no_other, too_many, x=x, axis=axis)
    if isinstance(x, LazyArray):
        if how == "sum" and out is None:
            return x.segment_sum(plan.map, axis)
        x = x.materialize()

    def make() -> Any:
        given = numpy_or_torch("x", x)
        return reduced.reduce(how, given, _beside(plan._segments, given, axis, f"ragged.Plan.{how}"), axis)

    def into() -> Any:
        return rows_into.reduce(how, numpy_or_torch("x", x), plan._segments, axis, out)

    return made(f"Plan.{how}", make, into, out, x, axis)


def _beside(s: Segments, x: Any, axis: Any, call: str) -> Segments:
    """Where only a device knows the total, it is to be x's length; what is found wrong later names this call."""
    if s.known or s.total is not None or not x.ndim:
        return s
    return segments.of_lengths(segments.lengths(s), x.shape[one_dim("axis", axis, x.ndim)], call)


def made(call: str, make: Callable[[], Any], into: Callable[[], Any], out: Any, *args: Any, **named: Any) -> Any:
    """A result in fresh memory; or in out, where `into` writes it, or gives None and what is made is copied."""
    return called(call, lambda: make() if out is None else written(into(), out, make), *args, **named, out=out)


def called(call: str, f: Callable[[], Any], *args: Any, **named: Any) -> Any:
    """f(), whose refusals name the public function and its arguments."""
    try:
        return f()
    except Refusal as refusal:
        raise error(refusal, call, *args, **named) from None


def read(call: str, of: Callable[..., Any], **args: Any) -> Any:
    """Reads another form than lengths. args: those of the public function `call`."""
    try:
        return of(**args)
    except Refusal as refusal:
        raise error(refusal, call, **args) from None
