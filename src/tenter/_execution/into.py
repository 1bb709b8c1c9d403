"""Results in memory of the caller's, `out`: written there by the kernels where it lies as they write; else made a tile
at a time, in memory that is used again, and put there."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tenter._arrays.arguments import output
from tenter._arrays.errors import refuse
from tenter._arrays.library import of
from tenter._execution import executor
from tenter._execution.bands import BYTES, LEAST, answered_after
from tenter._execution.parts.work import Work
from tenter._plans.plan import Plan, plan_part
from tenter._specs.applied import picks
from tenter._specs.spec import Shape
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._values import trusted


def check(out: Any, x: Any, shape: Shape, like: str = "x's kind and dtype,") -> None:
    """Refuses an out that a result of that shape can't be written to. like: as messages say what x is."""
    output(out, x, shape, like)
    if problem := of(x).differentiated(x):
        refuse(TypeError, "out", "None where a gradient is recorded, or x.detach()", problem)


def write(x: Any, plan: Plan, out: Any) -> Any:
    """out, with a plan's result in it."""
    runs = executor.of(x)
    if runs.write(x, plan, out):
        return out
    whole = plan.device is not None or plan.n_bytes <= BYTES  # one tile is the result
    if whole or not (math.prod(plan.shape) and math.prod(plan.shape_out) and runs.apart(x, out)):
        runs.copy_into(out, runs.run(x, plan))
        return out
    x, in_order = runs.reshape(x, plan.shape), tuple(range(len(plan.shape)))
    maps = {axis: m for axis, m in plan.maps if not (isinstance(m, Copy) and m.repeat == 1)}
    copies = all(map(picks, maps.values()))
    # The last bits of sums depend on the order of axes, which copies have in out's order.
    order = slowest_first(out) if copies else plan.order or in_order
    if copies and order != in_order:
        place = {axis: k for k, axis in enumerate(order)}
        turned = tuple(sorted((place[axis], m) for axis, m in maps.items()))
        if runs.write(_turned(x, order), plan_part(_turned(x, order), turned, {}, False), _turned(out, order)):
            return out
    saturates = not plan.transposed and plan.spec.saturates(of(x).dtype_name(x))
    work = Work(plan.shape, plan.shape_out, x.dtype, maps, None, saturates, None)
    fill(x, work, order, out)
    return out


def fill(x: Any, work: Work, order: tuple[int, ...], out: Any) -> None:
    """Makes a result a tile at a time. order: x's dims from the one that is cut first."""
    runs = executor.of(x)
    x, work, target = _laid_out(x, work, order, out)
    made = tiles(work.shape, work.shape_out, max(of(x).itemsize(x), 4), set(work.maps))
    ends = [np.array([n]) for n in work.shape]
    with answered_after(len(made) > 1):
        for ranges in made:
            reads, pieces = zip(*(work.reads(d, *ranges[d], ends[d]) for d in range(len(ranges))))
            block = x[tuple([some[0][1] if some else slice(0, 0) for some in pieces])]
            runs.copy_into(
                target[tuple(itertools.starmap(slice, ranges))], work.part(reads, ranges).of_block(block, runs)
            )


def tiles(shape: Shape, shape_out: Shape, itemsize: int, changed: set[int]) -> list[tuple[tuple[int, int], ...]]:
    """A result in parts of BYTES, each reading no more where that can be had: (begin, end) along each dim."""
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
    """The same with dims in order, blocks of positions in a dim of their own."""
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
    outside = work.outside
    if outside is not None:
        outside = outside._replace(inside=tuple((place[axis], rows) for axis, rows in outside.inside))
    runs = executor.of(x)
    x, out = (runs.reshape(_turned(a, order), tuple(n)) for a, n in ((x, shape), (out, shape_out)))
    return x, Work(tuple(shape), tuple(shape_out), work.dtype, maps, None, work.saturate, outside), out


def _of_blocks(m: AxisMap) -> AxisMap:
    """A map of blocks as one of single positions."""
    assert not isinstance(m, Gather)
    n_in, n_out = m.n_in // m.block, m.n_out // m.block
    if isinstance(m, Copy):
        return trusted(Copy, n_in=n_in, n_out=n_out, repeat=m.repeat, offsets=m.offsets, block=1)
    return trusted(
        Window, n_in=n_in, n_out=n_out, start=m.start, offset=m.offset, weight=m.weight, width=m.width, block=1
    )


def slowest_first(out: Any) -> tuple[int, ...]:
    """Dims as they lie in memory."""
    strides = of(out).strides(out)
    return tuple(sorted(range(len(strides)), key=lambda d: -abs(strides[d])))


def _turned(x: Any, order: Sequence[int]) -> Any:
    return x.transpose(order) if isinstance(x, np.ndarray) else x.permute(*order)
