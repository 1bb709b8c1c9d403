"""From passes to launches of `window`: which form of it serves an array's axes, and in which tiles."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
import triton.language as tl

from tenter._arrays.layout import Layout
from tenter._kernels import passes
from tenter._kernels.passes import Dim, Kernels, Options, contiguous, merge
from tenter._kernels.steps import OUTPUT, Buffer
from tenter._kernels.triton import copies, tables
from tenter._kernels.triton.copies import LONG, NARROW, power, warps
from tenter._kernels.triton.launch import LATER
from tenter._kernels.triton.plan import Plan
from tenter._kernels.triton.runs import long_sums
from tenter._kernels.triton.sheets import sheets
from tenter._kernels.triton.window import ONES, RUNS, WEIGHTS, WIDTH, window
from tenter.maps import Window
from tenter.maps._runs import RunSums

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
# Outputs that a program looks through for long runs.
LONG_SHARE = 1024


def plan(src: Layout, maps: tuple[tuple[int, Any], ...], saturate: bool = False) -> Plan:
    """The launches that apply maps to src; the result is contiguous."""
    assert src.device is not None
    made = Plan(torch.device(src.device), src.at)
    passes.fill(made, KERNELS, src, maps, saturate)
    return made


class Axis(NamedTuple):
    """What the kernels know of a summed axis; its stride in bytes."""

    n: int = 1
    n_in: int = 1
    stride: int = 0
    form: Any = WIDTH
    start: Any = None
    offset: Any = None
    weight: Any = None
    width: int = 1
    taps: int = 1


class Sums(NamedTuple):
    """A pass over an array seen as (slow, outer, z, y, x, inner), along z, y and x of which sums are made. strides: of
    slow, outer and inner, in bytes."""

    source: Buffer
    target: Buffer
    z: Axis
    y: Axis
    x: Axis
    n_slow: int
    n_outer: int
    n_inner: int
    strides: tuple[int, int, int]
    sums: str
    low: float | None
    high: float | None
    wide: bool

    @property
    def n_out(self) -> int:
        return self.n_slow * self.n_outer * self.z.n * self.y.n * self.x.n * self.n_inner

    def args(self, vec: int = 1) -> dict[str, Any]:
        """What all kernels are told; strides in units of `vec` elements, but that inside."""
        slow, outer, inner = self.strides
        unit = self.source.itemsize * vec
        return {
            "start_x": self.x.start, "offset_x": self.x.offset, "weight_x": self.x.weight, "width_x": self.x.width,
            "n_x": self.x.n, "stride_x": self.x.stride // unit, "n_inner": self.n_inner, "n_outer": self.n_outer,
            "inner_stride": inner // self.source.itemsize, "outer_stride": outer // unit, "slow_stride": slow // unit,
            "FORM_X": self.x.form.value, "LOW": self.low, "HIGH": self.high, "SUM": SUMS[self.sums],
        }  # fmt: skip

    def planes(self, vec: int = 1) -> dict[str, Any]:
        """What those are told that sum along more than one axis."""
        z, y, unit = self.z, self.y, self.source.itemsize * vec
        return {
            "start_z": z.start, "offset_z": z.offset, "weight_z": z.weight, "width_z": z.width, "n_z": z.n,
            "stride_z": z.stride // unit, "n_y": y.n, "stride_y": y.stride // unit, "FORM_Z": z.form.value,
            "PLANES": z.n > 1, "SLOW": self.n_slow > 1, "INNER": copies.few(self.n_inner),
        }  # fmt: skip

    def add(self, made: Plan, kernel: Any, grid: int, n_warps: int, **args: Any) -> None:
        pointers = (POINTERS[self.source.dtype], POINTERS[self.target.dtype])
        made.add(kernel, grid, self.source, self.target, pointers, self.wide, n_warps, **args)


def add_window(
    made: Plan, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> None:
    """spare: the temporary that the input is packed into if it must be."""
    pass_ = _sums(made, source, target, dims, axes, options, spare)
    x, row_map = pass_.x, dims[axes[-2]].map if len(axes) > 1 else None
    if len(axes) == 1 and x.form is not RUNS and x.taps >= MANY and pass_.n_out < FEW:
        _add_long_sums(made, pass_, 1, -1)
        return
    if x.form is RUNS:
        _add_long_sums(made, pass_, LONG_SHARE, LONG_RUN)
    together = pass_.n_inner < NARROW and x.n * pass_.n_inner >= 64 and options.accumulate != "int64"
    if together and isinstance(row_map, Window) and _alike(row_map):
        _add_sheets(made, pass_, row_map)
    else:
        _add_window(made, pass_)


def _sums(
    made: Plan, source: Buffer, target: Buffer, dims: list[Dim], axes: list[int], options: Options, spare: int
) -> Sums:
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
    n_in = sum(d.n * abs(d.stride) for d in dims) // size
    n_out = n_slow * n_outer * z.n * y.n * x.n * n_inner
    wide = max(n_in, n_out) >= LONG
    return Sums(
        source, target, z, y, x, n_slow, n_outer, n_inner, (slow_stride, outer_stride, inner_stride),
        options.accumulate, *_range(target, options), wide,
    )  # fmt: skip


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


def _add_long_sums(made: Plan, pass_: Sums, outputs: int, least: int) -> None:
    """A program for so many outputs, which adds those of more than `least` inputs."""
    block_i = min(power(pass_.n_inner), 64)
    grid = pass_.n_slow * pass_.n_outer * -(-pass_.x.n // outputs) * -(-pass_.n_inner // block_i)
    pass_.add(
        made, long_sums, grid, 4, **pass_.args(), n_x_in=pass_.x.n_in, least=least, OUTPUTS=outputs,
        BLOCK_K=TILE // block_i, BLOCK_I=block_i,
    )  # fmt: skip


def _add_sheets(made: Plan, pass_: Sums, row_map: Window) -> None:
    n_columns, x = pass_.x.n * pass_.n_inner, pass_.x
    lowest, n_read, weight = made.keep(tables.rows_in_tiles(row_map, TILE_ROWS, pass_.sums, made.device))
    block_c = min(power(n_columns), 512)
    grid = pass_.n_slow * pass_.n_outer * pass_.z.n * -(-pass_.y.n // TILE_ROWS) * -(-n_columns // block_c)
    pass_.add(
        made, sheets, grid, max(1, block_c // 128), **pass_.args(), **pass_.planes(), lowest=lowest, n_read=n_read,
        weight_y=weight, most_read=len(weight) // len(lowest) // TILE_ROWS, taps_x=x.taps,
        TAPS_X=x.taps if x.taps <= HELD else 0, BLOCK_R=TILE_ROWS, BLOCK_C=block_c,
    )  # fmt: skip


def _add_window(made: Plan, pass_: Sums) -> None:
    z, y, x, n_inner, size = pass_.z, pass_.y, pass_.x, pass_.n_inner, pass_.source.itemsize
    wide_inside, vec = n_inner >= NARROW, 1
    if wide_inside:
        steps = [z.stride, y.stride, x.stride, *pass_.strides[:2], n_inner * size]
        vec = math.gcd(16, made.alignment(pass_.source), *steps) // size
    n_columns = n_inner if wide_inside else x.n * n_inner
    n_rows = pass_.n_out // max(n_columns, 1)
    block_c = min(power(n_columns), 256)
    block_r = min(power(n_rows), max(TILE // block_c, 1))
    while block_r > 1 and -(-n_rows // block_r) * -(-n_columns // block_c) < copies.PROGRAMS:
        block_r //= 2
    unrolled = [1 <= a.taps <= UNROLLED and a.form is not RUNS for a in (z, y, x)]
    if math.prod(a.taps for a, u in zip((z, y, x), unrolled) if u) > UNROLLED_IN_ALL:
        unrolled[0] = False
    taps_z, taps_y, taps_x = (a.taps if u else 0 for a, u in zip((z, y, x), unrolled))
    pass_.add(
        made, window, -(-n_rows // block_r) * -(-n_columns // block_c), warps(block_r * block_c, 4),
        **{**pass_.args(vec), **pass_.planes(vec), "n_inner": n_inner // vec}, n_x_in=x.n_in, start_y=y.start,
        offset_y=y.offset, weight_y=y.weight, width_y=y.width, FORM_Y=y.form.value, taps_z=z.taps, taps_y=y.taps,
        taps_x=x.taps, n_rows=n_rows, TAPS_Z=taps_z, TAPS_Y=taps_y, TAPS_X=taps_x, UNROLL_Z=taps_z or 1,
        UNROLL_Y=taps_y or 1, UNROLL_X=taps_x or 4, ROWS=y.n > 1, WIDE=wide_inside, VEC=vec, BLOCK_R=block_r,
        BLOCK_C=block_c,
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
