"""Launches of `window`, `shared_row_window` and `long_sums` for window passes: which kernel, and in which tiles."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch
import triton.language as tl

from tenter._arrays.layout import Layout, Order, contiguous, merged
from tenter._plans import passes as planner
from tenter._triton import copies, passes, tables
from tenter._triton.copies import INT64_SIZE, NARROW, divisor, next_power_of_two
from tenter._triton.launch import PER_CALL, POINTERS
from tenter._triton.launches import Launches
from tenter._triton.passes import OUTPUT, Buffer, MappedDim
from tenter._triton.runs import long_sums
from tenter._triton.shared_row_window import shared_row_window
from tenter._triton.window import ONES, RUNS, WEIGHTS, WIDTH, window
from tenter.maps import Copy, Window
from tenter.maps._counts import CountSums

SUMS = {"float32": tl.float32, "float64": tl.float64, "int64": tl.int64}
# TILE: items of a tile, THREAD_ITEMS those of a thread. Tiles of shared_row_window have TILE_ROWS or MORE_ROWS output
# rows, and at most GROWN_COLUMNS columns, or SHRUNK_COLUMNS if there are fewer than in the input. REGISTER_WEIGHTS: the
# most weights of a thread's columns that it keeps in registers, in float32.
TILE, THREAD_ITEMS, TILE_ROWS, MORE_ROWS = 1024, 4, 4, 8
GROWN_COLUMNS, SHRUNK_COLUMNS, REGISTER_WEIGHTS = 128, 256, 24
# The most values inside a column that one thread has, and those in all of its columns.
FEW_CHANNELS, MOST_VALUES = 4, 8
# Tiles have MORE_ROWS if these read FEW_READS input rows at most, or if an output row then costs at most FEWER_READS
# times as many reads, and a thread has at most FEW_COLUMNS, so that its sums stay in registers.
FEW_READS, FEWER_READS, FEW_COLUMNS = 4, 0.8, 2
# The most inputs from a thread's columns to the next one's, without and with sums along planes. With more, the threads
# of a warp read too far from one another.
MOST_STEPS = (4, 2)
# The largest number of taps that are unrolled, along one axis and along all.
UNROLLED, UNROLLED_IN_ALL = 4, 16
# One program computes each longer run of counts on a device. It also computes each output of windows with LONG_WINDOW
# inputs or more, if there are fewer than FEW_OUTPUTS, as a tile would leave lanes idle, or if these inputs are single
# columns, as the threads of a tile would read far from one another.
LONG_RUN, LONG_WINDOW, FEW_OUTPUTS = 64, 256, 1 << 17
# PLANES: the most planes of a program of shared_row_window, which reads the tables of a tile once. BUSY: the programs
# that keep a large device busy to the end; fewer have a plane each.
PLANES, BUSY = 8, 8 * copies.PROGRAMS
# `window` sums channels if an output has less than FEW_TAPS taps, or if rows share little; but not MOST_WINDOW_TAPS and
# more.
FEW_TAPS, MOST_WINDOW_TAPS = 8, 64
# Bytes of memory that are read at once. PARTS: the most parts of a tile of channels.
SECTOR, PARTS = 32, 2
# Outputs that a program searches for long runs.
SEARCHED_OUTPUTS = 1024
# Bytes of a call's temporaries. A call that would have more is made a chunk at a time. Half as many bytes make
# antialiased bicubic images 14 % slower on an H100, twice as many 3 % faster: the device is not full at the end of each
# launch.
MOST_TEMPORARY = 32 << 20

Maps = tuple[tuple[int, Any], ...]


class Options(NamedTuple):
    """What all passes of a call share.

    accumulate: the dtype of sums, also between passes
    share: of the call's outputs, in the chunk that the passes make
    """

    accumulate: str
    saturate: bool
    share: Fraction


class Chunk(NamedTuple):
    """Chunks of a call that have the same launches.

    share: of the call's outputs, in each chunk
    steps: bytes from the input of a chunk to that of the next, and of the result; or a divisor of them
    """

    share: Fraction = Fraction(1)
    steps: tuple[int, int] = (0, 0)


def launches(
    src: Layout, maps: Maps, order: Order | None = None, saturate: bool = False
) -> Launches:  # fmt: skip
    """Returns the launches that apply maps to src. The result is contiguous in `order`, its dims from slowest to
    fastest. saturate: sums are clamped to 8 bits between two axes, and not rounded. It only changes sums that
    overshoot."""
    maps = tuple((axis, m) for axis, m in maps if not (isinstance(m, Copy) and m.repeat == 1))
    saturate = saturate and any(
        isinstance(m, Window) and m.weight is not None and (m.weight < 0).any() for _, m in maps
    )
    return _in_chunks(src, maps, tuple(range(len(src.shape))) if order is None else order, saturate, Chunk())


def _in_chunks(src: Layout, maps: Maps, order: Order, saturate: bool, chunk: Chunk) -> Launches:
    """Cuts the slowest dim into chunks of equal length, and a rest, if there are too many temporaries. If a position of
    it still has too many, its chunks are cut along the next dim. Only dims without maps are cut."""
    made = _at_once(src, maps, order, saturate, chunk)
    n_bytes, mapped = sum(made.temporaries), dict(maps)
    axis = next((d for d in order if src.shape[d] != 1 or d in mapped), None)
    # The sums of an expanded dim are made once and copied, so that its chunks would make them again.
    if n_bytes <= MOST_TEMPORARY or axis is None or axis in mapped or src.strides[axis] == 0:
        return made
    n = src.shape[axis]
    each = -(-n // -(-n // max(n * MOST_TEMPORARY // n_bytes, 1)))
    source_step = src.strides[axis]
    target_step = src.itemsize * math.prod(mapped[d].n_out if d in mapped else src.shape[d] for d in order if d != axis)
    steps = math.gcd(chunk.steps[0], each * source_step), math.gcd(chunk.steps[1], each * target_step)
    chunks = {}
    for length in {each, n % each or each}:
        shape = (*src.shape[:axis], length, *src.shape[axis + 1 :])
        its = Chunk(chunk.share * Fraction(length, n), steps)
        chunks[length] = _in_chunks(src._replace(shape=shape), maps, order, saturate, its)
    together = Launches(made.device, made.at, [], made.positions, chunk.steps)
    for k in range(0, n, each):
        together.add_chunk(chunks[min(each, n - k)], k * source_step, k * target_step)
    return together


def _at_once(src: Layout, maps: Maps, order: Order, saturate: bool, chunk: Chunk) -> Launches:
    assert src.device is not None
    planned = planner.planned(src, maps, order, saturate, True)
    by_axis = dict(maps)
    changed = [by_axis[axis] for axis in order if axis in by_axis]
    tabled = [m.n_in + m.n_out for m in changed if not (isinstance(m, Copy) and m.repeat is not None)]
    made = Launches(torch.device(src.device), src.at, planned.temporaries, sum(tabled), chunk.steps)
    for each in passes.read((*planned.passes, *planned.after), changed):
        if each.copies:
            copies.add_copy(made, each.source, each.target, each.dims)
        else:
            add_window(made, each, Options(planned.sums, saturate, chunk.share))
    return made


class Axis(NamedTuple):
    """A summed axis, as in the kernels' arguments. stride: in bytes. taps: the largest number of inputs of an
    output."""

    n: int = 1
    n_in: int = 1
    stride: int = 0
    form: Any = WIDTH
    start: Any = None
    offset: Any = None
    weight: Any = None
    width: int = 1
    taps: int = 1
    filled: bool = True  # each output has an input


class WindowPass(NamedTuple):
    """A pass over an array as (slow, outer, z, y, x, inner), with sums along z, y and x.

    slow, outer, inner: length and stride in bytes
    """

    source: Buffer
    target: Buffer
    slow: tuple[int, int]
    outer: tuple[int, int]
    z: Axis
    y: Axis
    x: Axis
    inner: tuple[int, int]
    options: Options
    extent: int  # of the input, in elements

    @property
    def n_out(self) -> int:
        return self.slow[0] * self.outer[0] * self.z.n * self.y.n * self.x.n * self.inner[0]

    def add(self, made: Launches, kernel: Any, grid: int, n_warps: int, vec: int = 1, **args: Any) -> None:
        """Adds a launch. vec: elements in a unit of strides, except the inner stride. args: those that not all kernels
        share."""
        itemsize, unit = self.source.itemsize, self.source.itemsize * vec
        for k, a in (("z", self.z), ("y", self.y), ("x", self.x)):
            given = {f"start_{k}": a.start, f"offset_{k}": a.offset, f"weight_{k}": a.weight, f"width_{k}": a.width}
            sizes = {f"n_in_{k}": a.n_in, f"stride_{k}": a.stride // unit, f"taps_{k}": a.taps}
            args = {**given, **sizes, **divisor(k, a.n, f"n_{k}"), f"FORM_{k.upper()}": a.form.value, **args}
        low, high = _limits(self.target, self.options)
        shared = {
            "n_inner": self.inner[0], "inner_stride": self.inner[1] // itemsize, "n_outer": self.outer[0],
            "outer_stride": self.outer[1] // unit, "slow_stride": self.slow[1] // unit, "PLANES": self.z.n > 1,
            "ROWS": self.y.n > 1, "SLOW": self.slow[0] > 1, "INNER": copies.inner_constant(self.inner[0]),
            "SUM": SUMS[self.options.accumulate], "LOW": low, "HIGH": high}  # fmt: skip
        pointers = (POINTERS[self.source.dtype], POINTERS[self.target.dtype])
        int64 = max(self.extent, self.n_out) >= INT64_SIZE
        made.add(kernel, grid, self.source, self.target, pointers, int64, n_warps, **{**shared, **args})


def add_window(made: Launches, given: passes.Pass, options: Options) -> None:
    dims, axes = given.dims, given.axes
    pass_ = _window_pass(made, given.source, given.target, dims, axes, options, given.spare)
    x, n_inner, row_map = pass_.x, pass_.inner[0], dims[axes[-2]].map if len(axes) > 1 else None
    # The kernels sum in different orders. Which of them runs must not depend on the chunk.
    few = pass_.n_out < FEW_OUTPUTS * options.share or n_inner == 1
    if len(axes) == 1 and x.form is not RUNS and x.taps >= LONG_WINDOW and few:
        _add_long_sums(made, pass_, 1, -1)
        return
    if x.form is RUNS:
        _add_long_sums(made, pass_, SEARCHED_OUTPUTS, LONG_RUN)
    if isinstance(row_map, Window) and _shares_rows(pass_, row_map):
        column_map = dims[axes[-1]].map
        assert isinstance(column_map, Window)
        _add_shared_row_window(made, pass_, row_map, column_map)
    else:
        _add_window(made, pass_)


def _window_pass(
    made: Launches, source: Buffer, target: Buffer, dims: list[MappedDim], axes: list[int], options: Options, spare: int
) -> WindowPass:
    size = source.itemsize
    outer, inner = _merged(dims[: axes[0]]), _merged(dims[axes[-1] + 1 :])
    contiguous_inner = not inner or inner[0][1] == size
    if len(outer) > 2 or len(inner) > 1 or (not contiguous_inner and inner[0][0] >= NARROW):
        source = copies.pack(made, source, dims, spare)
        dims = [d._replace(stride=s) for d, s in zip(dims, contiguous([d.n for d in dims], size))]
        outer, inner = _merged(dims[: axes[0]]), _merged(dims[axes[-1] + 1 :])
    slow, outer_one = ([(1, 0)] * 2 + outer)[-2:]
    z, y, x = ([Axis()] * 2 + [_axis(made, dims[k], options) for k in axes])[-3:]
    extent = sum(d.n * abs(d.stride) for d in dims) // size
    return WindowPass(source, target, slow, outer_one, z, y, x, inner[0] if inner else (1, size), options, extent)


def _merged(dims: list[MappedDim]) -> list[tuple[int, int]]:
    return merged([(d.n, d.stride) for d in dims])


def _axis(made: Launches, d: MappedDim, options: Options) -> Axis:
    m = d.map
    if m is None:  # between two axes with sums
        return Axis(d.n, d.n, d.stride)
    if isinstance(m, CountSums):
        return Axis(m.n_out, m.n_in, d.stride, RUNS, offset=PER_CALL, taps=LONG_RUN)
    assert isinstance(m, Window)
    if m.width is not None:
        return Axis(d.n_out, d.n, d.stride, width=m.width, taps=m.width)
    start, offset, *weight = made.own(tables.window(m, options.accumulate, made.device))
    form = WEIGHTS if weight else ONES
    taps = np.diff(m.rows()[1])  # of each output
    most, filled = int(taps.max(initial=0)), bool(taps.all())
    return Axis(d.n_out, d.n, d.stride, form, start, offset, weight[0] if weight else None, taps=most, filled=filled)


def _add_long_sums(made: Launches, pass_: WindowPass, outputs: int, least: int) -> None:
    """Adds a program for each `outputs` outputs. It sums those with more than `least` inputs."""
    n_inner = pass_.inner[0]
    block_i = min(next_power_of_two(n_inner), 64)
    grid = pass_.slow[0] * pass_.outer[0] * -(-pass_.x.n // outputs) * -(-n_inner // block_i)
    pass_.add(made, long_sums, grid, 4, least=least, OUTPUTS=outputs, BLOCK_K=TILE // block_i, BLOCK_I=block_i)


def _add_shared_row_window(made: Launches, pass_: WindowPass, row_map: Window, column_map: Window) -> None:
    sums, n_inner = pass_.options.accumulate, pass_.inner[0]
    sums_z = pass_.z.form is not WIDTH or pass_.z.taps > 1
    apart = n_inner * pass_.target.itemsize >= SECTOR and n_inner > FEW_CHANNELS
    inside = n_inner if n_inner <= FEW_CHANNELS else 1
    group = _columns_of_thread(column_map, inside, sums, sums_z) if apart or n_inner <= FEW_CHANNELS else 1
    channels = inside if group > 1 else 1
    rows = _rows_of_tile(row_map, group) if n_inner == 1 else TILE_ROWS
    first_y, weight_y = made.own(tables.in_groups(row_map, rows, sums, made.device))
    first_x, weight_x = made.own(tables.in_groups(column_map, group, sums, made.device, columns=True))
    reads, taps = len(weight_y) // len(first_y) // rows, len(weight_x) // len(first_x) // group
    in_registers = taps if taps * group <= REGISTER_WEIGHTS else 0
    n_lanes, step = len(first_x) * n_inner // channels, pass_.x.stride // pass_.source.itemsize
    most_columns = SHRUNK_COLUMNS if pass_.x.n < pass_.x.n_in else GROWN_COLUMNS
    block_g = min(next_power_of_two(n_lanes), most_columns // group)
    across, down = -(-n_lanes // block_g), len(first_y)
    planes = pass_.slow[0] * pass_.outer[0] * pass_.z.n
    each = max(min(PLANES, planes * down * across // BUSY), 1)
    grid = -(-planes // each) * down * across
    pass_.add(
        made, shared_row_window, grid, max(1, block_g // 32), **divisor("across", across), **divisor("down", down),
        n_planes=planes, each=each, first_y=first_y, weight_y=weight_y, reads=reads, first_x=first_x,
        weight_x=weight_x, taps=taps, n_groups=len(first_x), n_lanes=n_lanes, GROUP=group, CHANNELS=channels,
        APART=apart and group > 1, VEC=math.gcd(group * channels, 4), WHOLE=pass_.x.n % group == 0, TAPS=in_registers,
        STEP=step if 0 < step <= NARROW and in_registers else 0, UNROLL_X=_unrolled(taps, (4, 3, 2)),
        UNROLL_Y=_unrolled(reads, (2, 3)) if channels == 1 else 1, FINITE="int" in pass_.source.dtype, SUMS_Z=sums_z,
        BLOCK_R=rows, BLOCK_G=block_g)  # fmt: skip


def _rows_of_tile(row_map: Window, group: int) -> int:
    """Returns the rows of a tile. More rows share more of their inputs, and take more registers."""
    reads, more = (tables.groups(row_map, rows)[1] for rows in (TILE_ROWS, MORE_ROWS))
    fewer = group <= FEW_COLUMNS and more * TILE_ROWS <= FEWER_READS * reads * MORE_ROWS
    return MORE_ROWS if more <= FEW_READS or fewer else TILE_ROWS


def _unrolled(n: int, factors: tuple[int, ...]) -> int:
    """Returns the first of the factors that divides n, or 1."""
    return next((f for f in factors if n % f == 0), 1)


def _columns_of_thread(column_map: Window, inside: int, sums: str, sums_z: bool) -> int:
    """Returns how many neighboring columns share their loads: as many as take the fewest instructions. Each input that
    one of them reads is loaded once, in about two instructions, and added to all of them. inside: the values of a
    column that a thread has."""
    n_weights = REGISTER_WEIGHTS // (2 if sums == "float64" else 1)
    best, least = 1, math.inf
    for group in (1, 2, 4):
        _, taps = tables.groups(column_map, group)
        cost = (2 * taps + 2) / group + taps
        near = group * column_map.n_in <= MOST_STEPS[sums_z] * column_map.n_out
        if cost < least and (group == 1 or (near and taps * group <= n_weights and inside * group <= MOST_VALUES)):
            best, least = group, cost
    return best


def _add_window(made: Launches, pass_: WindowPass) -> None:
    (z, y, x), n_inner = (pass_.z, pass_.y, pass_.x), pass_.inner[0]
    long_inner, vec = n_inner >= NARROW, 1
    if long_inner:
        size, strides = pass_.source.itemsize, (a.stride for a in (z, y, x))
        alignment = made.alignment_of(pass_.source)
        vec = math.gcd(16, alignment, *strides, pass_.slow[1], pass_.outer[1], n_inner * size) // size
    n_columns = n_inner if long_inner else x.n * n_inner
    n_rows = pass_.n_out // max(n_columns, 1)
    # Tiles of channels are as wide as the largest power of two that divides their number, if that is a sector or more.
    whole = n_columns & -n_columns
    fits = not long_inner or whole * pass_.source.itemsize >= SECTOR
    # A thread has one vector of each part of a tile of channels, or several single columns.
    parts = max(min(PARTS, whole * pass_.source.itemsize // SECTOR), 1) if vec > 1 and fits else 1
    items, most_columns = 128 * vec if vec > 1 else TILE, 256
    if long_inner and fits:
        most_columns = min(whole // parts, most_columns)
    block_r, block_c, _ = copies.tile(n_rows, n_columns // parts, items, most_columns)
    block_r = max(block_r, min(next_power_of_two(n_rows), 32 * vec // block_c))
    tiles = -(-n_columns // (block_c * parts))
    unrolled = [a.taps if 1 <= a.taps <= UNROLLED and a.form is not RUNS else 0 for a in (z, y, x)]
    if math.prod(taps or 1 for taps in unrolled) > UNROLLED_IN_ALL:
        unrolled[0] = 0
    taps_z, taps_y, taps_x = unrolled
    # Long sums along columns alone keep their masks: with registers for twice as many programs, the inputs of all of
    # them are more than the first cache holds, and each is read from the second for every tap.
    only_columns = y.form is WIDTH and z.form is WIDTH
    clamped = (
        fits
        and (long_inner or taps_x > 0 or not only_columns)
        and all(
            (a.form is WEIGHTS and a.filled) or (a.form is WIDTH and taps > 0) for a, taps in zip((z, y, x), unrolled)
        )
    )
    n_warps = max(block_r * block_c // (32 * (vec if vec > 1 else THREAD_ITEMS)), 1)
    pass_.add(
        made, window, -(-n_rows // block_r) * tiles, n_warps, vec, **divisor("tiles", tiles), n_inner=n_inner // vec,
        n_rows=n_rows, TAPS_Z=taps_z, TAPS_Y=taps_y, TAPS_X=taps_x, UNROLL_Z=taps_z or 1, UNROLL_Y=taps_y or 1,
        UNROLL_X=taps_x or 4, LONG_INNER=long_inner, VEC=vec, CLAMPED=clamped, PARTS=parts, BLOCK_R=block_r,
        BLOCK_C=block_c)  # fmt: skip


def _limits(target: Buffer, options: Options) -> tuple[float | None, float | None]:
    """Returns the range that sums are clamped to: that of an integer dtype, or 8 bits between two axes that
    saturate."""
    if options.saturate and target.memory != OUTPUT:
        return 0.0, 255.0
    if "int" not in target.dtype or (options.accumulate == "int64" and target.itemsize == 8):
        return None, None
    info = np.iinfo(target.dtype)
    return int(info.min), int(info.max)


def _shares_rows(pass_: WindowPass, m: Window) -> bool:
    """True if the rows of a tile share so many input rows that shared_row_window is faster. m: the map of the rows."""
    n_inner, taps = pass_.inner[0], pass_.z.taps * pass_.y.taps * pass_.x.taps
    if pass_.x.n * n_inner < 64 or pass_.options.accumulate == "int64" or m.width is not None:
        return False
    start, offset = m.rows()
    if len(start) < TILE_ROWS:
        return False
    stop = start + np.diff(offset)
    ends = np.minimum(np.arange(TILE_ROWS - 1, len(start) + TILE_ROWS - 1, TILE_ROWS), len(start) - 1)
    share = float(np.sum(stop[ends] - start[::TILE_ROWS])) / max(offset[-1], 1)
    if n_inner < NARROW or taps > MOST_WINDOW_TAPS:
        return share <= 0.9
    return share <= 0.5 and taps >= FEW_TAPS  # `window` loads vectors of channels
