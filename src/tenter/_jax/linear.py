"""Maps along axes as a JAX primitive. Its tangent is itself, and its gradient is the transposed maps. JAX would make a
scatter of a take, and a slow loop of a broadcast."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenter._arrays.oldest_versions import older
from tenter._arrays.types import Ints
from tenter._jax import on_host
from tenter._standard.along import Way, along as by_functions, longest, narrow
from tenter.maps import AxisMap

# How many taps must read a value for it to be stored. With more taps the compiler stores it by itself.
READERS = range(4, 16)

Maps = tuple[tuple[int, AxisMap], ...]

AXIS_MAPS = Primitive("tenter_axis_maps")


def along(x: Any, maps: Sequence[tuple[int, AxisMap]]) -> Any:
    """Applies maps to x. x: in a dtype that holds their sums."""
    return AXIS_MAPS.bind(x, maps=tuple(maps))


def taken(x: Any, index: Ints, axis: int) -> Any:
    at = (slice(None),) * axis + (narrow(index, x.shape[axis]),)
    return x.at[at].get(mode="promise_in_bounds")


def stored(y: Any, m: AxisMap) -> Any:
    """Returns y, stored before the map reads it if that is faster.

    XLA's compiler for processors makes one loop of all axes, in which it computes y again for each tap. That is faster
    if few taps read y, or if y is longer than the result. The compiler removes barriers, but it cannot see through a
    condition that it only learns after its loops are made.
    """
    if m.n_out <= m.n_in or longest(m) not in READERS:
        return y
    return jax.lax.cond(jax.lax.optimization_barrier(True), lambda y: y, jnp.zeros_like, y)


# A compiled loop over outputs takes all taps of one output at a time. Code for very many taps would be long.
WAY = Way(taken, 64, True)
ON_PROCESSORS = WAY._replace(between=stored)


@partial(jax.jit, static_argnames="maps")
def _compiled(x: Any, *, maps: Maps) -> Any:
    return AXIS_MAPS.bind(x, maps=maps)


@AXIS_MAPS.def_impl
def _now(x: Any, *, maps: Maps) -> Any:
    x = x if hasattr(x, "devices") else jnp.asarray(x)  # a NumPy array in place of a JAX array
    if not on_host.can_run(x):
        return _compiled(x, maps=maps)
    for axis, m in maps:
        x = on_host.applied(x, axis, m)
    return x


@AXIS_MAPS.def_abstract_eval
def _shape(x: Any, *, maps: Maps) -> Any:
    return jax.make_jaxpr(partial(_lowered, maps=maps))(x).out_avals[0]


def _transposed(g: Any, x: Any, *, maps: Maps) -> list[Any]:
    """Returns the gradient. The last axis goes first, and half types are summed in float32."""
    wide = g.astype(jnp.float32) if g.dtype.itemsize < 4 else g
    return [along(wide, [(axis, m.T) for axis, m in reversed(maps)]).astype(g.dtype)]


def _batched(xs: Any, dims: Any, *, maps: Maps) -> tuple[Any, int]:
    (x,), (d,) = xs, dims
    return along(x, [(axis + (d <= axis), m) for axis, m in maps]), d


# Before JAX 0.8.2 XLA computes what is taken from constants while it compiles, and takes the wrong ones.
TAKES_WRONG_CONSTANTS = older(jax.__version__, (0, 8, 2))


def _lowered(x: Any, *, maps: Maps, way: Way = WAY) -> Any:
    return by_functions(jax.lax.optimization_barrier(x) if TAKES_WRONG_CONSTANTS else x, maps, way)


ad.deflinear2(AXIS_MAPS, _transposed)
batching.primitive_batchers[AXIS_MAPS] = _batched
mlir.register_lowering(AXIS_MAPS, mlir.lower_fun(_lowered, multiple_results=False))
mlir.register_lowering(
    AXIS_MAPS, mlir.lower_fun(partial(_lowered, way=ON_PROCESSORS), multiple_results=False), platform="cpu"
)
