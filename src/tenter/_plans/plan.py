"""A plan: a specification, or a map, for arrays of one layout and dtype.

A plan is immutable. What changes from call to call (memory, the offsets of counts on a device) is passed to it.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS, OPAQUE, PARTS
from tenter._arrays.errors import refuse
from tenter._arrays.layout import Layout, strides_in
from tenter._arrays.library import of
from tenter._plans import cache, core
from tenter._rules.axis_rule import user_filters
from tenter._rules.rounding import ONCE
from tenter._specs.applied import Applied, AppliedMaps
from tenter._specs.repeat import RepeatCounts
from tenter._specs.resize import Resize
from tenter._specs.spec import Maps, Shape, Spec
from tenter.maps import AxisMap, Gather, Window
from tenter.maps._counts import CountSums
from tenter.maps._kinds import changes


class CallPlan(NamedTuple):
    """How to apply maps to arrays of one layout.

    spec: what the maps come from
    transposed: the maps come from the spec's adjoint
    shape_in: the shape of the array that the caller passed; `shape` is a reshape of it
    order: the result's dims from slowest to fastest in memory; None if they are in order
    strides: the result's, in elements; empty for host memory
    positions: in the maps' tables
    steps: None if the reference kernel runs
    """

    spec: Spec
    transposed: bool
    maps: Maps
    shape_in: Shape
    shape: Shape
    shape_out: Shape
    order: tuple[int, ...] | None
    strides: Shape
    itemsize: int
    n_bytes: int
    positions: int
    device: str | None
    steps: Any


def plan(x: Any, spec: Spec, shape_in: Shape | None = None) -> CallPlan:
    """Returns the plan of an operation for arrays of x's layout."""
    key = _key_of_counts(x, spec, False)
    if key is not None and (found := _found(key, spec)) is not None:
        return found
    library, shape = of(x), tuple(x.shape)
    dtype, device = library.dtype_name(x), library.device(x)
    shape_out = spec.shape_out(shape)
    _check_memory(shape_out, library.itemsize(x), device)
    maps = spec.maps(shape, dtype, device is not None)
    made = _planned(x, maps, spec, False, shape_in, spec.rounding_of(dtype), shape_out)
    return made if key is None else cached_plan(key, made)


def plan_adjoint(g: Any, spec: Spec, shape: Shape) -> CallPlan:
    """Returns the plan that makes the gradient of an input of that shape from output gradients of g's layout."""
    key = _key_of_counts(g, spec, True)
    if key is not None and (found := _found(key, spec)) is not None:
        return found
    library = of(g)
    dtype, device = library.dtype_name(g), library.device(g)
    _check_memory(shape, library.itemsize(g), device)
    maps = spec.maps(shape, dtype, device is not None)
    made = _planned(g, _transposed(maps), spec, True, fits=shape)
    return made if key is None else cached_plan(key, made)


def adjoint(of_plan: CallPlan, g: Any) -> CallPlan:
    """Returns the plan of a plan's transposed maps, for gradients of g's layout."""
    spec, transposed = of_plan.spec, not of_plan.transposed
    key = _key_of_counts(g, spec, transposed)
    if key is None:
        if isinstance(spec, (RepeatCounts, Applied, AppliedMaps)):  # their maps depend on values: they are not cached
            return _planned(g, _transposed(of_plan.maps), spec, transposed)
        key = cache.key("adjoint" if transposed else "adjoint of adjoint", of(g), g, (spec, of_plan.shape))
    found = _found(key, spec)
    return found or cached_plan(key, _planned(g, _transposed(of_plan.maps), spec, transposed))


def _key_of_counts(x: Any, spec: Spec, transposed: bool) -> Hashable:
    """Returns the key of a plan for counts on a device, else None. Counts change, but their launches do not."""
    if not isinstance(spec, RepeatCounts) or (library := of(x)).device(x) is None:
        return None
    call = "sums by counts" if transposed else "copies by counts"
    return cache.key(call, library, x, (spec.dim, spec.n_out, spec.offsets.shape[-1]))


def _found(key: Hashable, spec: Spec) -> CallPlan | None:
    """Returns a cached plan. That of counts is for other offsets, which the specification holds."""
    found: CallPlan | None = cache.plans.get(key)
    return CallPlan(spec, *found[1:]) if found is not None and isinstance(spec, RepeatCounts) else found


def cached_plan(key: Hashable, made: CallPlan) -> CallPlan:
    """Caches a plan and returns it. Users' filters live as long as their calls, so plans with them are not cached."""
    if isinstance(made.spec, RepeatCounts):  # without the offsets: their memory may belong to a CUDA graph
        cache.store(key, made._replace(spec=made.spec._replace(offsets=None)))
    elif not isinstance(made.spec, Resize) or not user_filters(made.spec.rules):
        cache.store(key, made)
    return made


def plan_part(
    x: Any, maps: Maps, wholes: dict[int, AxisMap], rounding: str, by_memory: bool = False
) -> CallPlan:  # fmt: skip
    """Returns the plan of a part of a result, bit-identical to that part of the full result.

    wholes: the whole maps that these maps are parts of; they decide the order of sums
    by_memory: as in `AppliedMaps`
    """
    lengths = tuple([wholes[axis].n_in if axis in wholes else m.n_in for axis, m in maps])
    spec = AppliedMaps(maps, rounding, by_memory, lengths)
    return _planned(x, maps, spec, False, rounding=rounding, wholes=wholes)


def same_maps(of_plan: CallPlan, x: Any) -> CallPlan:
    """Returns the plan of the same maps for arrays of x's layout."""
    return _planned(x, of_plan.maps, of_plan.spec, of_plan.transposed)


def _transposed(maps: Maps) -> Maps:
    return tuple((axis, m.T if changes(m) else m) for axis, m in maps)


def _planned(
    x: Any, maps: Maps, spec: Spec, transposed: bool, shape_in: Shape | None = None, rounding: str = ONCE,
    fits: Shape | None = None, wholes: dict[int, AxisMap] | None = None,
) -> CallPlan:  # fmt: skip
    """rounding: of the result. fits: a result shape that is known
    to fit in memory. wholes: the whole maps, if some maps are parts of them."""
    library = of(x)
    layout = library.layout(x)
    lengths = list(layout.shape)
    for axis, m in maps:
        if lengths[axis] != m.n_in:  # kernels do not check
            refuse(ValueError, "x", f"length {m.n_in} along axis {axis}", f"{lengths[axis]}")
        lengths[axis] = m.n_out
    shape_out = tuple(lengths)
    if shape_out != fits:
        _check_memory(shape_out, layout.itemsize, layout.device)
    in_order = tuple(range(len(shape_out)))
    order = spec.order(layout.shape, layout.strides, library.image_order, rounding)
    memory_order = None if order == in_order else order
    steps = _steps(layout, maps, memory_order, rounding, wholes)
    return CallPlan(
        spec=spec,
        transposed=transposed,
        maps=maps,
        shape_in=layout.shape if shape_in is None else shape_in,
        shape=layout.shape,
        shape_out=shape_out,
        order=memory_order,
        strides=() if layout.device is None else strides_in(order, shape_out),
        itemsize=layout.itemsize,
        n_bytes=math.prod(shape_out) * layout.itemsize,
        positions=0 if steps is None else steps.positions,
        device=layout.device,
        steps=steps,
    )


def _steps(layout: Layout, maps: Maps, order: tuple[int, ...] | None, rounding: str, wholes: Any) -> Any:
    """Returns what applies maps to a layout; None if there is no compiled kernel."""
    if not _is_compiled(layout.dtype, maps):
        return None
    if layout.device is None:
        return core.host_plan(layout, maps, order, rounding, wholes)
    from tenter._triton import windows  # imports Triton

    return windows.launches(layout, maps, order, rounding)


def _is_compiled(dtype: str, maps: Maps) -> bool:
    if dtype == OPAQUE:
        return False
    if dtype in NUMBERS or dtype in PARTS:
        return True
    return not any(isinstance(m, (Window, CountSums)) or (isinstance(m, Gather) and not m.picks) for _, m in maps)


def _check_memory(shape: Sequence[int], itemsize: int, device: str | None) -> None:
    """Refuses what does not fit in the machine's memory. A device's allocator knows its own limit."""
    if device is None:
        limits.memory(shape, itemsize)
    else:
        limits.addressable("result", shape, itemsize)
