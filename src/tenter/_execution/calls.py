"""Runs checked calls: by a cached or a new plan, or by PyTorch's dispatcher if the array is traced."""

from fractions import Fraction
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.library import is_array, of, recording, traced
from tenter._arrays.limits import machine_memory
from tenter._arrays.thread_count import thread_count
from tenter._execution import into
from tenter._execution.executor import EXACT, FIND as FIND, Cached, of as executor_of
from tenter._plans import specializations
from tenter._plans.cache import plans, store
from tenter._plans.plan import CallPlan, plan
from tenter._rules.filters import Filter, Keys
from tenter._rules.presets import Convention
from tenter._specs import interpolate_arguments, resize_arguments
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec

# The names of each call's arguments after x. The core finds the arguments that it reads by these names.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "resize": resize_arguments.Arguments._fields,
    "interpolate": interpolate_arguments.Arguments._fields,
    "repeat_interleave": ("repeats", "dim", "output_size"),
    "numpy.repeat": ("repeats", "axis"),
    "repeat": ("*sizes",),
    "tile": ("*dims",),
    "numpy.tile": ("*reps",),
}


def _unknown(call: str, x: Any, *args: Any) -> Any:
    """The `cached` of an x whose type has none. A trace may begin with the first call of a process."""
    return executor_of(x).cached(call, x, *args) if recording() and is_array(x) and of(x).PACKAGE == "torch" else None


# `FIND.get(type(x), unknown)(call, x, *args)` returns the result of a cached call, or None if the call is not cached.
unknown: Cached = _unknown


def _run_read(x: Any, plan: CallPlan) -> Any:
    return EXACT[type(x)].run_read(x, plan)


def _run_checked(x: Any, plan: CallPlan) -> Any:
    runs = EXACT[type(x)]
    # The core cannot tell whether empty tensors are ordinary. Given None, it lets Python check the call.
    return runs.execute(x, plan) if of(x).is_ordinary(x) else None


_native.register_calls(
    plans, CallPlan._fields.index("steps"), _run_read, _run_checked, store, specializations.native,
    tuple({np.dtype(letter).type for letter in "bBhHiIlLqQefdg"}), Fraction, thread_count, machine_memory(), ARGUMENTS,
    (Convention, Filter, Keys),
)  # fmt: skip


def cached_into(call: str, x: Any, out: Any, *args: Any) -> Any:
    """Returns `out` with the result of a cached call, or of a call whose specialization the core has. None if
    there is neither, or if the call needs all checks."""
    runs = EXACT.get(type(x))
    if runs is None or (writable := runs.writable(out)) is None:
        return None
    found = _native.cached_call_into(writable, None, call, x, *args)
    if found is None:
        return None
    if type(found) is CallPlan:
        into.check(out, x, found.shape_out)
        return into.write(x, found, out)
    runs.wrote(out)
    return out


def perform(call: str, x: Any, args: tuple[Any, ...], flat: Any, spec: Spec, out: Any = None) -> Any:
    """Returns the result of a checked call, and caches its plan. flat: x in the shape that the spec describes, or
    flipped along the axes whose boxes are reversed."""
    runs = executor_of(x)
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(flat.shape)))
    if of(x).traced(flat) or (isinstance(spec, RepeatCounts) and traced(spec.offsets)):
        return _into_out(runs.dispatched(flat, spec), x, out)
    if specializations.store(call, x, args, spec, flat) and (made := by_core(call, x, args, out)) is not None:
        return made
    found = _native.call_key(call, x, *args) if _is_cacheable(x, flat, spec) else None
    if found is None:
        return _run(flat, plan(flat, spec), out)
    made = None if out is None else plans.get(found)
    if not isinstance(made, CallPlan):  # the core's own plan writes to fresh memory only
        is_new = made is None
        made = plan(flat, spec, tuple(x.shape))
        if is_new:
            store(found, made)
    return _run(x, made, out)


def by_core(call: str, x: Any, args: tuple[Any, ...], out: Any) -> Any:
    """Returns the result of a call whose specialization the core has just got; None if the core declines."""
    return FIND[type(x)](call, x, *args) if out is None else cached_into(call, x, out, *args)


def _run(x: Any, plan: CallPlan, out: Any) -> Any:
    return executor_of(x).execute(x, plan) if out is None else into.write(x, plan, out)


def _into_out(result: Any, x: Any, out: Any) -> Any:
    """Returns the result, or `out` if it is given and the result was copied there."""
    if out is None:
        return result
    executor_of(x).copy_into(out, result)
    return out


def _is_cacheable(x: Any, flat: Any, spec: Spec) -> bool:
    """True if a plan applies to x itself and to later calls with equal arguments."""
    return (
        type(x) in EXACT
        and not isinstance(spec, RepeatCounts)
        and (x is flat or of(x).address(x) == of(flat).address(flat))  # a reshaped view and not a copy
    )


def execute(x: Any, spec: Spec, out: Any = None) -> Any:
    """Runs a checked operation. The result is in fresh memory, and differentiable if x is, or it is in `out`."""
    if out is not None:
        into.check(out, x, spec.shape_out(tuple(x.shape)))
    if of(x).traced(x):
        return _into_out(executor_of(x).dispatched(x, spec), x, out)
    return _run(x, plan(x, spec), out)


def copied(result: Any, out: Any, like: str = "x's kind and dtype,") -> Any:
    """Copies a result to `out` and returns `out`. like: as in `into.check`."""
    into.check(out, result, tuple(result.shape), like)
    return _into_out(result, result, out)


def copied_indices(result: Any, out: Any) -> Any:
    """`copied` for integers and masks that are made of no x."""
    return copied(result, out, f"{of(result).PACKAGE}'s, of dtype")
