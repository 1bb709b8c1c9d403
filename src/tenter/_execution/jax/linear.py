"""Maps along axes as a primitive of JAX's: it is its own tangent, and its gradient is the transposed maps, where JAX
would make a scatter of a take and a slow loop of a broadcast."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenter._arrays.types import Ints
from tenter._execution.jax import on_host
from tenter._execution.standard.along import Way, along as by_functions, longest, narrow
from tenter.maps import AxisMap

# How many taps read a value that is stored; what more would read, the compiler stores by itself.
READERS = range(4, 16)

Maps = tuple[tuple[int, AxisMap], ...]

AXIS_MAPS = Primitive("tenter_axis_maps")


def along(x: Any, maps: Sequence[tuple[int, AxisMap]]) -> Any:
    """The maps applied; x in a dtype that holds their sums."""
    return AXIS_MAPS.bind(x, maps=tuple(maps))


def taken(x: Any, index: Ints, axis: int) -> Any:
    at = (slice(None),) * axis + (narrow(index, x.shape[axis]),)
    return x.at[at].get(mode="promise_in_bounds")


def stored(y: Any, m: AxisMap) -> Any:
    """y, where it pays stored before the map reads it. XLA's compiler for processors makes one loop of all axes, in
    which it computes y anew for each tap; that is faster where few read it, or where y is longer than the result. It
    cannot look through a choice, and what is chosen here it learns only once its loops are made."""
    if m.n_out <= m.n_in or longest(m) not in READERS:
        return y
    return jax.lax.cond(jax.lax.optimization_barrier(True), lambda y: y, jnp.zeros_like, y)


# A compiled loop over outputs takes all taps of one at a time; code for very many would be long.
WAY = Way(taken, 64, True)
ON_PROCESSORS = WAY._replace(between=stored)


@partial(jax.jit, static_argnames="maps")
def _compiled(x: Any, *, maps: Maps) -> Any:
    return AXIS_MAPS.bind(x, maps=maps)


@AXIS_MAPS.def_impl
def _now(x: Any, *, maps: Maps) -> Any:
    x = x if hasattr(x, "devices") else jnp.asarray(x)  # an array of NumPy's that stands for one
    if not on_host.serves(x):
        return _compiled(x, maps=maps)
    for axis, m in maps:
        x = on_host.applied(x, axis, m)
    return x


@AXIS_MAPS.def_abstract_eval
def _shape(x: Any, *, maps: Maps) -> Any:
    return jax.make_jaxpr(partial(_lowered, maps=maps))(x).out_avals[0]


def _transposed(g: Any, x: Any, *, maps: Maps) -> list[Any]:
    """The last axis goes first. Sums of half types are taken in float32."""
    wide = g.astype(jnp.float32) if g.dtype.itemsize < 4 else g
    return [along(wide, [(axis, m.T) for axis, m in reversed(maps)]).astype(g.dtype)]


def _batched(xs: Any, dims: Any, *, maps: Maps) -> tuple[Any, int]:
    (x,), (d,) = xs, dims
    return along(x, [(axis + (d <= axis), m) for axis, m in maps]), d


def _lowered(x: Any, *, maps: Maps, way: Way = WAY) -> Any:
    return by_functions(x, maps, way)


ad.deflinear2(AXIS_MAPS, _transposed)
batching.primitive_batchers[AXIS_MAPS] = _batched
mlir.register_lowering(AXIS_MAPS, mlir.lower_fun(_lowered, multiple_results=False))
mlir.register_lowering(
    AXIS_MAPS, mlir.lower_fun(partial(_lowered, way=ON_PROCESSORS), multiple_results=False), platform="cpu"
)
