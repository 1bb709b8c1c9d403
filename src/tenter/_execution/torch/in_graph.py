"""Calls that PyTorch's compiler keeps whole in its graphs.

Compiled code checks, each time that it runs, every name that the compiler has read while it followed Python: hundreds
for a call of tenter's. It does not follow `whole`, which it runs with tensors of its own.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tenter._arrays import library
from tenter._arrays.arguments import array, dim as one_dim, error
from tenter._arrays.errors import Refusal
from tenter._arrays.torch_private import constant, functorch_active, in_compiler
from tenter._execution.torch import dispatch
from tenter._specs import counts, interpolate_arguments, resize_arguments
from tenter._specs.repeat import Repeat, every
from tenter._specs.repeat_arguments import expanded_shape, ones_in_front, repeat_sizes, tile_sizes

# Types of arguments that a graph holds.
KEPT = frozenset((type(None), bool, int, float, str, tuple, list, Tensor, torch.nn.Parameter, torch.Size))


def kept(call: str, x: Tensor, *args: Any) -> Any:
    """A call where the compiler follows; None for one that it is to follow further."""
    types, level = [], list(args)
    while level:
        types += [type(a) for a in level]
        level = [b for a in level if type(a) in (tuple, list) for b in a]
    return whole(call, x, *args) if ready(*types) else None


def ready(*types: type) -> bool:
    """Whether a call with arguments of these types is kept whole. Called where the compiler follows, as only then it is
    loaded. A first call of the process is followed, as it fills tables, which the compiler has read."""
    torch.compiler.allow_in_graph(whole)
    return library.loaded("torch") and KEPT.issuperset(types)


constant(ready)


def whole(call: str, x: Tensor, *args: Any) -> Tensor | None:
    """The result of a call. None while the compiler looks at one that is refused: it then follows the Python of it,
    which raises the error."""
    try:
        return CALLS[call](array("x", x), *args)
    except Refusal as refusal:
        if in_compiler():
            return None
        raise error(refusal, call, x, *args) from None
    except (TypeError, ValueError, IndexError, MemoryError):
        if in_compiler():
            return None
        raise


def _repeat_interleave(x: Tensor, repeats: Any, dim: Any, output_size: Any) -> Tensor | None:
    if dim is None:
        flat, axis = dispatch.gathered(x).flatten(), 0
    else:
        axis = one_dim("dim", dim, x.ndim)
        flat = x if x.ndim else x.reshape(1)
    if isinstance(repeats, (Tensor, list, tuple)):
        # A length that is not known may be that of a result alone in a graph, but not under vmap.
        if functorch_active():
            return None
        return dispatch.call(flat, dispatch.record_counts(flat, repeats, axis, output_size))
    each = counts.one_for_all(repeats, flat.shape[axis], output_size, True)
    return dispatch.call(flat, every(flat.ndim, axis, each))


def _repeat(x: Tensor, *given: Any) -> Tensor:
    return _as_a_whole(x, repeat_sizes("sizes", given, x.ndim))


def _tile(x: Tensor, *dims: Any) -> Tensor:
    return _as_a_whole(x, tile_sizes("dims", dims, x.ndim))


def _as_a_whole(x: Tensor, each: tuple[int, ...]) -> Tensor:
    front = x.reshape(ones_in_front(x.shape, len(each))) if len(each) > x.ndim else x
    return dispatch.call(front, Repeat(each, False))


def _expand(x: Tensor, *given: Any) -> Tensor:
    return x.expand(expanded_shape("sizes", given, x))


def _interpolate(x: Tensor, *given: Any) -> Tensor:
    return dispatch.call(x, interpolate_arguments.checked(x, interpolate_arguments.Arguments(*given)))


def _resize(x: Tensor, *given: Any) -> Tensor | None:
    spec, turned = resize_arguments.checked(x, resize_arguments.Arguments(*given))
    if turned or any(rule.edge in ("constant", "extrapolate") for rule in spec.rules):
        return None
    return dispatch.call(x, spec)


CALLS: dict[str, Callable[..., Tensor | None]] = {
    "repeat_interleave": _repeat_interleave,
    "repeat": _repeat,
    "tile": _tile,
    "expand": _expand,
    "interpolate": _interpolate,
    "resize": _resize,
}
