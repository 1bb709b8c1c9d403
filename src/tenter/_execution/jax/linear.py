"""A map along an axis as a primitive of JAX's, for the maps whose transpose JAX would make a scatter: it is its own
tangent, and its gradient is the transposed map."""

from functools import partial
from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenter._arrays.jax_arrays import on_one_cpu
from tenter._arrays.types import Ints
from tenter._execution.jax import on_host
from tenter._execution.standard.along import Way, along as by_functions, is_closed, narrow
from tenter.maps import AxisMap

AXIS_MAP = Primitive("tenter_axis_map")


def along(x: Any, axis: int, m: AxisMap) -> Any:
    """The map applied; x in a dtype that holds its sums."""
    return by_functions(x, axis, m) if is_closed(m) else AXIS_MAP.bind(x, axis=axis, map=m)


def taken(x: Any, index: Ints, axis: int) -> Any:
    at = (slice(None),) * axis + (narrow(index, x.shape[axis]),)
    return x.at[at].get(mode="promise_in_bounds")


# A compiled loop over outputs takes all taps of one at a time; code for very many would be long.
WAY = Way(taken, 64, False)


@partial(jax.jit, static_argnames=("axis", "map"))
def _compiled(x: Any, *, axis: int, map: AxisMap) -> Any:
    return by_functions(x, axis, map, WAY)


@AXIS_MAP.def_impl
def _now(x: Any, *, axis: int, map: AxisMap) -> Any:
    x = x if hasattr(x, "devices") else jax.numpy.asarray(x)  # an array of NumPy's that stands for one
    return on_host.applied(x, axis, map) if on_one_cpu(x) else _compiled(x, axis=axis, map=map)


@AXIS_MAP.def_abstract_eval
def _shape(x: Any, *, axis: int, map: AxisMap) -> Any:
    return jax.make_jaxpr(partial(by_functions, axis=axis, m=map, way=WAY))(x).out_avals[0]


def _transposed(g: Any, x: Any, *, axis: int, map: AxisMap) -> list[Any]:
    return [along(g, axis, map.T)]


def _batched(xs: Any, dims: Any, *, axis: int, map: AxisMap) -> tuple[Any, int]:
    (x,), (d,) = xs, dims
    return along(x, axis + (d <= axis), map), d


def _lowered(x: Any, *, axis: int, map: AxisMap) -> Any:
    return by_functions(x, axis, map, WAY)


ad.deflinear2(AXIS_MAP, _transposed)
batching.primitive_batchers[AXIS_MAP] = _batched
mlir.register_lowering(AXIS_MAP, mlir.lower_fun(_lowered, multiple_results=False))
