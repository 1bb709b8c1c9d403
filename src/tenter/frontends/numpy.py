"""NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.frontends.view import View

Array = npt.NDArray[Any]


def problem(x: Array) -> str | None:
    """A subclass may hold more than elements (a mask, units) or index in its own way."""
    if type(x) in (np.ndarray, np.memmap, np.recarray):
        return None
    return f"a {type(x).__name__}, whose own rules would be lost (np.asarray(x) drops them)"


def to_numpy(x: Array) -> Array:
    return x


def from_numpy(x: Array) -> Array:
    return x


def copy_into(out: Array, result: Array) -> None:
    out[...] = result


def through_numpy(x: Array, f: Callable[[Array], Array]) -> Array:
    """f of x's values in this machine's byte order."""
    if x.dtype.isnative or x.dtype.hasobject:
        return f(x)
    swapped: Array = f(x.astype(x.dtype.newbyteorder("="))).astype(x.dtype)
    return swapped


def unwritable(x: Array) -> str | None:
    return None if x.flags.writeable else "a read-only array"


def dtype_name(x: Array) -> str:
    if x.dtype.char in "gG":  # their names carry a width that depends on the machine
        return "longdouble" if x.dtype.char == "g" else "clongdouble"
    name: str = x.dtype.name
    return name


def resolve(x: Array) -> Array:
    return x


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
