"""Facts about a NumPy array."""

import numpy as np

from tenter._arrays.dtypes import DTYPES, OPAQUE
from tenter._arrays.foreign import class_name
from tenter._arrays.layout import Layout, numpy_image_order, overlaps
from tenter._arrays.types import Array

PACKAGE = "numpy"
TYPES: tuple[type, ...] = (np.ndarray,)
# Names of native dtypes. NumPy would build a new string each time.
NAMES = {
    np.dtype(name): name for name in ("bool", *(d for d in DTYPES if hasattr(np, d))) if np.dtype(name).name == name
}


def problem(x: Array) -> str | None:
    """Says why no kernel can process x. A subclass may hold more than elements (a mask, units) or have its own
    indexing."""
    if type(x) in (np.ndarray, np.memmap, np.recarray):
        return None
    return f"a {class_name(type(x))}, whose own rules would be lost (np.asarray(x) drops them)"


unreadable = unservable = problem


def short(x: Array) -> None:
    return None


def unwritable(x: Array) -> str | None:
    if not x.flags.forc and overlaps(x.shape, x.strides, x.itemsize):
        return "an array whose elements share memory"
    return None if x.flags.writeable else "a read-only array"


def differentiated(x: Array) -> None:
    return None


def is_ordinary(x: Array) -> bool:
    return True


def traced(x: Array) -> bool:
    return False


def device(x: Array) -> str | None:
    return None


def dtype_name(x: Array) -> str:
    if (known := NAMES.get(x.dtype)) is not None:
        return known
    if x.dtype.char in "gG":  # their names contain a width that depends on the machine
        return "longdouble" if x.dtype.char == "g" else "clongdouble"
    name: str = x.dtype.name
    return name


def itemsize(x: Array) -> int:
    return x.dtype.itemsize


def strides(x: Array) -> tuple[int, ...]:
    return x.strides


place = strides
image_order = numpy_image_order


def layout(x: Array) -> Layout:
    if (known := NAMES.get(x.dtype)) is not None:
        return Layout(x.shape, x.strides, known, x.itemsize)
    if x.dtype.hasobject or x.dtype.itemsize == 0:
        return Layout(x.shape, x.strides, OPAQUE, x.dtype.itemsize)
    # Byte-swapped elements can be copied and not added, so their dtype has its own name.
    return Layout(x.shape, x.strides, dtype_name(x) if x.dtype.isnative else x.dtype.str, x.dtype.itemsize)


def address(x: Array, name: str = "x") -> int:
    pointer: int = x.__array_interface__["data"][0]
    return pointer


def resolve(x: Array) -> Array:
    return x


to_numpy = resolve


def from_numpy(x: Array, like: Array) -> Array:
    return x
