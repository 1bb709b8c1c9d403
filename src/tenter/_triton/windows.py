"""Launches of a call, and of `window` and `long_sums` for passes with sums."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import torch

from tenter._arrays.layout import Layout, Order
from tenter._plans import passes as planner
from tenter._rules.rounding import ONCE, by_axis
from tenter._triton import byte_tiles, copies, passes, shared_rows
from tenter._triton.copies import NARROW, divisor, next_power_of_two
from tenter._triton.launches import Launches
from tenter._triton.runs import long_sums
from tenter._triton.window import RUNS, WEIGHTS, WIDTH, window
from tenter._triton.window_pass import LONG_RUN, SECTOR, Options, WindowPass, tabled, window_pass
from tenter.maps import Copy, Window
from tenter.maps._kinds import changing

# TILE: items of a tile, THREAD_ITEMS those of a thread. PARTS: the most parts of a tile of channels.
TILE, THREAD_ITEMS, PARTS = 1024, 4, 2
# The largest number of taps that are unrolled, along one axis and along all.
UNROLLED, UNROLLED_IN_ALL = 4, 16
# One program computes each output of windows with LONG_WINDOW inputs or more, if there are fewer than FEW_OUTPUTS, as a
# tile would leave lanes idle, or if these inputs are single columns, as the threads of a tile would read far from one
# another.
LONG_WINDOW, FEW_OUTPUTS = 256, 1 << 17
# Outputs that a program searches for long runs.
SEARCHED_OUTPUTS = 1024
# Bytes of a call's temporaries. A call that would have more is made a chunk at a time. Half as many bytes make
# antialiased bicubic images 14 % slower on an H100, twice as many 3 % faster: the device is not full at the end of each
# launch.
MOST_TEMPORARY = 32 << 20

Maps = tuple[tuple[int, Any], ...]


class Chunk(NamedTuple):
    """Chunks of a call that have the same launches.

    share: of the call's outputs, in each chunk
    steps: bytes from the input of a chunk to that of the next, and of the result; or a divisor of them
    """

    share: Fraction = Fraction(1)
    steps: tuple[int, int] = (0, 0)


def launches(src: Layout, maps: Maps, order: Order | None = None, rounding: str = ONCE) -> Launches:
    """Returns the launches that apply maps to src. The result is contiguous in `order`, its dims from slowest to
    fastest. 8-bit values that are rounded after each axis are summed in integers; if a weight does not fit
    these, in floats, which are only clamped between two axes."""
    maps = changing(maps)
    return _in_chunks(src, maps, tuple(range(len(src.shape))) if order is None else order, rounding, Chunk())


def _in_chunks(src: Layout, maps: Maps, order: Order, rounding: str, chunk: Chunk) -> Launches:
    """Cuts the slowest dim into chunks of equal length, and a rest, if there are too many temporaries. If a position of
    it still has too many, its chunks are cut along the next dim. Only dims without maps are cut."""
    made = _at_once(src, maps, order, rounding, chunk)
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
        chunks[length] = _in_chunks(src._replace(shape=shape), maps, order, rounding, its)
    together = Launches(made.device, made.at, [], made.positions, chunk.steps)
    for k in range(0, n, each):
        together.add_chunk(chunks[min(each, n - k)], k * source_step, k * target_step)
    return together


def _at_once(src: Layout, maps: Maps, order: Order, rounding: str, chunk: Chunk) -> Launches:
    assert src.device is not None
    planned = planner.on_device(src, maps, order, rounding)
    mapped = dict(maps)
    changed = [mapped[axis] for axis in order if axis in mapped]
    with_tables = [m.n_in + m.n_out for m in changed if not (isinstance(m, Copy) and m.repeat is not None)]
    made = Launches(torch.device(src.device), src.at, planned.temporaries, sum(with_tables), chunk.steps)
    for each in passes.read((*planned.passes, *planned.after), changed):
        if each.copies:
            copies.add_copy(made, each.source, each.target, each.dims)
        else:
            add_window(made, each, Options(planned.sums, by_axis(rounding), chunk.share))
    return made


def add_window(made: Launches, given: passes.Pass, options: Options) -> None:
    dims, axes = given.dims, given.axes
    pass_ = window_pass(made, given.source, given.target, dims, axes, options, given.spare)
    n_inner, row_map = pass_.inner[0], dims[axes[-2]].map if len(axes) > 1 else None
    # The kernels sum in different orders. Which of them runs must not depend on the chunk.
    few = pass_.n_out < FEW_OUTPUTS * options.share or n_inner == 1
    if isinstance(row_map, Window) and shared_rows.is_faster(pass_, row_map):
        column_map = dims[axes[-1]].map
        assert isinstance(column_map, Window)
        pass_ = pass_._replace(z=tabled(made, pass_.z, options))
        shared_rows.add(made, pass_, row_map, column_map)
        return
    if byte_tiles.is_faster(pass_):
        byte_tiles.add(made, pass_)
        return
    z, y, x = (tabled(made, a, options) for a in (pass_.z, pass_.y, pass_.x))
    pass_ = pass_._replace(z=z, y=y, x=x)
    if len(axes) == 1 and x.form is not RUNS and x.taps >= LONG_WINDOW and few:
        _add_long_sums(made, pass_, 1, -1)
        return
    if x.form is RUNS:
        _add_long_sums(made, pass_, SEARCHED_OUTPUTS, LONG_RUN)
    _add_window(made, pass_)


def _add_long_sums(made: Launches, pass_: WindowPass, outputs: int, least: int) -> None:
    """Adds a program for each `outputs` outputs. It sums those with more than `least` inputs."""
    n_inner = pass_.inner[0]
    block_i = min(next_power_of_two(n_inner), 64)
    grid = pass_.slow[0] * pass_.outer[0] * -(-pass_.x.n // outputs) * -(-n_inner // block_i)
    pass_.add(made, long_sums, grid, 4, least=least, OUTPUTS=outputs, BLOCK_K=TILE // block_i, BLOCK_I=block_i)


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
