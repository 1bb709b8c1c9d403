"""`torchvision.tv_tensors`, or where torchvision cannot be imported what tenter uses of it: classes of that module's name
whose functions give plain tensors, and `wrap`, which gives a tensor the type of another."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
import torch

# One that was built for another PyTorch raises the latter.
MISSING = (ImportError, RuntimeError)


def tv_tensors() -> Any:
    try:
        import torchvision.tv_tensors
    except MISSING:
        return _stand_in()
    return torchvision.tv_tensors


def real_transforms() -> Any:
    """`torchvision.transforms.v2`, without which a test is skipped."""
    try:
        import torchvision.transforms.v2
    except MISSING as missing:
        pytest.skip(f"torchvision: {missing}")
    return torchvision.transforms.v2


def _stand_in() -> Any:
    if "torchvision.tv_tensors" in sys.modules:
        return sys.modules["torchvision.tv_tensors"]
    module: Any = ModuleType("torchvision.tv_tensors")
    bases = {"BoundingBoxes": Boxes, "KeyPoints": Points}
    for name in ("Image", "Mask", "Video", "BoundingBoxes", "KeyPoints"):
        kind = type(name, (bases.get(name, TVTensor),), {"__module__": "torchvision.tv_tensors"})
        setattr(module, name, kind)
    module.TVTensor = TVTensor
    module.wrap = _wrap
    sys.modules["torchvision.tv_tensors"] = module
    return module


def _wrap(made: torch.Tensor, *, like: Any, **fields: Any) -> Any:
    wrapped = made.as_subclass(type(like))
    for name in type(like).FIELDS:
        setattr(wrapped, name, fields.get(name, getattr(like, name)))
    return wrapped


class TVTensor(torch.Tensor):
    FIELDS: tuple[str, ...] = ()

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    def __new__(cls, data: Any) -> Any:
        return torch.as_tensor(data).as_subclass(cls)


class Boxes(TVTensor):
    FIELDS = ("format", "canvas_size", "clamping_mode")
    format: str
    canvas_size: tuple[int, int]
    clamping_mode: str | None

    def __new__(
        cls, data: Any, *, format: str, canvas_size: tuple[int, int], clamping_mode: str | None = "soft"
    ) -> Any:
        made = torch.as_tensor(data).as_subclass(cls)
        made.format, made.canvas_size, made.clamping_mode = format, canvas_size, clamping_mode
        return made


class Points(TVTensor):
    FIELDS = ("canvas_size",)
    canvas_size: tuple[int, int]

    def __new__(cls, data: Any, *, canvas_size: tuple[int, int]) -> Any:
        made = torch.as_tensor(data).as_subclass(cls)
        made.canvas_size = canvas_size
        return made
