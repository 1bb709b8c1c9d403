"""Faster resize, repeat and tile on the CPU, in place of PyTorch's, Pillow's and NumPy's, whose results it can match,
with exact gradients.

Every operation is a sparse matrix along one axis (`tenter.maps`): built once, applied to anything; its gradient is its
transpose.
"""

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

# _native first: it refuses a subinterpreter, which has then not loaded NumPy, as that can be loaded once in a process.
from tenter import _native, maps, memory  # noqa: F401
from tenter._arrays.arguments import did_you_mean
from tenter._arrays.elsewhere import PART_RESIZED as _PART_RESIZED, ROWS_ELSEWHERE as _ROWS_ELSEWHERE
from tenter._arrays.library import imported as _imported
from tenter._arrays.names import unknown as _unknown
from tenter._execution import (
    apply as _apply,  # noqa: F401  gives maps their method
    executor as _executor,
)
from tenter.coordinates import interp
from tenter.interleaving import repeat_interleave
from tenter.interpolation import interpolate
from tenter.ops import expand, repeat, tile
from tenter.resampling import axis_map, resize
from tenter.threads import get_num_threads, set_num_threads

if TYPE_CHECKING:
    from tenter import (
        conventions as conventions,
        filters as filters,
        geometry as geometry,
        image as image,
        lazy as lazy,
        numpy as numpy,
        ragged as ragged,
        scipy as scipy,
        skimage as skimage,
        torch as torch,
        volumes as volumes,
    )
    from tenter._explain import Explanation as Explanation, Shape as Shape, explain as explain
    from tenter.configuration import show_config as show_config

__version__ = "0.1.0"

# Without numpy, scipy, skimage and torch, which `from tenter import *` would put in the place of these libraries.
__all__ = [
    "Explanation",
    "Shape",
    "axis_map",
    "conventions",
    "expand",
    "explain",
    "filters",
    "geometry",
    "get_num_threads",
    "image",
    "interp",
    "interpolate",
    "lazy",
    "maps",
    "memory",
    "ragged",
    "repeat",
    "repeat_interleave",
    "resize",
    "set_num_threads",
    "show_config",
    "tile",
    "volumes",
]


if "torch" in sys.modules:
    # Now, as code that is compiled first would be compiled again once it had been.
    try:
        _executor.of(sys.modules["torch"].empty(0))
    except ImportError as error:  # a version that is too old; arrays of other libraries need none
        warnings.warn(str(error), stacklevel=2)


def __dir__() -> list[str]:
    return sorted([*__all__, "__all__", "__doc__", "__version__", "numpy", "scipy", "skimage", "torch"])


# Modules that are imported when they are asked for. tenter.torch imports PyTorch, and the others would take a fifth of
# tenter's own time.
_MODULES = (
    "conventions", "filters", "geometry", "image", "lazy", "numpy", "ragged", "scipy", "skimage", "torch", "volumes",
)  # fmt: skip
# Functions and types by their modules, for which the same holds.
_NAMES = dict.fromkeys(("Explanation", "Shape", "explain"), "tenter._explain") | {"show_config": "tenter.configuration"}

#: What other libraries' functions are here.
_ELSEWHERE = {
    "pad": "tenter.ragged.pad for rows of unequal lengths, numpy.pad or torch.nn.functional.pad for edges",
    "upsample": "tenter.interpolate", "adaptive_avg_pool2d": "tenter.interpolate(x, size, mode='area')",
    **dict.fromkeys(("avg_pool2d", "downscale_local_mean", "reduce"), "tenter.resize(x, size, mode='area')"),
    **dict.fromkeys(("downsample", "resample", "pyramid_reduce", "pyrDown"), "tenter.resize"),
    **dict.fromkeys(("crop_resize", "crop"), _PART_RESIZED), "repeat_each": "tenter.repeat_interleave",
    **dict.fromkeys(("zoom", "rescale"), "tenter.resize(x, scale=...)"),
    "broadcast_to": "tenter.expand", **{name: f"tenter.ragged.{ours}" for name, ours in _ROWS_ELSEWHERE.items()},
    "kron": "tenter.repeat_interleave, which is a Kronecker product with ones",
    "resized_crop": _PART_RESIZED, **dict.fromkeys(("imresize", "thumbnail"), "tenter.image.resize"),
}  # fmt: skip


def _in_a_module(name: str) -> str | None:
    """The public name in one of the modules."""
    of_torch = ("torch", "torch.transforms") if "torch" in sys.modules else ()
    for module in ("image", "conventions", "ragged", "filters", "geometry", "volumes", *of_torch):
        there = f"tenter.{module}"
        if name in _imported(lambda: importlib.import_module(there)).__all__:  # noqa: B023  called at once
            return f"{there}.{name}"
    return None


if not TYPE_CHECKING:  # which would take every name for one that there is

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return _imported(lambda: importlib.import_module(f"tenter.{name}"))
        if name in _NAMES:
            return getattr(_imported(lambda: importlib.import_module(_NAMES[name])), name)
        meant = _ELSEWHERE.get(name) or (None if name.startswith("_") else _in_a_module(name))
        raise _unknown("tenter", name, f" (did you mean {meant}?)" if meant else did_you_mean(name, __dir__()))
