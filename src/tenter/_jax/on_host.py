"""Eager calls on JAX arrays in host memory, by the core, without a copy. JAX would compile for each new size."""

from typing import Any

import jax
import numpy as np

from tenter._arrays import numpy_arrays
from tenter._arrays.jax_arrays import from_numpy, on_one_cpu
from tenter._execution import numpy_executor
from tenter._plans import cache
from tenter._plans.plan import cached_plan, plan
from tenter._specs.applied import Applied
from tenter._specs.repeat import RepeatCounts
from tenter._specs.spec import Spec
from tenter.maps import AxisMap


def can_run(x: Any) -> bool:
    """True for concrete arrays of NumPy's dtypes. Random keys have no such dtype."""
    return on_one_cpu(x) and not jax.numpy.issubdtype(x.dtype, jax.dtypes.extended)


def performed(x: Any, spec: Spec) -> Any:
    values = np.asarray(x)
    if isinstance(spec, (RepeatCounts, Applied)):  # they hold values, so their plans are not cached
        return from_numpy(numpy_executor.run(values, plan(values, spec)), x)
    key = cache.key("jax", numpy_arrays, values, (spec,))
    found = cache.plans.get(key)
    return from_numpy(numpy_executor.run(values, found or cached_plan(key, plan(values, spec))), x)


def applied(x: Any, axis: int, m: AxisMap) -> Any:
    values = np.asarray(x)
    return from_numpy(numpy_executor.run(values, plan(values, Applied(axis, m))), x)
