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
from tenter._execution import election
from tenter._plans import core
from tenter._rules.rounding import ONCE
from tenter._specs.resize import Resize
from tenter._specs.spec import Spec
from tenter.cli.refusal import Refusal
from tenter.cli.volumes.gaps import Gaps
from tenter.maps import AxisMap, Copy, Gather
from tenter.maps._part import gathered, part

Pixels = npt.NDArray[Any]
#: For each dim, from where to where.
Box = tuple[tuple[int, int], ...]


class Operation(NamedTuple):
    """How an array of `shape` becomes one of `shape_out`. maps: by axis, of axes that change. rounding: of the
    result. dtype: in this machine's byte order. labels: of labels, the one outside of the array, or None in it. gaps:
    what is done with missing values, if some may be; maps are then those of sums."""

    shape: tuple[int, ...]
    shape_out: tuple[int, ...]
    dtype: np.dtype[Any]
    maps: Mapping[int, AxisMap]
    rounding: str
    labels: tuple[int | None] | None = None
    gaps: Gaps | None = None


def operation(shape: tuple[int, ...], dtype: np.dtype[Any], spec: Spec, are_labels: bool = False) -> Operation:
    """A checked call, for an array of that shape."""
    dtype = dtype.newbyteorder("=")
    if are_labels:
        assert isinstance(spec, Resize)
        outside = 0 if spec.reads_outside else None
        return Operation(shape, spec.shape_out(shape), dtype, election.maps_of(spec, shape), ONCE, (outside,))
    name = layout(np.empty(0, dtype)).dtype
    maps = {axis: m for axis, m in spec.maps(shape, name, False) if not (isinstance(m, Copy) and m.repeat == 1)}
    if name not in NUMBERS and name not in PARTS and not all(isinstance(m, Copy) or _picks(m) for m in maps.values()):
        raise Refusal(f"arrays of {name} are not resized block by block, except by nearest and nearest-exact")
    return Operation(shape, spec.shape_out(shape), dtype, maps, spec.rounding_of(name))


def identity(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Operation:
    """A copy."""
    return Operation(shape, shape, dtype.newbyteorder("="), {}, ONCE)


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
    y: Pixels = np.empty(extents(box), op.dtype)
    if op.labels is not None:
        parts = {axis: _part(m, *box[axis]) for axis, m in op.maps.items()}
        election.elect(x, parts, op.maps, *op.labels, y)
    elif x.size:
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


def temporary_bytes(op: Operation, box: Box) -> int:
    """What there is between the passes of a block, in bytes."""
    dtype = op.dtype if op.gaps is None else op.gaps.dtype
    # With gaps: values and ones, the mask, sums of both.
    beside = 0 if op.gaps is None else size(reads(op, box)) * (2 * dtype.itemsize + 2) + 2 * size(box) * dtype.itemsize
    if not op.maps:
        return beside
    if op.labels is not None:
        return election.temporary_bytes(op.maps, extents(reads(op, box)), extents(box), op.dtype.itemsize)
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
    parts = tuple((axis, _part(m, *box[axis])) for axis, m in sorted(op.maps.items()))
    return core.host_plan(layout(x), parts, rounding=op.rounding, wholes=op.maps)


def _part(m: AxisMap, lo: int, hi: int) -> AxisMap:
    """The map of outputs lo..hi - 1 from what they read."""
    return gathered(m, lo, hi)[1] if isinstance(m, Gather) else part(m, lo, hi)[1]


def _picks(m: AxisMap) -> bool:
    return isinstance(m, Gather) and m.picks
