"""Labels resized by votes. The votes of a label are what its one-hot array, resized, has at an output: the share that
the label has of what the output reads. The label with most votes is the result, and the smallest of equal ones.

One-hot arrays are made for one label of one block at a time. A block that reads one label has that label.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array, Floats
from tenter._parts.values import applied, planned
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._part import laid_out, part, reads, rows

Box = tuple[tuple[int, int], ...]
Maps = Mapping[int, AxisMap]
#: Votes that differ by no more are equal: sums in float32 err by less.
TIE = 2.0**-16
#: The elements that a block reads or writes at most: its floats fit in the caches. Larger boxes are asked for their
#: labels first, as most of an array reads one label.
BLOCK, LARGE = 1 << 18, 1 << 20
#: A block with more labels is halved, as each half has fewer, but for this many elements.
FEW, LEAST = 64, 1 << 13
#: From how many labels on, and up to how many inputs of an output, votes of one weight are sorted.
SORTED, MOST_SORTED = 12, 64
#: The bytes that an element of a block takes at most: of labels, their positions, and floats.
EACH = 96


class Election(NamedTuple):
    """x, y: the labels to resize, and where the result goes. maps: of x, without gathers. wholes: the maps of which
    these are rows. outside: the label outside of x, None if no output reads it. inside: for each axis the weight of
    inputs in each output, if some read what is outside."""

    x: Array
    y: Array
    maps: dict[int, Copy | Window]
    wholes: Maps
    outside: Any
    inside: dict[int, Floats]


def temporary_bytes(maps: Maps, shape: tuple[int, ...], shape_out: tuple[int, ...], itemsize: int) -> int:
    """Returns what `elect` takes besides x and y, at most. shape, shape_out: of x and y."""
    taken = math.prod(shape) * itemsize if any(isinstance(m, Gather) for m in maps.values()) else 0
    each = [(at := maps[axis].reads(0, 1)).stop - at.start if axis in maps else 1 for axis in range(len(shape))]
    return taken + EACH * min(max(BLOCK, math.prod(each)), max(math.prod(shape), math.prod(shape_out)))


def elect(x: Array, maps: Maps, wholes: Maps, outside: Any, y: Array) -> None:
    """Writes to y the labels of x. maps: of the axes that change. wholes: the whole maps, if these are rows of them."""
    along: dict[int, Copy | Window] = {}
    for axis, m in maps.items():
        index, along[axis] = laid_out(m)
        if index is not None:
            x = x.take(index, axis)
    inside = {}
    if outside is not None:
        inside = {axis: applied(np.ones(m.n_in), {0: m}, {}) for axis, m in along.items()}
    of = Election(x, y, along, wholes, outside, inside)
    todo = [tuple((0, n) for n in y.shape)] if y.size else []
    while todo:
        todo += _decided(of, todo.pop())


def _decided(of: Election, box: Box) -> tuple[Box, ...]:
    """Decides the outputs of a box, or returns its halves."""
    at, size = _reads(of, box)
    if size > LARGE and (halves := _halves(box, at)):
        return halves
    x, inside = of.x[at], _inside(of, box)
    place = tuple(slice(lo, hi) for lo, hi in box)
    if inside is None and x.size and (least := x.min()) == x.max():
        of.y[place] = least
        return ()
    if size > BLOCK and (halves := _halves(box, at)):
        return halves
    labels = _present(x)
    if inside is not None:
        labels = np.union1d(labels, np.asarray(of.outside, x.dtype))
    if len(labels) >= SORTED and inside is None and (count := _taps_in_turn(of, box)) is not None:
        of.y[place] = _most_frequent(x, count)
        return ()
    if len(labels) > FEW and size > LEAST and (halves := _halves(box, at)):
        return halves
    of.y[place] = _counted(of, box, x, labels, inside) if len(labels) > 1 else labels[0]
    return ()


def _reads(of: Election, box: Box) -> tuple[tuple[slice, ...], int]:
    """Returns what a box reads, and the larger number of the elements that it reads or writes."""
    at = tuple(reads(of.maps[axis], lo, hi) if axis in of.maps else slice(lo, hi) for axis, (lo, hi) in enumerate(box))
    return at, max(math.prod(s.stop - s.start for s in at), math.prod(hi - lo for lo, hi in box))


def _halves(box: Box, at: tuple[slice, ...]) -> tuple[Box, ...]:
    """Returns the halves of a box, along the axis that is longest; nothing of one output. at: what it reads. Rows stay
    long, as kernels go along them."""
    lengths = [max(s.stop - s.start, hi - lo) * (hi - lo > 1) for s, (lo, hi) in zip(at, box)]
    axis = max(range(len(box)), key=lambda axis: 2 * lengths[axis] - (axis == len(box) - 1) * lengths[axis])
    lo, hi = box[axis]
    if hi - lo < 2:
        return ()
    return tuple((*box[:axis], ends, *box[axis + 1 :]) for ends in ((lo, (lo + hi) // 2), ((lo + hi) // 2, hi)))


def _taps_in_turn(of: Election, box: Box) -> list[int] | None:
    """Returns how many inputs an output of a box reads along each axis, where outputs read inputs in turn and with one
    weight, as where "area" shrinks by whole factors. None for other boxes."""
    found = [1] * len(box)
    for axis, m in of.maps.items():
        if isinstance(m, Copy):
            return None
        start, offset, weight = rows(m, *box[axis])
        found[axis] = count = int(offset[1])
        in_turn = np.array_equal(offset, np.arange(len(offset)) * count)
        in_turn = in_turn and np.array_equal(start - start[0], offset[:-1])
        if not in_turn or not 0 < math.prod(found) <= MOST_SORTED or (weight is not None and np.ptp(weight)):
            return None
    return found


def _most_frequent(x: Array, count: list[int]) -> Array:
    """Returns the most frequent label of each cell of so many elements along each axis."""
    ndim, cells = x.ndim, [n // c for n, c in zip(x.shape, count)]
    apart = x.reshape([n for pair in zip(cells, count) for n in pair])
    votes = apart.transpose([*range(1, 2 * ndim, 2), *range(0, 2 * ndim, 2)]).reshape(-1, *cells)
    votes = np.sort(votes, axis=0)
    y: Array = votes[0].copy()
    run, longest = np.ones(y.shape, np.int32), np.ones(y.shape, np.int32)
    for before, here in itertools.pairwise(votes):
        run = np.where(here == before, run + 1, np.int32(1))
        np.copyto(y, here, where=run > longest)
        np.maximum(longest, run, out=longest)
    return y


def _present(x: Array) -> Array:
    """Returns the labels of a block, ascending."""
    if not x.size:
        return x.reshape(-1)
    least, most = x.min(), x.max()
    if int(most) - int(least) > 4 * x.size:
        return np.unique(x)
    from_least = x - least if x.dtype.kind == "u" else x.astype(np.int64) - int(least)  # int8 would overflow
    found = np.flatnonzero(np.bincount(from_least.reshape(-1).astype(np.intp, copy=False)))
    return np.asarray([int(least) + n for n in found.tolist()], x.dtype)


def _inside(of: Election, box: Box) -> Floats | None:
    """Returns the weight of inputs in each output of a box; None where all have a weight of one."""
    found, ndim = None, of.x.ndim
    for axis, weight in of.inside.items():
        some = weight[slice(*box[axis])]
        if np.abs(some - 1).max(initial=0) > TIE / 8:
            shaped = some.reshape(tuple(-1 if d == axis else 1 for d in range(ndim)))
            found = shaped if found is None else found * shaped
    return found


def _counted(of: Election, box: Box, x: Array, labels: Array, inside: Floats | None) -> Array:
    """Returns the labels of a block. inside: where some outputs read what is outside, the weight of inputs in each."""
    parts = {axis: part(m, *box[axis])[1] for axis, m in of.maps.items()}
    shape = tuple(hi - lo for lo, hi in box)
    one_hot, votes = np.empty(x.shape, np.float32), np.empty(shape, np.float32)
    steps = planned(one_hot, parts, of.wholes).steps
    y, most = np.empty(shape, x.dtype), np.empty(shape, np.float32)
    for k, label in enumerate(labels):
        if k == 1 and len(labels) == 2 and inside is None:  # the votes that the first one does not have
            np.copyto(y, label, where=most < (1 - TIE) / 2)
            break
        np.equal(x, label, out=one_hot)
        steps.run(address(one_hot), address(votes), False)
        if inside is not None and label == of.outside:
            votes += 1 - inside
        if k == 0:
            y[...] = label
            most, votes = votes, most
            continue
        np.copyto(y, label, where=votes - most > TIE)
        np.maximum(most, votes, out=most)
    return y
