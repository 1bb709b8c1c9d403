"""The way of a checked call: a kept plan or a new one, and its run; for what is recorded, PyTorch's dispatcher."""

from collections.abc import Callable, Hashable
from typing import Any

from tenter import _native
from tenter._arrays.arguments import CONSTANTS
from tenter._arrays.library import of, recorded
from tenter._execution import into
from tenter._execution.executor import EXACT, FIND as FIND, Known, of as executor_of
from tenter._plans import families
from tenter._plans.cache import key, plans, store
from tenter._plans.plan import Plan, plan
from tenter._specs import interpolate_arguments, resize_arguments
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec

# The names of a call's arguments after x, by which the core finds those that it reads.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "resize": resize_arguments.Arguments._fields,
    "interpolate": interpolate_arguments.Arguments._fields,
    "repeat_interleave": ("repeats", "dim", "output_size"),
    "numpy.repeat": ("repeats", "axis"),
    "repeat": ("*sizes",),
    "tile": ("*dims",),
    "numpy.tile": ("*reps",),
}
for _call, _names in ARGUMENTS.items():
    _native.name_arguments(_call, _names)


def _unknown(call: str, x: Any, *args: Any) -> Any:
    """As a library's `known`, for an x that is not exactly of a known type."""
    return None


MOST_LEVELS = 4
# `FIND.get(type(x), unknown)(call, x, *args)` is the result of a call like an earlier one; None if there was none.
unknown: Known = _unknown


def lookup(call: str, x: Any, *args: Any) -> Any:
    """The same, for arrays and arguments that the core does not read."""
    runs = EXACT.get(type(x))
    if runs is None or not runs.plain(x):
        return None
    try:
        found = plans.get(key(call, runs, x, args, types(args)))
    except (TypeError, ValueError):  # an argument without a hash; a memoryview says so by a ValueError
        return None
    return None if found is None else runs.again(x, found)


def _again(x: Any, plan: Plan) -> Any:
    return EXACT[type(x)].again(x, plan)


_native.set_up_calls(plans, Plan._fields.index("ready"), _again, None, lookup, store)


def types(args: tuple[Any, ...], level: int = 0) -> tuple[type, ...] | None:
    """Those of all values, as equal ones of unlike types are not the same; None where one may change, and of tuples in
    more others than arguments are."""
    found = tuple(map(type, args))
    if list in found or level > MOST_LEVELS:
        return None
    if tuple in found:
        for value in args:
            if type(value) is tuple:
                inner = types(value, level + 1)
                if inner is None:
                    return None
                found += inner
    return found


def known_into(call: str, x: Any, out: Any, *args: Any) -> Any:
    """out, with the result of a call like an earlier one, or of one that differs from it by sizes alone; None if there
    was none, or all is to be checked."""
    runs = EXACT.get(type(x))
    if runs is None or (room := runs.room(out)) is None:
        return None
    found = _native.known_call_into(room, call, x, *args)
    if found is None:
        return None
    if type(found) is Plan:
        into.check(out, x, found.shape_out)
        return into.write(x, found, out)
    runs.wrote(out)
    return out


def many_counts(x: Any, counts: Any, dim: Any, output_size: Any) -> Any:
    """repeat_interleave by an array of more counts than known calls take, without a plan; None where it takes one."""
    runs = EXACT.get(type(x))
    if runs is None or EXACT[type(counts)] is not runs:
        return None
    return runs.repeat_counts(x, counts, dim, output_size)


def perform(call: str, x: Any, args: tuple[Any, ...], flat: Any, spec: Spec, out: Any = None) -> Any:
    """The result of a checked call, its plan kept for the next one. flat: x in the shape that the spec is for."""
    runs = executor_of(x)
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(flat.shape)))
    if of(x).recorded(flat) or (isinstance(spec, RepeatCounts) and recorded(spec.offsets)):
        return _given(runs.record(flat, spec), x, out)
    if families.remember(call, x, args, spec, x) and (made := by_core(call, x, args, out)) is not None:
        return made
    found = _key(call, x, args) if _lasts(x, flat, spec) else None
    if found is None:
        return _run(flat, plan(flat, spec), out)
    made = None if out is None else plans.get(found)
    if not isinstance(made, Plan):  # the core has its own for fresh memory
        is_new = made is None
        made = plan(flat, spec, tuple(x.shape))
        if is_new:
            store(found, made)
    return _run(x, made, out)


def by_core(call: str, x: Any, args: tuple[Any, ...], out: Any) -> Any:
    """The result of a call whose kind the core has just learned; None where it declines."""
    return FIND[type(x)](call, x, *args) if out is None else known_into(call, x, out, *args)


def _key(call: str, x: Any, args: tuple[Any, ...]) -> Hashable:
    """By which the call's plan is found; None of arguments that may change."""
    found = _native.call_key(call, x, *args)
    if found is None and (arg_types := _constants(args)) is not None:
        return key(call, EXACT[type(x)], x, args, arg_types)
    return found


def _constants(args: tuple[Any, ...]) -> tuple[type, ...] | None:
    """The types of all values; None where one may change, or is of a type that the core alone may know."""
    found = types(args)
    return found if found is not None and CONSTANTS.issuperset(found) else None


def perform_turned(call: str, x: Any, args: tuple[Any, ...], turned: Any, spec: Spec, out: Any = None) -> Any:
    """The result of a checked call of which some axes of x were reversed before: no plan of it serves x."""
    if of(turned).recorded(turned):
        return execute(turned, spec, out)
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(x.shape)))
    if families.remember(call, x, args, spec, turned) and (made := by_core(call, x, args, out)) is not None:
        return made
    return _run(turned, plan(turned, spec), out)


def _run(x: Any, plan: Plan, out: Any) -> Any:
    return executor_of(x).execute(x, plan) if out is None else into.write(x, plan, out)


def _given(result: Any, x: Any, out: Any) -> Any:
    """A result that is in memory of its own, or what it is copied to."""
    if out is None:
        return result
    executor_of(x).copy_into(out, result)
    return out


def _lasts(x: Any, flat: Any, spec: Spec) -> bool:
    """True if a plan serves x itself, and later calls with equal arguments."""
    return (
        type(x) in EXACT
        and not isinstance(spec, RepeatCounts)
        and (x is flat or of(x).address(x) == of(flat).address(flat))  # another shape of the same memory, not a copy
    )


def execute(x: Any, spec: Spec, out: Any = None) -> Any:
    """A checked operation: fresh memory, differentiable where x is; or in out."""
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(x.shape)))
    if of(x).recorded(x):
        return _given(executor_of(x).record(x, spec), x, out)
    return _run(x, plan(x, spec), out)


def copied(result: Any, out: Any) -> Any:
    """out, with a result that has memory of its own."""
    into.check(out, result, tuple(result.shape))
    return _given(result, result, out)


def written(found: Any, out: Any, make: Callable[[], Any]) -> Any:
    """out, with a result in it. found: None if it is to be made and copied there."""
    return copied(make(), out) if found is None else found
