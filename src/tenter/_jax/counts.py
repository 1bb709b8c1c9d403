"""repeat_interleave by traced counts. The caller gives the result's length, which can only be checked when the code
runs."""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import checkify

from tenter._arrays.arguments import integer
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name
from tenter._specs import counts as counts_spec
from tenter._specs.repeat import RepeatCounts

# From this many adjacent elements on, the position of a dim in memory does not matter.
ADJACENT = 16
NEEDED = "the sum of the counts, an int, as code that JAX compiles has fixed shapes"


def offsets(repeats: Any, n: int, dim: int, output_size: Any) -> RepeatCounts:
    """Returns the specification for counts. They are checked if `jax.experimental.checkify` transforms the caller's
    code."""
    counts_spec.check_shape("repeats", dtype_name(repeats), repeats.shape, n, dim)
    if output_size is None:
        refuse(TypeError, "output_size", NEEDED, "None")
    n_out = integer("output_size", output_size, NEEDED, 0)
    wide = jax.dtypes.canonicalize_dtype(jnp.int64)
    each = jnp.broadcast_to(repeats.astype(wide), (n,))
    ends = jnp.cumsum(each)
    total = ends[-1] if n else jnp.zeros((), wide)
    checkify.debug_check(jnp.all(each >= 0), "repeats: expected non-negative counts, got {least}",
                         least=jnp.min(each, initial=0))  # fmt: skip
    # 32-bit sums may wrap. Float sums are approximately right.
    about = each.astype(jnp.float32).sum()
    fits = jnp.abs(about - total.astype(jnp.float32)) <= 2.0**31
    checkify.debug_check(fits, "repeats: expected counts whose sum fits their dtype, got about {about}", about=about)
    checkify.debug_check(total == n_out, "output_size: expected {total}, the sum of the counts, got {n_out}",
                         total=total, n_out=jnp.asarray(n_out, wide))  # fmt: skip
    return RepeatCounts(jnp.concatenate([jnp.zeros(1, wide), ends]), dim, n_out)


def repeated(x: Any, spec: RepeatCounts) -> Any:
    """Repeats x. Positions past the true total are zero."""
    n, n_out, dim = x.shape[spec.dim], spec.n_out, spec.dim
    if not n or not n_out:
        return jnp.zeros(spec.shape_out(x.shape), x.dtype)
    # How many runs end before each output. Past the true total all runs have ended, which is not a position of x.
    ended = jnp.zeros(n_out, jnp.int32).at[spec.offsets[1:]].add(1, mode="drop")
    index = jnp.cumsum(ended)
    take = _by_rows if jnp.issubdtype(x.dtype, jnp.inexact) else _taken
    return take(x, index, dim)


def _taken(x: Any, index: Any, dim: int) -> Any:
    return jnp.take(x, index, axis=dim, mode="fill", fill_value=0)


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _by_rows(x: Any, index: Any, dim: int) -> Any:
    """A take whose gradient adds rows. Adding separate elements one by one takes six times as long."""
    return _taken(x, index, dim)


@_by_rows.defjvp
def _tangent(dim: int, primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x, index), t = primals, tangents[0]
    wide = t.astype(jnp.float32) if t.dtype.itemsize < 4 else t  # sums of the gradient are taken in it
    separate = math.prod(x.shape[dim + 1 :]) < ADJACENT <= math.prod(x.shape[:dim])
    first = _taken(jnp.moveaxis(wide, dim, 0), index, 0) if separate else _taken(wide, index, dim)
    return _by_rows(x, index, dim), (jnp.moveaxis(first, 0, dim) if separate else first).astype(t.dtype)
