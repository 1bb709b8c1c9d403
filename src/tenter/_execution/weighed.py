"""8-bit pixels whose colors are weighted by alpha, as Pillow computes them: colors times alpha, sums and quotients are
each rounded to 8 bits."""

import math

from tenter._arrays import limits
from tenter._arrays.numpy_arrays import address, layout
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array
from tenter._execution.numpy_executor import fresh
from tenter._kernels import cpu_bytes
from tenter._kernels.passes import Dim, rows_before
from tenter._specs.resize import Resize
from tenter.maps import Copy, Window


def resized(x: Array, spec: Resize) -> Array | None:
    """(H, W, 2 or 4) bytes resized along H and W, the last channel being alpha; None where Pillow has no such rule."""
    if x.dtype.name != "uint8" or not x.dtype.isnative or not spec.saturates("uint8"):
        return None
    shape = spec.shape_out(x.shape)
    limits.memory(shape, 1)
    maps = {axis: m for axis, m in spec.maps(x.shape, "uint8", False) if not (isinstance(m, Copy) and m.repeat == 1)}
    if any(not isinstance(m, Window) or m.byte_map is None for m in maps.values()):
        return None
    y, past_caches = fresh(shape, x.dtype, math.prod(shape))
    if not maps:
        y[...] = x
        return y
    if math.prod(shape):
        dims = [Dim(n, stride, maps.get(d)) for d, (n, stride) in enumerate(zip(x.shape, layout(x).strides))]
        step = cpu_bytes.weighed(dims, len(maps) == 2 and rows_before(dims[0], dims[1]))
        step(address(x), address(y), thread_count(), past_caches)
    return y
