"""Results in the caller's memory, `out`. The kernels write there if they can write its layout. Otherwise the result is
made in memory of its own, and copied."""

from collections.abc import Callable
from typing import Any

from tenter._arrays.arguments import output
from tenter._arrays.errors import refuse
from tenter._arrays.library import in_dynamo, of
from tenter._execution import executor
from tenter._plans.plan import CallPlan
from tenter._specs.spec import Shape


def check(out: Any, x: Any, shape: Shape, like: str = "x's kind and dtype,") -> None:
    """Refuses an `out` that a result of that shape cannot be written to. like: how messages describe the expected kind
    and dtype."""
    output(out, x, shape, like)
    if problem := of(x).differentiated(x):
        refuse(TypeError, "out", "None where a gradient is recorded, or x.detach()", problem)


def by_core(write: Callable[[Any], Any], out: Any) -> Any:
    """Returns `out` with a result in it. write(out as the core reads it): calls a function of the core, which gives
    None if the call needs all checks. Then this is None too."""
    runs = None if in_dynamo() else executor.EXACT.get(type(out))
    if runs is None or (writable := runs.writable(out)) is None or write(writable) is None:
        return None
    runs.wrote(out)
    return out


def write(x: Any, plan: CallPlan, out: Any) -> Any:
    """Returns `out` with a plan's result in it."""
    runs = executor.of(x)
    if not runs.write(x, plan, out):
        runs.copy_into(out, runs.run(x, plan))
    return out
