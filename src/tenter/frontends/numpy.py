"""NumPy arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tenter import _native, memory
from tenter.frontends.layout import SMALL, SMALL_EACH, Layout

if TYPE_CHECKING:
    from tenter.apply import Planned

Array = npt.NDArray[Any]
# Dtypes of counts, by their numbers in the core.
COUNTS = {
    np.dtype(name): number for name, number in [("int64", 11), ("int32", 9), ("int16", 7), ("int8", 5), ("uint8", 4)]
}
OPAQUE = "opaque"  # elements that are more than their bytes


def problem(x: Array) -> str | None:
    """A subclass may hold more than elements (a mask, units) or index in its own way."""
    if type(x) in (np.ndarray, np.memmap, np.recarray):
        return None
    return f"a {type(x).__name__}, whose own rules would be lost (np.asarray(x) drops them)"


def unreadable(x: Array) -> str | None:
    return problem(x)


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


def flat(x: Array) -> Array:
    return x.reshape(-1)


def resolve(x: Array) -> Array:
    return x


def itemsize(x: Array) -> int:
    return x.dtype.itemsize


def plain(x: Array) -> bool:
    return True


def recorded(x: Array) -> bool:
    return False


def strides(x: Array) -> tuple[int, ...]:
    return x.strides


def run(x: Array, planned: Planned) -> Array:
    """Fresh memory with the planned maps applied."""
    if planned.steps is None:
        slow: Array = planned.slowly(x)
        return slow
    shape, order = planned.shape_out, planned.order
    if order is not None:
        shape = tuple(shape[d] for d in order)
    held = memory.block(planned.n_bytes)
    if held is None:
        y: Array = np.empty(shape, x.dtype)
        planned.steps.run(address(x), address(y))
    else:
        y = np.ndarray(shape, x.dtype, buffer=held)  # type: ignore[arg-type]  # any buffer
        planned.steps.run(address(x), held.address, memory.past_caches(held, planned.n_bytes))
    return y if order is None else y.transpose(np.argsort(order))


execute = again = run


def expand_plainly(x: Array, sizes: tuple[Any, ...]) -> Array | None:
    return None


def repeat_small(x: Array, counts: Array, dim: int | None, output_size: int | None) -> Array | None:
    """Without a plan, which for counts that change from call to call would cost more than the work."""
    shape, dtype = x.shape, COUNTS.get(counts.dtype)
    if dtype is None or not 0 < x.size <= SMALL or not x.flags.c_contiguous or x.dtype.hasobject:
        return None
    if dim is None:
        outer, n, rest = 1, x.size, ()
        before = rest
    elif type(dim) is int and -len(shape) <= dim < len(shape):
        n, before, rest = shape[dim], shape[:dim], shape[dim:][1:]
        outer = math.prod(before)
    else:
        return None
    if counts.shape != (n,):
        return None
    known = _native.Counts(address(counts), dtype, counts.strides[0], n)
    total = known.total
    if not 0 < total <= n * SMALL_EACH or (
        output_size is not None and (type(output_size) is not int or output_size != total)
    ):
        return None
    y: Array = np.empty((*before, total, *rest), x.dtype)
    known.copy(address(x), address(y), outer, math.prod(rest) * x.dtype.itemsize)
    return y


def layout(x: Array) -> Layout:
    if x.dtype.hasobject or x.dtype.itemsize == 0:
        return Layout(x.shape, x.strides, OPAQUE, x.dtype.itemsize)
    # Swapped bytes can be copied and not added, so they get a name of their own.
    return Layout(x.shape, x.strides, dtype_name(x) if x.dtype.isnative else x.dtype.str, x.dtype.itemsize)


def address(x: Array) -> int:
    pointer: int = x.__array_interface__["data"][0]
    return pointer


def expand(x: Array, shape: tuple[int, ...]) -> Array:
    """A read-only view."""
    return np.broadcast_to(x, shape)


def memory_order(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """Dims of a (batch, channels, spatial...) array from slowest to fastest: channels last if they lie so, else as
    they are."""
    n = len(shape)
    inner = (0, *range(2, n), 1)
    if n > 2 and shape[1] > 1 and strides[1] < strides[-1]:
        steps = [strides[d] for d in inner if shape[d] > 1]
        if all(a > b > 0 for a, b in itertools.pairwise(steps)):
            return inner
    return tuple(range(n))
