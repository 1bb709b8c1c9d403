"""Calls that PyTorch's compiler puts in its graphs as one node.

Compiled code checks, on every run, each name that the compiler has read while it followed Python: hundreds for a call
of tenter. It does not follow `whole`. It calls `whole` with its own tensors.
"""

from typing import Any

import torch
from torch import Tensor

from tenter._arrays import library, limits
from tenter._arrays.arguments import array, dim as one_dim, error
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_private import constant, functorch_active, in_compiler
from tenter._specs import counts, interpolate_arguments, resize_arguments
from tenter._specs.repeat import Repeat, every
from tenter._specs.repeat_arguments import expanded_shape, ones_in_front, repeat_sizes, tile_sizes
from tenter._torch import dispatch

# Types of arguments that a graph can contain.
GRAPH_TYPES = frozenset((bool, int, float, str, tuple, list, Tensor, torch.nn.Parameter, torch.Size))


def in_one_node(call: str, x: Tensor, *args: Any) -> Any:
    """Returns the result of a call that the compiler is following. None if the compiler must follow the call
    further."""
    # The type of None is not asked for: compiled code would compare it in Python, for each pair of defaults.
    types, level = [], [a for a in args if a is not None]
    while level:
        types += [type(a) for a in level]
        level = [b for a in level if type(a) in (tuple, list) for b in a if b is not None]
    return whole(call, x, *args) if ready(*types) else None


def ready(*types: type) -> bool:
    """True if a call with arguments of these types becomes one node. Runs while the compiler follows, because only then
    is it loaded. The first call of a process is followed further: it fills tables that the compiler has read."""
    torch.compiler.allow_in_graph(whole)
    return library.loaded("torch") and GRAPH_TYPES.issuperset(types)


constant(ready)


def whole(call: str, x: Tensor, *args: Any) -> Tensor | None:
    """Returns the result of a call. None if the compiler is looking at a call that is refused. It then follows the
    Python code, which raises the error."""
    try:
        return globals()[call](array("x", x), *args)  # type: ignore[no-any-return]
    except Refusal as refusal:
        if in_compiler():
            return None
        raise error(refusal, call, x, *args) from None
    except (TypeError, ValueError, IndexError, MemoryError):
        if in_compiler():
            return None
        raise


# ---- functions with the names of the calls


def repeat_interleave(x: Tensor, repeats: Any, dim: Any, output_size: Any) -> Tensor | None:
    if dim is None:
        flat, axis = dispatch.gathered(x).flatten(), 0
    else:
        axis = one_dim("dim", dim, x.ndim)
        flat = x if x.ndim else x.reshape(1)
    if isinstance(repeats, (Tensor, list, tuple)):
        # A length that is only known at run time can be a result's in a graph, but not under vmap.
        if functorch_active():
            return None
        return dispatch.call(flat, dispatch.traced_counts(flat, repeats, axis, output_size))
    each = counts.one_for_all(repeats, flat.shape[axis], output_size)
    return dispatch.call(flat, every(flat.ndim, axis, each))


def repeat(x: Tensor, *given: Any) -> Tensor:
    return _as_a_whole(x, "sizes", repeat_sizes("sizes", given, x.ndim))


def tile(x: Tensor, *dims: Any) -> Tensor:
    return _as_a_whole(x, "dims", tile_sizes("dims", dims, x.ndim))


def _as_a_whole(x: Tensor, name: str, each: tuple[int, ...]) -> Tensor:
    front, spec = x.reshape(ones_in_front(x.shape, len(each))) if len(each) > x.ndim else x, Repeat(each, False)
    limits.addressable(name, spec.shape_out(tuple(front.shape)), x.element_size())
    return dispatch.call(front, spec)


def expand(x: Tensor, *given: Any) -> Tensor:
    return x.expand(expanded_shape("sizes", given, x))


def interpolate(x: Tensor, *given: Any) -> Tensor:
    return dispatch.call(x, interpolate_arguments.checked(x, interpolate_arguments.Arguments(*given)))


def resize(x: Tensor, *given: Any) -> Tensor | None:
    spec, flipped = resize_arguments.checked(x, resize_arguments.Arguments(*given))
    if flipped or spec.reads_outside:
        return None
    return dispatch.call(x, spec)
