"""Every output element is one input element: bytes are moved, dtypes do not matter.

A program makes a tile of the output: rows by columns. The fastest dim, together with a short one inside it, makes the
columns; the row number holds all other dims. Each dim says where in the input its positions lie: by a stride (0 where
an element repeats), by a table of indices, or by runs, whose ends are running totals.
"""

from __future__ import annotations

import triton
import triton.language as tl

# How a dim's positions are found. Triton reads only globals that are declared constant.
AFFINE = tl.constexpr(0)
INDEX = tl.constexpr(1)
RUNS = tl.constexpr(2)
CONTIGUOUS = tl.constexpr(3)  # columns alone: by a stride of 1


@triton.jit
def last_at_most(offsets, first, last, o):
    """The last i from first to last with offsets[i] <= o, for each o; first where there is none.

    Whatever offsets hold, the answer lies from first to last: nothing is read or written elsewhere.
    """
    low = tl.zeros_like(o) + first
    high = tl.zeros_like(o) + last
    span = last - first
    while span > 0:  # both halves are at most half as long
        middle = (low + high + 1) // 2
        below = tl.load(offsets + middle) <= o
        low = tl.where(below, middle, low)
        high = tl.where(below, high, middle - 1)
        span = span // 2
    return low


@triton.jit
def position(o, table, n_runs, KIND: tl.constexpr):
    """The input positions that output positions o read, and which of them read any."""
    inside = o >= 0
    if KIND == INDEX:
        i = tl.load(table + o)
    elif KIND == RUNS:
        o = o.to(tl.int64)
        # The tile's ends are looked for among all runs, at once as each look waits for memory; the rest between them.
        ends = last_at_most(table, n_runs * 0, n_runs - 1, tl.where(tl.arange(0, 2) == 0, tl.min(o), tl.max(o)))
        i = last_at_most(table, tl.min(ends), tl.max(ends), o)
        inside = o < tl.where(n_runs > 0, tl.load(table + n_runs), 0)  # of no runs there is nothing to read
    else:
        i = o
    return i, inside


@triton.jit
def copy(
    x, y, column_table, table0, table1, table2, table3, n_runs,
    n_columns, n_inner, column_stride, inner_stride,
    n_rows, n0, n1, n2, stride0, stride1, stride2, stride3,
    COLUMN: tl.constexpr, KIND0: tl.constexpr, KIND1: tl.constexpr, KIND2: tl.constexpr, KIND3: tl.constexpr,
    ROWS: tl.constexpr, INNER: tl.constexpr, VEC: tl.constexpr, LONG: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[row, column] = x[where they are read], in items; strides and n_columns in units of VEC items.

    INNER: are columns pairs of a position and one of n_inner? 0: no; from 2 on: n_inner, where it is small. LONG: does
    anything have 2**31 elements?
    """
    tiles = tl.cdiv(n_columns * VEC, BLOCK_C)
    program = tl.program_id(0)
    if LONG:
        program = program.to(tl.int64)
    row = (program // tiles) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    column = (program % tiles) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    rows_fit, columns_fit = row < n_rows, column < n_columns * VEC

    # Positions past the ends are read as the first ones, so that no table is read past its own end.
    if INNER:
        o = tl.where(columns_fit, column, 0)
        n = INNER if INNER > 1 else n_inner
        i, reads = position(o // n, column_table, n_runs, COLUMN)
        at_column = i * column_stride + (o % n) * inner_stride
    elif COLUMN == CONTIGUOUS:
        at_column, reads = column, columns_fit
    elif COLUMN == AFFINE:
        at_column, reads = column * column_stride, columns_fit
    else:
        i, reads = position(tl.where(columns_fit, column, 0), column_table, n_runs, COLUMN)
        at_column = i * column_stride
    reads = reads & columns_fit

    rest = tl.where(rows_fit, row, 0)
    at_row = rest * 0
    reads = reads & rows_fit
    if ROWS > 0:
        o = rest if ROWS == 1 else rest % n0
        i, some = position(o, table0, n_runs, KIND0)
        at_row, reads = at_row + i * (stride0 * VEC), reads & some
    if ROWS > 1:
        rest = rest // n0
        o = rest if ROWS == 2 else rest % n1
        i, some = position(o, table1, n_runs, KIND1)
        at_row, reads = at_row + i * (stride1 * VEC), reads & some
    if ROWS > 2:
        rest = rest // n1
        o = rest if ROWS == 3 else rest % n2
        i, some = position(o, table2, n_runs, KIND2)
        at_row, reads = at_row + i * (stride2 * VEC), reads & some
    if ROWS > 3:
        i, some = position(rest // n2, table3, n_runs, KIND3)
        at_row, reads = at_row + i * (stride3 * VEC), reads & some

    value = tl.load(x + at_row + at_column, mask=reads, other=0)
    tl.store(y + row * (n_columns * VEC) + column, value, mask=rows_fit & columns_fit)
