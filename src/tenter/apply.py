"""Maps applied to arrays: which kernel serves which call, and where its output goes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenter import check, frontends, limits, threads
from tenter.frontends import COMPLEX_PARTS, NATIVE_DTYPES
from tenter.kernels import cpu, reference
from tenter.maps import AxisMap, Copy, Gather, Window

Maps = tuple[tuple[int, AxisMap], ...]


def apply(map_: AxisMap, x: Any, axis: int, out: Any = None) -> Any:
    """`y[..., o, ...] = sum_i A[o, i] * x[..., i, ...]` along one axis of an array or tensor of any shape.

    x: array, tensor or list; its length along axis is the map's n_in. The result has x's kind and dtype; weighted
    sums of integers are rounded half to even and saturated, unweighted ones are exact and saturated (64-bit ones wrap).
    out: an array of the result's shape and dtype to write to; it is returned. It may overlap x, and stays as it was
    if the call fails. Gradients do not flow through out.

    Raises TypeError for what is no array of numbers, IndexError for an axis out of range, ValueError for lengths that
    do not fit.

    >>> Copy.every(2, 3).apply(np.array([[1, 2], [3, 4]]), axis=1)
    array([[1, 1, 1, 2, 2, 2],
           [3, 3, 3, 4, 4, 4]])
    """
    try:
        x = check.array("x", x)
        axis = check.dim("axis", axis, x.ndim)
        if x.ndim == 0:
            x = x.reshape(1)
        if x.shape[axis] != map_.n_in:
            limits.refuse(ValueError, "x", f"length {map_.n_in} along axis {axis}", f"{x.shape[axis]}")
        if not isinstance(map_, Copy):
            name = frontends.dtype_name(x)
            if not frontends.is_numeric(name):
                limits.refuse(TypeError, "x", "numbers, to take sums of", name)
        if out is None:
            return apply_maps(x, ((axis, map_),))
        check.output(out, x, tuple(map_.n_out if d == axis else n for d, n in enumerate(x.shape)))
        frontends.of(out).copy_into(out, run(frontends.of(x).resolve(x), ((axis, map_),)))
        return out
    except limits.Refusal as refusal:
        raise check.error(refusal, f"{type(map_).__name__}.apply", x=x, axis=axis, out=out) from None


def apply_maps(x: Any, maps: Maps, keep_layout: bool = False, saturate: bool = False) -> Any:
    """Fresh memory with one map applied per axis, differentiable where x is.

    keep_layout: channels-last stays channels-last. saturate: integers saturate between axes too, as in Pillow.
    """
    frontend = frontends.of(x)
    if frontend is frontends.numpy_frontend:
        return run(x, maps, keep_layout, saturate)
    return frontend.apply(x, maps, partial(run, keep_layout=keep_layout, saturate=saturate))


def run(x: Any, maps: Maps, keep_layout: bool = False, saturate: bool = False) -> Any:
    """The dispatch: memory in, memory out."""
    frontend = frontends.of(x)
    shape = list(x.shape)
    for axis, m in maps:
        shape[axis] = m.n_out
    limits.memory(shape, frontend.itemsize(x))
    if not native(x, maps):
        return fallback(x, maps)
    src = frontend.view(x)
    order = frontends.memory_order(src.shape, src.strides) if keep_layout else tuple(range(x.ndim))
    y = frontend.allocate(x, tuple(shape), order)
    place = {axis: k for k, axis in enumerate(order)}
    src = src._replace(shape=tuple(src.shape[d] for d in order), strides=tuple(src.strides[d] for d in order))
    placed = tuple((place[axis], m) for axis, m in maps)
    cpu.run(src, placed, frontend.view(y).pointer, threads.get_num_threads(), saturate)
    return y


def native(x: Any, maps: Maps) -> bool:
    """Does the compiled core serve these maps on this dtype?"""
    if any(isinstance(m, Gather) for _, m in maps):
        return False
    if isinstance(x, np.ndarray) and (x.dtype.hasobject or x.dtype.itemsize == 0):
        return False
    if any(isinstance(m, Window) for _, m in maps):
        name = frontends.dtype_name(x)
        return (name in NATIVE_DTYPES or name in COMPLEX_PARTS) and not (
            isinstance(x, np.ndarray) and not x.dtype.isnative
        )
    return True


def fallback(x: Any, maps: Maps) -> Any:
    """The reference kernel, for what the core does not serve."""
    return frontends.of(x).through_numpy(x, partial(reference.run, maps=maps))
