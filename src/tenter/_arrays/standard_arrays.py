"""What is known of an array by the Array API standard: one with `__array_namespace__`.

Kernels never read the memory of such an array: operations on it are calls of the functions of its namespace.
"""

import sys
from typing import Any, NoReturn

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.layout import numpy_image_order
from tenter._arrays.types import Array

PACKAGE = "array"
TYPES: tuple[type, ...] = ()
NAMES = (*DTYPES, "bool")
ON_HOST = 1  # DLPack's number of the device that is the host


def is_standard(x: Any) -> bool:
    """True for an array by the standard, and not for a type of one, or a scalar of NumPy's."""
    return hasattr(type(x), "__array_namespace__") and not isinstance(x, np.generic)


def namespace(x: Any) -> Any:
    """The module with the functions that x's library has by the standard."""
    try:
        return x.__array_namespace__()
    except NotImplementedError:  # of JAX's keys of random numbers
        return sys.modules["jax.numpy"]


def problem(x: Any) -> str | None:
    shape = x.shape
    if any(not isinstance(n, int) for n in shape):
        return f"an array whose shape is {shape}, which is not known yet (compute it first)"
    return None


def unreadable(x: Any) -> str | None:
    try:
        to_numpy(x)
    except Exception as failed:  # of any type: each library has its own
        return f"a {type(x).__module__}.{type(x).__name__} (make a copy on the host; it says: {failed})"
    return None


def short(x: Any) -> str | None:
    return None


unservable = short


def differentiated(x: Any) -> str | None:
    return None


def unwritable(x: Any) -> str | None:
    return None


def plain(x: Any) -> bool:
    return False


def recorded(x: Any) -> bool:
    return True


def symbolic(x: Any) -> bool:
    return False


def device(x: Any) -> str | None:
    """None, as there are no kernels for it; the rules are those for the host's memory."""
    return None


def on_host(x: Any) -> bool:
    """True if x surely lies in memory of the host."""
    try:
        return bool(x.__dlpack_device__()[0] == ON_HOST)
    except Exception:  # a library that cannot say
        return False


def dtype_name(x: Any) -> str:
    xp, dtype = namespace(x), x.dtype
    for name in NAMES:
        if (its := getattr(xp, name, None)) is not None and dtype == its:
            return name
    return str(getattr(dtype, "name", dtype))


def itemsize(x: Any) -> int:
    size = getattr(x.dtype, "itemsize", None)
    return size if isinstance(size, int) else np.dtype(dtype_name(x)).itemsize


def strides(x: Any) -> tuple[int, ...]:
    """Those of a contiguous array: the standard knows no others, and results of Dask have their bits."""
    steps, step = [], itemsize(x)
    for n in reversed(x.shape):
        steps.append(step)
        step *= n
    return tuple(reversed(steps))


def _never(x: Any, name: str = "x") -> NoReturn:
    raise AssertionError("no kernel reads the memory of an array by the standard")


layout = place = address = _never
image_order = numpy_image_order


def resolve(x: Any) -> Any:
    return x


def from_numpy(x: Array, like: Any) -> Any:
    return namespace(like).asarray(x, device=like.device)


def to_numpy(x: Any) -> Array:
    found: Array = np.from_dlpack(x) if on_host(x) else np.from_dlpack(x, device="cpu")
    return found
