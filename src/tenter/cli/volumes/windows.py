"""Which inputs a block of outputs reads, and the block's values: bit-identical to the full result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tenter import _native
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.numpy_arrays import address, layout
from tenter._plans import core
from tenter._specs.spec import Spec
from tenter.cli.refusal import Refusal
from tenter.cli.volumes.gaps import Gaps
from tenter.cli.volumes.votes import Votes, elect
from tenter.maps import AxisMap, Copy, Gather
from tenter.maps._part import part

Pixels = npt.NDArray[Any]
#: For each dim, from where to where.
Box = tuple[tuple[int, int], ...]


class Operation(NamedTuple):
    """How an array of `shape` becomes one of `shape_out`. maps: by axis, of axes that change. saturate: whether 8-bit
    values are rounded after each axis. dtype: in this machine's byte order. gaps: what is done with missing
    values, if some may be; maps are then those of sums."""

    shape: tuple[int, ...]
    shape_out: tuple[int, ...]
    dtype: np.dtype[Any]
    maps: Mapping[int, AxisMap | Votes]
    saturate: bool
    gaps: Gaps | None = None


def operation(shape: tuple[int, ...], dtype: np.dtype[Any], spec: Spec) -> Operation:
    """A checked call, for an array of that shape."""
    dtype = dtype.newbyteorder("=")
    name = layout(np.empty(0, dtype)).dtype
    maps = {axis: m for axis, m in spec.maps(shape, name, False) if not (isinstance(m, Copy) and m.repeat == 1)}
    if name not in NUMBERS and name not in PARTS and not all(isinstance(m, Copy) or _picks(m) for m in maps.values()):
        raise Refusal(f"arrays of {name} are not resized block by block, except by nearest and nearest-exact")
    return Operation(shape, spec.shape_out(shape), dtype, maps, spec.saturates(name))


def elected(shape: tuple[int, ...], shape_out: tuple[int, ...], dtype: np.dtype[Any]) -> Operation:
    """The most frequent labels."""
    votes = {axis: Votes(n, m) for axis, (n, m) in enumerate(zip(shape, shape_out)) if n != m}
    return Operation(shape, shape_out, dtype.newbyteorder("="), votes, False)


def identity(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Operation:
    """A copy."""
    return Operation(shape, shape, dtype.newbyteorder("="), {}, False)


def reads(op: Operation, box: Box) -> Box:
    """What a block of the result reads."""
    found = []
    for axis, (lo, hi) in enumerate(box):
        m = op.maps.get(axis)
        at = slice(lo, hi) if m is None else m.reads(lo, hi)
        found.append((at.start, at.stop))
    return tuple(found)


def compute(op: Operation, box: Box, x: Pixels) -> Pixels:
    """A block of the result. x: what it reads, contiguous.

    The maps of the block are rows of the full maps, and orders of sums follow from the full ones
    (native/plan/planner.hpp), so the bits do not depend on the block.
    """
    if op.gaps is not None:
        if not x.size:
            return np.full(extents(box), op.gaps.rule.fill, op.dtype)
        return op.gaps.computed(reads(op, box), x, lambda some: _summed(op, box, some))
    if not op.maps:
        return x
    if votes := votes_of(op):
        return elect(votes, box, x)
    y: Pixels = np.empty(extents(box), op.dtype)
    if x.size:
        _plan(op, box, x).run(address(x), address(y), False)
    else:
        y[...] = np.zeros((), op.dtype)  # outputs that read nothing
    return y


def _summed(op: Operation, box: Box, x: Pixels) -> Pixels:
    if not op.maps:
        copy: Pixels = x.copy()
        return copy
    y: Pixels = np.empty(extents(box), x.dtype)
    _plan(op, box, x).run(address(x), address(y), False)
    return y


def votes_of(op: Operation) -> dict[int, Votes]:
    """The votes along axes of an operation on labels; none of another."""
    return {axis: m for axis, m in op.maps.items() if isinstance(m, Votes)}


def temporary_bytes(op: Operation, box: Box) -> int:
    """What there is between the passes of a block, in bytes."""
    dtype = op.dtype if op.gaps is None else op.gaps.dtype
    # With gaps: values and ones, the mask, sums of both.
    beside = 0 if op.gaps is None else size(reads(op, box)) * (2 * dtype.itemsize + 2) + 2 * size(box) * dtype.itemsize
    if not op.maps:
        return beside
    if votes := votes_of(op):
        # The candidates of each output, once more while they are sorted, and counts.
        return size(box) * (2 * math.prod(v.most for v in votes.values()) * op.dtype.itemsize + 16)
    x = np.broadcast_to(np.zeros((), dtype), extents(reads(op, box)))
    strides, step = [], dtype.itemsize
    for n in reversed(x.shape):
        strides.append(step)
        step *= n
    return _plan(op, box, np.lib.stride_tricks.as_strided(x, strides=strides[::-1])).scratch + beside


def extents(box: Box) -> tuple[int, ...]:
    return tuple(hi - lo for lo, hi in box)


def size(box: Box) -> int:
    return math.prod(extents(box))


def _plan(op: Operation, box: Box, x: Pixels) -> _native.HostPlan:
    maps = {axis: m for axis, m in op.maps.items() if not isinstance(m, Votes)}
    parts = tuple((axis, _part(m, *box[axis])) for axis, m in sorted(maps.items()))
    return core.host_plan(layout(x), parts, saturate=op.saturate, wholes=maps)


def _part(m: AxisMap, lo: int, hi: int) -> AxisMap:
    """The map of outputs lo..hi - 1 from what they read."""
    if isinstance(m, Gather):
        read, taps = m.reads(lo, hi), slice(m.offset[lo], m.offset[hi])
        offset = m.offset[lo : hi + 1] - m.offset[lo]
        return Gather(read.stop - read.start, hi - lo, offset, m.index[taps] - read.start, m.weight[taps])
    return part(m, lo, hi)[1]


def _picks(m: AxisMap) -> bool:
    return isinstance(m, Gather) and m.picks
