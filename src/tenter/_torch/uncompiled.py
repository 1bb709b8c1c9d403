"""Calls with PyTorch's compiler disabled. Imported after the compiler, which is large."""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from tenter._arrays.torch_private import gives_objects as gives_objects


def _call(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


def _disabled(reason: str) -> Any:
    """The compiler shows the reason under fullgraph=True; before PyTorch 2.7 it takes none."""
    takes = "reason" in inspect.signature(torch.compiler.disable).parameters
    return torch.compiler.disable(_call, **({"reason": reason} if takes else {}))


call = _disabled("tenter.lazy: expected code without fullgraph=True, as lazy arrays are not part of compiled graphs")
with_map = _disabled("map: expected code without fullgraph=True before PyTorch 2.12")
with_filter = _disabled("mode: expected a name or filters.cubic(a) under fullgraph=True before PyTorch 2.13")
with_labels = _disabled("labels: expected code without fullgraph=True, as the labels of x decide what is computed")
with_coordinates = _disabled(
    "coordinates: expected code without fullgraph=True, as they become a map (tenter.maps.from_coordinates makes it "
    "outside of the compiled code, which can apply it)"
)
