"""tenter stretches arrays along their axes: repeat, tile, expand and interpolate for NumPy arrays and PyTorch tensors.

Every operation is a sparse matrix along one axis (`tenter.maps`): built once, applied to anything; its gradient is its
transpose.
"""

from tenter import maps, numpy
from tenter.ops import expand, interpolate, repeat, repeat_interleave, tile
from tenter.threads import get_num_threads, set_num_threads

__version__ = "0.1.0"

__all__ = [
    "expand",
    "get_num_threads",
    "interpolate",
    "maps",
    "numpy",
    "repeat",
    "repeat_interleave",
    "set_num_threads",
    "tile",
]
