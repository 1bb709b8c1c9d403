"""PyTorch's executor."""

from typing import Any

import numpy as np
import torch

from tenter._arrays import arguments, library, names, torch_tensors
from tenter._arrays.errors import refuse_short
from tenter._arrays.torch_private import constant
from tenter._arrays.torch_tensors import TORCH_DTYPES, is_ordinary, short
from tenter._arrays.types import Array
from tenter._rules import filters
from tenter._rules.filters import NOTHING
from tenter._torch import device, dispatch, traced_segments
from tenter._torch.cached import cached as cached, expand_fast as expand_fast
from tenter._torch.dispatch import (
    traced_counts as traced_counts,
    traced_positions as traced_positions,
)
from tenter._torch.gradients import execute as execute, execute_adjoint as execute_adjoint
from tenter._torch.run import (
    disjoint as disjoint,
    large_empty as large_empty,
    run as run,
    run_read as run_read,
    writable as writable,
    write as write,
    wrote as wrote,
)
from tenter._torch.segmented import (
    extremes as extremes,
    pad as pad,
    repeat_padded as repeat_padded,
    unpad as unpad,
)
from tenter.maps._kinds import only_copies
from tenter.maps._written import written

# For dtypes with almost no kernels in PyTorch: the signed dtype of the same size.
SIGNED = {TORCH_DTYPES[f"u{name}"]: TORCH_DTYPES[name] for name in ("int16", "int32", "int64")}
WIDENED = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
dispatched = dispatch.call
tracing: Any = traced_segments
# The compiler stores the name of a filter, or a map in words, in its graph. It does not follow how these are found or
# compared.
constant(filters.named)
constant(library.confuses_functions)
constant(written)
constant(only_copies)
constant(arguments.did_you_mean)
constant(names.meant)
constant(names.by_name)


def traced_value(x: torch.Tensor, spec: Any, value: Any) -> None:
    return None


traced_labels = traced_value


def place_offsets(offsets: Array, x: torch.Tensor) -> Any:
    return offsets if torch_tensors.device(x) is None else device.sent(offsets, x)


def flat(x: torch.Tensor) -> torch.Tensor:
    return dispatch.gathered(x).flatten()  # reshape(-1) fails where vmap maps over nothing


def reshape(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    return torch_tensors.of_type(x, x.reshape(shape))


def expand(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    if (found := short(x)) is not None:  # PyTorch makes no view of it
        refuse_short("x", found)
    return torch_tensors.of_type(x, x.expand(shape))


def copy_into(out: torch.Tensor, result: torch.Tensor) -> None:
    out.copy_(result.detach())


def flip(x: torch.Tensor, axes: tuple[int, ...]) -> torch.Tensor:
    if x.dtype == torch.complex32:
        return torch.view_as_complex(torch.view_as_real(x).flip(axes))
    signed = torch.uint8 if str(x.dtype).startswith("torch.float8") else SIGNED.get(x.dtype)
    flipped = x.flip(axes) if signed is None else x.view(signed).flip(axes).view(x.dtype)
    return torch_tensors.of_type(x, flipped)


def ones(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.new_ones((n,), dtype=torch.float64)


def filled(x: torch.Tensor, inside: torch.Tensor, value: Any) -> torch.Tensor:
    laid_out = torch.empty_like(x, dtype=torch.bool).copy_(inside)  # `where` takes the layout of its first operand
    fill = torch.full((), value, dtype=x.dtype, device=x.device)
    if (signed := SIGNED.get(x.dtype)) is None:
        return torch.where(laid_out, x, fill)
    return torch.where(laid_out, x.view(signed), fill.view(signed)).view(x.dtype)


def element(x: torch.Tensor, value: Any) -> bytes:
    return torch.full((1,), value, dtype=x.dtype).view(torch.uint8).numpy().tobytes()


def shifted(x: torch.Tensor, outside: torch.Tensor, value: Any, like: torch.Tensor) -> torch.Tensor:
    wide = torch.complex128 if x.is_complex() else torch.float64  # as in the core
    return rounded((x.to(wide) + torch.where(outside.abs() > NOTHING, outside * value, 0.0)).to(x.dtype), like)


def rounded(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if like.dtype.is_floating_point or like.dtype.is_complex:
        return x.to(like.dtype)
    info = torch.iinfo(like.dtype)
    y = x.round()
    over = y >= float(info.max)  # float64 cannot hold the largest 64-bit integer
    return filled(torch.where(over, 0.0, y.clamp(min=info.min)).to(like.dtype), ~over, info.max)


def widened(x: torch.Tensor) -> torch.Tensor:
    return x.to(WIDENED.get(x.dtype, torch.float64))


def cast(x: torch.Tensor, dtype: str) -> torch.Tensor:
    return x.to(TORCH_DTYPES[dtype])


def zeroed(x: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    return filled(x, valid, 0)


def over(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x / y


def narrowed(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return x.to(like.dtype)


def divided(x: torch.Tensor, lengths: Any, dim: int) -> torch.Tensor:
    by = torch.from_numpy(lengths).to(x.device) if isinstance(lengths, np.ndarray) else lengths
    by = by.clamp(min=1).to(x.real.dtype if x.is_complex() else x.dtype)
    by = by.reshape(-1, *(1,) * (x.ndim - dim - 1))
    return x.div_(by) if _is_own(x) else x / by


def detached(x: torch.Tensor) -> torch.Tensor:
    return x.detach()


def ratio(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y, out=y) if _is_own(x) and _is_own(y) else x / y


def exponential(x: torch.Tensor) -> torch.Tensor:
    return x.exp_()


def exponentials(x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    return torch.sub(x, shift, out=shift).exp_() if _is_own(x) and _is_own(shift) else (x - shift).exp()


def _is_own(x: torch.Tensor) -> bool:
    """True if a fresh result that nothing else refers to may be overwritten."""
    return is_ordinary(x) and not (x.requires_grad and torch.is_grad_enabled())
