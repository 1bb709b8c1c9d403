"""Launches of `shared_row_window`: when, in which tiles, and which columns a thread has."""

import math

import numpy as np

from tenter._triton import copies, tables
from tenter._triton.copies import NARROW, divisor, next_power_of_two
from tenter._triton.launches import Launches
from tenter._triton.shared_row_window import shared_row_window
from tenter._triton.window import WIDTH
from tenter._triton.window_pass import SECTOR, WindowPass
from tenter.maps import Window

# Tiles have TILE_ROWS or MORE_ROWS output rows, and at most GROWN_COLUMNS columns, or SHRUNK_COLUMNS if there are fewer
# than in the input.
TILE_ROWS, MORE_ROWS, GROWN_COLUMNS, SHRUNK_COLUMNS = 4, 8, 128, 256
# Tiles have MORE_ROWS if these read FEW_READS input rows at most, or if an output row then costs at most FEWER_READS
# times as many reads, and a thread has at most FEW_COLUMNS, so that its sums stay in registers.
FEW_READS, FEWER_READS, FEW_COLUMNS = 4, 0.8, 2
# The most weights of a thread's columns that it keeps in registers, in float32.
REGISTER_WEIGHTS = 24
# The most values inside a column that one thread has, and those in all of its columns.
FEW_CHANNELS, MOST_VALUES = 4, 8
# The most inputs from a thread's columns to the next one's, without and with sums along planes. With more, the threads
# of a warp read too far from one another.
MOST_STEPS = (4, 2)
# PLANES: the most planes of a program, which reads the tables of a tile once. BUSY: the programs that keep a large
# device busy to the end; fewer have a plane each.
PLANES, BUSY = 8, 8 * copies.PROGRAMS
# The kernel is faster if the rows of its tiles read at most a share of SHARED of what they read apart. `window`, which
# loads vectors of channels, is faster for these unless that share is MUCH_SHARED at most and an output has FEW_TAPS or
# more, or an output has more than MOST_WINDOW_TAPS.
SHARED, MUCH_SHARED, FEW_TAPS, MOST_WINDOW_TAPS = 0.9, 0.52, 8, 64


def is_faster(pass_: WindowPass, m: Window) -> bool:
    """True if the rows of a tile share so many input rows that shared_row_window is faster. m: the map of the rows."""
    n_inner, n_rows = pass_.inner[0], m.n_out // m.block
    empty = 0 in (pass_.z.n_in, pass_.y.n_in, pass_.x.n_in)  # it reads an input for each output
    if empty or pass_.x.n * n_inner < 64 or n_rows < TILE_ROWS or pass_.options.accumulate == "int64":
        return False
    if m.width is not None:
        return False
    first, reads = tables.groups(m, TILE_ROWS)
    share, taps = len(first) * reads / max(m.rows()[1][-1], 1), pass_.z.taps * pass_.y.taps * pass_.x.taps
    if n_inner < NARROW or taps > MOST_WINDOW_TAPS:
        return share <= SHARED
    return share <= MUCH_SHARED and taps >= FEW_TAPS  # `window` loads vectors of channels


def add(made: Launches, pass_: WindowPass, row_map: Window, column_map: Window) -> None:
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
    in_registers = taps if taps * group <= _register_weights(sums) else 0
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
        UNROLL_Y=_unrolled(reads, (2, 3)) if channels == 1 else 1, SUMS_Z=sums_z,
        FINITE=_sums_stay_finite(pass_.source.dtype, row_map, column_map), BLOCK_R=rows, BLOCK_G=block_g)  # fmt: skip


def _rows_of_tile(row_map: Window, group: int) -> int:
    """Returns the rows of a tile. More rows share more of their inputs, and take more registers."""
    reads, more = (tables.groups(row_map, rows)[1] for rows in (TILE_ROWS, MORE_ROWS))
    fewer = group <= FEW_COLUMNS and more * TILE_ROWS <= FEWER_READS * reads * MORE_ROWS
    return MORE_ROWS if more <= FEW_READS or fewer else TILE_ROWS


def _register_weights(sums: str) -> int:
    return REGISTER_WEIGHTS // (2 if sums == "float64" else 1)


def _sums_stay_finite(dtype: str, *maps: Window) -> bool:
    """True if no sum of integers can overflow to an infinity."""
    return "int" in dtype and all(m.weight is None or np.abs(m.weight).max(initial=0) < 1e3 for m in maps)


def _unrolled(n: int, factors: tuple[int, ...]) -> int:
    """Returns the first of the factors that divides n, or 1."""
    return next((f for f in factors if n % f == 0), 1)


def _columns_of_thread(column_map: Window, inside: int, sums: str, sums_z: bool) -> int:
    """Returns how many neighboring columns share their loads: as many as take the fewest instructions. Each input that
    one of them reads is loaded once, in about two instructions, and added to all of them. inside: the values of a
    column that a thread has."""
    n_weights = _register_weights(sums)
    best, least = 1, math.inf
    for group in (1, 2, 4):
        _, taps = tables.groups(column_map, group)
        cost = (2 * taps + 2) / group + taps
        near = group * column_map.n_in <= MOST_STEPS[sums_z] * column_map.n_out
        if cost < least and (group == 1 or (near and taps * group <= n_weights and inside * group <= MOST_VALUES)):
            best, least = group, cost
    return best
