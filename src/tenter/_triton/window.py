"""The window kernel: every output element is a sum of inputs along one to three axes, as in interpolation.

A program makes a tile of the output. If the inner dim is long (channels-last), the tile's rows are pixels and its
columns are channels. Otherwise its columns are the pixels of a row, with the few values inside each, and its rows are
rows of pixels. An output adds its own taps in ascending order, columns within rows within planes. So every tile gives
the same bits.
"""

import triton
import triton.language as tl

from tenter._triton.copy import divided, split_inner

# How the inputs of outputs are given. WIDTH: `width` for each. ONES, WEIGHTS: by tables, without or with weights. RUNS:
# by offsets that are not checked.
WIDTH, ONES, WEIGHTS, RUNS = (tl.constexpr(k) for k in range(4))


@triton.jit
def taps_of(o, start, offset, width, n_in, FORM: tl.constexpr):
    """Returns for each output o: its first input, the position of its first weight, and its number of inputs."""
    if FORM == WIDTH:
        first = o * width
        weight_at = first
        count = o * 0 + width
    elif FORM == RUNS:
        weight_at = o
        first = tl.minimum(tl.maximum(tl.load(offset + o), 0), n_in)
        count = tl.minimum(tl.maximum(tl.load(offset + o + 1), first), n_in) - first
    else:
        first = tl.load(start + o)
        weight_at = tl.load(offset + o)
        count = tl.load(offset + o + 1) - weight_at
    return first, weight_at, count


@triton.jit
def zeros(PARTS: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr, SUM: tl.constexpr):
    """Returns a tile's sums, in PARTS that are side by side."""
    parts = ()
    for _ in tl.static_range(PARTS):
        parts = parts + (tl.zeros((BLOCK_R, BLOCK_C), SUM),)
    return parts


@triton.jit
def add(totals, values, weight, weight_at, used, FORM: tl.constexpr, PARTS: tl.constexpr):
    """Returns totals + values, or totals + values * weight if there are weights. used: which lanes have a weight.
    Others keep their total, as the value that a tap repeats may be infinite, and 0 * inf is NaN."""
    sums = ()
    if FORM == WEIGHTS:
        w = tl.load(weight + weight_at, mask=used, other=0)
        for c in tl.static_range(PARTS):
            if w.dtype.is_int():
                sums = sums + (totals[c] + values[c] * w,)
            else:
                more = tl.fma(values[c], tl.broadcast_to(w, values[c].shape), totals[c])
                sums = sums + (tl.where(used, more, totals[c]),)
    else:
        for c in tl.static_range(PARTS):
            sums = sums + (totals[c] + values[c],)
    return sums


@triton.jit
def tap(k, count, FORM: tl.constexpr, CLAMPED: tl.constexpr):
    """Returns the position of tap k. CLAMPED: an output with fewer taps repeats its last, whose weight there is 0. So
    loads need no mask, and no output depends on an input that it does not read."""
    if CLAMPED and FORM == WEIGHTS:
        k = tl.minimum(k, count - 1)
    return k


@triton.jit
def add_row(
    x, offset, weight_at, count, stride, weight, taps, used, totals,
    FORM: tl.constexpr, TAPS: tl.constexpr, UNROLL: tl.constexpr, CLAMPED: tl.constexpr, ACROSS: tl.constexpr,
    PARTS: tl.constexpr, WIDE: tl.constexpr,
):  # fmt: skip
    """Returns totals + the sums along the fastest axis, from x[offset] on.

    TAPS: the largest number of inputs of an output if it is unrolled; else 0, and `taps` is that number
    CLAMPED: see `tap`
    ACROSS: the columns that neighboring threads take (see copy.py), if columns are not contiguous; else 0
    PARTS, WIDE: the parts of a tile, and their columns
    """
    for k0 in range(0, TAPS if TAPS > 0 else taps, UNROLL):
        for j in tl.static_range(UNROLL):
            k = k0 + j
            at = x + (offset + tap(k, count, FORM, CLAMPED) * stride)
            if ACROSS:
                at = tl.multiple_of(tl.max_contiguous(at, [1, ACROSS]), [1, 1])
            values = ()
            for c in tl.static_range(PARTS):
                if CLAMPED:
                    value = tl.load(at + c * WIDE)
                else:
                    value = tl.load(at + c * WIDE, mask=used & (k < count), other=0)
                values = values + (value.to(totals[c].dtype),)
            totals = add(totals, values, weight, weight_at + k, k < count, FORM, PARTS)
    return totals


@triton.jit
def saturate_cast(v, LOW: tl.constexpr, HIGH: tl.constexpr, element: tl.constexpr):
    """Returns v as an element of y: clamped to [LOW, HIGH] unless they are None, and rounded half to even for
    integers. Sums of 8-bit values are in units of 2**-22 and rounded half up, as in Pillow."""
    if v.dtype == tl.int32:
        v = (v + (1 << 21)) >> 22
    if v.dtype.is_int() or element.is_floating():
        if LOW is not None:
            v = tl.minimum(tl.maximum(v, LOW), HIGH)
        v = v.to(element)
    else:
        # The first float whose neighbors are integers. Adding and subtracting it rounds half to even.
        magic: tl.constexpr = 4503599627370496.0 if v.dtype == tl.float64 else 8388608.0
        size = tl.abs(v)
        rounded = (size + magic) - magic
        v = tl.where(size < magic, tl.where(v < 0, -rounded, rounded), v)
        # HIGH may not be representable as a float. Values from HIGH on become HIGH without a conversion.
        over, under = v >= HIGH, v <= LOW
        v = tl.where(over | under, 0.0, v).to(element)
        v = tl.where(over, HIGH, tl.where(under, LOW, v)).to(element)
    return v


@triton.jit
def window(
    x, y,
    start_z, offset_z, weight_z, width_z, taps_z, n_z, magic_z, shift_z, stride_z,
    start_y, offset_y, weight_y, width_y, taps_y, n_y, magic_y, shift_y, stride_y,
    start_x, offset_x, weight_x, width_x, taps_x, n_x, magic_x, shift_x, stride_x, n_in_x,
    n_rows, tiles, magic_tiles, shift_tiles, n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, FORM_Y: tl.constexpr, FORM_X: tl.constexpr,
    TAPS_Z: tl.constexpr, TAPS_Y: tl.constexpr, TAPS_X: tl.constexpr,
    UNROLL_Z: tl.constexpr, UNROLL_Y: tl.constexpr, UNROLL_X: tl.constexpr,
    PLANES: tl.constexpr, ROWS: tl.constexpr, SLOW: tl.constexpr, LONG_INNER: tl.constexpr, INNER: tl.constexpr,
    VEC: tl.constexpr, CLAMPED: tl.constexpr, PARTS: tl.constexpr, INT64: tl.constexpr, LOW: tl.constexpr,
    HIGH: tl.constexpr, SUM: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x.

    n_rows: the number of rows of tiles
    tiles: the number of tiles across
    PLANES, ROWS, SLOW: whether there are several
    INNER: see split_inner
    CLAMPED: see `tap`; all columns of a long inner dim are then in tiles
    PARTS: a tile is PARTS * BLOCK_C columns wide. A thread has columns of each part, and computes only once what it
        needs to know of their row
    INT64: whether indices need 64 bits
    SUM: the type of sums
    Strides, and the length of a long inner dim, are in units of VEC elements. An axis without a sum has length 1 and
    width 1. `long_sums` computes outputs of RUNS with more than taps_x inputs.
    """
    n_columns = n_inner * VEC if LONG_INNER else n_x * n_inner
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    down = divided(program, tiles, magic_tiles, shift_tiles, INT64)
    column = (program - down * tiles) * (PARTS * BLOCK_C) + tl.arange(0, BLOCK_C)[None, :]
    row = down * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    columns_fit, rows_fit = column < n_columns, row < n_rows
    fit = rows_fit & columns_fit

    # Rows and columns outside the result are replaced by the first ones, so that no load of a table is out of bounds.
    rest = tl.where(rows_fit, row, 0)
    if LONG_INNER:
        above = divided(rest, n_x, magic_x, shift_x, INT64)
        o_x, rest, column_offset = rest - above * n_x, above, column
    else:
        o_x = tl.where(columns_fit, column, 0)
        if BLOCK_C > 1:
            o_x = tl.multiple_of(o_x, [1, 1])
        o_x, column_offset = split_inner(o_x, n_inner, inner_stride, INNER)
    first_x, weight_at_x, count_x = taps_of(o_x, start_x, offset_x, width_x, n_in_x, FORM_X)
    column_offset = column_offset + first_x * (stride_x * VEC)
    if FORM_X == RUNS:
        fit = fit & (count_x <= taps_x)
        count_x = tl.where(count_x <= taps_x, count_x, 0)
        taps_x = tl.max(count_x)
    o_y, o_z, slow_offset = rest * 0, rest * 0, rest * 0
    if ROWS:
        above = divided(rest, n_y, magic_y, shift_y, INT64)
        o_y, rest = rest - above * n_y, above
    if PLANES:
        above = divided(rest, n_z, magic_z, shift_z, INT64)
        o_z, rest = rest - above * n_z, above
    if SLOW:
        slow_offset = (rest // n_outer) * (slow_stride * VEC)
        rest = rest % n_outer
    first_y, weight_at_y, count_y = taps_of(o_y, start_y, offset_y, width_y, 0, FORM_Y)
    first_z, weight_at_z, count_z = taps_of(o_z, start_z, offset_z, width_z, 0, FORM_Z)
    row_offset = slow_offset + rest * (outer_stride * VEC) + first_y * (stride_y * VEC) + first_z * (stride_z * VEC)

    totals = zeros(PARTS, BLOCK_R, BLOCK_C, SUM)
    for p0 in range(0, TAPS_Z if TAPS_Z > 0 else taps_z, UNROLL_Z):
        for j in tl.static_range(UNROLL_Z):
            p = p0 + j
            plane_offset = row_offset + tap(p, count_z, FORM_Z, CLAMPED) * (stride_z * VEC)
            plane_sums = zeros(PARTS, BLOCK_R, BLOCK_C, SUM)
            for r0 in range(0, TAPS_Y if TAPS_Y > 0 else taps_y, UNROLL_Y):
                for i in tl.static_range(UNROLL_Y):
                    r = r0 + i
                    row_sums = add_row(
                        x, plane_offset + tap(r, count_y, FORM_Y, CLAMPED) * (stride_y * VEC) + column_offset,
                        weight_at_x, count_x, stride_x * VEC, weight_x, taps_x, fit & (p < count_z) & (r < count_y),
                        zeros(PARTS, BLOCK_R, BLOCK_C, SUM), FORM_X, TAPS_X, UNROLL_X, CLAMPED,
                        2 if BLOCK_C > 1 and not LONG_INNER else 0, PARTS, BLOCK_C)  # fmt: skip
                    if FORM_Y == WIDTH and TAPS_Y == 1:
                        plane_sums = row_sums
                    else:
                        plane_sums = add(plane_sums, row_sums, weight_y, weight_at_y + r, r < count_y, FORM_Y, PARTS)
            if FORM_Z == WIDTH and TAPS_Z == 1:
                totals = plane_sums
            else:
                totals = add(totals, plane_sums, weight_z, weight_at_z + p, p < count_z, FORM_Z, PARTS)

    for c in tl.static_range(PARTS):
        made = saturate_cast(totals[c], LOW, HIGH, y.dtype.element_ty)
        tl.store(y + (row * n_columns + column) + c * BLOCK_C, made, mask=fit)
