"""The compiled core: an array's layout with maps on some axes becomes a plan, a few calls of `copy` and `window`.

An array is described by dims from slowest to fastest, each with its length, stride and map. Output is contiguous in
that order. Dims without a map are merged where memory allows; temporaries appear only between passes of window maps. A
plan knows layouts but no addresses, so one plan serves every array of its layout.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from tenter import _native
from tenter.frontends import COMPLEX_PARTS, NATIVE_DTYPES
from tenter.frontends.layout import Layout
from tenter.kernels.plan import GATHERED, INPUT, LAST, OUTPUT, Buffer
from tenter.kernels.plan import Plan as Plan
from tenter.maps import AxisMap, Copy, Gather, Window

ITEMSIZE = {"float32": 4, "float64": 8, "int64": 8}
ACCUMULATE = {"float32": 0, "float64": 1, "int64": 2}
AFFINE, EVERY, RUNS, INDEX = range(4)
# What lies between two passes should fit a core's cache.
TEMPORARY = 4 << 20
# A column of this many values fills vectors by itself; narrower ones are resampled many rows at a time.
WIDE = 16


class Picks(NamedTuple):
    """Inputs by their indices, in any order."""

    n_in: int
    n_out: int
    block_index: Any
    block: int = 1


class Dim(NamedTuple):
    n: int
    stride: int
    map: AxisMap | Picks | None = None

    @property
    def n_out(self) -> int:
        return self.map.n_out // self.map.block if self.map else self.n


class Options(NamedTuple):
    """What stays the same over the passes of a call."""

    accumulate: str
    saturate: bool


def plan(src: Layout, maps: tuple[tuple[int, AxisMap], ...], saturate: bool = False) -> Plan:
    """The steps that apply maps to src; the result is contiguous.

    saturate: between two axes too, as Pillow does, and in Pillow's order of axes.
    """
    shape_out = list(src.shape)
    for axis, m in maps:
        shape_out[axis] = m.n_out
    made = Plan(max(math.prod(shape_out), math.prod(src.shape)) * src.itemsize)
    source, target = Buffer(INPUT, 0, src.dtype, src.itemsize), Buffer(OUTPUT, 0, src.dtype, src.itemsize)
    if math.prod(shape_out) == 0:
        return made
    order = tuple(range(len(src.shape)))
    weighted = any(not isinstance(m, Copy) for _, m in maps)
    if weighted and math.prod(shape_out) < math.prod(src.shape) and 1 not in dict(maps):
        order = _channels_last(src)
    if order == tuple(range(len(src.shape))):
        _steps(made, source, target, _dims(src, dict(maps), order), saturate)
    else:
        # Channels that lie together are best resampled together; what is left is less to put in order.
        held = Buffer(made.temporary(LAST, math.prod(shape_out) * src.itemsize), 0, src.dtype, src.itemsize)
        _steps(made, source, held, _dims(src, dict(maps), order), saturate)
        strides = _contiguous([shape_out[d] for d in order], src.itemsize)
        _copy(made, held, target, [Dim(n, strides[order.index(d)]) for d, n in enumerate(shape_out)])
    if made.small and len(made.steps) == 1:
        made.small_kernel = made.steps[0].kernel
    return made


def _channels_last(src: Layout) -> tuple[int, ...]:
    """Dims from slowest to fastest where that is (batch, spatial..., channels), else as they are."""
    as_they_are = tuple(range(len(src.shape)))
    if len(src.shape) < 3 or not 1 < src.shape[1] < WIDE:
        return as_they_are
    order = (0, *as_they_are[2:], 1)
    steps = [src.strides[d] for d in order if src.shape[d] > 1]
    return order if all(a > b > 0 for a, b in itertools.pairwise(steps)) else as_they_are


def _dims(src: Layout, by_axis: dict[int, AxisMap], order: tuple[int, ...]) -> list[Dim]:
    dims: list[Dim] = []
    for axis in order:
        n, stride, m = src.shape[axis], src.strides[axis], by_axis.get(axis)
        stride = stride if n > 1 else 0  # whatever a lone position claims, it is never stepped over
        if m is None or (isinstance(m, Copy) and m.repeat == 1):
            dims.append(Dim(n, stride))
        else:
            assert m.n_in == n
            dims.append(Dim(n // m.block, stride * m.block, m))
            if m.block > 1:
                dims.append(Dim(m.block, stride))
    return dims


def _steps(made: Plan, source: Buffer, target: Buffer, dims: list[Dim], saturate: bool) -> None:
    if any(isinstance(d.map, Gather) for d in dims):
        _gathers(made, source, target, dims, saturate)
    elif all(d.map is None or isinstance(d.map, (Copy, Picks)) for d in dims):
        _copy(made, source, target, dims)
    else:
        _windows(made, source, target, dims, saturate)


def _gathers(made: Plan, source: Buffer, target: Buffer, dims: list[Dim], saturate: bool) -> None:
    """Every tap's input in the order of the rows, then sums of what now lies together."""
    gathers = [d.map if isinstance(d.map, Gather) else None for d in dims]
    picked = [d._replace(map=Picks(g.n_in, len(g.index), g.index)) if g else d for d, g in zip(dims, gathers)]
    if all(g.picks if g else not isinstance(d.map, Window) for d, g in zip(dims, gathers)):
        return _copy(made, source, target, picked)
    picked = [p if g else p._replace(map=None) for p, g in zip(picked, gathers)]
    shape = [p.n_out for p in picked]
    n_bytes = math.prod(shape) * source.itemsize
    held = Buffer(made.temporary(GATHERED, n_bytes), 0, source.dtype, source.itemsize)
    _copy(made, source, held, picked)
    strides = _contiguous(shape, source.itemsize)
    rest = [
        Dim(n, s, (None if g.picks else g.sums) if g else d.map) for n, s, d, g in zip(shape, strides, dims, gathers)
    ]
    return _steps(made, held, target, rest, saturate)


# ---- copy


def _copy(made: Plan, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    run = source.itemsize
    axes: list[tuple[int, int, int, int, int, Any]] = []  # fastest first
    for n, stride, m in reversed(dims):
        if m is None:
            if n == 1:
                continue
            if not axes and stride == run:
                run *= n
                continue
            if axes and axes[-1][0] == AFFINE and stride == axes[-1][3] * axes[-1][2] and stride:
                inner = axes.pop()
                axes.append((AFFINE, n * inner[1], n * inner[2], inner[3], 1, None))
                continue
            axes.append((AFFINE, n, n, stride, 1, None))
        else:
            axes.append(_copy_axis(n, stride, m))
    made.add(_native.CopyStep(run, axes[::-1]), source, target)


def _copy_axis(n: int, stride: int, m: Copy | Picks) -> tuple[int, int, int, int, int, Any]:
    n_out = m.n_out // m.block
    if isinstance(m, Picks):
        return (INDEX, n, n_out, stride, 1, m.block_index)
    if m.offsets is None:
        assert m.repeat is not None
        if n == 1:
            return (AFFINE, n_out, n_out, 0, 1, None)
        return (EVERY, n, n_out, stride, m.repeat, None)
    # Walking runs costs a step per input, indices a step per output.
    if n_out <= 2 * n:
        return (INDEX, n, n_out, stride, 1, m.block_index)
    return (RUNS, n, n_out, stride, 1, m.offsets)


# ---- window


def _windows(made: Plan, source: Buffer, target: Buffer, dims: list[Dim], saturate: bool) -> None:
    if source.dtype in COMPLEX_PARTS:
        part, itemsize = COMPLEX_PARTS[source.dtype], source.itemsize // 2
        source, target = (b._replace(dtype=part, itemsize=itemsize) for b in (source, target))
        dims = [*dims, Dim(2, itemsize)]
    options = Options(_accumulator(source.dtype, dims), saturate)
    passes = _passes(dims)
    # Between passes lies a temporary. Leading dims without a map are independent, so they go a few slices at a time
    # and the temporary stays small and in cache.
    lead = next(k for k, d in enumerate(dims) if d.map)
    outer = _merge(dims[:lead])
    if len(passes) == 1 or not outer:
        _run_passes(made, source, target, dims, passes, options)
        return
    (n, stride), rest = outer[0], [Dim(*d) for d in outer[1:]] + dims[lead:]
    passes = [[k - lead + len(outer) for k in axes] for axes in passes]
    bytes_each = source.itemsize * math.prod(d.n_out for d in rest)
    largest = ITEMSIZE[options.accumulate] * max(math.prod(d.n for d in rest), math.prod(d.n_out for d in rest))
    chunk = max(1, TEMPORARY // max(largest, 1))
    for at in range(0, n, chunk):
        some = [Dim(min(chunk, n - at), stride), *rest]
        from_, to = source._replace(at=at * stride), target._replace(at=at * bytes_each)
        _run_passes(made, from_, to, some, passes, options)


def _run_passes(
    made: Plan, source: Buffer, target: Buffer, dims: list[Dim], passes: list[list[int]], options: Options
) -> None:
    for done, axes in enumerate(passes):
        copies = isinstance(dims[axes[0]].map, Copy)
        chosen = [d if k in axes else d._replace(map=None) for k, d in enumerate(dims)]
        shape = [d.n_out for d in chosen]
        if done + 1 == len(passes):
            out = target
        else:
            dtype, itemsize = (
                (source.dtype, source.itemsize) if copies else (options.accumulate, ITEMSIZE[options.accumulate])
            )
            out = Buffer(made.temporary(2 * done, math.prod(shape) * itemsize), 0, dtype, itemsize)
        if copies:
            _copy(made, source, out, chosen)
        else:
            _window_pass(made, source, out, chosen, axes, options, 2 * done + 1)
        strides = _contiguous(shape, out.itemsize)
        dims = [Dim(n, s, None if k in axes else d.map) for k, (n, s, d) in enumerate(zip(shape, strides, dims))]
        source = out


def _accumulator(dtype: str, dims: list[Dim]) -> str:
    unweighted = all(not isinstance(d.map, Window) or d.map.weight is None for d in dims)
    if unweighted and dtype.removeprefix("u").startswith("int"):
        return "int64"
    return "float64" if dtype in ("float64", "int32", "uint32", "int64", "uint64") else "float32"


def _passes(dims: list[Dim]) -> list[list[int]]:
    """Dims to do together, first to last: copies first, then what shrinks most. Two or three neighbouring window dims
    are one pass."""
    copies = [k for k, d in enumerate(dims) if isinstance(d.map, Copy)]
    windows = [k for k, d in enumerate(dims) if isinstance(d.map, Window)]
    passes = [[k] for k in windows]
    for together in (2, 3):
        last = windows[-together:]
        if len(last) == together and last[-1] - last[0] == together - 1:
            passes = [[k] for k in windows[:-together]] + [last]
    passes.sort(key=lambda axes: _cost([dims[k] for k in axes]))
    return ([copies] if copies else []) + passes


def _cost(dims: list[Dim]) -> tuple[float, int]:
    """What a pass sorts by: its growth per axis. A pair, whose columns are dear, goes where there is less data."""
    growth = float(math.prod(d.n_out / max(d.n, 1) for d in dims) ** (1 / len(dims)))
    return (growth, len(dims) if growth < 1 else -len(dims))


def _window_pass(
    made: Plan, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> None:
    """spare: the temporary that the input is packed into if it must be."""
    rows_first = len(axes) > 1 and _rows_first(dims[axes[-2]], dims[axes[-1]], options.saturate)
    plane = dims[axes[0]] if len(axes) == 3 else None
    planes_first = plane is not None and plane.n_out <= plane.n
    itemsize, inner = source.itemsize, _merge(dims[axes[-1] + 1 :])
    if _needs_packing(dims, axes, inner, rows_first or planes_first, itemsize):
        packed = Buffer(made.temporary(spare, math.prod(d.n for d in dims) * itemsize), 0, source.dtype, itemsize)
        _copy(made, source, packed, [d._replace(map=None) for d in dims])
        source = packed
        dims = [d._replace(stride=s) for d, s in zip(dims, _contiguous([d.n for d in dims], itemsize))]
        inner = _merge(dims[axes[-1] + 1 :])
    n_inner, inner_stride = inner[0] if inner else (1, itemsize)
    maps = [_native_axis(dims[k]) for k in axes]
    row: _native.Axis
    column: _native.Axis
    if len(axes) > 1:
        row, column, inside = maps[-2], maps[-1], (n_inner, inner_stride)
    elif n_inner >= WIDE:
        row, column, inside = maps[0], (n_inner, inner_stride, None), (1, itemsize)
    else:
        row, column, inside = (1, 0, None), maps[0], (n_inner, inner_stride)
    step = _native.WindowStep(
        NATIVE_DTYPES[source.dtype],
        NATIVE_DTYPES[target.dtype],
        ACCUMULATE[options.accumulate],
        _merge(dims[: axes[0]]),
        maps[0] if plane else None,
        planes_first,
        row,
        column,
        inside,
        rows_first,
        options.saturate,
    )
    made.add(step, source, target)


def _rows_first(row: Dim, column: Dim, saturate: bool) -> bool:
    """Whichever costs less, an output of the columns costing thrice one of the rows; where overshoot is cut in between
    and the order shows, Pillow 13's rule."""
    if saturate:
        return 0 < row.n - row.n_out > 2 * (column.n - column.n_out)
    n_row, n_column = _touched(row), _touched(column)
    rows, columns = max(n_row, row.n_out), max(n_column, column.n_out)
    return rows * column.n + 3 * row.n_out * columns <= 3 * n_row * columns + rows * column.n_out


def _touched(d: Dim) -> int:
    """Inputs in some window, at most."""
    assert isinstance(d.map, Window)
    return d.n if d.map.offset is None else min(d.n, int(d.map.offset[-1]))


def _needs_packing(
    dims: list[Dim], axes: list[int], inner: list[tuple[int, int]], whole_rows: bool, itemsize: int
) -> bool:
    """Must the input be made contiguous first?

    What lies inside an axis is walked with one stride, and a wide inside must lie together. So must whole rows if
    rows or planes are summed before columns, a vector of columns at a time.
    """
    if len(inner) > 1:
        return True
    n_inner, stride = inner[0] if inner else (1, itemsize)
    together = stride == itemsize
    if len(axes) == 1:
        return n_inner >= WIDE and not together
    column = dims[axes[-1]]
    return whole_rows and not (together and (column.n == 1 or column.stride == n_inner * itemsize))


def _native_axis(d: Dim) -> tuple[int, int, _native.WindowMap]:
    assert isinstance(d.map, Window)
    return (d.n, d.stride, d.map.native)


def _merge(dims: list[Dim]) -> list[tuple[int, int]]:
    """(length, stride) of dims, neighbours joined where one stride walks both."""
    merged: list[tuple[int, int]] = []
    for n, stride, _ in dims:
        if n == 1:
            continue
        if merged and merged[-1][1] == stride * n:
            merged[-1] = (merged[-1][0] * n, stride)
        else:
            merged.append((n, stride))
    return merged


def _contiguous(shape: list[int], itemsize: int) -> list[int]:
    return [itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))]
