"""tenter stretches arrays along their axes: repeat, tile, expand, interpolate and resize, for NumPy and PyTorch.

Every operation is a sparse matrix along one axis (`tenter.maps`): built once, applied to anything; its gradient is its
transpose.
"""

import sys
from typing import Any

# _native first: it refuses a subinterpreter, which has then not loaded NumPy, as that can be loaded once in a process.
from tenter import _native, conventions, filters, geometry, image, lazy, maps, memory, numpy  # noqa: F401
from tenter._execution import (
    apply as _apply,  # noqa: F401  gives maps their method
    executor as _executor,
)
from tenter.ops import expand, repeat, repeat_interleave, tile
from tenter.resampling import axis_map, interpolate, resize
from tenter.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "axis_map",
    "conventions",
    "expand",
    "filters",
    "geometry",
    "get_num_threads",
    "image",
    "interpolate",
    "lazy",
    "maps",
    "memory",
    "numpy",
    "repeat",
    "repeat_interleave",
    "resize",
    "set_num_threads",
    "tile",
]


if "torch" in sys.modules:
    # Now, as code that is compiled first would be compiled again once it had been.
    _executor.of(sys.modules["torch"].empty(0))


def __getattr__(name: str) -> Any:
    """tenter.torch imports PyTorch, so it is imported when it is asked for."""
    if name == "torch":
        import importlib

        return importlib.import_module("tenter.torch")
    raise AttributeError(f"module 'tenter' has no attribute {name!r}")
