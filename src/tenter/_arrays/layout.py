"""An array as a plan sees it, and the order in which its dims lie in memory."""

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """Shape, with strides in bytes. device: None for memory of the host; at: how far an address on a device is from a
    multiple of 16 bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: str | None = None
    at: int = 0


Order = tuple[int, ...]


def overlaps(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """True if two elements share memory. Strides and itemsize are in one unit."""
    steps = sorted([(abs(s), n) for n, s in zip(shape, strides) if n > 1])
    if 0 in shape or not steps:
        return False
    end = itemsize  # of what the faster dims take
    for step, n in steps:
        if step < end:
            break
        end += (n - 1) * step
    else:
        return False
    if steps[0][0] < itemsize:
        return True
    # Strides that no dims have which lie inside of one another: the places themselves.
    places = functools.reduce(np.add.outer, [np.arange(n) * step for step, n in steps]).reshape(-1)
    return bool((np.diff(np.sort(places)) < itemsize).any())


def channels_last(shape: Sequence[int], strides: Sequence[int]) -> Order | None:
    """Dims of a (batch, channels, spatial...) array from slowest to fastest if its channels lie last in memory."""
    order = (0, *range(2, len(shape)), 1)
    steps = [strides[d] for d in order if shape[d] > 1]
    return order if len(shape) > 2 and all(a > b > 0 for a, b in itertools.pairwise(steps)) else None


def merged(dims: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """(length, stride) of dims, neighbors joined where one stride walks both."""
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
    """The strides of an array whose memory is in order."""
    return [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]


def memory_order(shape: Sequence[int], strides: Sequence[int]) -> Order:
    """Dims from slowest to fastest; as they are where an array is expanded or overlaps itself."""
    dims = tuple(range(len(shape)))
    steps = list(map(abs, strides))
    if steps == sorted(steps, reverse=True):
        return dims
    order = tuple(sorted(dims, key=lambda d: -steps[d]))
    long = [d for d in order if shape[d] > 1]
    if 0 in steps or any(steps[a] < steps[b] * shape[b] for a, b in itertools.pairwise(long)):
        return dims
    return order


def resized_order(shape: Sequence[int], strides: Sequence[int], axes: Sequence[int], saturate: bool) -> Order:
    """The order of a resized array's result. saturate: integers are cut to their range between two axes, so that which
    axis comes first shows in the result and must not depend on memory."""
    order = memory_order(shape, strides)
    turned = saturate and [d for d in order if d in axes] != list(axes)
    return tuple(range(len(shape))) if turned else order


def numpy_image_order(shape: Sequence[int], strides: Sequence[int]) -> Order:
    """The order of `interpolate`'s result on a NumPy array: channels last if they lie so, else as they are."""
    last = channels_last(shape, strides) if len(shape) > 2 and shape[1] > 1 and strides[1] < strides[-1] else None
    return last or tuple(range(len(shape)))


def torch_image_order(shape: Sequence[int], strides: Sequence[int]) -> Order:
    """The order of `interpolate`'s result on a tensor: channels last where PyTorch's is_channels_last_strides says so,
    as code views the result accordingly."""
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
