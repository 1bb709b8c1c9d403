"""What a plan does to arrays along its rows: in fresh memory, or in `out`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tenter import _native
from tenter._arrays.arguments import dim as one_dim, error, numpy_or_torch
from tenter._arrays.errors import Refusal
from tenter._arrays.names import misnamed
from tenter._execution import calls, into
from tenter._ragged import padded, reduced, segments
from tenter._specs.segments import Segments, padded_on
from tenter.lazy import LazyArray

if TYPE_CHECKING:
    from tenter.ragged._plan import Plan


def ranges(plan: Plan[Any], starts: Any, steps: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.ranges", plan.ranges, no_other, too_many, starts=starts, steps=steps)

    def make() -> Any:
        return segments.ranges(plan._with_total(), starts, steps)

    def quick(room: Any) -> Any:
        return _native.ragged_ranges(starts, in_host_memory(plan), steps, None, room)

    return made("Plan.ranges", make, quick, out, False, starts, steps)


def repeat(plan: Plan[Any], x: Any, axis: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.repeat", plan.repeat, no_other, too_many, x=x, axis=axis)

    def make() -> Any:
        return reduced.repeat(numpy_or_torch("x", x), plan._with_total(), axis, out)

    return called("Plan.repeat", make, x, axis, out=out)


def pad(
    plan: Plan[Any], x: Any, max_len: Any, value: Any, side: Any, out: Any, too_many: Any, no_other: dict[str, Any]
) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.pad", plan.pad, no_other, too_many, x=x, max_len=max_len)

    def make() -> Any:
        room = plan.max_len if max_len is None else max_len
        given = numpy_or_torch("x", x, rows=True)
        s = padded_on(_beside(plan._segments, given, 0, "ragged.Plan.pad"), side)
        return padded.pad(given, s, room, value)

    def quick(room: Any) -> Any:
        its_side = plan._segments.padding_side if side is None else side
        return padded.pad_plain(x, in_host_memory(plan), max_len, value, its_side, room)

    return made("Plan.pad", make, quick, out, True, x, max_len)


def unpad(plan: Plan[Any], x: Any, side: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    if no_other or too_many is not None:
        raise misnamed("Plan.unpad", plan.unpad, no_other, too_many, x=x)

    def make() -> Any:
        s = padded_on(plan._with_total()._replace(called="ragged.Plan.unpad"), side)
        return padded.unpad(numpy_or_torch("x", x), s)

    def quick(room: Any) -> Any:
        its_side = plan._segments.padding_side if side is None else side
        return _native.ragged_unpad(x, in_host_memory(plan), None, its_side, room)

    return made("Plan.unpad", make, quick, out, True, x)


def reduce(how: str, plan: Plan[Any], x: Any, axis: Any, out: Any, too_many: Any, no_other: dict[str, Any]) -> Any:
    """The reductions, by their names in `_ragged/reduced.py`."""
    if no_other or too_many is not None:
        raise misnamed(f"Plan.{how}", getattr(plan, how), no_other, too_many, x=x, axis=axis)
    if isinstance(x, LazyArray):
        if how == "sum" and out is None:
            return x.segment_sum(plan.map, axis)
        x = x.materialize()

    def make() -> Any:
        given = numpy_or_torch("x", x, rows=True)
        return reduced.reduce(how, given, _beside(plan._segments, given, axis, f"ragged.Plan.{how}"), axis)

    def quick(room: Any) -> Any:
        return reduced.QUICK[how](how, x, in_host_memory(plan), axis, room)

    return made(f"Plan.{how}", make, quick, out, True, x, axis)


def _beside(s: Segments, x: Any, axis: Any, call: str) -> Segments:
    """Where only a device knows the total, it is to be x's length; what is found wrong later names this call."""
    if s.known() or s.total is not None or not x.ndim:
        return s
    found = segments.of_lengths(segments.lengths(s), x.shape[one_dim("axis", axis, x.ndim)], call)
    return found._replace(padding_side=segments.side(s) if found.known() else s.padding_side)


def in_host_memory(plan: Plan[Any]) -> Any:
    """A plan's lengths as the core reads them; where only a device knows them, the plan, which the core declines."""
    return plan.lengths if plan._segments.known() else plan


def made(
    call: str, make: Callable[[], Any], quick: Callable[[Any], Any], out: Any, of_x: bool, *args: Any, **named: Any
) -> Any:  # fmt: skip
    """A result in fresh memory or in `out`.

    make: makes it in fresh memory, after all checks
    quick: writes it to `out` by the core, as in `into.by_core`
    of_x: whether the result has the dtype of an argument x
    args, named: of the public function `call`, for its errors
    """

    def find() -> Any:
        if out is None:
            return make()
        if (written := into.by_core(quick, out)) is not None:
            return written
        return (calls.copied if of_x else calls.copied_indices)(make(), out)

    return called(call, find, *args, **named, out=out)


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
