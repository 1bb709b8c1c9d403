"""The core plans: maps on axes of an array's layout become calls of its kernels, or data for Triton and `explain`."""

import math
from collections.abc import Mapping
from typing import Any

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.layout import Layout, Order
from tenter.maps import AxisMap, Copy

Maps = tuple[tuple[int, Any], ...]
_Given = list[tuple[int, _native.AxisMap, int, _native.AxisMap | None]]


def host_plan(
    x: Layout, maps: Maps, order: Order | None = None, saturate: bool = False,
    wholes: Mapping[int, AxisMap] | None = None,
) -> _native.HostPlan:  # fmt: skip
    """The calls that apply maps to arrays of a layout.

    order: the dims of the array and the result from slowest to fastest, None where they are in order. saturate: 8-bit
    values are cut to their range after each axis too, as Pillow does. wholes: the maps of which some are rows.
    """
    made = _native.HostPlan(_layout(x), given(maps, wholes or {}), order, saturate, _room)
    if made.scratch:
        n_out = math.prod(shape_out(x.shape, maps))
        limits.memory((n_out * x.itemsize + made.scratch,), 1, "result and the memory between its passes")
    return made


def planned(x: Layout, maps: Maps, order: Order | None, saturate: bool, on_device: bool) -> tuple[Any, ...]:
    """The passes as data (native/bind_plan.cpp)."""
    return _native.planned(_layout(x), given(maps, {}), order, saturate, on_device, _room)


def given(maps: Maps, wholes: Mapping[int, AxisMap]) -> _Given:
    """Maps that change their axis, as the core takes them."""
    return [
        (axis, m.form, m.block, wholes[axis].form if axis in wholes else None)
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


def _room(n_bytes: float) -> None:
    limits.memory((int(min(n_bytes, 2.0**62)),), 1, limits.TABLES)
