"""The compiled core: passes as native calls, which know layouts and no addresses, so that they serve every array of a
layout."""

import math
from typing import Any

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.layout import Layout
from tenter._kernels import cpu_bytes, passes
from tenter._kernels.passes import WIDE, Dim, Kernels, Options, Picks, contiguous, merge
from tenter._kernels.steps import Buffer, Steps
from tenter.maps import AxisMap, Copy, Window

ACCUMULATE = {"float32": 0, "float64": 1, "int64": 2}
AFFINE, EVERY, RUNS, INDEX, COMPUTED = range(5)


def steps(
    src: Layout, maps: tuple[tuple[int, AxisMap], ...], saturate: bool = False,
    wholes: dict[int, AxisMap] | None = None,
) -> Steps:  # fmt: skip
    """The steps that apply maps to src; the result is contiguous. wholes: the maps of which some are bands."""
    shape_out = list(src.shape)
    for axis, m in maps:
        shape_out[axis] = m.n_out
    n_out = math.prod(shape_out)
    made = Steps(max(n_out, math.prod(src.shape)) * src.itemsize)
    passes.fill(made, KERNELS, src, maps, saturate, wholes)
    if made.temporaries:
        limits.memory((n_out * src.itemsize + sum(made.temporaries),), 1, "result and what lies between its passes")
    return made


# ---- copy


def _copy(made: Steps, source: Buffer, target: Buffer, dims: list[Dim]) -> None:
    run = source.itemsize
    axes: list[tuple[int, int, int, int, int, Any]] = []  # fastest first
    alone = sum([d.map is not None for d in dims]) == 1
    for n, stride, m, _ in reversed(dims):
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
            axes.append(_copy_axis(n, stride, m, alone))
    made.add(_native.CopyStep(run, axes[::-1]), source, target)


def _copy_axis(n: int, stride: int, m: Copy | Picks, alone: bool) -> tuple[int, int, int, int, int, Any]:
    n_out, form = m.n_out // m.block, copy_form(n, m, alone)
    if form == AFFINE:
        return (AFFINE, n_out, n_out, 0, 1, None)
    if isinstance(m, Picks) or form == INDEX:
        return (INDEX, n, n_out, stride, 1, m.block_index)
    if form == EVERY:
        assert m.repeat is not None
        return (EVERY, n, n_out, stride, m.repeat, None)
    return (form, n, n_out, stride, 1, m.native if form == COMPUTED else m.offsets)


def copy_form(n: int, m: Copy | Picks, alone: bool) -> int:
    """How the core finds the inputs along an axis."""
    if isinstance(m, Picks):
        return INDEX
    if m.repeat is not None:
        return AFFINE if n == 1 else EVERY
    if alone and m.native is not None:
        return COMPUTED
    # Walking runs costs a step per input, indices a step per output.
    return INDEX if m.n_out // m.block <= 2 * n else RUNS


# ---- window


def _window_pass(
    made: Steps, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> None:
    """spare: the temporary that the input is packed into if it must be."""
    if options.accumulate == "uint8":
        if cpu_bytes.needs_packing(dims, axes, options.rows_first):
            source, dims = _packed(made, source, dims, spare)
        made.add(cpu_bytes.step(dims, axes, len(axes) == 2 and options.rows_first), source, target)
        return
    rows_first = len(axes) > 1 and _rows_first(dims[axes[-2]].deciding, dims[axes[-1]].deciding, options)
    plane = dims[axes[0]].deciding if len(axes) == 3 else None
    planes_first = plane is not None and plane.n_out <= plane.n
    itemsize, inner = source.itemsize, merge(dims[axes[-1] + 1 :])
    if _needs_packing(dims, axes, inner, rows_first or planes_first, itemsize):
        source, dims = _packed(made, source, dims, spare)
        inner = merge(dims[axes[-1] + 1 :])
    n_inner, inner_stride = inner[0] if inner else (1, itemsize)
    maps = [_native_axis(dims[k], len(axes) > 1) for k in axes]
    row: _native.Axis
    column: _native.Axis
    if len(axes) > 1:
        row, column, inside = maps[-2], maps[-1], (n_inner, inner_stride)
    elif n_inner >= WIDE:
        row, column, inside = maps[0], (n_inner, inner_stride, None), (1, itemsize)
    else:
        row, column, inside = (1, 0, None), maps[0], (n_inner, inner_stride)
    step = _native.WindowStep(
        NUMBERS[source.dtype],
        NUMBERS[target.dtype],
        ACCUMULATE[options.accumulate],
        merge(dims[: axes[0]]),
        maps[0] if plane else None,
        planes_first,
        row,
        column,
        inside,
        rows_first,
        options.saturate,
    )
    made.add(step, source, target)


def _packed(made: Steps, source: Buffer, dims: list[Dim], spare: int) -> tuple[Buffer, list[Dim]]:
    lengths = [d.n for d in dims]
    packed = made.temporary(spare, lengths, source.dtype, source.itemsize)
    _copy(made, source, packed, [d._replace(map=None) for d in dims])
    return packed, [d._replace(stride=s) for d, s in zip(dims, contiguous(lengths, source.itemsize))]


def _rows_first(row: Dim, column: Dim, options: Options) -> bool:
    """Whichever costs less, an output of the columns costing thrice one of the rows."""
    if options.saturate:
        return options.rows_first
    n_row, n_column = _touched(row), _touched(column)
    rows, columns = max(n_row, row.n_out), max(n_column, column.n_out)
    return rows * column.n + 3 * row.n_out * columns <= 3 * n_row * columns + rows * column.n_out


def _touched(d: Dim) -> int:
    """Inputs in some window, at most."""
    assert isinstance(d.map, Window)
    return min(d.n, d.map.native_tables.n_taps)


def _needs_packing(
    dims: list[Dim], axes: list[int], inner: list[tuple[int, int]], whole_rows: bool, itemsize: int
) -> bool:
    """Whether the input must be made contiguous first.

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


def _native_axis(d: Dim, with_tables: bool) -> tuple[int, int, _native.WindowMap]:
    assert isinstance(d.map, Window)
    return (d.n, d.stride, d.map.native_tables if with_tables else d.map.native)


# What lies between two passes should fit a core's cache.
KERNELS = Kernels(_copy, _window_pass, 4 << 20, lambda dims, options: False, cpu_bytes.served)
