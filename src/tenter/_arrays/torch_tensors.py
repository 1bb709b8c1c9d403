"""Facts about a PyTorch tensor. Imported only after the caller has imported torch."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch.compiler import is_compiling

from tenter import _native
from tenter._arrays import oldest_versions
from tenter._arrays.dtypes import DTYPES
from tenter._arrays.errors import refuse_short
from tenter._arrays.foreign import class_name
from tenter._arrays.layout import Layout, overlaps, torch_image_order
from tenter._arrays.torch_private import (
    ORDINARY,
    ORDINARY_CUDA,
    ORDINARY_INFERENCE,
    autocast,
    dispatch_keys,
    dispatch_modes,
    forward_mode,
    function_modes,
    functorch_active,
    tracing,
)
from tenter._arrays.types import Array

PACKAGE = "torch"
TYPES: tuple[type, ...] = (torch.Tensor, torch.nn.Parameter)
# PyTorch's dtypes by name: those that can be summed, and bool.
TORCH_DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name) for name in (*DTYPES, "bool") if hasattr(torch, name)
}
NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}


def _without_triton() -> str | None:
    """Returns what CUDA tensors lack. Triton takes long to import, so its version is read from its sources."""
    needed = f"Triton {'.'.join(map(str, oldest_versions.OLDEST['Triton']))} or newer"
    if (spec := find_spec("triton")) is None:
        return needed
    text = Path(spec.origin).read_text() if spec.origin else ""
    found = re.search(r"^__version__ = ['\"]([^'\"]+)", text, re.MULTILINE)
    old = found is not None and oldest_versions.too_old("Triton", found[1])
    return f"{needed}, not {found[1]}" if found is not None and old else None


WITHOUT_TRITON = _without_triton()  # PyTorch's compiler cannot follow the question


def problem(x: torch.Tensor) -> str | None:
    if x.is_nested or x.is_quantized:
        return "a nested or quantized tensor"
    if x.layout is not torch.strided:
        return f"a {str(x.layout).removeprefix('torch.')} tensor"
    if x.is_cpu or x.device.type in ("cpu", "meta"):
        return None
    if x.device.type != "cuda":
        return f"a tensor on {x.device.type}"
    return WITHOUT_TRITON and f"a tensor on cuda, which needs {WITHOUT_TRITON}"


def unreadable(x: torch.Tensor) -> str | None:
    return f"a tensor on {x.device.type}" if device(x) is not None else unservable(x)


def unservable(x: torch.Tensor) -> str | None:
    if x.device.type == "meta":
        return "a meta tensor, which has no values"
    if type(x) not in TYPES or not bare(resolve(x)):
        return f"a {class_name(type(x))} under a transform, a tracer or an overridden `__torch_function__`"
    stored("x", x)
    return None


def short(x: torch.Tensor) -> str | None:
    followed = is_compiling() or type(x) not in TYPES or functorch_active() or tracing()
    return None if followed else _shortage(x)


def stored(name: str, x: torch.Tensor) -> torch.Tensor:
    """Returns x. Refuses an x that extends past its storage, which the user may shrink. Everything that reads x's
    memory calls this first."""
    if (found := _shortage(x)) is not None:
        refuse_short(name, found)
    return x


def _shortage(x: torch.Tensor) -> str | None:
    bytes_held = x.untyped_storage().nbytes()
    end = x.storage_offset() * x.itemsize + n_bytes if (n_bytes := extent(x)) else 0
    return None if bytes_held >= end else f"one whose storage is too small: {bytes_held} bytes of {end}"


def extent(x: torch.Tensor) -> int:
    """Returns the number of bytes from the start of x's first element to the end of its last."""
    if x.is_contiguous():
        return x.nbytes
    return (sum((n - 1) * s for n, s in zip(x.shape, x.stride())) + 1) * x.itemsize if x.numel() else 0


def unwritable(x: torch.Tensor) -> str | None:
    if x.requires_grad:
        return "a tensor that requires grad"
    if not is_compiling() and x.is_inference() and not torch.is_inference_mode_enabled():
        return "an inference tensor"
    if any(s == 0 and n > 1 for n, s in zip(x.shape, x.stride())):
        return "an expanded tensor" if x.numel() else None
    shared = not is_compiling() and not x.is_contiguous() and overlaps(x.shape, x.stride(), 1)
    return "a tensor whose elements share memory" if shared else None


def differentiated(x: torch.Tensor) -> str | None:
    return "an x that requires grad" if x.requires_grad and torch.is_grad_enabled() else None


def bare(x: torch.Tensor) -> bool:
    """True for a strided CPU or CUDA tensor without flags, while no compiler, transform, mode or tracer is active."""
    return not (
        is_compiling()
        or ((keys := dispatch_keys(x)) != ORDINARY and keys != ORDINARY_INFERENCE and keys not in ORDINARY_CUDA)
        or functorch_active()
        or dispatch_modes()
        or tracing()
    )


def is_ordinary(x: torch.Tensor) -> bool:
    # Does not call `bare`, because this runs on every call. The core answers faster for most tensors.
    return not is_compiling() and (_native.ordinary(x) or _is_ordinary(x))


def _is_ordinary(x: torch.Tensor) -> bool:
    return not (
        (
            (keys := dispatch_keys(x)) != ORDINARY
            and keys != ORDINARY_INFERENCE
            and (keys not in ORDINARY_CUDA or autocast())
        )
        or functorch_active()
        or dispatch_modes()
        or tracing()
        or function_modes()
        or forward_mode()
    )


def traced(x: torch.Tensor) -> bool:
    return type(x) not in TYPES or not is_ordinary(x)


def device(x: torch.Tensor) -> str | None:
    return f"cuda:{x.get_device()}" if x.is_cuda else None  # takes a third of str(x.device)


def dtype_name(x: torch.Tensor) -> str:
    return NAMES.get(x.dtype) or str(x.dtype).removeprefix("torch.")


def itemsize(x: torch.Tensor) -> int:
    return x.element_size()


def strides(x: torch.Tensor) -> tuple[int, ...]:
    size = x.element_size()
    return tuple([s * size for s in x.stride()])


def layout(x: torch.Tensor) -> Layout:
    where = device(x)
    at = 0 if where is None else x.data_ptr() % 16
    return Layout(tuple(x.shape), strides(x), dtype_name(x), x.element_size(), where, at)


def place(x: torch.Tensor) -> tuple[Any, ...]:
    where = device(x)
    return x.stride() if where is None else (x.stride(), where, x.data_ptr() % 16)


def address(x: torch.Tensor, name: str = "x") -> int:
    return stored(name, x).data_ptr()


def resolve(x: torch.Tensor) -> torch.Tensor:
    return stored("x", x).resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x


def to_numpy(x: torch.Tensor) -> Array:
    array: Array = stored("x", resolve(x.detach())).numpy()
    return array


def from_numpy(x: Array, like: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x).to(like.device)


def of_type(x: torch.Tensor, made: torch.Tensor) -> torch.Tensor:
    """Returns `made` with x's type if that is one of torchvision's (`Image`, `Mask`) or a subclass of one. PyTorch's
    functions drop these types."""
    if type(x) in TYPES or type(made) is type(x) or is_compiling() or not _of_torchvision(x):
        return made
    return sys.modules["torchvision.tv_tensors"].wrap(made, like=x)  # type: ignore[no-any-return]


def plain(x: torch.Tensor) -> torch.Tensor:
    """Returns one of torchvision's tensors as a tensor of PyTorch's own type; x if it is another one. A tracer's tensor
    must stay what it is."""
    return x if type(x) is torch.Tensor or not _of_torchvision(x) else x.as_subclass(torch.Tensor)


def _of_torchvision(x: torch.Tensor) -> bool:
    tv: Any = sys.modules.get("torchvision.tv_tensors")
    return tv is not None and isinstance(x, tv.TVTensor)


image_order = torch_image_order
