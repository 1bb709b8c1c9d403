"""Reshapes x for a repeat."""

from typing import Any

from tenter._arrays import limits
from tenter._arrays.arguments import dim as one_dim
from tenter._arrays.library import of
from tenter._execution import executor
from tenter._specs.repeat import Repeat
from tenter._specs.repeat_arguments import ones_in_front


def along(x: Any, name: str, dim: Any) -> tuple[Any, int]:
    """Returns (x, dim) for a repeat by counts: x flattened if dim is None, and a 0-d x as one element."""
    if dim is None:
        return executor.of(x).flat(x), 0
    axis = one_dim(name, dim, x.ndim)
    return (x if x.ndim else executor.of(x).reshape(x, (1,))), axis


def as_a_whole(x: Any, name: str, sizes: tuple[int, ...]) -> tuple[Any, Repeat]:
    """Returns x with at least one dim for each size, and the specification that repeats it."""
    front, spec = x, Repeat(sizes, False)
    if len(sizes) > x.ndim:
        front = executor.of(x).reshape(x, ones_in_front(x.shape, len(sizes)))
    limits.addressable(name, spec.shape_out(tuple(front.shape)), of(x).itemsize(x))
    return front, spec
