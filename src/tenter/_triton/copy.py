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

# Hints for columns that are not contiguous in the input. Triton reads a hint where its argument is computed, so they
# are not in a function. max_contiguous [1, 2]: neighboring threads take neighboring columns. Triton gives them the dim
# with the most contiguous offsets; some versions give them rows if no dim is contiguous. The offsets need not be
# contiguous: multiple_of [1, 1] makes a thread load single items, so no load depends on it. It does the same for loads
# of tables. With wider ones a thread would have several neighboring columns, and each tile of values would go through
# shared memory before it is stored. A single column gets no hint: Triton computes its number as a scalar, and fails
# at a hint for two dims.

# The search for runs. FAN: the offsets that are compared with each end of a tile in a step. GROUP: the columns that
# share the first part of their search. NEAR: a tile's ends are compared with a NEARth as many offsets at last.
FAN, GROUP, NEAR = tl.constexpr(32), tl.constexpr(16), tl.constexpr(4)


@triton.jit
def narrow(offsets, low, left, last, o, least, FAN: tl.constexpr):
    """Returns (low, left): the last i in [low, last] with offsets[i] <= o is in [low, low + left], for each o of a
    vector, and left <= least. It is low if there is none. Each step waits for memory, so it compares FAN offsets."""
    while left > least:
        step = left // (FAN + 1) + 1
        i = tl.minimum(low[:, None] + (tl.arange(0, FAN) + 1)[None, :] * step, last)
        below = tl.load(offsets + i) <= o[:, None]
        low = tl.minimum(low + tl.sum(below.to(tl.int32), 1) * step, last)
        left = step - 1
    return low, left


@triton.jit
def last_at_most(offsets, low, left, last, o):
    """Returns the last i in [low, min(low + left, last)] with offsets[i] <= o, for each o; low if there is none.
    Offsets that ascend have no more bits there than o, so the others are not compared."""
    while left > 0:
        middle = tl.minimum(low + (left // 2 + 1), last)
        low = tl.where(tl.load(offsets + middle).to(o.dtype) <= o, middle, low)
        left = left // 2
    return low


@triton.jit
def exist(o, last, offsets, n_runs):
    """Returns which outputs o, up to `last`, are before the last offset."""
    total = tl.where(n_runs > 0, tl.load(offsets + n_runs), 0)  # without runs there is no input
    return o < tl.maximum(tl.minimum(total, last + 1), 0).to(o.dtype)


@triton.jit
def runs_of_columns(o, ends, groups, offsets, n_runs):
    """Returns the runs of the outputs o, which ascend along columns, and which of them exist. Whatever the offsets are,
    a run is in [0, n_runs), or 0, so later loads stay in bounds.

    ends: the first and the last output
    groups: the first output of each group of columns
    """
    COLUMNS: tl.constexpr = o.shape[1]
    GROUPS: tl.constexpr = groups.shape[0]
    LAST_FAN: tl.constexpr = COLUMNS // NEAR if COLUMNS > NEAR * FAN else FAN
    # The last step for the ends reads the offsets next to each. These are most of those between them, unless many runs
    # are empty, so the steps of the groups and columns find them in the cache.
    low, left = narrow(offsets, tl.zeros([2], n_runs.dtype), n_runs - 1, n_runs - 1, ends, LAST_FAN, FAN)
    low, left = narrow(offsets, low, left, n_runs - 1, ends, 0, LAST_FAN)
    first, last = tl.min(low), tl.max(low)
    start = last_at_most(offsets, tl.zeros([GROUPS], first.dtype) + first, last - first, last, groups)
    group = tl.arange(0, GROUPS)
    stop = tl.where(group == GROUPS - 1, last, tl.gather(start, tl.minimum(group + 1, GROUPS - 1), 0))
    low = tl.reshape(tl.broadcast_to(start[:, None], [GROUPS, COLUMNS // GROUPS]), [COLUMNS])
    run = last_at_most(offsets, low, tl.max(stop - start), last, tl.reshape(o, [COLUMNS]))
    return run[None, :], exist(o, tl.max(ends), offsets, n_runs)


@triton.jit
def position(o, table, n_runs, KIND: tl.constexpr):
    """Returns the input positions of output positions o, and which of them exist."""
    exists = o >= 0
    if KIND == INDEX:
        i = tl.load(table + o)
    elif KIND == RUNS:
        # Outputs of rows need not ascend.
        ends = tl.where(tl.arange(0, 2) == 0, tl.min(o), tl.max(o))
        low, _ = narrow(table, tl.zeros([2], n_runs.dtype), n_runs - 1, n_runs - 1, ends, 0, FAN)
        first, last = tl.min(low), tl.max(low)
        i = last_at_most(table, tl.zeros(o.shape, first.dtype) + first, last - first, last, o)
        exists = exist(o, tl.max(ends), table, n_runs)
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
        if len(column.shape) > 1 and column.shape[1] > 1:
            column = tl.multiple_of(column, [1, 1])
    return column, offset


@triton.jit
def divided(a, n, magic, shift, INT64: tl.constexpr):
    """Returns a // n of 0 <= a < 2**31 by a multiplication, which takes fewer instructions. magic, shift:
    see copies.divisor."""
    if INT64:
        quotient = a // n
    else:
        quotient = (tl.umulhi(a.to(tl.uint32) << 1, magic.to(tl.uint32)) >> shift).to(tl.int32)
    return quotient


@triton.jit
def add_row_dim(
    rest, n, magic, shift, offset, exists, table, n_runs, stride,
    KIND: tl.constexpr, SLOWEST: tl.constexpr, INT64: tl.constexpr,
):  # fmt: skip
    """Takes the fastest dim out of the row numbers `rest`, and adds its part to the rows' input offsets."""
    o = rest
    if not SLOWEST:
        rest = divided(rest, n, magic, shift, INT64)
        o -= rest * n
    i, inside = position(o, table, n_runs, KIND)
    return rest, offset + i * stride, exists & inside


@triton.jit
def copy(
    x, y, column_table, table0, table1, table2, table3, n_runs,
    n_columns, n_inner, column_stride, inner_stride,
    n_rows, n0, magic_0, shift_0, n1, magic_1, shift_1, n2, magic_2, shift_2, tiles, magic_tiles, shift_tiles,
    stride0, stride1, stride2, stride3,
    COLUMN: tl.constexpr, KIND0: tl.constexpr, KIND1: tl.constexpr, KIND2: tl.constexpr, KIND3: tl.constexpr,
    ROWS: tl.constexpr, INNER: tl.constexpr, VEC: tl.constexpr, INT64: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[row, column] = x[their input positions], in items. Strides and n_columns are in units of VEC items. Row dim 0
    is the fastest of ROWS. INNER: see split_inner. INT64: whether indices need 64 bits."""
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    down = divided(program, tiles, magic_tiles, shift_tiles, INT64)
    row = down * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    first_column = (program - down * tiles) * BLOCK_C
    column = first_column + tl.arange(0, BLOCK_C)[None, :]
    rows_fit, columns_fit = (row < n_rows) | (BLOCK_R == 1), column < n_columns * VEC  # a single row always fits

    # Rows and columns outside the result are replaced by the last ones, so that no load of a table is out of bounds.
    if COLUMN == CONTIGUOUS:
        column_offset, exists = column, columns_fit
    elif COLUMN == AFFINE and INNER == 0:
        column_offset, exists = column * column_stride, columns_fit
    elif COLUMN == RUNS:  # the search is in bounds for any column
        GROUPS: tl.constexpr = BLOCK_C // GROUP if BLOCK_C > GROUP else 1
        groups = first_column + tl.arange(0, GROUPS) * GROUP
        ends = tl.minimum(first_column + tl.arange(0, 2) * (BLOCK_C - 1), n_columns * VEC - 1)
        o, inner_offset = split_inner(column, n_inner, inner_stride, INNER)
        groups, _ = split_inner(groups, n_inner, inner_stride, INNER)
        ends, _ = split_inner(ends, n_inner, inner_stride, INNER)
        i, exists = runs_of_columns(o, ends, groups, column_table, n_runs)
        column_offset = i * column_stride + inner_offset
    else:
        o = tl.minimum(column, n_columns * VEC - 1)
        if BLOCK_C > 1:
            o = tl.multiple_of(o, [1, 1])
        o, inner_offset = split_inner(o, n_inner, inner_stride, INNER)
        i, exists = position(o, column_table, n_runs, COLUMN)
        column_offset, exists = i * column_stride + inner_offset, exists & columns_fit
    if COLUMN != CONTIGUOUS and BLOCK_C > 1:
        column_offset = tl.multiple_of(tl.max_contiguous(column_offset, [1, 2]), [1, 1])

    rest = tl.minimum(row, n_rows - 1)
    offset, exists = rest * 0, exists & rows_fit
    if ROWS > 0:
        rest, offset, exists = add_row_dim(
            rest, n0, magic_0, shift_0, offset, exists, table0, n_runs, stride0 * VEC, KIND0, ROWS == 1, INT64
        )
    if ROWS > 1:
        rest, offset, exists = add_row_dim(
            rest, n1, magic_1, shift_1, offset, exists, table1, n_runs, stride1 * VEC, KIND1, ROWS == 2, INT64
        )
    if ROWS > 2:
        rest, offset, exists = add_row_dim(
            rest, n2, magic_2, shift_2, offset, exists, table2, n_runs, stride2 * VEC, KIND2, ROWS == 3, INT64
        )
    if ROWS > 3:
        rest, offset, exists = add_row_dim(
            rest, 1, 0, 0, offset, exists, table3, n_runs, stride3 * VEC, KIND3, True, INT64
        )

    value = tl.load(x + offset + column_offset, mask=exists, other=0)
    target = y + (row * (n_columns * VEC) + first_column) + tl.arange(0, BLOCK_C)[None, :]
    tl.store(target, value, mask=rows_fit & columns_fit)
