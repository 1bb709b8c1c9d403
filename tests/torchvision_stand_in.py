"""`torchvision.tv_tensors`, or where torchvision is not installed what tenter uses of it: classes of that module's name
whose functions give plain tensors, and `wrap`, which gives a tensor the type of another."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch


def tv_tensors() -> Any:
    try:
        import torchvision.tv_tensors
    except ImportError:
        return _stand_in()
    return torchvision.tv_tensors


def _stand_in() -> Any:
    if "torchvision.tv_tensors" in sys.modules:
        return sys.modules["torchvision.tv_tensors"]
    module: Any = ModuleType("torchvision.tv_tensors")
    for name in ("Image", "Mask", "Video", "BoundingBoxes"):
        base = Boxes if name == "BoundingBoxes" else TVTensor
        kind = type(name, (base,), {"__module__": "torchvision.tv_tensors"})
        setattr(module, name, kind)
    module.TVTensor = TVTensor
    module.wrap = _wrap
    sys.modules["torchvision.tv_tensors"] = module
    return module


def _wrap(made: torch.Tensor, *, like: Any, **fields: Any) -> Any:
    wrapped = made.as_subclass(type(like))
    if isinstance(like, Boxes):
        wrapped.format = fields.get("format", like.format)
        wrapped.canvas_size = fields.get("canvas_size", like.canvas_size)
    return wrapped


class TVTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            return function(*args, **(kwargs or {}))

    def __new__(cls, data: Any) -> Any:
        return torch.as_tensor(data).as_subclass(cls)


class Boxes(TVTensor):
    format: str
    canvas_size: tuple[int, int]

    def __new__(cls, data: Any, *, format: str, canvas_size: tuple[int, int]) -> Any:
        made = torch.as_tensor(data).as_subclass(cls)
        made.format, made.canvas_size = format, canvas_size
        return made
