"""An array as a plan sees it."""

from __future__ import annotations

import itertools
from typing import NamedTuple


class Layout(NamedTuple):
    """Shape, with strides in bytes. device: where kernels of its own serve an array; at: how far its address there is
    from whole 16 bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    device: str | None = None
    at: int = 0


# Counts of small arrays go without a plan: values, and results for each on average. Beyond, a plan is worth its cost.
SMALL, SMALL_EACH = 1 << 13, 64


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Dims from slowest to fastest; as they are where an array is expanded or overlaps itself."""
    dims = tuple(range(len(shape)))
    steps = [abs(s) for s in strides]
    order = tuple(sorted(dims, key=lambda d: -steps[d]))
    long = [d for d in order if shape[d] > 1]
    if 0 in steps or any(steps[a] < steps[b] * shape[b] for a, b in itertools.pairwise(long)):
        return dims
    return order


def resized_order(
    shape: tuple[int, ...], strides: tuple[int, ...], axes: tuple[int, ...], saturate: bool
) -> tuple[int, ...]:
    """Of a resized array's result. saturate: what is cut between two axes depends on which comes first, which is not
    for memory to say."""
    order = memory_order(shape, strides)
    turned = saturate and [d for d in order if d in axes] != list(axes)
    return tuple(range(len(shape))) if turned else order
