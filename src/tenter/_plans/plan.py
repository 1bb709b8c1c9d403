"""A plan: what a specification, or a map, is for arrays of one layout and dtype. It is immutable: what changes from
call to call (memory, the offsets of counts on a device) comes with the call."""

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, OPAQUE, PARTS
from tenter._arrays.errors import refuse
from tenter._arrays.layout import Layout
from tenter._arrays.library import of
from tenter._kernels import core
from tenter._plans import cache
from tenter._rules.axis_rule import user_filters
from tenter._specs.applied import Applied, AppliedMaps
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Maps, Shape, Spec
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._runs import RunSums


class Plan(NamedTuple):
    """spec: what the maps come from; transposed if they are its adjoint's.

    shape_in: of the arrays that callers give, which are other shapes of the memory of `shape`. order: the result's dims
    from slowest to fastest in memory, None where they are in order. positions: those of the maps' tables. steps: None
    where the reference kernel serves. ready: what the core runs by itself. adjoints: those for
    gradients of a few layouts, by the core's keys of these; all that is changed of a plan.
    """

    spec: Spec
    transposed: bool
    maps: Maps
    shape_in: Shape
    shape: Shape
    shape_out: Shape
    order: tuple[int, ...] | None
    itemsize: int
    n_bytes: int
    positions: int
    device: str | None
    steps: Any
    # These two side by side, as native/lookup.cpp finds them by their place.
    ready: _native.HostPlan | None
    adjoints: dict[bytes, "Plan"]

    @property
    def offsets(self) -> Any:
        """Of counts on a device."""
        return self.spec.offsets if self.device is not None and isinstance(self.spec, RepeatCounts) else None


def plan(x: Any, spec: Spec, shape_in: Shape | None = None) -> Plan:
    """How the operation is done to arrays that lie as x does."""
    library, shape = of(x), tuple(x.shape)
    dtype, device = library.dtype_name(x), library.device(x)
    shape_out = spec.shape_out(shape)
    _check_room(shape_out, library.itemsize(x), device)
    maps = spec.maps(shape, dtype, device is not None)
    return _planned(x, maps, spec, False, shape_in, spec.saturates(dtype), shape_out)


def plan_adjoint(g: Any, spec: Spec, shape: Shape) -> Plan:
    """How the gradient of an array of that shape is made of gradients that lie as g does."""
    library = of(g)
    dtype, device = library.dtype_name(g), library.device(g)
    _check_room(shape, library.itemsize(g), device)
    maps = spec.maps(shape, dtype, device is not None)
    return _planned(g, _transposed(maps), spec, True, has_room=shape)


def adjoint(of_plan: Plan, g: Any) -> Plan:
    """The transposed maps of a plan, for gradients that lie as g does."""
    spec, transposed = of_plan.spec, not of_plan.transposed
    if isinstance(spec, (RepeatCounts, Applied, AppliedMaps)):  # counts are values, and so are maps
        return _planned(g, _transposed(of_plan.maps), spec, transposed)
    key = cache.key("adjoint" if transposed else "adjoint of adjoint", of(g), g, (spec, of_plan.shape))
    found = cache.plans.get(key)
    return found or keep(key, _planned(g, _transposed(of_plan.maps), spec, transposed))


def keep(key: Hashable, made: Plan) -> Plan:
    """A plan, kept for the next call unless it has users' filters, which live as long as their calls do."""
    if not isinstance(made.spec, Resize) or not user_filters(made.spec.rules):
        cache.store(key, made)
    return made


def plan_part(
    x: Any, maps: Maps, wholes: dict[int, AxisMap], saturate: bool, by_memory: bool = False
) -> Plan:  # fmt: skip
    """How a part of a result is made of what it reads, with the whole's bits. wholes: the maps of which these are
    parts, which say in which order sums are taken. by_memory: as `AppliedMaps`."""
    return _planned(x, maps, AppliedMaps(maps, saturate, by_memory), False, saturate=saturate, wholes=wholes)


def same_maps(of_plan: Plan, x: Any) -> Plan:
    """The same maps for arrays that lie as x does."""
    return _planned(x, of_plan.maps, of_plan.spec, of_plan.transposed)


def _transposed(maps: Maps) -> Maps:
    return tuple((axis, m if isinstance(m, Copy) and m.repeat == 1 else m.T) for axis, m in maps)


def _planned(
    x: Any, maps: Maps, spec: Spec, transposed: bool, shape_in: Shape | None = None, saturate: bool = False,
    has_room: Shape | None = None, wholes: dict[int, AxisMap] | None = None,
) -> Plan:  # fmt: skip
    """saturate: integers are cut to their range between axes too, as in Pillow. has_room: a result's shape for which
    there is room. wholes: the maps of which some are parts."""
    library = of(x)
    layout = library.layout(x)
    lengths = list(layout.shape)
    for axis, m in maps:
        if lengths[axis] != m.n_in:  # kernels check nothing
            refuse(ValueError, "x", f"length {m.n_in} along axis {axis}", f"{lengths[axis]}")
        lengths[axis] = m.n_out
    shape_out = tuple(lengths)
    if shape_out != has_room:
        _check_room(shape_out, layout.itemsize, layout.device)
    in_order = tuple(range(len(shape_out)))
    order = spec.order(layout.shape, layout.strides, library.image_order, saturate)
    key = None
    if layout.device is not None and isinstance(spec, RepeatCounts):
        # Counts change, what is launched for them does not. Types, as tuples of equal lengths are equal.
        key = cache.key("counts", library, x, (maps, tuple(type(m) for _, m in maps), transposed))
        if (found := cache.plans.get(key)) is not None:
            return found._replace(spec=spec, adjoints={})  # type: ignore[no-any-return]  # which hold offsets
    placed = None if order == in_order else order
    steps = _steps(layout, maps, placed, saturate, wholes)
    is_read = layout.device is None and 0 < len(shape_out) <= _native.READ_DIMS and 0 not in shape_out
    made = Plan(
        spec=spec,
        transposed=transposed,
        maps=maps,
        shape_in=layout.shape if shape_in is None else shape_in,
        shape=layout.shape,
        shape_out=shape_out,
        order=placed,
        itemsize=layout.itemsize,
        n_bytes=math.prod(shape_out) * layout.itemsize,
        positions=0 if steps is None else steps.positions,
        device=layout.device,
        steps=steps,
        ready=steps if is_read else None,
        adjoints={},
    )
    if key is not None:
        cache.store(key, made)
    return made


def _steps(layout: Layout, maps: Maps, order: tuple[int, ...] | None, saturate: bool, wholes: Any) -> Any:
    """What applies maps to a layout; None where no compiled kernel does."""
    if not _is_compiled(layout.dtype, maps):
        return None
    if layout.device is None:
        return core.host_plan(layout, maps, order, saturate, wholes)
    from tenter._kernels.triton import windows  # as it imports Triton

    return windows.launches(layout, maps, order, saturate)


def _is_compiled(dtype: str, maps: Maps) -> bool:
    if dtype == OPAQUE:
        return False
    if dtype in NUMBERS or dtype in PARTS:
        return True
    return not any(isinstance(m, (Window, RunSums)) or (isinstance(m, Gather) and not m.picks) for _, m in maps)


def _check_room(shape: Sequence[int], itemsize: int, device: str | None) -> None:
    """Refuses what the machine can't hold; a device's allocator knows what the device can."""
    if device is None:
        limits.memory(shape, itemsize)
    else:
        limits.addressable("result", shape, itemsize)
