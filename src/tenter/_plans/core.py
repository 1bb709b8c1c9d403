"""Plans made by the core: maps on the axes of a layout become calls of its kernels."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, PARTS
from tenter._arrays.layout import Layout, Order
from tenter._rules.rounding import ONCE
from tenter.maps import AxisMap
from tenter.maps._kinds import changing

Maps = tuple[tuple[int, Any], ...]


class CoreLayout(NamedTuple):
    """A layout as the core reads it.

    number: the core's number of the dtype that is summed; -1 if values can only be copied
    is_complex: True for complex numbers, whose parts are summed
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    number: int
    is_complex: bool
    itemsize: int


class MappedAxis(NamedTuple):
    """An axis that changes.

    whole: the full map, if `map` has only some of its rows
    before: True for a map that is applied before those of all axes that are not before
    """

    axis: int
    map: _native.AxisMap
    block: int
    whole: _native.AxisMap | None
    before: bool = False


def host_plan(
    x: Layout, maps: Maps, order: Order | None = None, rounding: str = ONCE,
    wholes: Mapping[int, AxisMap] | None = None,
) -> _native.HostPlan:  # fmt: skip
    """Returns the kernel calls that apply maps to arrays of a layout.

    order: the dims of the array and the result from slowest to fastest; None if they are in order
    rounding: of results (`_rules/rounding.py`)
    wholes: the whole maps, if some maps are rows of them
    """
    made = _native.HostPlan(layout_of(x), native_maps(maps, wholes or {}), order, rounding, check_tables)
    if made.scratch:
        n_out = math.prod(shape_out(x.shape, maps))
        limits.memory((n_out * x.itemsize + made.scratch,), 1, "result and the memory between its passes")
    return made


def native_maps(maps: Maps, wholes: Mapping[int, AxisMap], on_device: bool = False) -> list[MappedAxis]:
    """Returns the maps that change their axis, as the core takes them."""
    return [
        MappedAxis(axis, m._form, m.block, None if whole is None else whole._form, before)
        for axis, m, whole, before in steps(maps, wholes, on_device)
    ]


def steps(maps: Maps, wholes: Mapping[int, AxisMap], on_device: bool = False) -> list[tuple[int, Any, Any, bool]]:
    """Returns (axis, map, whole, before) of the maps that change their axis. A map with two factors is two maps. The
    first factors come before the maps of other axes, in a gradient after them. Devices take the product."""
    changed = [(axis, m, wholes.get(axis)) for axis, m in changing(maps)]
    factors = {axis: m.__dict__.get("_factors") for axis, m, _ in changed if not on_device}
    others_before = any(f is not None and f.transposed for f in factors.values())
    found = []
    for axis, m, whole in changed:
        if (two := factors.get(axis)) is None:
            found.append((axis, m, whole, others_before))
            continue
        of_whole = (None, None) if whole is None else whole.__dict__["_factors"][:2]
        found += [(axis, two.first, of_whole[0], True), (axis, two.second, of_whole[1], False)]
    return found


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
