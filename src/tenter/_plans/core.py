"""Plans made by the core: maps on the axes of a layout become calls of its kernels, or data for Triton and
`explain`."""

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


class CoreBuffer(NamedTuple):
    """`at` bytes into one of a call's memories. number: the core's number of the dtype."""

    memory: int
    at: int
    number: int
    itemsize: int


class PassDim(NamedTuple):
    """A dim of a pass, with its stride in bytes.

    map: the index of its map among those that were given, from slow to fast; -1 without a map
    part: "whole"; for a gather "order", the copy of its inputs, or "sums", the sums that follow
    """

    n: int
    stride: int
    map: int
    part: str


class Pass(NamedTuple):
    """A copy along all dims that have maps, or sums along `n_axes` dims from `first` on.

    spare: the memory for a packed copy of the input, if it is needed
    forms: how a copy finds the inputs of each dim with a map; empty on devices
    """

    copies: bool
    source: CoreBuffer
    target: CoreBuffer
    dims: tuple[PassDim, ...]
    first: int
    n_axes: int
    spare: int
    forms: tuple[str, ...]


class Passes(NamedTuple):
    """What the planner made.

    passes: on each chunk of the leading dims; after: on the whole result
    temporaries: bytes of each
    sums: the dtype in which sums are taken
    """

    passes: tuple[Pass, ...]
    after: tuple[Pass, ...]
    chunked: bool
    temporaries: tuple[int, ...]
    sums: str


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


def planned(x: Layout, maps: Maps, order: Order | None, saturate: bool, on_device: bool) -> Passes:
    """Returns the passes as data."""
    made = _native.planned(_layout(x), native_maps(maps, {}), order, saturate, on_device, _check_tables)
    passes, after = (tuple([_pass(**fields) for fields in made[name]]) for name in ("passes", "after"))
    return Passes(**{**made, "passes": passes, "after": after})


def _pass(source: Any, target: Any, dims: Any, **others: Any) -> Pass:
    walked = tuple([PassDim(**fields) for fields in dims])
    return Pass(source=CoreBuffer(**source), target=CoreBuffer(**target), dims=walked, **others)


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


def _layout(x: Layout) -> CoreLayout:
    number = NUMBERS.get(PARTS.get(x.dtype, x.dtype), -1)
    return CoreLayout(x.shape, x.strides, number, x.dtype in PARTS, x.itemsize)


def _check_tables(n_bytes: float) -> None:
    limits.memory((int(min(n_bytes, 2.0**62)),), 1, limits.TABLES)
