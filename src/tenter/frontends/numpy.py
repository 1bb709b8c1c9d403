"""NumPy arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tenter import _native, limits, memory, threads
from tenter.filters import NOTHING
from tenter.frontends import narrow
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


def unservable(x: Array) -> str | None:
    return problem(x)


def on_device(x: Array) -> bool:
    return False


def place(x: Array) -> tuple[int, ...]:
    """What a plan for x depends on, beside its shape and dtype."""
    return x.strides


def running(offsets: Array, x: Array) -> Array:
    """Running totals of counts, where kernels for x read them."""
    return offsets


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


def flip(x: Array, axes: tuple[int, ...]) -> Array:
    return np.flip(x, axes)


def ones(x: Array, n: int) -> Array:
    return np.ones(n)


def filled(x: Array, inside: Array, value: Any) -> Array:
    """Fresh x where inside, elsewhere value."""
    np.copyto(x, np.zeros((), x.dtype) if value == 0 else np.asarray(value, x.dtype), where=~inside)
    return x


def shifted(x: Array, outside: Array, value: Any, like: Array) -> Array:
    """Fresh x, widened where like is narrow, plus value by its weight outside, as like's dtype: integers are rounded
    half to even and saturated."""
    by = np.multiply(outside, value, out=np.zeros(outside.shape, np.result_type(type(value), np.float64)),
                     where=np.abs(outside) > NOTHING)  # fmt: skip
    np.add(x, by, out=x, casting="same_kind")
    if like.dtype.kind not in "iu":
        return x.astype(like.dtype, copy=False)
    from tenter.kernels import reference  # late: it reads maps, which read this package

    y = np.empty_like(x, like.dtype)
    y[...] = reference.into(x, like.dtype.newbyteorder("="))
    return y


def widened(x: Array) -> Array:
    return x.astype(np.float32 if x.dtype.kind == "f" else np.float64)


def plain(x: Array) -> bool:
    return True


def recorded(x: Array) -> bool:
    return False


def strides(x: Array) -> tuple[int, ...]:
    return x.strides


def run(x: Array, planned: Planned) -> Array:
    """Fresh memory with the planned maps applied."""
    if planned.steps is None:
        # Sums of swapped bytes: there are kernels for the values.
        if not x.dtype.isnative and not x.dtype.hasobject and x.dtype.char not in "gG":
            native = x.astype(x.dtype.newbyteorder("="))
            swapped: Array = run(native, planned.relaid(native)).astype(x.dtype)
            return swapped
        slow: Array = planned.slowly(x)
        return slow
    shape, order = planned.shape_out, planned.order
    if order is not None:
        shape = tuple(shape[d] for d in order)
    y, past_caches = fresh(shape, x.dtype, planned.n_bytes)
    planned.steps.run(address(x), address(y), past_caches)
    return y if order is None else y.transpose(np.argsort(order))


def fresh(shape: tuple[int, ...], dtype: np.dtype[Any], n_bytes: int) -> tuple[Array, bool]:
    """Memory for a result, and whether to write it past the caches."""
    held = memory.block(n_bytes)
    if held is None:
        return np.empty(shape, dtype), False
    y: Array = np.ndarray(shape, dtype, buffer=held)  # type: ignore[arg-type]  # any buffer
    return y, memory.past_caches(held, n_bytes)


execute = again = run


def expand_plainly(x: Array, sizes: tuple[Any, ...]) -> Array | None:
    return None


def repeat_counted(x: Array, counts: Array, dim: int | None, output_size: int | None) -> Array | None:
    """Without a plan, which for counts that change from call to call would cost more than the work, or than memory
    for their running totals."""
    shape, dtype = x.shape, COUNTS.get(counts.dtype)
    if dtype is None or not x.size or not x.flags.c_contiguous or x.dtype.hasobject:
        return None
    if x.size > SMALL:
        if output_size is not None or (
            dim is not None and (len(shape) != 1 or type(dim) is not int or dim not in (0, -1))
        ):
            return None
        return _repeat_scalars(x, counts)
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


def _repeat_scalars(x: Array, counts: Array) -> Array | None:
    size = counts.itemsize
    if counts.shape != (x.size,) or x.itemsize not in (1, 2, 4, 8):
        return None
    if size not in (4, 8):
        return _repeat_narrow(x, counts)
    if counts.strides != (size,):
        return None
    n_threads = threads.get_num_threads()
    runs = _native.Runs(address(counts), size == 4, x.size, n_threads)
    total = runs.total
    if total <= 0 or total * x.itemsize > limits.machine_memory():
        return None
    y, past_caches = fresh((total,), x.dtype, total * x.itemsize)
    runs.copy(address(x), address(y), x.itemsize, n_threads, past_caches)
    return y


def _repeat_narrow(x: Array, counts: Array) -> Array | None:
    total = narrow.total(counts)
    if total is None or total * x.itemsize > limits.machine_memory():
        return None
    y, past_caches = fresh((total,), x.dtype, total * x.itemsize)
    narrow.copy(counts, address(x), address(y), total, x.itemsize, past_caches)
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
