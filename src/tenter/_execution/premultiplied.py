"""Resizes pixels with premultiplied colors; the last channel is alpha.

8-bit values are computed as in Pillow: the colors times alpha, the sums and the quotients are each rounded to 8 bits.
Other values are computed as floats.
"""

from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays import blocks, limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.layout import resized_order
from tenter._arrays.numpy_arrays import address, layout
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array
from tenter._rules.rounding import by_axis
from tenter._specs.resize import Resize
from tenter.maps import Window
from tenter.maps._kinds import changing


def resized(x: Array, spec: Resize, out: Array | None = None) -> Array | None:
    """Resizes (H, W, 2 or 4) bytes along H and W, in fresh memory, or in `out`, which kernels can write to. None if
    Pillow has no such rule."""
    if x.dtype.name != "uint8" or not x.dtype.isnative or not by_axis(spec.rounding_of("uint8")):
        return None
    shape = spec.shape_out(x.shape)
    limits.memory(shape, 1)
    maps = dict(changing(spec.maps(x.shape, "uint8", False)))
    if any(not isinstance(m, Window) or not m._form.has_bytes for m in maps.values()):
        return None
    y, target, past_caches = blocks.empty(shape, x.dtype) if out is None else _memory(out)
    if not y.size:
        return y
    if not maps:
        y[...] = x
        return y
    dims = list(zip(x.shape, layout(x).strides))
    rows, columns = maps.get(0), maps.get(1)
    rows_first = rows is not None and columns is not None and _native.rows_before(*_lengths(rows), *_lengths(columns))
    row, column = (None if m is None else m._form for m in (rows, columns))
    _run(_native.HostPlan.premultiplied_bytes(dims, row, column, rows_first), x, target, past_caches, out)
    return y


def _memory(out: Array) -> tuple[Array, int, bool]:
    """Returns `out`, its address, and whether streaming stores should write it."""
    return out, address(out), blocks.streams(out.nbytes)


def _run(plan: _native.HostPlan, x: Array, target: int, past_caches: bool, out: Array | None) -> None:
    (plan.run if out is None else plan.run_whole)(address(x), target, past_caches)


def _lengths(m: Any) -> tuple[int, int]:
    return m.n_in, m.n_out


def resized_as_floats(x: Array, spec: Resize, real: str, unseen: float, out: Array | None = None) -> Array | None:
    """Premultiplies (H, W, 2 or 4) pixels, resizes them along H and W, and divides them by alpha, all in one native
    call. The result is in fresh memory, or in `out`, which kernels can write to. None if no kernel does all of this.
    The bits are the same as for three separate steps."""
    if not x.dtype.isnative or x.shape[2] not in (2, 4) or 0 in x.shape:
        return None
    maps = [m for _, m in spec.maps(x.shape, real, False)]
    if any(not isinstance(m, Window) or m.ones or m.block > 1 for m in maps):
        return None
    if resized_order(x.shape, np.empty_like(x).strides, spec.axes, False) != (0, 1, 2):
        return None
    shape = spec.shape_out(x.shape)
    limits.memory(shape, x.itemsize)
    dims = [(n, stride if n > 1 else 0) for n, stride in zip(x.shape, layout(x).strides)]
    row, column = (m._form for m in maps)
    made = _native.HostPlan.premultiplied_sums(NUMBERS[x.dtype.name], dims, row, column, unseen)
    if made is None:
        return None
    y, target, past_caches = blocks.empty(shape, x.dtype) if out is None else _memory(out)
    if y.size:
        _run(made, x, target, past_caches, out)
    return y


def is_alpha(x: Array, alpha: float) -> bool:
    """True if every pixel has that alpha."""
    channels = x.shape[-1]
    if not _is_pixels(x, x.dtype):
        return bool((x[..., -1] == alpha).all())
    return _native.is_alpha(address(x), NUMBERS[x.dtype.name], x.size // channels, channels, alpha, thread_count())


def multiplied(x: Array, work: Array) -> bool:
    """Writes x's values to floats, with colors premultiplied. False if NumPy must do it."""
    if not _is_pixels(x, x.dtype) or not work.flags.c_contiguous:
        return False
    _convert(x, work, x.dtype, False, 0.0)
    return True


def divided(values: Array, dtype: np.dtype[Any], unseen: float) -> Array | None:
    """Divides premultiplied floats by alpha and returns them in a dtype. Colors are 0 where alpha is at most `unseen`.
    None if NumPy must do it."""
    if not _is_pixels(values, dtype):
        return None
    y = np.empty(values.shape, dtype)
    _convert(values, y, dtype, True, unseen)
    return y


def _is_pixels(x: Array, dtype: np.dtype[Any]) -> bool:
    return x.flags.c_contiguous and dtype.isnative and x.shape[-1] in (2, 4)


def _convert(source: Array, target: Array, dtype: np.dtype[Any], divides: bool, unseen: float) -> None:
    channels = source.shape[-1]
    number, n_pixels = NUMBERS[dtype.name], source.size // channels
    _native.premultiply(address(source), address(target), number, n_pixels, channels, divides, unseen, thread_count())
