"""Arrays whose type says how they are cut over devices (axes of a mesh that are explicit): a dim that stretches is
gathered first, as in DTensors. Where the compiler cuts by itself, nothing is to be done."""

from collections.abc import Collection
from typing import Any

import jax
from jax.sharding import AxisType, PartitionSpec


def gathered(x: Any, kept: Collection[int] = ()) -> Any:
    """x whole along all dims but the kept ones."""
    its = getattr(jax.typeof(x), "sharding", None)
    if its is None or AxisType.Explicit not in its.mesh.axis_types:
        return x
    parts = (*its.spec, *[None] * (x.ndim - len(its.spec)))
    rest = tuple(part if d in kept else None for d, part in enumerate(parts))
    return x if rest == parts else jax.sharding.reshard(x, PartitionSpec(*rest))
