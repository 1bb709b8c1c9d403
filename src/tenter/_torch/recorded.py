"""Calls that torch.jit.trace records, in PyTorch's own functions.

A trace keeps lengths that change for these. The lengths of other operators become constants, and a list of floats, such
as scales, cannot be recorded at all.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812, its name everywhere
from torch import Tensor

from tenter._arrays.arguments import array, dim as one_dim
from tenter._arrays.torch_private import untraced
from tenter._rules.axis_rule import NEAREST
from tenter._specs import counts, interpolate_arguments, resize_arguments
from tenter._specs.repeat_arguments import expanded_shape, repeat_sizes, tile_sizes
from tenter._specs.resize import Interpolate
from tenter._torch.onnx_export import as_interpolate, into_integers, mode_of

# Makes the result when the trace goes on.
Recording = Callable[[], Tensor] | None
FULL = (torch.float32, torch.float64)
HALF = (torch.float16, torch.bfloat16)


def recorded(call: str, x: Any, *args: Any) -> Tensor | None:
    """Returns the result of a call. None if PyTorch has no such function. Refuses what the call refuses."""
    with untraced():
        make: Recording = globals()[call](array("x", x), *args)
    return None if make is None else make()


# ---- functions with the names of the calls


def interpolate(x: Tensor, *given: Any) -> Recording:
    spec = interpolate_arguments.checked(x, interpolate_arguments.Arguments(*given))
    size, scale_factor, mode, corners, recompute, antialias = given
    if size is not None:
        sizes = size if isinstance(size, (int, list, tuple)) or _is_scalar(size) else list(spec.size)
        return _interpolated(x, spec, sizes, None, mode, corners, recompute, antialias)
    factors = interpolate_arguments.factors(scale_factor)
    return _interpolated(x, spec, None, [*factors] * (len(spec.size) // len(factors)), *given[2:])


def resize(x: Tensor, *given: Any) -> Recording:
    spec, flipped = resize_arguments.checked(x, resize_arguments.Arguments(*given))
    found = None if flipped else as_interpolate(spec, x.ndim)
    if found is None or found.scales is None:
        return None
    corners = found.align_corners or None
    return _interpolated(x, found, None, list(found.scales), mode_of(found), corners, False, found.antialias)


def _interpolated(x: Tensor, spec: Interpolate, size: Any, factors: Any, *how: Any) -> Recording:
    if mode_of(spec) is None or (spec.antialias and x.ndim != 4):
        return None
    if x.dtype in FULL or (x.dtype in HALF and not spec.antialias):
        return lambda: F.interpolate(x, size, factors, *how)
    if x.dtype == torch.uint8 and spec.kind in NEAREST:
        return lambda: F.interpolate(x, size, factors, *how)
    if x.dtype == torch.uint8:  # PyTorch's own function does not round to the nearest
        return lambda: into_integers(F.interpolate(x.to(torch.float32), size, factors, *how), x.dtype)
    return None


def repeat_interleave(x: Tensor, repeats: Any, dim: Any, output_size: Any) -> Recording:
    axis = 0 if dim is None else one_dim("dim", dim, x.ndim)
    n = x.numel() if dim is None else x.shape[axis] if x.ndim else 1
    counts.checked(counts.unwrapped("repeats", repeats, n), n, None if dim is None else axis, output_size)
    if not (type(repeats) is int or (isinstance(repeats, Tensor) and repeats.device == x.device)):
        return None
    return lambda: torch.repeat_interleave(x, repeats, dim, output_size=output_size)


def repeat(x: Tensor, *given: Any) -> Recording:
    repeat_sizes("sizes", given, x.ndim)
    return (lambda: x.repeat(*given)) if _are_sizes(given) else None


def tile(x: Tensor, *given: Any) -> Recording:
    tile_sizes("dims", given, x.ndim)
    return (lambda: x.tile(*given)) if _are_sizes(given) else None


def expand(x: Tensor, *given: Any) -> Recording:
    expanded_shape("sizes", given, x)
    return (lambda: x.expand(*given)) if _are_sizes(given) else None


def _are_sizes(given: tuple[Any, ...]) -> bool:
    """True if PyTorch's methods take these sizes as they are."""
    sizes = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
    return all(isinstance(n, int) or _is_scalar(n) for n in sizes)


def _is_scalar(n: Any) -> bool:
    """True for a length in a trace."""
    return isinstance(n, Tensor) and n.ndim == 0
