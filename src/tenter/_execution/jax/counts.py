"""repeat_interleave by counts that are traced: how long the result is must be said beforehand, and whether that was
right is known when the code runs."""

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

# Elements beside each other from which on it does not matter where a dim lies.
BESIDE = 16
NEEDED = "the sum of the counts, an int, as code that JAX compiles has fixed shapes"


def offsets(repeats: Any, n: int, dim: int, output_size: Any) -> RepeatCounts:
    """Verified where the caller's code is transformed by `jax.experimental.checkify`."""
    counts_spec.check_shape("repeats", dtype_name(repeats), repeats.shape, n, dim)
    if output_size is None:
        refuse(TypeError, "output_size", NEEDED, "None")
    n_out = integer("output_size", output_size, NEEDED, 0)
    wide = jax.dtypes.canonicalize_dtype(jnp.int64)
    each = jnp.broadcast_to(repeats.astype(wide), (n,))
    ends = jnp.cumsum(each)
    total = ends[-1] if n else jnp.zeros((), wide)
    checkify.debug_check(jnp.all(each >= 0), "repeats: expected counts that are not negative, got {least}",
                         least=jnp.min(each, initial=0))  # fmt: skip
    # Sums of 32 bits may wrap, those of floats are about right.
    about = each.astype(jnp.float32).sum()
    fits = jnp.abs(about - total.astype(jnp.float32)) <= 2.0**31
    checkify.debug_check(fits, "repeats: expected counts whose sum fits their dtype, got about {about}", about=about)
    checkify.debug_check(total == n_out, "output_size: expected {total}, the sum of the counts, got {n_out}",
                         total=total, n_out=jnp.asarray(n_out, wide))  # fmt: skip
    return RepeatCounts(jnp.concatenate([jnp.zeros(1, wide), ends]), dim, n_out)


def repeated(x: Any, spec: RepeatCounts) -> Any:
    """Positions past the true total are zero."""
    n, n_out, dim = x.shape[spec.dim], spec.n_out, spec.dim
    if not n or not n_out:
        return jnp.zeros(spec.shape_out(x.shape), x.dtype)
    # How many runs have ended before each output: past the true total all have, which is no position of x.
    ended = jnp.zeros(n_out, jnp.int32).at[spec.offsets[1:]].add(1, mode="drop")
    index = jnp.cumsum(ended)
    take = _by_rows if jnp.issubdtype(x.dtype, jnp.inexact) else _taken
    return take(x, index, dim)


def _taken(x: Any, index: Any, dim: int) -> Any:
    return jnp.take(x, index, axis=dim, mode="fill", fill_value=0)


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _by_rows(x: Any, index: Any, dim: int) -> Any:
    """A take whose gradient adds rows: what lies apart is added one by one, which takes six times as long."""
    return _taken(x, index, dim)


@_by_rows.defjvp
def _tangent(dim: int, primals: Any, tangents: Any) -> tuple[Any, Any]:
    (x, index), t = primals, tangents[0]
    wide = t.astype(jnp.float32) if t.dtype.itemsize < 4 else t  # in which the gradient's sums are taken
    apart = math.prod(x.shape[dim + 1 :]) < BESIDE <= math.prod(x.shape[:dim])
    first = _taken(jnp.moveaxis(wide, dim, 0), index, 0) if apart else _taken(wide, index, dim)
    return _by_rows(x, index, dim), (jnp.moveaxis(first, 0, dim) if apart else first).astype(t.dtype)
