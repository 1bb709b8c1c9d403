"""Every output element is a sum of inputs along one to three axes: interpolation, averages, and what a gradient sums.

A program makes a tile of the output. With a wide inside (channels-last) its rows are pixels and its columns channels;
else its columns are pixels of a row, each with the few values that lie inside, and its rows are rows of pixels. An
output adds its own taps in ascending order, columns within rows within planes, whatever the tile: same bits always.
"""

from __future__ import annotations

import triton
import triton.language as tl

# What is known of the inputs of an axis's outputs: each has `width`, of ones; those between its offsets, of ones or
# with weights; or ones between offsets that nobody has looked at. Triton reads only globals that are constant.
WIDTH = tl.constexpr(0)
ONES = tl.constexpr(1)
WEIGHTS = tl.constexpr(2)
RUNS = tl.constexpr(3)


@triton.jit
def row_of(o, start, offset, width, n_in, FORM: tl.constexpr):
    """First input of each output o, where its weights lie, and how many there are."""
    if FORM == WIDTH:
        first = o * width
        at = first
        count = o * 0 + width
    elif FORM == RUNS:
        at = o
        first = tl.minimum(tl.maximum(tl.load(offset + o), 0), n_in)
        count = tl.minimum(tl.maximum(tl.load(offset + o + 1), first), n_in) - first
    else:
        first = tl.load(start + o)
        at = tl.load(offset + o)
        count = tl.load(offset + o + 1) - at
    return first, at, count


@triton.jit
def add(total, value, weight, at, used, FORM: tl.constexpr):
    """total + value, times its weight where there are weights: `used` are those that have one."""
    if FORM == WEIGHTS:
        w = tl.load(weight + at, mask=used, other=0)
        total = tl.fma(value, tl.broadcast_to(w, value.shape), total)
    else:
        total = total + value
    return total


@triton.jit
def line_of(
    x,
    place,
    at,
    count,
    stride,
    weight,
    taps,
    reads,
    total,
    FORM: tl.constexpr,
    TAPS: tl.constexpr,
    UNROLL: tl.constexpr,
):
    """total and what is summed along the fastest axis, from x[place] on.

    TAPS: inputs of an output at most, where they are few enough to be unrolled; else 0, and `taps` says.
    """
    for k0 in range(0, TAPS if TAPS > 0 else taps, UNROLL):
        for j in tl.static_range(UNROLL):
            k = k0 + j
            value = tl.load(x + (place + k * stride), mask=reads & (k < count), other=0).to(total.dtype)
            total = add(total, value, weight, at + k, k < count, FORM)
    return total


@triton.jit
def rounded(v, LOW: tl.constexpr, HIGH: tl.constexpr, element: tl.constexpr):
    """v as an element of y: within LOW and HIGH, where they are given, and of integers half to even."""
    if v.dtype.is_int() or element.is_floating():
        if LOW is not None:
            v = tl.minimum(tl.maximum(v, LOW), HIGH)
        v = v.to(element)
    else:
        # The first number whose neighbours are a whole one apart: adding and taking it away rounds half to even.
        coarse: tl.constexpr = 4503599627370496.0 if v.dtype == tl.float64 else 8388608.0
        size = tl.abs(v)
        whole = (size + coarse) - coarse
        v = tl.where(size < coarse, tl.where(v < 0, -whole, whole), v)
        # HIGH may be no floating number: what reaches it is not converted, but is HIGH.
        over, under = v >= HIGH, v <= LOW
        v = tl.where(over | under, 0.0, v).to(element)
        v = tl.where(over, HIGH, tl.where(under, LOW, v)).to(element)
    return v


@triton.jit
def window(
    x, y,
    start_z, offset_z, weight_z, width_z, taps_z, n_z, stride_z,
    start_y, offset_y, weight_y, width_y, taps_y, n_y, stride_y,
    start_x, offset_x, weight_x, width_x, taps_x, n_x, stride_x, n_x_in,
    n_rows, n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, FORM_Y: tl.constexpr, FORM_X: tl.constexpr,
    TAPS_Z: tl.constexpr, TAPS_Y: tl.constexpr, TAPS_X: tl.constexpr,
    UNROLL_Z: tl.constexpr, UNROLL_Y: tl.constexpr, UNROLL_X: tl.constexpr,
    PLANES: tl.constexpr, ROWS: tl.constexpr, SLOW: tl.constexpr, WIDE: tl.constexpr, INNER: tl.constexpr,
    VEC: tl.constexpr, LONG: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr,
    BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x. n_rows: of the output, in the sense of tiles. Strides, and the length
    of a wide inside, in VEC elements.

    PLANES, ROWS, SLOW: are there several of them? INNER: 0 if n_inner is 1, and n_inner where it is small. LONG: does
    anything have 2**31 elements? An axis along which nothing is summed has length 1 and width 1. SUM: the type of sums.
    Of RUNS, outputs of more than taps_x inputs are left to `long_sums`.
    """
    n_columns = n_inner * VEC if WIDE else n_x * n_inner
    tiles = tl.cdiv(n_columns, BLOCK_C)
    program = tl.program_id(0)
    if LONG:
        program = program.to(tl.int64)
    column = (program % tiles) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    row = (program // tiles) * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    columns_fit, rows_fit = column < n_columns, row < n_rows
    fit = rows_fit & columns_fit

    # Positions past the ends are taken for the first ones, so that no table is read past its own end.
    rest = tl.where(rows_fit, row, 0)
    if WIDE:
        o_x = rest % n_x
        rest = rest // n_x
        place = column
    else:
        o_x = tl.where(columns_fit, column, 0)
        place = o_x * 0
        if INNER:
            n = INNER if INNER > 1 else n_inner
            place = (o_x % n) * inner_stride
            o_x = o_x // n
    first_x, at_x, count_x = row_of(o_x, start_x, offset_x, width_x, n_x_in, FORM_X)
    place = place + first_x * (stride_x * VEC)
    if FORM_X == RUNS:
        fit = fit & (count_x <= taps_x)
        count_x = tl.where(count_x <= taps_x, count_x, 0)
        taps_x = tl.max(count_x)
    o_y, o_z, place_outer = rest * 0, rest * 0, rest * 0
    if ROWS:
        o_y = rest % n_y
        rest = rest // n_y
    if PLANES:
        o_z = rest % n_z
        rest = rest // n_z
    if SLOW:
        place_outer = (rest // n_outer) * (slow_stride * VEC)
        rest = rest % n_outer
    first_y, at_y, count_y = row_of(o_y, start_y, offset_y, width_y, 0, FORM_Y)
    first_z, at_z, count_z = row_of(o_z, start_z, offset_z, width_z, 0, FORM_Z)
    place_row = place_outer + rest * (outer_stride * VEC) + first_y * (stride_y * VEC) + first_z * (stride_z * VEC)

    total = tl.zeros((BLOCK_R, BLOCK_C), SUM)
    for p0 in range(0, TAPS_Z if TAPS_Z > 0 else taps_z, UNROLL_Z):
        for j in tl.static_range(UNROLL_Z):
            p = p0 + j
            sheet = tl.zeros((BLOCK_R, BLOCK_C), SUM)
            for r0 in range(0, TAPS_Y if TAPS_Y > 0 else taps_y, UNROLL_Y):
                for i in tl.static_range(UNROLL_Y):
                    r = r0 + i
                    line = line_of(
                        x, place_row + p * (stride_z * VEC) + r * (stride_y * VEC) + place, at_x, count_x,
                        stride_x * VEC, weight_x, taps_x, fit & (p < count_z) & (r < count_y),
                        tl.zeros((BLOCK_R, BLOCK_C), SUM), FORM_X, TAPS_X, UNROLL_X,
                    )  # fmt: skip
                    sheet = add(sheet, line, weight_y, at_y + r, r < count_y, FORM_Y)
            total = add(total, sheet, weight_z, at_z + p, p < count_z, FORM_Z)

    tl.store(y + (row * n_columns + column), rounded(total, LOW, HIGH, y.dtype.element_ty), mask=fit)
