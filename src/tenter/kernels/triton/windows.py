"""From passes to launches of `window`: which form of it serves an array's axes, and in which tiles."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
import triton.language as tl

from tenter.frontends.layout import Layout
from tenter.kernels import passes
from tenter.kernels.passes import Dim, Kernels, Options, contiguous, merge
from tenter.kernels.plan import OUTPUT, Buffer
from tenter.kernels.triton import copies, tables
from tenter.kernels.triton.copies import LONG, NARROW, power, warps
from tenter.kernels.triton.launch import LATER
from tenter.kernels.triton.plan import Plan
from tenter.kernels.triton.runs import long_sums
from tenter.kernels.triton.sheets import sheets
from tenter.kernels.triton.window import ONES, RUNS, WEIGHTS, WIDTH, window
from tenter.maps import Window
from tenter.maps.runs import RunSums

POINTERS = {
    "float32": "*fp32", "float64": "*fp64", "float16": "*fp16", "bfloat16": "*bf16", "uint8": "*u8", "int8": "*i8",
    "uint16": "*u16", "int16": "*i16", "uint32": "*u32", "int32": "*i32", "uint64": "*u64", "int64": "*i64",
}  # fmt: skip
SUMS = {"float32": tl.float32, "float64": tl.float64, "int64": tl.int64}
TILE, TILE_ROWS = 1024, 8
# Weights of one output along the columns that are held in registers.
HELD = 8
# Taps along one axis, and along all, that are written out one after the other.
UNROLLED, UNROLLED_IN_ALL = 4, 16
# More inputs than this for an output of two axes are fewer if the axes are summed one after the other.
TOGETHER = 64
# Runs of counts on a device that are longer than this have a program of their own; so have the outputs of windows that
# are longer than MANY, where there are so few that lanes would be idle.
LONG_RUN, MANY, FEW = 64, 256, 1 << 17


def plan(src: Layout, maps: tuple[tuple[int, Any], ...], saturate: bool = False) -> Plan:
    """The launches that apply maps to src; the result is contiguous."""
    assert src.device is not None
    made = Plan(torch.device(src.device), src.at)
    passes.fill(made, KERNELS, src, maps, saturate)
    return made


class Axis(NamedTuple):
    """What the kernels know of a summed axis; strides in bytes."""

    n: int = 1
    n_in: int = 1
    stride: int = 0
    form: Any = WIDTH
    start: Any = None
    offset: Any = None
    weight: Any = None
    width: int = 1
    taps: int = 1


def _axis(made: Plan, d: Dim, options: Options) -> Axis:
    m = d.map
    if isinstance(m, RunSums):
        return Axis(m.n_out, m.n_in, d.stride, RUNS, offset=LATER, taps=LONG_RUN)
    assert isinstance(m, Window)
    if m.width is not None:
        return Axis(d.n_out, d.n, d.stride, width=m.width, taps=m.width)
    assert m.offset is not None
    start, offset, *weight = made.keep(tables.window(m, options.accumulate, made.device))
    form, taps = WEIGHTS if weight else ONES, _taps(m)
    return Axis(d.n_out, d.n, d.stride, form, start, offset, weight[0] if weight else None, taps=taps)


def _taps(m: Window) -> int:
    """Of one output, at most."""
    return int(np.diff(m.rows()[1]).max(initial=0))


def add_window(
    made: Plan, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> None:
    """spare: the temporary that the input is packed into if it must be."""
    size = source.itemsize
    outer, inner = merge(dims[: axes[0]]), merge(dims[axes[-1] + 1 :])
    together = not inner or inner[0][1] == size
    if len(outer) > 2 or len(inner) > 1 or (not together and inner[0][0] >= NARROW):
        source = copies.pack(made, source, dims, spare)
        dims = [d._replace(stride=s) for d, s in zip(dims, contiguous([d.n for d in dims], size))]
        outer, inner = merge(dims[: axes[0]]), merge(dims[axes[-1] + 1 :])
    n_inner, inner_stride = inner[0] if inner else (1, size)
    (n_slow, slow_stride), (n_outer, outer_stride) = ([(1, 0)] * 2 + outer)[-2:]
    z, y, x = ([Axis()] * 2 + [_axis(made, dims[k], options) for k in axes])[-3:]
    low, high = _range(target, options)
    pointers = (POINTERS[source.dtype], POINTERS[target.dtype])
    n_in = sum(d.n * abs(d.stride) for d in dims) // size
    n_out = n_slow * n_outer * z.n * y.n * x.n * n_inner
    wide = max(n_in, n_out) >= LONG
    alone = len(axes) == 1 and x.form is not RUNS and x.taps >= MANY and n_out < FEW
    common: dict[str, Any] = {
        "start_x": x.start, "offset_x": x.offset, "weight_x": x.weight, "width_x": x.width, "n_x": x.n,
        "n_inner": n_inner, "n_outer": n_outer, "FORM_X": x.form.value, "LOW": low, "HIGH": high,
        "SUM": SUMS[options.accumulate],
    }  # fmt: skip
    if alone or x.form is RUNS:
        block_i = min(power(n_inner), 64)
        outputs = 1 if alone else 1024
        grid = n_slow * n_outer * -(-x.n // outputs) * -(-n_inner // block_i)
        made.add(
            long_sums, grid, source, target, pointers, wide, 4, **common, n_x_in=x.n_in, stride_x=x.stride // size,
            inner_stride=inner_stride // size, outer_stride=outer_stride // size, slow_stride=slow_stride // size,
            least=-1 if alone else LONG_RUN, OUTPUTS=outputs, BLOCK_K=TILE // block_i, BLOCK_I=block_i,
        )  # fmt: skip
    if alone:
        return
    shapes = {
        "n_y": y.n, "n_z": z.n, "PLANES": z.n > 1, "SLOW": n_slow > 1, "INNER": copies.few(n_inner),
        **{f"{field}_z": getattr(z, field) for field in ("start", "offset", "weight", "width")}, "FORM_Z": z.form.value,
    }  # fmt: skip
    row_map = dims[axes[-2]].map if len(axes) > 1 else None
    if n_inner < NARROW and x.n * n_inner >= 64 and options.accumulate != "int64" and _alike(row_map):
        assert isinstance(row_map, Window)
        lowest, n_read, weight = made.keep(tables.rows_in_tiles(row_map, TILE_ROWS, options.accumulate, made.device))
        block_c = min(power(x.n * n_inner), 512)
        grid = n_slow * n_outer * z.n * -(-y.n // TILE_ROWS) * -(-x.n * n_inner // block_c)
        made.add(
            sheets, grid, source, target, pointers, wide, max(1, block_c // 128), **{**common, **shapes},
            lowest=lowest, n_read=n_read, weight_y=weight, most_read=len(weight) // len(lowest) // TILE_ROWS,
            taps_x=x.taps, stride_z=z.stride // size, stride_y=y.stride // size, stride_x=x.stride // size,
            inner_stride=inner_stride // size, outer_stride=outer_stride // size, slow_stride=slow_stride // size,
            TAPS_X=x.taps if x.taps <= HELD else 0, BLOCK_R=TILE_ROWS, BLOCK_C=block_c,
        )  # fmt: skip
        return
    vec = 1
    if n_inner >= NARROW:
        strides = [z.stride, y.stride, x.stride, outer_stride, slow_stride, n_inner * size]
        vec = math.gcd(16, made.alignment(source), *strides) // size
    n_columns = n_inner if n_inner >= NARROW else x.n * n_inner
    n_rows = n_out // max(n_columns, 1)
    block_c = min(power(n_columns), 256)
    block_r = min(power(n_rows), max(TILE // block_c, 1))
    while block_r > 1 and -(-n_rows // block_r) * -(-n_columns // block_c) < copies.PROGRAMS:
        block_r //= 2
    unrolled = [1 <= a.taps <= UNROLLED and a.form is not RUNS for a in (z, y, x)]
    if math.prod(a.taps for a, u in zip((z, y, x), unrolled) if u) > UNROLLED_IN_ALL:
        unrolled[0] = False
    made.add(
        window, -(-n_rows // block_r) * -(-n_columns // block_c), source, target, pointers, wide,
        warps(block_r * block_c, 4), **{**common, **shapes, "n_inner": n_inner // vec, "n_x_in": x.n_in},
        **{f"{field}_y": getattr(y, field) for field in ("start", "offset", "weight", "width")}, FORM_Y=y.form.value,
        taps_z=z.taps, taps_y=y.taps, taps_x=x.taps, n_rows=n_rows,
        stride_z=z.stride // (size * vec), stride_y=y.stride // (size * vec), stride_x=x.stride // (size * vec),
        outer_stride=outer_stride // (size * vec), slow_stride=slow_stride // (size * vec),
        inner_stride=inner_stride // size, ROWS=y.n > 1, WIDE=n_inner >= NARROW, VEC=vec,
        **{f"TAPS_{a}": axis.taps if u else 0 for a, axis, u in zip("ZYX", (z, y, x), unrolled)},
        **{f"UNROLL_{a}": axis.taps if u else 1 for a, axis, u in zip("ZY", (z, y), unrolled)},
        UNROLL_X=x.taps if unrolled[2] else 4, BLOCK_R=block_r, BLOCK_C=block_c,
    )  # fmt: skip


def _range(target: Buffer, options: Options) -> tuple[float | None, float | None]:
    """What sums are cut to: an integer's values; between two axes, where 8 bits saturate there, theirs."""
    if options.saturate and target.memory != OUTPUT:
        return 0.0, 255.0
    if "int" not in target.dtype or (options.accumulate == "int64" and target.itemsize == 8):
        return None, None
    info = np.iinfo(target.dtype)
    return int(info.min), int(info.max)


def _alike(m: Any) -> bool:
    """Do the windows of a tile's rows have so much in common that its rows are better summed together?"""
    if not isinstance(m, Window) or m.width is not None or m.n_out // m.block < TILE_ROWS:
        return False
    start, offset = m.rows()
    stop = start + np.diff(offset)
    ends = np.minimum(np.arange(TILE_ROWS - 1, len(start) + TILE_ROWS - 1, TILE_ROWS), len(start) - 1)
    return bool(np.sum(stop[ends] - start[::TILE_ROWS]) <= 0.75 * offset[-1])


def _apart(dims: list[Dim], options: Options) -> bool:
    """Axes whose sums are cut in between; long windows, of which every output would add a whole sheet."""
    if any(isinstance(d.map, RunSums) for d in dims):
        return True
    taps = [_taps(d.map) for d in dims if isinstance(d.map, Window)]
    return options.saturate or math.prod(taps) > TOGETHER


KERNELS = Kernels(copies.add_copy, add_window, None, _apart)
