"""Facts about a JAX array that the Array API standard does not give. Imported only after the caller has imported
jax."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tenter._arrays import oldest_versions, standard_arrays
from tenter._arrays.standard_arrays import (
    address as address,
    device as device,
    differentiated as differentiated,
    image_order as image_order,
    is_ordinary as is_ordinary,
    layout as layout,
    place as place,
    resolve as resolve,
    short as short,
    strides as strides,
    traced as traced,
    unservable as unservable,
)
from tenter._arrays.types import Array

oldest_versions.check("JAX", jax.__version__)
PACKAGE = "jax"
TYPES: tuple[type, ...] = ()


def is_traced(x: Any) -> bool:
    """True for a tracer, which stands for an array while JAX traces the code."""
    return isinstance(x, jax.core.Tracer)


def problem(x: Any) -> str | None:
    if not is_traced(x) and x.is_deleted():
        return "a JAX array that has been deleted or donated"
    return standard_arrays.problem(x)


def unreadable(x: Any) -> str | None:
    if is_traced(x):
        return "a JAX tracer, whose values are known when the compiled code runs (pass them as static arguments)"
    if not x.is_fully_addressable:
        return "a JAX array with shards on other processes"
    if jnp.issubdtype(x.dtype, jax.dtypes.extended):
        return "keys of random numbers, which NumPy has no dtype for (jax.random.key_data(x) gives their integers)"
    return None


def unwritable(x: Any) -> str | None:
    return "a JAX array, which cannot be written to"


def on_one_cpu(x: Any) -> bool:
    """True if x is in host memory and not sharded."""
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
    """Returns a JAX array of x's values, without a copy if x is suitably aligned."""
    is_committed = getattr(like, "committed", False) and len(like.sharding.device_set) == 1
    return jax.device_put(x, like.sharding if is_committed else None)
