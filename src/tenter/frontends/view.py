"""An array as a kernel sees it."""

from __future__ import annotations

from typing import NamedTuple


class View(NamedTuple):
    """Address, and shape with strides in bytes."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
