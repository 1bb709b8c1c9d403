"""Plans made by the core: maps on the axes of a layout become calls of its kernels."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.layout import Layout, Order
from tenter.maps import AxisMap, Copy

Maps = tuple[tuple[int, Any], ...]


class CoreLayout(NamedTuple):
    """A layout as the core reads it.

    number: the core's number of the dtype that is summed; -1 if values can only be copied
    in_parts: True for complex numbers, whose parts are summed
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    number: int
    in_parts: bool
    itemsize: int


class MappedAxis(NamedTuple):
    """An axis that changes. whole: the full map, if `map` has only some of its rows."""

    axis: int
    map: _native.AxisMap
    block: int
    whole: _native.AxisMap | None


def host_plan(
    x: Layout, maps: Maps, order: Order | None = None, saturate: bool = False,
    wholes: Mapping[int, AxisMap] | None = None,
) -> _native.HostPlan:  # fmt: skip
    """Returns the kernel calls that apply maps to arrays of a layout.

    order: the dims of the array and the result from slowest to fastest; None if they are in order
    saturate: 8-bit values are also clamped to their range after each axis, as in Pillow
    wholes: the whole maps, if some maps are rows of them
    """
    made = _native.HostPlan(layout_of(x), native_maps(maps, wholes or {}), order, saturate, check_tables)
    if made.scratch:
        n_out = math.prod(shape_out(x.shape, maps))
        limits.memory((n_out * x.itemsize + made.scratch,), 1, "result and the memory between its passes")
    return made


def native_maps(maps: Maps, wholes: Mapping[int, AxisMap]) -> list[MappedAxis]:
    """Returns the maps that change their axis, as the core takes them."""
    return [
        MappedAxis(axis, m._form, m.block, wholes[axis]._form if axis in wholes else None)
        for axis, m in maps
        if not (isinstance(m, Copy) and m.repeat == 1)
    ]


def shape_out(shape: tuple[int, ...], maps: Maps) -> tuple[int, ...]:
    lengths = list(shape)
    for axis, m in maps:
        lengths[axis] = m.n_out
    return tuple(lengths)


def layout_of(x: Layout) -> CoreLayout:
    number = NUMBERS.get(PARTS.get(x.dtype, x.dtype), -1)
    return CoreLayout(x.shape, x.strides, number, x.dtype in PARTS, x.itemsize)


def check_tables(n_bytes: float) -> None:
    limits.memory((int(min(n_bytes, 2.0**62)),), 1, limits.TABLES)
