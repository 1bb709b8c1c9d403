"""JAX's executor: the standard's, but for what is here."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tenter._arrays.jax_arrays import dtype_name, is_traced
from tenter._execution.jax import counts, on_host, sharding
from tenter._execution.jax.linear import along
from tenter._execution.standard import executor as standard
from tenter._execution.standard.apply import applied
from tenter._execution.standard.executor import (
    again as again,
    apart as apart,
    copy_into as copy_into,
    execute as execute,
    expand as expand,
    expand_fast as expand_fast,
    filled as filled,
    flip as flip,
    known as known,
    ones as ones,
    place as place,
    place_offsets as place_offsets,
    plain as plain,
    record_value as record_value,
    repeat_counts as repeat_counts,
    reshape as reshape,
    room as room,
    run as run,
    shifted as shifted,
    widened as widened,
    write as write,
    wrote as wrote,
)
from tenter._specs import counts as counts_spec
from tenter._specs.repeat import Repeat, RepeatCounts
from tenter._specs.spec import Spec


def record(x: Any, spec: Spec) -> Any:
    if is_traced(x) or (isinstance(spec, RepeatCounts) and is_traced(spec.offsets)):
        return _traced(x, spec)
    standard.check_room(spec.shape_out(x.shape), x)
    if on_host.serves(x):
        return on_host.performed(x, spec)
    if isinstance(spec, RepeatCounts):
        return _by_counts(x, jnp.asarray(spec.offsets), spec.dim, spec.n_out)
    return _compiled(x, spec)


def flat(x: Any) -> Any:
    return standard.flat(sharding.gathered(x))


def _traced(x: Any, spec: Spec) -> Any:
    kept = spec.kept(x.ndim)
    if isinstance(spec, Repeat) and x.ndim - len(kept) > 1:
        kept = []  # one reshape repeats several dims, and JAX has none where a dim is cut
    x = sharding.gathered(x, kept)
    if isinstance(spec, RepeatCounts) and not isinstance(spec.offsets, np.ndarray):
        return counts.repeated(x, spec)
    name = dtype_name(x)
    return applied(x, spec.maps(x.shape, name, False), spec.saturates(name), along, jax.lax.complex)


_compiled = partial(jax.jit, static_argnames="spec")(_traced)


@partial(jax.jit, static_argnames=("dim", "n_out"))
def _by_counts(x: Any, offsets: Any, dim: int, n_out: int) -> Any:
    return _traced(x, RepeatCounts(offsets, dim, n_out))


def record_counts(x: Any, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    if isinstance(repeats, (list, tuple)) and any(is_traced(r) for r in repeats):
        repeats = jnp.stack([jnp.asarray(r) for r in repeats])
    if is_traced(repeats):
        return counts.offsets(repeats, x.shape[dim], dim, output_size)
    return standard.record_counts(x, repeats, dim, output_size)


def record_positions(repeats: Any, dim: Any, output_size: Any) -> Any:
    if not is_traced(repeats):
        return standard.record_positions(repeats, dim, output_size)
    counts_spec.check_alone("repeats", repeats.ndim, dim)
    x = standard.positions(repeats)
    return record(x, record_counts(x, repeats, 0, output_size))
