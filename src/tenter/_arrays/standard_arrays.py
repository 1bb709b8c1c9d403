"""Facts about an array that follows the Array API standard, i.e. one with `__array_namespace__`.

Kernels never read the memory of such an array. Operations call the functions of its namespace.
"""

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tenter._arrays.dtypes import DTYPES
from tenter._arrays.layout import numpy_image_order
from tenter._arrays.types import Array

PACKAGE = "array"
TYPES: tuple[type, ...] = ()
NAMES = (*DTYPES, "bool")
ON_HOST = 1  # the device type of the host in DLPack


def is_standard(x: Any) -> bool:
    """True for an array that follows the Array API. False for a class, and for NumPy scalars."""
    return hasattr(type(x), "__array_namespace__") and not isinstance(x, np.generic)


def namespace(x: Any) -> Any:
    """Returns the module with the Array API's functions in x's library."""
    try:
        return x.__array_namespace__()
    except NotImplementedError:  # raised for JAX's random keys
        return sys.modules["jax.numpy"]


def problem(x: Any) -> str | None:
    shape = x.shape
    if any(not isinstance(n, int) for n in shape):
        return f"an array whose shape is {shape}, which is not known yet (compute it first)"
    return None


def unreadable(x: Any) -> str | None:
    try:
        to_numpy(x)
    except Exception as failed:  # each library raises its own
        return f"a {type(x).__module__}.{type(x).__name__} (make a copy on the host; it says: {failed})"
    return None


def short(x: Any) -> str | None:
    return None


unservable = short


def differentiated(x: Any) -> str | None:
    return None


def unwritable(x: Any) -> str | None:
    return None


def is_ordinary(x: Any) -> bool:
    return False


def traced(x: Any) -> bool:
    return True


def device(x: Any) -> str | None:
    """Returns None: these arrays have no kernels, and the rules for host memory apply."""
    return None


def made_beside(x: Any, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of x's library for x's device. MLX's arrays and tracers name no device."""
    device = getattr(x, "device", None)
    if device is None:
        return function(*args, **kwargs)
    if hasattr(device, "__enter__"):  # CuPy's functions take no device, and use the current one
        with device:
            return function(*args, **kwargs)
    return function(*args, device=device, **kwargs)


def on_host(x: Any) -> bool:
    """True if x is known to be in host memory."""
    try:
        return bool(x.__dlpack_device__()[0] == ON_HOST)
    except Exception:  # the library cannot say
        return False


def dtype_name(x: Any) -> str:
    xp, dtype = namespace(x), x.dtype
    for name in NAMES:
        if (its := getattr(xp, name, None)) is not None and dtype == its:
            return name
    if dtype == getattr(xp, "bool_", None):  # MLX
        return "bool"
    return str(getattr(dtype, "name", dtype))


def itemsize(x: Any) -> int:
    size = getattr(x.dtype, "itemsize", getattr(x, "itemsize", None))
    return size if isinstance(size, int) else np.dtype(dtype_name(x)).itemsize


def strides(x: Any) -> tuple[int, ...]:
    """Returns the strides of a contiguous array, as the Array API has no strides. Dask's results are then bit-identical
    to those of a contiguous array."""
    steps, step = [], itemsize(x)
    for n in reversed(x.shape):
        steps.append(step)
        step *= n
    return tuple(reversed(steps))


def _never(x: Any, name: str = "x") -> NoReturn:
    raise AssertionError("no kernel reads the memory of an array by the Array API")


layout = place = address = _never
image_order = numpy_image_order


def resolve(x: Any) -> Any:
    return x


def from_numpy(x: Array, like: Any) -> Any:
    return made_beside(like, namespace(like).asarray, x)


def to_numpy(x: Any) -> Array:
    found: Array = np.from_dlpack(x) if on_host(x) else np.from_dlpack(x, device="cpu")
    return found
