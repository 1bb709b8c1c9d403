"""Plans made by the core: maps on the axes of a layout become calls of its kernels, or data for Triton and
`explain`."""

import math
from collections.abc import Mapping
from typing import Any

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.layout import Layout, Order
from tenter.maps import AxisMap, Copy

Maps = tuple[tuple[int, Any], ...]
NativeMaps = list[tuple[int, _native.AxisMap, int, _native.AxisMap | None]]


def host_plan(
    x: Layout, maps: Maps, order: Order | None = None, saturate: bool = False,
    wholes: Mapping[int, AxisMap] | None = None,
) -> _native.HostPlan:  # fmt: skip
    """Returns the kernel calls that apply maps to arrays of a layout.

    order: the dims of the array and the result from slowest to fastest; None if they are in order
    saturate: 8-bit values are also clamped to their range after each axis, as in Pillow
    wholes: the whole maps, if some maps are rows of them
    """
    made = _native.HostPlan(_layout(x), native_maps(maps, wholes or {}), order, saturate, _check_tables)
    if made.scratch:
        n_out = math.prod(shape_out(x.shape, maps))
        limits.memory((n_out * x.itemsize + made.scratch,), 1, "result and the memory between its passes")
    return made


def planned(x: Layout, maps: Maps, order: Order | None, saturate: bool, on_device: bool) -> tuple[Any, ...]:
    """Returns the passes as data (native/python/bind_plan.cpp)."""
    return _native.planned(_layout(x), native_maps(maps, {}), order, saturate, on_device, _check_tables)


def native_maps(maps: Maps, wholes: Mapping[int, AxisMap]) -> NativeMaps:
    """Returns the maps that change their axis, as the core takes them."""
    return [
        (axis, m._form, m.block, wholes[axis]._form if axis in wholes else None)
        for axis, m in maps
        if not (isinstance(m, Copy) and m.repeat == 1)
    ]


def shape_out(shape: tuple[int, ...], maps: Maps) -> tuple[int, ...]:
    lengths = list(shape)
    for axis, m in maps:
        lengths[axis] = m.n_out
    return tuple(lengths)


def _layout(x: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int, bool, int]:
    number = NUMBERS.get(PARTS.get(x.dtype, x.dtype), -1)
    return x.shape, x.strides, number, x.dtype in PARTS, x.itemsize


def _check_tables(n_bytes: float) -> None:
    limits.memory((int(min(n_bytes, 2.0**62)),), 1, limits.TABLES)
