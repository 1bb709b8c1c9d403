"""Facts about a Dask array. Its chunks are NumPy arrays, computed when they are needed."""

from typing import Any

import dask
import dask.array
import numpy as np

from tenter._arrays import numpy_arrays, oldest_versions
from tenter._arrays.foreign import class_name
from tenter._arrays.standard_arrays import (
    address as address,
    device as device,
    differentiated as differentiated,
    image_order as image_order,
    is_ordinary as is_ordinary,
    itemsize as itemsize,
    layout as layout,
    place as place,
    resolve as resolve,
    short as short,
    strides as strides,
    traced as traced,
    unservable as unservable,
)
from tenter._arrays.types import Array

oldest_versions.check("Dask", dask.__version__)  # type: ignore[attr-defined]
PACKAGE = "dask.array"
TYPES: tuple[type, ...] = ()


def problem(x: Any) -> str | None:
    if any(n != n for n in x.shape):  # the length is NaN
        return "a Dask array whose chunk sizes are not known (x.compute_chunk_sizes() finds them)"
    if type(x._meta) is not np.ndarray:
        return f"a Dask array of chunks that are {class_name(type(x._meta))} (x.map_blocks(np.asarray) makes NumPy's)"
    return None


def unreadable(x: Any) -> str | None:
    """Returns `problem(x)` only: counts and sizes are computed when they are read."""
    return problem(x)


def unwritable(x: Any) -> str | None:
    return "a Dask array (dask.array.store(result, out) writes to what holds arrays)"


def dtype_name(x: Any) -> str:
    return numpy_arrays.dtype_name(np.empty(0, x.dtype))


def to_numpy(x: Any) -> Array:
    return np.asarray(x.compute())


def from_numpy(x: Array, like: Any) -> Any:
    return dask.array.from_array(x)
