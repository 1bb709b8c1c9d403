"""An array as a plan sees it."""

from __future__ import annotations

import itertools
from typing import NamedTuple


class Layout(NamedTuple):
    """Shape, with strides in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int


# Counts of small arrays go without a plan: values, and results for each on average. Beyond, a plan is worth its cost.
SMALL, SMALL_EACH = 1 << 13, 64


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Dims from slowest to fastest; as they are where an array is turned round, expanded or overlaps itself."""
    dims = tuple(range(len(shape)))
    order = tuple(sorted(dims, key=lambda d: -strides[d]))
    long = [d for d in order if shape[d] > 1]
    if any(s <= 0 for s in strides) or any(strides[a] < strides[b] * shape[b] for a, b in itertools.pairwise(long)):
        return dims
    return order
