"""PyTorch tensors on the CPU. Imported only once the caller has imported torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import torch
from torch._subclasses.fake_tensor import FakeTensor

from tenter.frontends.view import View
from tenter.maps import AxisMap

Maps = tuple[tuple[int, AxisMap], ...]
NAMES = {getattr(torch, name): name for name in (
    "float32", "float64", "float16", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
    "int64", "bool", "complex32", "complex64", "complex128")}  # fmt: skip


def problem(x: torch.Tensor) -> str | None:
    """A kernel reads raw memory, so only tensors that have it at hand will do."""
    if isinstance(x, FakeTensor):
        return "a fake tensor"
    if x.device.type != "cpu":
        return f"a tensor on {x.device.type}"
    if x.layout is not torch.strided:
        return f"a {str(x.layout).removeprefix('torch.')} tensor"
    if x.is_nested:
        return "a nested tensor"
    if x.is_quantized:
        return "a quantized tensor"
    if (
        type(x) not in (torch.Tensor, torch.nn.Parameter)
        and type(x).__torch_dispatch__ is not torch._C._disabled_torch_dispatch_impl
    ):
        return f"a {type(x).__name__}"
    if torch._C._functorch.is_batchedtensor(x) or torch._C._functorch.is_gradtrackingtensor(x):
        return "a tensor inside torch.func"
    return None


def to_numpy(x: torch.Tensor) -> npt.NDArray[Any]:
    array: npt.NDArray[Any] = x.detach().numpy()
    return array


def from_numpy(x: npt.NDArray[Any]) -> torch.Tensor:
    return torch.from_numpy(x)


def unwritable(x: torch.Tensor) -> str | None:
    return "a tensor that requires grad" if x.requires_grad else None


def dtype_name(x: torch.Tensor) -> str:
    return NAMES.get(x.dtype) or str(x.dtype).removeprefix("torch.")


def itemsize(x: torch.Tensor) -> int:
    return x.element_size()


def allocate(x: torch.Tensor, shape: tuple[int, ...], order: tuple[int, ...]) -> torch.Tensor:
    """A fresh tensor of x's dtype whose dims lie in memory in the given order."""
    try:
        if order == tuple(range(len(shape))):
            return torch.empty(shape, dtype=x.dtype)
        return torch.empty_permuted(shape, order, dtype=x.dtype)
    except RuntimeError as failed:  # what PyTorch's allocator raises
        raise MemoryError(f"result: no memory for shape {shape} of {x.dtype}") from failed


def view(x: torch.Tensor) -> View:
    size = x.element_size()
    return View(x.data_ptr(), tuple(x.shape), tuple(s * size for s in x.stride()), dtype_name(x), size)


def resolve(x: torch.Tensor) -> torch.Tensor:
    """The values themselves: conj and neg are flags on a tensor until something reads it."""
    return x.resolve_conj().resolve_neg()


def differentiable(x: torch.Tensor) -> bool:
    return x.requires_grad and torch.is_grad_enabled()


class _Apply(torch.autograd.Function):
    """Maps applied; the gradient is the transposed maps applied, and so on."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, maps: Maps, run: Callable[..., Any]) -> torch.Tensor:
        ctx.maps, ctx.run = maps, run
        result: torch.Tensor = run(x, maps)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, None, None]:
        transposed = tuple((axis, m.T) for axis, m in ctx.maps)
        return apply(grads[0], transposed, ctx.run), None, None


def apply(x: torch.Tensor, maps: Maps, run: Callable[..., Any]) -> torch.Tensor:
    """run(x, maps), recorded for autograd where it records."""
    x = resolve(x)
    if differentiable(x):
        result: torch.Tensor = _Apply.apply(x, maps, run)  # type: ignore[no-untyped-call]
        return result
    return run(x, maps)  # type: ignore[no-any-return]


def expand(x: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    return x.expand(shape)
