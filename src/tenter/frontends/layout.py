"""An array as a plan sees it."""

from __future__ import annotations

from typing import NamedTuple


class Layout(NamedTuple):
    """Shape, with strides in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
