"""The layout of an array as plans see it, and the memory order of dims."""

import functools
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """The shape and strides (in bytes) of an array.

    device: None for host memory
    at: the address modulo 16, on a device
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: str | None = None
    at: int = 0


Order = tuple[int, ...]


def overlaps(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """True if two elements share memory. Strides and itemsize must have the same unit."""
    steps = sorted([(abs(s), n) for n, s in zip(shape, strides) if n > 1])
    if 0 in shape or not steps:
        return False
    end = itemsize  # of the memory that faster dims span
    for step, n in steps:
        if step < end:
            break
        end += (n - 1) * step
    else:
        return False
    if steps[0][0] < itemsize:
        return True
    # Interleaved strides: compare the offsets of all elements.
    places = functools.reduce(np.add.outer, [np.arange(n) * step for step, n in steps]).reshape(-1)
    return bool((np.diff(np.sort(places)) < itemsize).any())


def channels_last(shape: Sequence[int], strides: Sequence[int]) -> Order | None:
    """Returns the dims of a (batch, channels, spatial...) array from slowest to fastest if its channels are last in
    memory, else None."""
    order = (0, *range(2, len(shape)), 1)
    steps = [strides[d] for d in order if shape[d] > 1]
    return order if len(shape) > 2 and all(a > b > 0 for a, b in itertools.pairwise(steps)) else None


def merged(dims: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the (length, stride) of dims. Neighbors that one stride walks are joined."""
    found: list[tuple[int, int]] = []
    for n, stride in dims:
        if n == 1:
            continue
        if found and found[-1][1] == stride * n:
            found[-1] = (found[-1][0] * n, stride)
        else:
            found.append((n, stride))
    return found


def contiguous(shape: Sequence[int], itemsize: int) -> list[int]:
    """Returns the strides of a C-contiguous array."""
    return [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]


def strides_in(order: Iterable[int], shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the strides of a new array, in elements. order: its dims from slowest to fastest."""
    strides, step = [1] * len(shape), 1
    for d in reversed(tuple(order)):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides)


def memory_order(shape: Sequence[int], strides: Sequence[int], whole: Sequence[int] | None = None) -> Order:
    """Returns the dims from slowest to fastest in memory. Expanded and overlapping arrays keep the order of their dims.
    Strides of dims of length 1 mean nothing: such dims stay beside the next one.

    whole: the shape of the array that this one is a part of, as its dims are ordered as the whole array's
    """
    dims = tuple(range(len(shape)))
    steps = list(map(abs, strides))
    long = [d for d in dims if (whole or shape)[d] > 1]
    order = sorted(long, key=lambda d: -steps[d])
    apart = all(steps[a] >= steps[b] * shape[b] for a, b in itertools.pairwise(order))
    if order == long or not apart or 0 in (steps[d] for d in long):
        return dims
    place: dict[int, float] = {d: k for k, d in enumerate(order)}
    for d in dims:
        if d < long[0]:
            place[d] = -1
        elif d not in order:
            after = [e for e in long if e > d]
            place[d] = order.index(after[0]) - 0.5 if after else order.index(long[-1]) + 0.5
    return tuple(sorted(dims, key=lambda d: place[d]))


def resized_order(
    shape: Sequence[int],
    strides: Sequence[int],
    axes: Sequence[int],
    in_order: bool,
    whole: Sequence[int] | None = None,
) -> Order:
    """Returns the memory order of a resized array's result. in_order: the order of the axes changes
    values, so it must not depend on memory. whole: as for `memory_order`."""
    order = memory_order(shape, strides, whole)
    swapped = in_order and [d for d in order if d in axes] != list(axes)
    return tuple(range(len(shape))) if swapped else order


def numpy_image_order(shape: Sequence[int], strides: Sequence[int]) -> Order:
    """Returns the memory order of `interpolate`'s result on a NumPy array: channels last if the input has its channels
    last in memory, else the order of the dims."""
    in_order = tuple(range(len(shape)))
    last = channels_last(shape, strides) or in_order
    long = [d for d in last if shape[d] > 1]
    return last if long != sorted(long) else in_order


def torch_image_order(shape: Sequence[int], strides: Sequence[int]) -> Order:
    """Returns the memory order of `interpolate`'s result on a tensor: channels last if PyTorch's
    is_channels_last_strides says so. Users' code creates views of the result that rely on this."""
    n = len(shape)
    as_they_are = tuple(range(n))
    if n not in (4, 5) or 0 in shape or strides[1] == 0:
        return as_they_are
    least = 0
    for d in (1, *range(n - 1, 1, -1), 0):
        if strides[d] < least or (d == 0 and least == strides[1]):
            return as_they_are
        least = strides[d] * shape[d]
    return (0, *range(2, n), 1)
