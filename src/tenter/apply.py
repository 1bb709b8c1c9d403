"""Maps applied to arrays: which kernel serves which call, and where its output goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any

from tenter import build, check, frontends, limits
from tenter.frontends import COMPLEX_PARTS, NATIVE_DTYPES, OPAQUE
from tenter.frontends.layout import Layout, resized_order
from tenter.kernels import cpu, reference
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps.runs import RunSums
from tenter.stretch import RepeatCounts, Resample, Resize, Stretch, shape_out

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
        if type(map_) not in (Copy, Window, Gather):  # a subclass may have tables that were not checked
            limits.refuse(TypeError, "map", "a Copy, a Window or a Gather", type(map_).__name__)
        x = check.array("x", x)
        axis = check.dim("axis", axis, x.ndim)
        if x.ndim == 0:
            x = x.reshape(1)
        if found := frontends.of(x).unservable(x):
            limits.refuse(TypeError, "x", "an array or a plain tensor to apply a map to", found)
        if x.shape[axis] != map_.n_in:
            limits.refuse(ValueError, "x", f"length {map_.n_in} along axis {axis}", f"{x.shape[axis]}")
        if not isinstance(map_, Copy) and not (isinstance(map_, Gather) and map_.picks):
            name = frontends.dtype_name(x)
            if not frontends.is_numeric(name):
                limits.refuse(TypeError, "x", "numbers, to take sums of", name)
        if out is None:
            return apply_maps(x, ((axis, map_),))
        check.output(out, x, tuple(map_.n_out if d == axis else n for d, n in enumerate(x.shape)))
        x = frontends.of(x).resolve(x)
        frontends.of(out).copy_into(out, planned(x, ((axis, map_),)).run(x))
        return out
    except limits.Refusal as refusal:
        raise check.error(refusal, f"{type(map_).__name__}.apply", x=x, axis=axis, out=out) from None


def stretch(x: Any, does: Stretch) -> Any:
    """An operation on an array whose arguments have been checked: fresh memory, differentiable where x is."""
    frontend = frontends.of(x)
    if frontend.recorded(x):
        return frontend.record(x, does)
    return frontend.execute(x, plan(x, does))


def plan(x: Any, does: Stretch) -> Planned:
    """How the operation is done to arrays that lie as x does."""
    dtype = frontends.dtype_name(x)
    return planned(x, maps_for(x, does, dtype), keeps_layout(does), build.saturates(does, dtype), does)


def maps_for(x: Any, does: Stretch, dtype: str) -> Maps:
    """The maps of an operation on x, computed in a dtype, if there is room for its result."""
    _has_room(x, shape_out(does, tuple(x.shape)), frontends.itemsize(x))
    _tables_have_room(does, tuple(x.shape))
    return build.maps(does, tuple(x.shape), dtype, frontends.on_device(x))


def plan_adjoint(g: Any, does: Stretch, n_in: tuple[int, ...]) -> Planned:
    """How the gradient of an array of shape n_in is made of gradients that lie as g does."""
    _has_room(g, n_in, frontends.itemsize(g))
    _tables_have_room(does, n_in)
    maps = build.maps(does, n_in, frontends.dtype_name(g), frontends.on_device(g))
    return adjoint(g, maps, does)


def _tables_have_room(does: Stretch | None, shape: tuple[int, ...]) -> None:
    """Refuses an array of that shape whose maps' tables, and what building them takes, the machine can't hold: seldom
    more than the arrays, but for one axis of 10**8 and more."""
    if isinstance(does, Resample):
        limits.memory((sum(shape[2:]) + sum(does.size),), 200, "the tables of the axis maps")
    if isinstance(does, Resize):
        limits.memory((sum(shape[a] for a in does.axes) + sum(does.size),), 400, "the tables of the axis maps")


def _has_room(x: Any, shape: Sequence[int], itemsize: int) -> None:
    """Refuses what the machine can't hold; a device's allocator knows what it can."""
    if frontends.on_device(x):
        limits.addressable("result", shape, itemsize)
    else:
        limits.memory(shape, itemsize)


def keeps_layout(does: Stretch | None) -> bool:
    """Does the result lie as x does? PyTorch's repeats are contiguous."""
    return isinstance(does, (Resample, Resize))


def apply_maps(x: Any, maps: Maps) -> Any:
    """Fresh memory with one map applied per axis, differentiable where x is."""
    x = frontends.of(x).resolve(x)
    return frontends.of(x).execute(x, planned(x, maps))


class Planned:
    """Maps for arrays of one layout and dtype, and the steps that apply them: memory in, memory out.

    does: what the maps come from, if it was an operation; transposed if they are its adjoint's. shape_in: of the arrays
    that are given, which may have had another shape, as flat, when the steps were planned.
    """

    transposed = False

    def __init__(
        self, frontend: Any, layout: Layout, maps: Maps, order: tuple[int, ...], saturate: bool, does: Stretch | None
    ) -> None:
        self.frontend, self.maps, self.does = frontend, maps, does
        self.order = None if order == tuple(range(len(order))) else order
        self.shape_in = self.shape_planned = layout.shape
        after = {axis: m.n_out for axis, m in maps}
        self.shape_out = tuple(after.get(d, n) for d, n in enumerate(layout.shape))
        # From an array's first element to its last, either way, in bytes.
        self.extent = sum((n - 1) * abs(s) for n, s in zip(layout.shape, layout.strides)) + layout.itemsize
        if 0 in layout.shape:
            self.extent = 0
        self.itemsize = layout.itemsize
        self.n_bytes = math.prod(self.shape_out) * layout.itemsize
        self.positions = sum([m.n_in + m.n_out for _, m in maps if _has_tables(m)])
        self.like: Any = None  # an array like the result, for frontends that allocate by example
        self.adjoints: dict[tuple[int, ...], Planned] = {}
        self.device = layout.device
        self.offsets: Any = None  # running totals of counts, on the device
        self.steps: Any = None
        if native(layout.dtype, maps):
            place = {axis: k for k, axis in enumerate(order)}
            src = layout._replace(
                shape=tuple(layout.shape[d] for d in order), strides=tuple(layout.strides[d] for d in order)
            )
            self.steps = _planner(layout.device)(src, tuple((place[axis], m) for axis, m in maps), saturate)

    def run(self, x: Any) -> Any:
        return self.frontend.run(x, self)

    def by(self, does: RepeatCounts) -> Planned:
        """The same steps, for other counts."""
        made = copy(self)
        made.does, made.offsets = does, does.offsets
        return made

    def slowly(self, x: Any) -> Any:
        """By the reference kernel, which serves what the core does not."""
        return self.frontend.through_numpy(x.reshape(self.shape_planned), partial(reference.run, maps=self.maps))

    def relaid(self, x: Any) -> Planned:
        """The same maps, for arrays that lie as x does."""
        return planned(x, self.maps, keeps_layout(self.does), does=self.does)

    def adjoint(self, g: Any) -> Planned:
        """The transposed maps, for gradients that lie as g does."""
        place = self.frontend.place(g)
        found = self.adjoints.get(place)
        if found is None:
            if self.offsets is not None:  # which an adjoint of earlier counts would have
                return adjoint(g, self.maps, self.does, not self.transposed)
            if len(self.adjoints) >= 8:  # slices of ever new arrays
                self.adjoints.clear()
            found = self.adjoints[place] = adjoint(g, self.maps, self.does, not self.transposed)
        return found


def adjoint(g: Any, maps: Maps, does: Stretch | None, transposed: bool = True) -> Planned:
    """The transposed maps, for gradients that lie as g does. transposed: are they then those of does's adjoint?"""
    shape = dict(maps)
    _tables_have_room(does, tuple(shape[d].n_in if d in shape else n for d, n in enumerate(g.shape)))
    made = planned(g, tuple((axis, m.T) for axis, m in maps), keeps_layout(does), does=does)
    made.transposed = transposed
    return made


def _has_tables(m: AxisMap) -> bool:
    if isinstance(m, Copy):
        return m.repeat is None
    return isinstance(m, Gather) or (isinstance(m, Window) and m.width is None)


def planned(
    x: Any, maps: Maps, keep_layout: bool = False, saturate: bool = False, does: Stretch | None = None
) -> Planned:
    """keep_layout: channels-last stays channels-last. saturate: integers saturate between axes too, as in Pillow."""
    shape = list(x.shape)
    for axis, m in maps:
        if shape[axis] != m.n_in:  # kernels check nothing
            limits.refuse(ValueError, "x", f"length {m.n_in} along axis {axis}", f"{shape[axis]}")
        shape[axis] = m.n_out
    layout = frontends.of(x).layout(x)
    _has_room(x, shape, layout.itemsize)
    order = tuple(range(len(shape)))
    if isinstance(does, Resize):
        order = resized_order(layout.shape, layout.strides, does.axes, saturate)
    elif keep_layout:
        order = frontends.of(x).memory_order(layout.shape, layout.strides)
    made = partial(Planned, frontends.of(x), layout, maps, order, saturate, does)
    if isinstance(does, RepeatCounts) and layout.device is not None:
        from tenter import calls  # late: it reads this module

        # Counts change, what is launched for them does not.
        kinds = tuple(type(m) for _, m in maps)  # as tuples of equal lengths are equal
        return calls.kept(("runs", layout, maps, kinds, order), made).by(does)
    return made()


def _planner(device: str | None) -> Callable[..., Any]:
    """Which kernels serve a device."""
    if device is None:
        return cpu.plan
    from tenter.kernels.triton import windows  # late: it needs Triton, which takes a while

    return windows.plan


def native(dtype: str, maps: Maps) -> bool:
    """Are there compiled kernels for these maps on this dtype?"""
    if dtype == OPAQUE:
        return False
    if any(isinstance(m, (Window, RunSums)) or (isinstance(m, Gather) and not m.picks) for _, m in maps):
        return dtype in NATIVE_DTYPES or dtype in COMPLEX_PARTS
    return True
