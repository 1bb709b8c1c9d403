"""What is known of a JAX array beside what the standard says. Imported only once the caller has imported jax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tenter._arrays import promised, standard_arrays
from tenter._arrays.standard_arrays import (
    address as address,
    device as device,
    differentiated as differentiated,
    image_order as image_order,
    layout as layout,
    place as place,
    plain as plain,
    recorded as recorded,
    resolve as resolve,
    short as short,
    strides as strides,
    symbolic as symbolic,
    unservable as unservable,
)
from tenter._arrays.types import Array

promised.check("JAX", jax.__version__)
PACKAGE = "jax"
TYPES: tuple[type, ...] = ()


def is_traced(x: Any) -> bool:
    """True for what stands for an array while JAX follows the code."""
    return isinstance(x, jax.core.Tracer)


def problem(x: Any) -> str | None:
    if not is_traced(x) and x.is_deleted():
        return "a JAX array that has been deleted or donated"
    return standard_arrays.problem(x)


def unreadable(x: Any) -> str | None:
    if is_traced(x):
        return "a JAX tracer, whose values are known when the compiled code runs (pass them as static arguments)"
    if not x.is_fully_addressable:
        return "a JAX array of which other processes hold a part"
    if jnp.issubdtype(x.dtype, jax.dtypes.extended):
        return "keys of random numbers, which NumPy has no dtype for (jax.random.key_data(x) gives their integers)"
    return None


def unwritable(x: Any) -> str | None:
    return "a JAX array, which cannot be written to"


def on_one_cpu(x: Any) -> bool:
    """True if x is an array in memory of the host, in one piece."""
    if is_traced(x) or not x.is_fully_addressable:
        return False
    devices = x.devices()
    return len(devices) == 1 and next(iter(devices)).platform == "cpu"


def dtype_name(x: Any) -> str:
    return str(x.dtype.name)


def itemsize(x: Any) -> int:
    return int(x.dtype.itemsize)


def to_numpy(x: Any) -> Array:
    return np.asarray(x)


def from_numpy(x: Array, like: Any) -> Any:
    """Without a copy where x's memory lies well; nothing else may refer to it."""
    return jax.device_put(x, like.sharding if like.committed else None)
