"""`window` along rows and columns, and planes if any, where neighbouring output rows read much the same inputs.

A program makes a tile of one plane. It goes down the input rows that any of the tile's output rows reads, sums each
along the columns once, and adds it to those that it belongs to: of a bicubic window, a quarter of what every output
would read by itself. Outputs add in the order in which `window` does.
"""

from __future__ import annotations

import triton
import triton.language as tl

from tenter.kernels.triton.window import WEIGHTS, add, line_of, rounded, row_of


@triton.jit
def weights_of(weight, at, count, FORM: tl.constexpr, TAPS: tl.constexpr):
    """The weights of the few taps of each output, to be held in registers; what is not there weighs nothing."""
    held = ()
    for k in tl.static_range(TAPS):
        if FORM == WEIGHTS:
            w = tl.load(weight + at + k, mask=k < count, other=0)
        else:
            w = tl.where(k < count, 1.0, 0.0)
        held = held + (w,)
    return held


@triton.jit
def held_line(x, place, count, stride, held, reads, total, TAPS: tl.constexpr):
    """`line_of` with weights that are held."""
    for k in tl.static_range(TAPS):
        value = tl.load(x + (place + k * stride), mask=reads & (k < count), other=0).to(total.dtype)
        total = tl.fma(value, held[k], total)
    return total


@triton.jit
def sheets(
    x, y,
    start_z, offset_z, weight_z, width_z, n_z, stride_z, lowest, n_read, weight_y, most_read, n_y, stride_y,
    start_x, offset_x, weight_x, width_x, taps_x, n_x, stride_x,
    n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, FORM_X: tl.constexpr, TAPS_X: tl.constexpr,
    PLANES: tl.constexpr, SLOW: tl.constexpr, INNER: tl.constexpr, LONG: tl.constexpr,
    LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x; arguments as `window` has them, but for the rows.

    A tile's output rows read n_read input rows from `lowest` on; weight_y has BLOCK_R weights for each of these, 0 for
    outputs that do not read it, and room for most_read of them.
    """
    n_columns = n_x * n_inner
    across, down = tl.cdiv(n_columns, BLOCK_C), tl.cdiv(n_y, BLOCK_R)
    program = tl.program_id(0)
    if LONG:
        program = program.to(tl.int64)
    column = (program % across) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    columns_fit = column < n_columns
    tile = (program // across) % down
    plane = program // across // down

    o_x = tl.where(columns_fit, column, 0)
    place = o_x * 0
    if INNER:
        n = INNER if INNER > 1 else n_inner
        place = (o_x % n) * inner_stride
        o_x = o_x // n
    first_x, at_x, count_x = row_of(o_x, start_x, offset_x, width_x, 0, FORM_X)
    place = place + first_x * stride_x
    outer = plane
    first_z, at_z, count_z = row_of(plane * 0, start_z, offset_z, width_z, 0, FORM_Z)
    if PLANES:
        first_z, at_z, count_z = row_of(plane % n_z, start_z, offset_z, width_z, 0, FORM_Z)
        outer = plane // n_z
    if SLOW:
        x += (outer // n_outer).to(tl.int64) * slow_stride
        outer = outer % n_outer
    first_y, rows = tl.load(lowest + tile), tl.load(n_read + tile)
    x += outer.to(tl.int64) * outer_stride + first_y.to(tl.int64) * stride_y

    held = weights_of(weight_x, at_x, count_x, FORM_X, TAPS_X)
    total = tl.zeros((BLOCK_R, BLOCK_C), SUM)
    for p in range(count_z):
        sheet = tl.zeros((BLOCK_R, BLOCK_C), SUM)
        line_x = x + (first_z + p).to(tl.int64) * stride_z
        weights = weight_y + tile.to(tl.int64) * (most_read * BLOCK_R) + tl.arange(0, BLOCK_R)[:, None]
        for _ in range(rows):
            line = tl.zeros((1, BLOCK_C), SUM)
            if TAPS_X > 0:
                line = held_line(line_x, place, count_x, stride_x, held, columns_fit, line, TAPS_X)
            else:
                line = line_of(
                    line_x, place, at_x, count_x, stride_x, weight_x, taps_x, columns_fit, line, FORM_X, 0, 4
                )
            w = tl.load(weights)
            # A row that an output does not read must not reach it: nothing times infinity is not nothing.
            more = tl.fma(tl.broadcast_to(line, sheet.shape), tl.broadcast_to(w, sheet.shape), sheet)
            sheet = tl.where(w != 0, more, sheet)
            line_x += stride_y
            weights += BLOCK_R
        total = add(total, sheet, weight_z, at_z + p, p < count_z, FORM_Z)

    row = tile * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    target = y + plane.to(tl.int64) * n_y * n_columns
    fit = (row < n_y) & columns_fit
    tl.store(target + (row * n_columns + column), rounded(total, LOW, HIGH, y.dtype.element_ty), mask=fit)
