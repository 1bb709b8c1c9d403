"""PyTorch tensors. Imported only once the caller has imported torch.

A plain tensor in eager code takes the short way: its memory is read and written here. Everything else (torch.func, the
compiler, export, fake and meta tensors, subclasses, autocast) is for the dispatcher, so it goes through the registered
operators of `library.py`, whose kernels end here too. What is special about tensors on a device is in `device.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import torch
from torch.compiler import is_compiling

from tenter import _native, filters, memory
from tenter.frontends.layout import NOTHING, Layout
from tenter.frontends.torch import device, private
from tenter.frontends.torch.counts import repeat_counted as repeat_counted
from tenter.frontends.torch.plain import KINDS, bare, extent, holds, in_block, memory_order, plain, recorded

if TYPE_CHECKING:
    from tenter.apply import Planned
    from tenter.stretch import RepeatCounts, Stretch

NAMES = {getattr(torch, name): name for name in (
    "float32", "float64", "float16", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
    "int64", "bool", "complex32", "complex64", "complex128")}  # fmt: skip
# Dtypes for which PyTorch has next to no kernels, and others of their size that it moves about.
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
__all__ = ["KINDS", "memory_order", "plain", "recorded"]

# The compiler keeps the name of a filter in its graph, and need not follow how it is found.
private.constant(filters.named)
_native.join_openmp()  # PyTorch's threads, which would be in the way of others


def problem(x: torch.Tensor) -> str | None:
    """Why no kernel can serve x."""
    if x.is_nested or x.is_quantized:
        return "a nested or quantized tensor"
    if x.layout is not torch.strided:
        return f"a {str(x.layout).removeprefix('torch.')} tensor"
    return device.problem(x)


def unreadable(x: torch.Tensor) -> str | None:
    """Why x's values can't be had on the host now."""
    return f"a tensor on {x.device.type}" if device.name(x) is not None else unservable(x)


def unservable(x: torch.Tensor) -> str | None:
    """Why kernels can't read x's memory now."""
    if x.device.type == "meta":
        return "a meta tensor, which has no values"
    if type(x) not in KINDS or not bare(resolve(x)):
        return f"a {type(x).__name__} under a transform, a tracer or rules of its own"
    return None if holds(x, extent(x)) else "one whose storage is too small"


def strides(x: torch.Tensor) -> tuple[int, ...]:
    return x.stride()


def to_numpy(x: torch.Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = resolve(x.detach()).numpy()
    return array


def from_numpy(x: npt.NDArray[Any]) -> torch.Tensor:
    return torch.from_numpy(x)


def unwritable(x: torch.Tensor) -> str | None:
    if x.requires_grad:
        return "a tensor that requires grad"
    if x.is_inference() and not torch.is_inference_mode_enabled():
        return "an inference tensor"
    return "an expanded tensor" if any(s == 0 and n > 1 for n, s in zip(x.shape, x.stride())) else None


def copy_into(out: torch.Tensor, result: torch.Tensor) -> None:
    out.copy_(result.detach())


def through_numpy(x: torch.Tensor, f: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> torch.Tensor:
    """f of x's values, in a dtype that NumPy has: it lacks bfloat16 and complex32."""
    wide = {torch.bfloat16: torch.float64, torch.complex32: torch.complex128}.get(x.dtype, x.dtype)
    try:
        values = to_numpy(x.to(wide))
    except TypeError:
        from tenter import limits

        limits.refuse(TypeError, "x", "numbers to take sums of", dtype_name(x))
    return torch.from_numpy(f(values)).to(x.dtype)


def dtype_name(x: torch.Tensor) -> str:
    return NAMES.get(x.dtype) or str(x.dtype).removeprefix("torch.")


def itemsize(x: torch.Tensor) -> int:
    return x.element_size()


def layout(x: torch.Tensor) -> Layout:
    size, place = x.element_size(), device.name(x)
    at = 0 if place is None else x.data_ptr() % 16
    return Layout(tuple(x.shape), tuple(s * size for s in x.stride()), dtype_name(x), size, place, at)


def place(x: torch.Tensor) -> tuple[Any, ...]:
    """What a plan for x depends on, beside its shape and dtype."""
    where = device.name(x)
    return x.stride() if where is None else (x.stride(), where, x.data_ptr() % 16)


def on_device(x: torch.Tensor) -> bool:
    return device.name(x) is not None


def running(offsets: npt.NDArray[Any], x: torch.Tensor) -> Any:
    """Running totals of counts, where kernels for x read them."""
    return device.running(offsets, x) if on_device(x) else offsets


def address(x: torch.Tensor) -> int:
    return x.data_ptr()


def flat(x: torch.Tensor) -> torch.Tensor:
    if recorded(x):
        from tenter.frontends.torch import library

        x = library.joined(x)
    return x.reshape(-1)


def resolve(x: torch.Tensor) -> torch.Tensor:
    """The values themselves: conj and neg are flags on a tensor until something reads it."""
    return x.resolve_conj().resolve_neg()


def flip(x: torch.Tensor, axes: tuple[int, ...]) -> torch.Tensor:
    if x.dtype == torch.complex32:
        return torch.view_as_complex(torch.view_as_real(x).flip(axes))
    signed = torch.uint8 if str(x.dtype).startswith("torch.float8") else SIGNED.get(x.dtype)
    return x.flip(axes) if signed is None else x.view(signed).flip(axes).view(x.dtype)


def ones(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.new_ones((n,), dtype=torch.float64)


def filled(x: torch.Tensor, inside: torch.Tensor, value: Any) -> torch.Tensor:
    """x where inside, elsewhere value."""
    return torch.where(inside, x, torch.full((), value, dtype=x.dtype, device=x.device))


def shifted(x: torch.Tensor, outside: torch.Tensor, value: Any, like: torch.Tensor) -> torch.Tensor:
    """x, widened where like is narrow, plus value by its weight outside, as like's dtype: integers are rounded half to
    even and saturated."""
    y = x + torch.where(outside.abs() > NOTHING, outside * value, 0.0).to(x.dtype)
    if like.dtype.is_floating_point or like.dtype.is_complex:
        return y.to(like.dtype)
    info = torch.iinfo(like.dtype)
    y = y.round()
    over = y >= float(info.max)  # which float64 cannot say of 64 bits
    return torch.where(over, info.max, torch.where(over, 0.0, y.clamp(min=info.min)).to(like.dtype))


def widened(x: torch.Tensor) -> torch.Tensor:
    halves = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
    return x.to(halves.get(x.dtype, torch.float64))


def expand_plainly(x: torch.Tensor, sizes: tuple[Any, ...]) -> torch.Tensor | None:
    """PyTorch's own view, which costs less than checking; None where there is something to say."""
    if len(sizes) == 1 and type(sizes[0]) is tuple:
        sizes = sizes[0]
    if is_compiling() or bool in map(type, sizes):
        return None
    try:
        view = x.expand(sizes)
    except (RuntimeError, TypeError):
        return None
    return view if view.numel() < 1 << 58 else None


def expand(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    return x.expand(shape)


def run(x: torch.Tensor, planned: Planned) -> torch.Tensor:
    """Fresh memory with the planned maps applied."""
    # As `holds` says, in place: this runs on every call.
    if x.untyped_storage().nbytes() < x.storage_offset() * planned.itemsize + planned.extent and planned.extent:
        from tenter import limits  # late: check reads this module

        limits.refuse(TypeError, "x", "a tensor with memory of its own", "one whose storage is too small")
    if planned.device is not None:
        return device.run(x, planned)
    steps = planned.steps
    if steps is None:
        return planned.slowly(x)
    held = memory.block(planned.n_bytes)
    if held is not None:
        y = in_block(held, x.dtype, planned.shape_out, planned.order)
        steps.run(x.data_ptr(), held.address, memory.past_caches(held, planned.n_bytes))
        return y
    try:
        if planned.like is not None:
            y = torch.empty_like(planned.like)
        else:
            order = planned.order or tuple(range(len(planned.shape_out)))
            y = torch.empty_permuted(planned.shape_out, order, dtype=x.dtype, device="cpu")
            if steps.small_kernel is not None:
                planned.like = _like(y)
    except RuntimeError as failed:  # what PyTorch's allocator raises
        raise MemoryError(f"result: no memory for shape {planned.shape_out} of {x.dtype}") from failed
    if steps.small_kernel is not None:
        steps.small_kernel(x.data_ptr(), y.data_ptr(), 1, False)
    else:
        steps.run(x.data_ptr(), y.data_ptr())
    return y


def _like(y: torch.Tensor) -> torch.Tensor:
    """What results look like, without their memory: making one after another is the fastest of PyTorch's factories."""
    like = torch.empty_like(y)
    like.untyped_storage().resize_(0)
    return like


def again(x: torch.Tensor, planned: Planned) -> torch.Tensor:
    """A plain tensor's steps, recorded for autograd where it records."""
    if x.requires_grad and torch.is_grad_enabled():
        return _run(x, planned)  # type: ignore[no-any-return]
    return run(x, planned)


def execute(x: torch.Tensor, planned: Planned) -> torch.Tensor:
    """The same, for tensors with tangents too."""
    if private.forward_mode():
        return _run(x, planned)  # type: ignore[no-any-return]
    return again(x, planned)


def counted(x: torch.Tensor, repeats: Any, dim: int, output_size: Any) -> RepeatCounts:
    from tenter.frontends.torch import library

    return library.counted(x, repeats, dim, output_size)


def positions(repeats: torch.Tensor, dim: Any, output_size: Any) -> torch.Tensor:
    from tenter.frontends.torch import library

    return library.positions(repeats, dim, output_size)


def record(x: torch.Tensor, does: Stretch) -> torch.Tensor:
    from tenter.frontends.torch import library

    return library.call(x, does)


class _Run(torch.autograd.Function):
    """A plain tensor's gradient: the transposed maps, and so on."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, planned: Planned) -> torch.Tensor:
        ctx.planned = planned
        return run(x, planned)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        from tenter import check, limits  # late: check reads this module

        planned, g = ctx.planned, grads[0]
        try:
            if g.shape != planned.shape_out or g.itemsize != planned.itemsize:  # who calls it by hand may pass anything
                got = f"{dtype_name(g)}{list(g.shape)}"
                limits.refuse(ValueError, "grad", f"shape {planned.shape_out}, as the result had", got)
            if plain(g):
                back = planned.adjoint(g)
                x = _run(g, back) if g.requires_grad and torch.is_grad_enabled() else run(g, back)
            else:
                x = _record_adjoint(g, planned)
            return (x if x.shape == planned.shape_in else x.reshape(planned.shape_in)), None
        except limits.Refusal as refusal:
            raise check.error(refusal, "backward", grad=g) from None

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor) -> torch.Tensor:
        """Of a map applied by itself; operations with tangents are for the dispatcher."""
        return execute(tangents[0], ctx.planned.relaid(tangents[0]))


_run = private.apply_of(_Run)


def _record_adjoint(g: torch.Tensor, planned: Planned) -> torch.Tensor:
    """The gradient of a gradient that is for the dispatcher."""
    from tenter import limits
    from tenter.frontends.torch import library

    if planned.does is not None and planned.transposed:
        return library.call(g, planned.does)
    if planned.does is not None:
        return library.call_adjoint(g, planned.does, planned.shape_planned)
    g = resolve(g)
    if found := unservable(g):  # of a map applied by itself, which is no operator
        limits.refuse(TypeError, "grad", "a plain tensor", found)
    return execute(g, planned.adjoint(g))
