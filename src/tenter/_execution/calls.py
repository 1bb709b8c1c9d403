"""The way of a checked call: a kept plan or a new one, and its run; for what is recorded, PyTorch's dispatcher."""

from typing import Any

from tenter._arrays.arguments import CONSTANTS
from tenter._arrays.library import of, recorded
from tenter._execution.executor import EXACT, of as executor_of
from tenter._plans.cache import key, plans, store
from tenter._plans.plan import plan
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec


def lookup(call: str, x: Any, args: tuple[Any, ...], arg_types: tuple[type, ...]) -> Any:
    """The result of a call like an earlier one; None if there was none."""
    runs = EXACT.get(type(x))
    if runs is None or not runs.plain(x):
        return None
    try:
        found = plans.get(key(call, runs, x, args, arg_types))
    except TypeError:
        return None
    return None if found is None else runs.again(x, found)


def fast_counts(x: Any, counts: Any, dim: Any, output_size: Any) -> Any:
    """repeat_interleave by an array of counts, which are values, without a plan; None where it takes one."""
    runs = EXACT.get(type(x))
    if runs is None or EXACT[type(counts)] is not runs:
        return None
    return runs.repeat_counts(x, counts, dim, output_size)


def perform(call: str, x: Any, args: tuple[Any, ...], arg_types: tuple[type, ...], flat: Any, spec: Spec) -> Any:
    """The result of a checked call, its plan kept for the next one. flat: x in the shape that the spec is for."""
    runs = executor_of(x)
    if of(x).recorded(flat) or (isinstance(spec, RepeatCounts) and recorded(spec.offsets)):
        return runs.record(flat, spec)
    if not _lasts(x, arg_types, flat, spec):
        return runs.execute(flat, plan(flat, spec))
    made = plan(flat, spec, tuple(x.shape))
    store(key(call, runs, x, args, arg_types), made)
    return runs.execute(x, made)


def _lasts(x: Any, arg_types: tuple[type, ...], flat: Any, spec: Spec) -> bool:
    """True if a plan serves x itself, and later calls with equal arguments."""
    return (
        type(x) in EXACT
        and CONSTANTS.issuperset(arg_types)
        and not isinstance(spec, RepeatCounts)
        and (x is flat or of(x).address(x) == of(flat).address(flat))  # another shape of the same memory, not a copy
    )


def execute(x: Any, spec: Spec) -> Any:
    """A checked operation: fresh memory, differentiable where x is."""
    runs = executor_of(x)
    return runs.record(x, spec) if of(x).recorded(x) else runs.execute(x, plan(x, spec))
