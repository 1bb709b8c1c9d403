"""Which kernels run, and why: read from the plan and its passes."""

from typing import Any

from tenter import _native
from tenter._arrays.dtypes import OPAQUE
from tenter._arrays.errors import Refusal
from tenter._arrays.library import OTHERS
from tenter._arrays.thread_count import thread_count
from tenter._execution import executor
from tenter._explain.outlines import Made, Outline
from tenter._plans import core, passes as planner
from tenter._plans.plan import CallPlan, plan
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Maps
from tenter.maps._html import n_bytes

_, EVERY, RUNS, INDEX, COMPUTED = _native.WORDS["copy"]
HOW_COPIED = {
    EVERY: "by a formula, without a table",
    RUNS: "a run of equal outputs at a time, by the counts",
    INDEX: "by a table with each output's input",
    COMPUTED: "by a rule that is computed a chunk at a time, without a table",
}
COPY, BYTES, TAPS = "copy", "bytes", "taps"  # other kernels are a `window`
INTEGERS = "int32"  # the type of sums that are rounded after each axis
NOTHING = "none: there is nothing to write"
REFERENCE = "NumPy's functions, as no compiled kernel "


def kernels(made: Made, maps: Maps) -> tuple[str, ...]:
    """Returns a line for each pass, then what all passes share."""
    x = made.x
    if made.spec is None:
        return ("none: the result is another view of x's memory",)
    if x.its.PACKAGE not in ("numpy", "torch") and not _runs_on_host(x):
        return (f"functions of {_package(x)}, as its arrays are not read by tenter's kernels",)
    try:
        planned = plan(x, _placed(made, x))
    except Refusal as refusal:  # the plan needs too much memory
        return (f"none: the call raises {refusal.args[0].__name__}: {refusal.args[1]}",)
    if planned.steps is None:
        return (REFERENCE + ("takes objects" if x.memory_layout.dtype == OPAQUE else f"sums {x.memory_layout.dtype}"),)
    if planned.device is not None:
        return _launched(planned)
    told = _told(x, planned)
    return tuple(told) or (NOTHING,)


def _package(x: Outline) -> str:
    return x.its.PACKAGE if x.its.PACKAGE in OTHERS else type(x.held).__module__.partition(".")[0]


def _runs_on_host(x: Outline) -> bool:
    """True for JAX arrays on one CPU outside JAX's transforms, which the core processes."""
    if x.its.PACKAGE != "jax":
        return False
    from tenter._arrays import jax_arrays  # imports JAX

    return jax_arrays.on_one_cpu(x.held)


def _placed(made: Made, x: Outline) -> Any:
    """Returns the specification, with counts in memory that the kernels can read."""
    if x.memory_layout.device is None or not isinstance(made.spec, RepeatCounts):
        return made.spec
    return made.spec._replace(offsets=executor.of(x.held).place_offsets(made.spec.offsets, x.held))


def _launched(planned: CallPlan) -> tuple[str, ...]:
    names = [step.kernel.function.__name__ for step in planned.steps.steps]
    lines = [f"{name}, compiled by Triton for {planned.device}" for name in names] or [NOTHING]
    if planned.steps.chunked:
        held = n_bytes(sum(planned.steps.temporaries))
        chunks = f"a chunk of x at a time, so that what is between two passes takes {held} at most"
        lines = [*dict.fromkeys(lines), chunks]
    return tuple(lines)


def _told(x: Outline, planned: CallPlan) -> list[str]:
    """Describes the core's plan pass by pass."""
    made = planner.of_plan(planned.steps)
    passes = (*made.before, *made.passes, *made.after)
    # The axes of the maps that the core was given, from slow to fast.
    order = planned.order or range(len(x.shape))
    steps = core.steps(planned.maps, {})
    changed = [(axis, m) for axis in order for its, m, *_ in steps if its == axis]
    inverses = [f[f.transposed] for _, m in planned.maps if (f := m.__dict__.get("_factors")) is not None]
    lines: list[str] = []
    for kernel, _, number in planned.steps.steps:
        p = passes[number]
        if p.copies:
            lines.append(_copied([changed[d.map] for d in p.dims if d.map >= 0], p.forms))
        elif kernel == COPY:
            lines.append("copy, as sums of contiguous rows are faster: lays the array out anew")
        else:
            axes, maps = zip(*(changed[d.map] for d in p.dims[p.first : p.first + p.n_axes]))
            solves = any(m is inverse for m in maps for inverse in inverses)
            lines.append(_summed(axes, maps, kernel, made.sums, solves))
    shared = list(dict.fromkeys(lines))
    if made.chunked:
        most = n_bytes(_native.tuning.chunk_bytes)
        shared.append(f"a chunk of x at a time, so that what is between two passes stays in cache ({most} at most)")
    elif planned.steps.scratch:
        shared.append(f"{n_bytes(planned.steps.scratch)} of memory between the passes")
    if shared:
        few = f"one thread, as less than {n_bytes(_native.tuning.small_bytes)} is moved"
        several = f"up to {thread_count()} threads, where a pass moves {n_bytes(_native.tuning.parallel_bytes)} or more"
        shared.append(few if planned.steps.small else several)
    return shared


def _copied(maps: list[tuple[int, Any]], forms: tuple[str, ...]) -> str:
    words = "copy, as every output is one input: moves bytes"
    for (axis, m), form in zip(maps, forms):
        again = f"one {'block' if m.block > 1 else 'element'} over and over"
        words += f"; dim {axis} {HOW_COPIED.get(form, again)}"
    return words


def _summed(axes: tuple[int, ...], maps: tuple[Any, ...], kernel: str, sums: str, solves: bool) -> str:
    along = f"dim {axes[0]}" if len(axes) == 1 else f"dims {', '.join(map(str, axes))} at once"
    if kernel == TAPS:
        return f"taps, as 8-bit values are interpolated: sums along {along} in fixed point, of 16 bits between them"
    by = f"; by {kernel.replace('_', ' ')}, as {_native.KERNELS[kernel]}"
    if sums == INTEGERS:
        what = f"bytes, as 8-bit values are antialiased: sums along {along} in integers, bit for bit as Pillow"
        return what if kernel == BYTES else what + by
    if solves:
        return f"window, as a spline passes through its samples: solves for its coefficients along {along}, in {sums}"
    kind = "plain sums" if all(getattr(m, "ones", False) for m in maps) else "weighted sums"
    return f"window, as outputs add up inputs: {kind} along {along}, in {sums}{by}"
