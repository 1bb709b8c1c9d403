"""PyTorch tensors on the CPU. Imported only once the caller has imported torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd import forward_ad
from torch.utils._python_dispatch import _get_current_dispatch_mode

from tenter.frontends.view import View
from tenter.maps import AxisMap

Maps = tuple[tuple[int, AxisMap], ...]
NAMES = {getattr(torch, name): name for name in (
    "float32", "float64", "float16", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
    "int64", "bool", "complex32", "complex64", "complex128")}  # fmt: skip


def problem(x: torch.Tensor) -> str | None:
    """Why a kernel cannot read x: it needs raw memory at hand, and to be run, not recorded."""
    if isinstance(x, FakeTensor):
        return "a fake tensor"
    if x.is_nested or x.is_quantized:
        return "a nested or quantized tensor"
    if type(x) not in (torch.Tensor, torch.nn.Parameter):
        return f"a {type(x).__name__}, whose own rules would be lost"
    if x.device.type != "cpu":
        return f"a tensor on {x.device.type}"
    if x.layout is not torch.strided:
        return f"a {str(x.layout).removeprefix('torch.')} tensor"
    if torch._C._functorch.is_functorch_wrapped_tensor(x) or torch._is_functional_tensor(x):
        return "a tensor inside torch.func"
    if torch._C._get_tracing_state() is not None or _get_current_dispatch_mode() is not None:
        return "a tensor that a tracer or a dispatch mode follows, from which a kernel's work is hidden"
    if x._is_zerotensor() or not _has_memory(x):
        return "a tensor without memory"
    return None


def _has_memory(x: torch.Tensor) -> bool:
    if x.numel() == 0:
        return True
    last = x.storage_offset() + sum((n - 1) * s for n, s in zip(x.shape, x.stride()))
    try:
        return x.untyped_storage().nbytes() >= (last + 1) * x.element_size()
    except (RuntimeError, NotImplementedError):  # a batch of gradients, say
        return False


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
    return torch.from_numpy(f(to_numpy(x.to(wide)))).to(x.dtype)


def dtype_name(x: torch.Tensor) -> str:
    return NAMES.get(x.dtype) or str(x.dtype).removeprefix("torch.")


def itemsize(x: torch.Tensor) -> int:
    return x.element_size()


def allocate(x: torch.Tensor, shape: tuple[int, ...], order: tuple[int, ...]) -> torch.Tensor:
    """A fresh tensor of x's dtype whose dims lie in memory in the given order."""
    try:
        if order == tuple(range(len(shape))):
            return torch.empty(shape, dtype=x.dtype, device="cpu")
        return torch.empty_permuted(shape, order, dtype=x.dtype, device="cpu")
    except RuntimeError as failed:  # what PyTorch's allocator raises
        raise MemoryError(f"result: no memory for shape {shape} of {x.dtype}") from failed


def view(x: torch.Tensor) -> View:
    size, pointer = x.element_size(), x.data_ptr()
    if pointer == 0 and x.numel():
        raise TypeError("expected a tensor with memory of its own")  # what problem() has not thought of
    return View(pointer, tuple(x.shape), tuple(s * size for s in x.stride()), dtype_name(x), size)


def resolve(x: torch.Tensor) -> torch.Tensor:
    """The values themselves: conj and neg are flags on a tensor until something reads it."""
    return x.resolve_conj().resolve_neg()


def differentiable(x: torch.Tensor) -> bool:
    return (x.requires_grad and torch.is_grad_enabled()) or forward_ad._current_level >= 0


class _Apply(torch.autograd.Function):
    """Maps applied; the gradient is the transposed maps applied, and so on; the tangent the maps themselves."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, maps: Maps, run: Callable[..., Any]) -> torch.Tensor:
        ctx.maps, ctx.run = maps, run
        result: torch.Tensor = run(x, maps)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        from tenter import check, limits  # late: check reads this module

        try:
            if found := problem(grads[0]):
                limits.refuse(TypeError, "grad", "a plain CPU tensor", found)
            return apply(grads[0], tuple((axis, m.T) for axis, m in ctx.maps), ctx.run), None, None
        except limits.Refusal as refusal:
            raise check.error(refusal, "backward", grad=grads[0]) from None

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor) -> torch.Tensor:
        return apply(tangents[0], ctx.maps, ctx.run)


def apply(x: torch.Tensor, maps: Maps, run: Callable[..., Any]) -> torch.Tensor:
    """run(x, maps), recorded for autograd where it records."""
    x = resolve(x)
    if differentiable(x):
        result: torch.Tensor = _Apply.apply(x, maps, run)  # type: ignore[no-untyped-call]
        return result
    return run(x, maps)  # type: ignore[no-any-return]


def expand(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    return x.expand(shape)
