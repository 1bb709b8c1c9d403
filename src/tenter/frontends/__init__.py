"""Array libraries: how to read, allocate and wrap their arrays. No arithmetic.

A frontend is a module. It says what an array is (`dtype_name`, `itemsize`, `strides`, `layout`, `place`, `address`,
`memory_order`, `on_device`), why it can't be served, read by the host or by a kernel, or written (`problem`,
`unreadable`, `unservable`, `unwritable`), whether it is `plain` memory or `recorded` by somebody, and does what is
planned: `run` (memory in, memory out), `execute` (with gradients), `again` (the same, for what is known to be plain),
or, for what is recorded, `record`, `counted`, `positions`.

A library that the caller has not imported is not imported here.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np

from tenter.frontends import numpy as numpy_frontend
from tenter.frontends.numpy import OPAQUE as OPAQUE

# Dtypes that the native window kernel computes with, as numbered in native/kernels.hpp.
NATIVE_DTYPES = {
    "float32": 0, "float64": 1, "float16": 2, "bfloat16": 3, "uint8": 4, "int8": 5,
    "uint16": 6, "int16": 7, "uint32": 8, "int32": 9, "uint64": 10, "int64": 11,
}  # fmt: skip
# Complex numbers are pairs of reals to a map, whose weights are real.
COMPLEX_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}


_torch_frontend: ModuleType | None = None
# The frontend of each type that is exactly an array or tensor; tensors' once there have been some.
KINDS: dict[type, ModuleType] = {np.ndarray: numpy_frontend}


def of(x: Any) -> ModuleType:
    """The frontend that serves x."""
    global _torch_frontend
    if isinstance(x, np.ndarray):
        return numpy_frontend
    if _torch_frontend is None:
        from tenter.frontends import torch as torch_frontend

        _torch_frontend = torch_frontend
        KINDS.update(dict.fromkeys(torch_frontend.KINDS, torch_frontend))
    return _torch_frontend


def is_array(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return True
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def compiling() -> bool:
    """Is PyTorch's compiler following?"""
    torch = sys.modules.get("torch")
    return torch is not None and torch.compiler.is_compiling()


def surely(condition: Any) -> bool:
    """Is a condition on sizes known to hold? Not if it depends on data that a tracer does not have; kernels then find
    out."""
    if not compiling() and (isinstance(condition, (bool, np.bool_)) or is_array(condition)):
        return bool(condition)  # an array, where torch.jit.trace has sizes that are tensors
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    return bool(guard_or_false(condition))


def problem(x: Any) -> str | None:
    """Why no kernel can serve x, an array or tensor; None if one can."""
    found: str | None = of(x).problem(x)
    return found


def recorded(x: Any) -> bool:
    """Is x a tensor for PyTorch's dispatcher, with sizes that may be symbols and values that may come later?"""
    answer: bool = is_array(x) and of(x).recorded(x)
    return answer


def on_device(x: Any) -> bool:
    """Is x a tensor on a device with kernels of its own?"""
    answer: bool = is_array(x) and of(x).on_device(x)
    return answer


def on_cuda(x: Any) -> bool:
    """Is x a tensor on a CUDA device, where PyTorch's nearest kinds round in a way of their own?"""
    answer: bool = is_array(x) and not isinstance(x, np.ndarray) and x.is_cuda
    return answer


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = of(x).to_numpy(x)
    return array


def dtype_name(x: Any) -> str:
    name: str = of(x).dtype_name(x)
    return name


def itemsize(x: Any) -> int:
    size: int = of(x).itemsize(x)
    return size


def is_numeric(dtype: str) -> bool:
    """Can weighted sums be taken?"""
    return dtype in NATIVE_DTYPES or dtype in COMPLEX_PARTS or dtype in ("longdouble", "clongdouble")


def describe(value: Any) -> str:
    """A value as messages show it: arrays by dtype and shape, everything else by repr, cut short."""
    if is_array(value):
        try:
            return f"{dtype_name(value)}[{', '.join(str(n) for n in value.shape)}]"
        except RuntimeError:  # a nested tensor has no one shape
            return f"{dtype_name(value)}[...]"
    try:
        text = repr(value)
    except ValueError:  # an int of thousands of digits, which Python refuses to write
        text = f"a {type(value).__name__} of very many digits"
    return text if len(text) <= 60 else text[:57] + "..."


def channels_last(x: Any) -> bool:
    """Does a (batch, channels, spatial...) array lie in memory as batch, spatial..., channels, without gaps?"""
    frontend = of(x)
    step = 1 if frontend is not numpy_frontend else x.dtype.itemsize
    strides = frontend.strides(x)
    for d in (1, *range(x.ndim - 1, 1, -1), 0):
        if not surely(x.shape[d] == 1) and not surely(strides[d] == step):
            return False
        step *= x.shape[d]
    return True
