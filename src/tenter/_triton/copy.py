"""The copy kernel: every output element is one input element. It moves bytes of any dtype.

A program makes a tile of the output, rows by columns. Columns are the fastest dim, with a short one inside it if any;
the row number holds all other dims. Each dim maps output to input positions: by a stride (0 where an element repeats),
by a table of indices, or by runs, given by the offsets of counts.
"""

import triton
import triton.language as tl

# How a dim's positions are found. CONTIGUOUS is AFFINE with a stride of 1, for columns only. Triton reads only globals
# that are declared constant.
AFFINE, INDEX, RUNS, CONTIGUOUS = (tl.constexpr(k) for k in range(4))

# Hints for columns that are not contiguous in the input. Triton reads a hint where its argument is computed, so they are
# not in a function. max_contiguous [1, 2]: neighboring threads take neighboring columns. Triton gives them the dim with
# the most contiguous offsets; some versions give them rows if no dim is contiguous. multiple_of [1, 1]: a thread loads
# single items. With wider loads of tables it would have several neighboring columns, and each tile of values would go
# through shared memory before it is stored. A single column gets no hint: Triton computes its number as a scalar, and
# fails at a hint for two dims.


@triton.jit
def last_at_most(offsets, first, last, o):
    """Returns the last i in [first, last] with offsets[i] <= o, for each o; `first` if there is none. The result is in
    [first, last] whatever the offsets are, so later loads stay in bounds."""
    low = tl.zeros_like(o) + first
    high = tl.zeros_like(o) + last
    span = last - first
    while span > 0:  # each half is at most half as long
        middle = (low + high + 1) // 2
        below = tl.load(offsets + middle) <= o
        low = tl.where(below, middle, low)
        high = tl.where(below, high, middle - 1)
        span = span // 2
    return low


@triton.jit
def position(o, table, n_runs, KIND: tl.constexpr):
    """Returns the input positions of output positions o, and which of them exist."""
    exists = o >= 0
    if KIND == INDEX:
        i = tl.load(table + o)
    elif KIND == RUNS:
        o = o.to(tl.int64)
        # Both ends of the tile are searched together in all runs, because each step waits for memory. The rest is
        # searched between them.
        ends = last_at_most(table, n_runs * 0, n_runs - 1, tl.where(tl.arange(0, 2) == 0, tl.min(o), tl.max(o)))
        i = last_at_most(table, tl.min(ends), tl.max(ends), o)
        exists = o < tl.where(n_runs > 0, tl.load(table + n_runs), 0)  # without runs there is no input
    else:
        i = o
    return i, exists


@triton.jit
def split_inner(column, n_inner, inner_stride, INNER: tl.constexpr):
    """Returns the position of each column along the fastest axis, and the offset of its value inside that position.
    INNER: 0 for one value at each position, n_inner if it is small, 1 for any n_inner."""
    offset = column * 0
    if INNER:
        n = INNER if INNER > 1 else n_inner
        offset = (column % n) * inner_stride
        column = column // n
        if column.shape[1] > 1:
            column = tl.multiple_of(column, [1, 1])
    return column, offset


@triton.jit
def add_row_dim(rest, n, offset, exists, table, n_runs, stride, KIND: tl.constexpr, SLOWEST: tl.constexpr):
    """Takes the fastest dim out of the row numbers `rest`, and adds its part to the rows' input offsets."""
    o = rest if SLOWEST else rest % n
    i, inside = position(o, table, n_runs, KIND)
    if not SLOWEST:
        rest = rest // n
    return rest, offset + i * stride, exists & inside


@triton.jit
def copy(
    x, y, column_table, table0, table1, table2, table3, n_runs,
    n_columns, n_inner, column_stride, inner_stride,
    n_rows, n0, n1, n2, stride0, stride1, stride2, stride3,
    COLUMN: tl.constexpr, KIND0: tl.constexpr, KIND1: tl.constexpr, KIND2: tl.constexpr, KIND3: tl.constexpr,
    ROWS: tl.constexpr, INNER: tl.constexpr, VEC: tl.constexpr, INT64: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[row, column] = x[their input positions], in items. Strides and n_columns are in units of VEC items. Row dim 0
    is the fastest of ROWS. INNER: see split_inner. INT64: whether indices need 64 bits."""
    tiles = tl.cdiv(n_columns * VEC, BLOCK_C)
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    row = (program // tiles) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    column = (program % tiles) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    rows_fit, columns_fit = row < n_rows, column < n_columns * VEC

    # Rows and columns outside the result are replaced by the first ones, so that no load of a table is out of bounds.
    if COLUMN == CONTIGUOUS:
        column_offset, exists = column, columns_fit
    elif COLUMN == AFFINE and INNER == 0:
        column_offset, exists = column * column_stride, columns_fit
    else:
        o = tl.where(columns_fit, column, 0)
        if BLOCK_C > 1:
            o = tl.multiple_of(o, [1, 1])
        o, inner_offset = split_inner(o, n_inner, inner_stride, INNER)
        i, inside = position(o, column_table, n_runs, COLUMN)
        column_offset, exists = i * column_stride + inner_offset, inside & columns_fit
    if COLUMN != CONTIGUOUS and BLOCK_C > 1:
        column_offset = tl.multiple_of(tl.max_contiguous(column_offset, [1, 2]), [1, 1])

    rest = tl.where(rows_fit, row, 0)
    offset, exists = rest * 0, exists & rows_fit
    if ROWS > 0:
        rest, offset, exists = add_row_dim(rest, n0, offset, exists, table0, n_runs, stride0 * VEC, KIND0, ROWS == 1)
    if ROWS > 1:
        rest, offset, exists = add_row_dim(rest, n1, offset, exists, table1, n_runs, stride1 * VEC, KIND1, ROWS == 2)
    if ROWS > 2:
        rest, offset, exists = add_row_dim(rest, n2, offset, exists, table2, n_runs, stride2 * VEC, KIND2, ROWS == 3)
    if ROWS > 3:
        rest, offset, exists = add_row_dim(rest, 1, offset, exists, table3, n_runs, stride3 * VEC, KIND3, True)

    value = tl.load(x + offset + column_offset, mask=exists, other=0)
    tl.store(y + row * (n_columns * VEC) + column, value, mask=rows_fit & columns_fit)
