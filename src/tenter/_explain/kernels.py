"""Which kernels run, and why: read from the plan, and from the passes that fill it."""

import itertools
from collections.abc import Iterator
from typing import Any

from tenter import _native
from tenter._arrays.dtypes import OPAQUE
from tenter._arrays.errors import Refusal
from tenter._arrays.library import OTHERS
from tenter._arrays.thread_count import thread_count
from tenter._execution import executor
from tenter._explain.outlines import Made, Outline
from tenter._kernels import cpu, passes
from tenter._kernels.passes import Dim, Options, Picks
from tenter._kernels.steps import Steps
from tenter._plans.plan import Plan, in_order, plan
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Maps
from tenter.maps import Copy
from tenter.maps._html import n_bytes

HOW_COPIED = {
    cpu.EVERY: "by a formula, without a table",
    cpu.RUNS: "a run of equal outputs at a time, by the counts",
    cpu.INDEX: "by a table with each output's input",
    cpu.COMPUTED: "by a rule that is computed a band at a time, without a table",
}
NOTHING = "none: there is nothing to write"
REFERENCE = "NumPy's functions, as no compiled kernel "


def kernels(made: Made, maps: Maps) -> tuple[str, ...]:
    """A line for each pass, then what they share."""
    x = made.x
    if made.spec is None:
        return ("none: the result is another view of x's memory",)
    if x.its.PACKAGE not in ("numpy", "torch") and not _served_on_host(x):
        return (f"functions of {_package(x)}, as its arrays are not read by tenter's kernels",)
    try:
        planned = plan(x, _placed(made, x))
    except Refusal as refusal:  # of memory
        return (f"none: the call raises {refusal.args[0].__name__}: {refusal.args[1]}",)
    if planned.steps is None:
        return (REFERENCE + ("serves objects" if x.lies.dtype == OPAQUE else f"sums {x.lies.dtype}"),)
    if planned.device is not None:
        return _launched(planned)
    told = _told(x, planned)
    return tuple(told) or (NOTHING,)


def _package(x: Outline) -> str:
    return x.its.PACKAGE if x.its.PACKAGE in OTHERS else type(x.held).__module__.partition(".")[0]


def _served_on_host(x: Outline) -> bool:
    """True for what the core serves by way of the host: arrays of JAX on one CPU, outside of its transforms."""
    if x.its.PACKAGE != "jax":
        return False
    from tenter._arrays import jax_arrays  # as it imports JAX

    return jax_arrays.on_one_cpu(x.held)


def _placed(made: Made, x: Outline) -> Any:
    """The specification with counts where the kernels read them."""
    if x.lies.device is None or not isinstance(made.spec, RepeatCounts):
        return made.spec
    return made.spec._replace(offsets=executor.of(x.held).place_offsets(made.spec.offsets, x.held))


def _launched(planned: Plan) -> tuple[str, ...]:
    names = [step.kernel.function.__name__ for step in planned.steps.steps]
    return tuple([f"{name}, compiled by Triton for {planned.device}" for name in names]) or (NOTHING,)


def _told(x: Outline, planned: Plan) -> list[str]:
    """What `cpu.steps` did for the plan, told pass by pass."""
    source, placed = in_order(x.lies, planned.maps, planned.order)
    axes_of: dict[int, list[int]] = {}  # axes of equal lengths may share a map, which they take by turns
    for axis, m in placed:
        axes_of.setdefault(id(m), []).append(planned.order[axis] if planned.order else axis)
    axis_of: dict[int, Iterator[int]] = {m: itertools.cycle(axes) for m, axes in axes_of.items()}
    lines: list[str] = []

    def copy(made: Any, source: Any, target: Any, dims: list[Dim]) -> None:
        lines.append(_copied([d for d in dims if d.map is not None], axis_of))
        cpu.KERNELS.copy(made, source, target, dims)

    def window(
        made: Any, source: Any, target: Any, dims: list[Dim], axes: list[int], options: Options, spare: int
    ) -> None:  # fmt: skip
        before = len(made.steps)
        cpu.KERNELS.window(made, source, target, dims, axes, options, spare)
        if len(made.steps) - before > 1:
            lines.append("copy, as sums cannot walk these strides: lays the array out anew")
        lines.append(_summed(made.steps[-1].kernel, [dims[k] for k in axes], axis_of, options))

    made = Steps(max(planned.n_bytes, x.lies.itemsize * _size(x.shape)))
    saturate = planned.spec.saturates(x.lies.dtype)
    passes.fill(made, cpu.KERNELS._replace(copy=copy, window=window), source, placed, saturate)
    shared = list(dict.fromkeys(lines))
    # The core cuts slices of new calls by itself, so their number is not told.
    if max(map(lines.count, shared), default=1) > 1:
        most = n_bytes(_native.tuning.slice_bytes)
        shared.append(f"a slice of x at a time, so that what is between two passes stays in cache ({most} at most)")
    elif made.temporaries:
        shared.append(f"{n_bytes(sum(made.temporaries))} of memory between the passes")
    if shared:
        few = f"one thread, as less than {n_bytes(_native.tuning.small_bytes)} is moved"
        several = f"up to {thread_count()} threads, where a pass moves {n_bytes(_native.tuning.parallel_bytes)} or more"
        shared.append(few if made.small else several)
    return shared


def _size(shape: tuple[int, ...]) -> int:
    n = 1
    for length in shape:
        n *= length
    return n


def _copied(dims: list[Dim], axis_of: dict[int, Iterator[int]]) -> str:
    words = "copy, as every output is one input: moves bytes"
    for d in dims:
        m = d.map
        assert isinstance(m, (Copy, Picks))
        form = cpu.copy_form(d.n, m, len(dims) == 1)
        where = f"dim {next(axis_of[id(m)])}" if id(m) in axis_of else "an axis"
        again = f"one {'block' if m.block > 1 else 'element'} over and over"
        words += f"; {where} {HOW_COPIED.get(form, again)}"
    return words


def _summed(kernel: Any, dims: list[Dim], axis_of: dict[int, Iterator[int]], options: Options) -> str:
    known = [next(axis_of[id(d.map)]) if id(d.map) in axis_of else None for d in dims]
    along = f"dim {known[0]}" if len(known) == 1 else f"dims {', '.join(map(str, known))} at once"
    if None in known:
        along = "one axis" if len(known) == 1 else f"{len(known)} axes at once"
    if isinstance(kernel, _native.ByteStep):
        return f"bytes, as 8-bit values are antialiased: sums along {along} in integers, bit for bit as Pillow"
    sums = "plain sums" if all(getattr(d.map, "ones", False) for d in dims) else "weighted sums"
    return f"window, as outputs add up inputs: {sums} along {along}, in {options.accumulate}"
