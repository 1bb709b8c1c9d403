"""Results in the caller's memory, `out`. The kernels write there if they can write its layout. Otherwise the result is
made tile by tile in reused memory, and copied."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenter._arrays.arguments import output
from tenter._arrays.errors import refuse
from tenter._arrays.library import of
from tenter._execution import executor
from tenter._execution.chunks import BYTES, LEAST, signals_deferred
from tenter._parts.work import Work
from tenter._plans.plan import Plan, plan_part
from tenter._specs.applied import only_copies
from tenter._specs.spec import Shape
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._values import trusted


def check(out: Any, x: Any, shape: Shape, like: str = "x's kind and dtype,") -> None:
    """Refuses an `out` that a result of that shape cannot be written to. like: how messages describe the expected kind
    and dtype."""
    output(out, x, shape, like)
    if problem := of(x).differentiated(x):
        refuse(TypeError, "out", "None where a gradient is recorded, or x.detach()", problem)


def write(x: Any, plan: Plan, out: Any) -> Any:
    """Returns `out` with a plan's result in it."""
    runs = executor.of(x)
    if runs.write(x, plan, out):
        return out
    whole = plan.device is not None or plan.n_bytes <= BYTES  # the whole result is one tile
    if whole or not (math.prod(plan.shape) and math.prod(plan.shape_out) and runs.disjoint(x, out)):
        runs.copy_into(out, runs.run(x, plan))
        return out
    x, in_order = runs.reshape(x, plan.shape), tuple(range(len(plan.shape)))
    maps = {axis: m for axis, m in plan.maps if not (isinstance(m, Copy) and m.repeat == 1)}
    copies = all(map(only_copies, maps.values()))
    # The order of axes changes the last bits of sums. Copies can use out's order.
    order = slowest_first(out) if copies else plan.order or in_order
    if copies and order != in_order:
        place = {axis: k for k, axis in enumerate(order)}
        permuted = tuple(sorted((place[axis], m) for axis, m in maps.items()))
        if runs.write(_permuted(x, order), plan_part(_permuted(x, order), permuted, {}, False), _permuted(out, order)):
            return out
    saturates = not plan.transposed and plan.spec.saturates(of(x).dtype_name(x))
    work = Work(plan.shape, plan.shape_out, x.dtype, maps, None, saturates, None)
    fill(x, work, order, out)
    return out


def fill(x: Any, work: Work, order: tuple[int, ...], out: Any) -> None:
    """Makes a result tile by tile. order: x's dims from the one that is cut first."""
    runs = executor.of(x)
    x, work, target = _laid_out(x, work, order, out)
    made = tiles(work.shape, work.shape_out, max(of(x).itemsize(x), 4), set(work.maps))
    ends = [np.array([n]) for n in work.shape]
    with signals_deferred(len(made) > 1):
        for ranges in made:
            reads, slices = zip(*(work.reads(d, *ranges[d], ends[d]) for d in range(len(ranges))))
            block = x[tuple([chunk[0][1] if chunk else slice(0, 0) for chunk in slices])]
            runs.copy_into(
                target[tuple(itertools.starmap(slice, ranges))], work.part(reads, ranges).of_block(block, runs)
            )


def tiles(shape: Shape, shape_out: Shape, itemsize: int, changed: set[int]) -> list[tuple[tuple[int, int], ...]]:
    """Cuts a result into tiles of BYTES, (begin, end) along each dim. Each tile reads no more than that where
    possible."""
    steps = list(shape_out)

    def n_bytes() -> int:
        read = math.prod([-(-step * n // n_out) for step, n, n_out in zip(steps, shape, shape_out)])
        return max(math.prod(steps), read) * itemsize

    for least in (LEAST, 1):
        for d in range(len(steps)):
            if (now := n_bytes()) > BYTES:
                steps[d] = min(steps[d], max(least if d in changed else 1, steps[d] * BYTES // now))
    cuts = [[(at, min(at + step, n)) for at in range(0, n, step)] for n, step in zip(shape_out, steps)]
    return list(itertools.product(*cuts))


def _laid_out(x: Any, work: Work, order: tuple[int, ...], out: Any) -> tuple[Any, Work, Any]:
    """Returns x, the work and `out` with dims in `order`. A map of blocks becomes a map of positions, and the
    positions of a block become another dim."""
    shape: list[int] = []
    shape_out: list[int] = []
    maps: dict[int, AxisMap] = {}
    place = {}
    for axis in order:
        m, place[axis] = work.maps.get(axis), len(shape)
        block = 1 if m is None else m.block
        if m is not None:
            maps[len(shape)] = m if block == 1 else _of_blocks(m)
        shape += [work.shape[axis] // block] + [block] * (block > 1)
        shape_out += [work.shape_out[axis] // block] + [block] * (block > 1)
    fill_value = work.fill_value
    if fill_value is not None:
        fill_value = fill_value._replace(inside=tuple((place[axis], rows) for axis, rows in fill_value.inside))
    runs = executor.of(x)
    x, out = (runs.reshape(_permuted(a, order), tuple(n)) for a, n in ((x, shape), (out, shape_out)))
    return x, Work(tuple(shape), tuple(shape_out), work.dtype, maps, None, work.saturate, fill_value), out


def _of_blocks(m: AxisMap) -> AxisMap:
    """Returns a map of blocks as a map of single positions."""
    assert not isinstance(m, Gather)
    n_in, n_out = m.n_in // m.block, m.n_out // m.block
    if isinstance(m, Copy):
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=m.repeat, offsets=m.offsets, block=1)
    return trusted(
        Window, n_in=n_in, n_out=n_out, start=m.start, offset=m.offset, weight=m.weight, width=m.width, block=1
    )


def slowest_first(out: Any) -> tuple[int, ...]:
    """Returns the dims of `out` from slowest to fastest in memory."""
    strides = of(out).strides(out)
    return tuple(sorted(range(len(strides)), key=lambda d: -abs(strides[d])))


def _permuted(x: Any, order: Sequence[int]) -> Any:
    return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(*order)
