"""JAX arrays whose type says how they are sharded (explicit axes of a mesh). A dim that changes its length is gathered
first, as for DTensors. Nothing is needed where the compiler decides the sharding."""

from collections.abc import Collection
from typing import Any

import jax
from jax.sharding import AxisType, PartitionSpec


def gathered(x: Any, batch_dims: Collection[int] = ()) -> Any:
    """Returns x, gathered along all dims except batch_dims."""
    its = getattr(jax.typeof(x), "sharding", None)
    if its is None or AxisType.Explicit not in its.mesh.axis_types:
        return x
    parts = (*its.spec, *[None] * (x.ndim - len(its.spec)))
    rest = tuple(part if d in batch_dims else None for d, part in enumerate(parts))
    return x if rest == parts else jax.sharding.reshard(x, PartitionSpec(*rest))
