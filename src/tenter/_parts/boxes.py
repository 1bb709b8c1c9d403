"""A box of a result: what it reads, its values, and the memory that they take."""

import math

import numpy as np

from tenter._arrays.types import Array
from tenter._execution import election
from tenter._parts.values import applied, planned
from tenter._parts.work import Work
from tenter.maps import AxisMap
from tenter.maps._part import part

#: For each dim, from where to where.
Box = tuple[tuple[int, int], ...]


def extents(box: Box) -> tuple[int, ...]:
    return tuple(hi - lo for lo, hi in box)


def size(box: Box) -> int:
    return math.prod(extents(box))


def pieces(n: int, length: int) -> list[tuple[int, int]]:
    """Returns n positions cut into pieces of a length. The last one may be shorter."""
    return [(at, min(at + length, n)) for at in range(0, n, length)]


def reads(work: Work, box: Box) -> Box:
    """Returns the box of the input from the first to the last position that is read."""
    return tuple(reads_along(work, axis, at) for axis, at in enumerate(box))


def reads_along(work: Work, axis: int, at: tuple[int, int]) -> tuple[int, int]:
    if (m := work.maps.get(axis)) is None:
        return at
    read = m.reads(*at)
    return read.start, read.stop


def computed(work: Work, box: Box, x: Array) -> Array:
    """Returns the values, contiguous. x: what they read, contiguous and in the machine's byte order."""
    if work.gaps is not None:
        if not x.size:
            return np.full(extents(box), work.gaps.rule.fill, work.dtype)
        found: Array = work.gaps.computed(reads(work, box), x, lambda some: _summed(work, box, some))
        return found
    if work.labels is None:
        return _summed(work, box, x) if work.maps else x
    y = np.empty(extents(box), work.dtype)
    election.elect(x, _maps(work, box), work.maps, *work.labels, y)
    return y


def _summed(work: Work, box: Box, x: Array) -> Array:
    y = np.empty(extents(box), x.dtype)
    return applied(x, _maps(work, box), work.maps, work.rounding, y) if work.maps else x.copy()


def _maps(work: Work, box: Box) -> dict[int, AxisMap]:
    return {axis: part(m, *box[axis])[1] for axis, m in work.maps.items()}


def temporary_bytes(work: Work, box: Box) -> int:
    """Returns the bytes that there are between the passes of a box."""
    dtype = work.dtype if work.gaps is None else work.gaps.dtype
    read = reads(work, box)
    # With gaps: values and ones, the mask, sums of both.
    beside = 0 if work.gaps is None else size(read) * (2 * dtype.itemsize + 2) + 2 * size(box) * dtype.itemsize
    if not work.maps:
        return beside
    if work.labels is not None:
        return election.temporary_bytes(work.maps, extents(read), extents(box), work.dtype.itemsize)
    strides = [math.prod(extents(read)[d + 1 :]) * dtype.itemsize for d in range(len(read))]
    x = np.lib.stride_tricks.as_strided(np.zeros((), dtype), extents(read), strides)
    steps = planned(x, _maps(work, box), work.maps, work.rounding).steps
    return beside + (0 if steps is None else steps.scratch)
