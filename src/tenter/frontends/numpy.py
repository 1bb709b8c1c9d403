"""NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.frontends.view import View

Array = npt.NDArray[Any]


def problem(x: Array) -> str | None:
    """A masked array's mask would be lost without a word."""
    return "a masked array" if isinstance(x, np.ma.MaskedArray) else None


def to_numpy(x: Array) -> Array:
    return x


def from_numpy(x: Array) -> Array:
    return x


def unwritable(x: Array) -> str | None:
    return None if x.flags.writeable else "a read-only array"


def dtype_name(x: Array) -> str:
    if x.dtype.char in "gG":  # their names carry a width that depends on the machine
        return "longdouble" if x.dtype.char == "g" else "clongdouble"
    name: str = x.dtype.name
    return name


def itemsize(x: Array) -> int:
    return x.dtype.itemsize


def allocate(x: Array, shape: tuple[int, ...], order: tuple[int, ...]) -> Array:
    """A fresh array of x's dtype whose dims lie in memory in the given order."""
    if order == tuple(range(len(shape))):
        return np.empty(shape, x.dtype)
    packed: Array = np.empty([shape[d] for d in order], x.dtype).transpose(np.argsort(order))
    return packed


def view(x: Array) -> View:
    return View(x.__array_interface__["data"][0], x.shape, x.strides, dtype_name(x), x.dtype.itemsize)


def expand(x: Array, shape: tuple[int, ...]) -> Array:
    """A read-only view."""
    return np.broadcast_to(x, shape)
