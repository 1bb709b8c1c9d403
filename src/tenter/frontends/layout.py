"""An array as a plan sees it."""

from __future__ import annotations

from typing import NamedTuple


class Layout(NamedTuple):
    """Shape, with strides in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int


# Counts of small arrays go without a plan: values, and results for each on average. Beyond, a plan is worth its cost.
SMALL, SMALL_EACH = 1 << 13, 64
