"""JAX's executor. It is the Array API's, except for the functions here."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tenter._arrays.jax_arrays import dtype_name, is_traced
from tenter._jax import counts, on_host, sharding
from tenter._jax.linear import along
from tenter._specs import counts as counts_spec
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.spec import Spec
from tenter._standard import executor as standard
from tenter._standard.apply import applied
from tenter._standard.executor import (
    cached as cached,
    cast as cast,
    copy_into as copy_into,
    disjoint as disjoint,
    execute as execute,
    expand as expand,
    expand_fast as expand_fast,
    filled as filled,
    flip as flip,
    ones as ones,
    over as over,
    place_offsets as place_offsets,
    reshape as reshape,
    rounded as rounded,
    run as run,
    run_read as run_read,
    shifted as shifted,
    traced_labels as traced_labels,
    traced_value as traced_value,
    widened as widened,
    writable as writable,
    write as write,
    wrote as wrote,
    zeroed as zeroed,
)


def dispatched(x: Any, spec: Spec) -> Any:
    if is_traced(x) or (isinstance(spec, RepeatCounts) and is_traced(spec.offsets)):
        return _traced(x, spec)
    standard.check_memory(spec.shape_out(x.shape), x)
    if on_host.can_run(x):
        return on_host.performed(x, spec)
    if isinstance(spec, RepeatCounts):
        return _by_counts(x, jnp.asarray(spec.offsets), spec.dim, spec.n_out)
    return _compiled(x, spec)


def flat(x: Any) -> Any:
    return standard.flat(sharding.gathered(x))


def _traced(x: Any, spec: Spec) -> Any:
    batch_dims = spec.batch_dims(x.ndim)
    if isinstance(spec, Repeat) and x.ndim - len(batch_dims) > 1:
        batch_dims = []  # several dims need one reshape, and JAX has none for a sharded dim
    x = sharding.gathered(x, batch_dims)
    if isinstance(spec, RepeatCounts) and not isinstance(spec.offsets, np.ndarray):
        return counts.repeated(x, spec)
    name = dtype_name(x)
    return applied(x, spec.maps(x.shape, name, False), spec.rounding_of(name), along, jax.lax.complex)


_compiled = partial(jax.jit, static_argnames="spec")(_traced)


@partial(jax.jit, static_argnames=("dim", "n_out"))
def _by_counts(x: Any, offsets: Any, dim: int, n_out: int) -> Any:
    return _traced(x, RepeatCounts(offsets, dim, n_out))


def traced_counts(x: Any, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    if isinstance(repeats, (list, tuple)) and any(is_traced(r) for r in repeats):
        repeats = jnp.stack([jnp.asarray(r) for r in repeats])
    if is_traced(repeats):
        return counts.offsets(repeats, x.shape[dim], dim, output_size)
    return standard.traced_counts(x, repeats, dim, output_size)


def traced_positions(repeats: Any, dim: Any, output_size: Any) -> Any:
    if not is_traced(repeats):
        return standard.traced_positions(repeats, dim, output_size)
    counts_spec.check_alone("repeats", repeats.ndim, dim)
    x = standard.positions(repeats)
    return dispatched(x, traced_counts(x, repeats, 0, output_size))
