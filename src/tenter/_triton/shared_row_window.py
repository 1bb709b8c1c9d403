"""`window` along rows and columns (and planes), for neighboring output rows that share most of their input rows.

A program makes a tile of one plane. It sums each input row along the columns once, and adds the sum to all output rows
that read it. For bicubic windows that is a quarter of the loads of `window`. Outputs are added in the order of
`window`.
"""

import triton
import triton.language as tl

from tenter._triton.copy import split_inner
from tenter._triton.window import WEIGHTS, add, add_row, saturate_cast, taps_of


@triton.jit
def load_weights(weight, weight_at, count, FORM: tl.constexpr, TAPS: tl.constexpr):
    """Loads the weights of each output's first TAPS taps into registers; 0 for taps that an output lacks."""
    weights = ()
    for k in tl.static_range(TAPS):
        if FORM == WEIGHTS:
            w = tl.load(weight + weight_at + k, mask=k < count, other=0)
        else:
            w = tl.where(k < count, 1.0, 0.0)
        weights = weights + (w,)
    return weights


@triton.jit
def add_row_of(x, offset, count, stride, weights, used, total, TAPS: tl.constexpr):
    """`add_row` with weights in registers."""
    for k in tl.static_range(TAPS):
        value = tl.load(x + (offset + k * stride), mask=used & (k < count), other=0).to(total.dtype)
        total = tl.fma(value, weights[k], total)
    return total


@triton.jit
def shared_row_window(
    x, y,
    start_z, offset_z, weight_z, width_z, n_z, stride_z, first_row, n_read, weight_y, max_read, n_y, stride_y,
    start_x, offset_x, weight_x, width_x, taps_x, n_x, stride_x,
    n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, FORM_X: tl.constexpr, TAPS_X: tl.constexpr,
    PLANES: tl.constexpr, SLOW: tl.constexpr, INNER: tl.constexpr, INT64: tl.constexpr,
    LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x. The arguments are those of `window`, except for rows: a tile's output
    rows read n_read input rows from first_row on. weight_y has max_read * BLOCK_R weights for each tile, one for each
    input row and output row; 0 if the output does not read the input."""
    n_columns = n_x * n_inner
    across, down = tl.cdiv(n_columns, BLOCK_C), tl.cdiv(n_y, BLOCK_R)
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    column = (program % across) * BLOCK_C + tl.arange(0, BLOCK_C)[None, :]
    columns_fit = column < n_columns
    tile = (program // across) % down
    plane = program // across // down

    o_x, offset = split_inner(tl.where(columns_fit, column, 0), n_inner, inner_stride, INNER)
    first_x, weight_at_x, count_x = taps_of(o_x, start_x, offset_x, width_x, 0, FORM_X)
    offset = offset + first_x * stride_x
    outer = plane
    first_z, weight_at_z, count_z = taps_of(plane * 0, start_z, offset_z, width_z, 0, FORM_Z)
    if PLANES:
        first_z, weight_at_z, count_z = taps_of(plane % n_z, start_z, offset_z, width_z, 0, FORM_Z)
        outer = plane // n_z
    if SLOW:
        x += (outer // n_outer).to(tl.int64) * slow_stride
        outer = outer % n_outer
    first_y, rows = tl.load(first_row + tile), tl.load(n_read + tile)
    x += outer.to(tl.int64) * outer_stride + first_y.to(tl.int64) * stride_y

    weights = load_weights(weight_x, weight_at_x, count_x, FORM_X, TAPS_X)
    total = tl.zeros((BLOCK_R, BLOCK_C), SUM)
    for p in range(count_z):
        plane_sum = tl.zeros((BLOCK_R, BLOCK_C), SUM)
        row_x = x + (first_z + p).to(tl.int64) * stride_z
        row_weights = weight_y + tile.to(tl.int64) * (max_read * BLOCK_R) + tl.arange(0, BLOCK_R)[:, None]
        for _ in range(rows):
            row_sum = tl.zeros((1, BLOCK_C), SUM)
            if TAPS_X > 0:
                row_sum = add_row_of(row_x, offset, count_x, stride_x, weights, columns_fit, row_sum, TAPS_X)
            else:
                row_sum = add_row(row_x, offset, weight_at_x, count_x, stride_x, weight_x, taps_x, columns_fit, row_sum,
                                  FORM_X, 0, 4)  # fmt: skip
            w = tl.load(row_weights)
            # Outputs that do not read the row keep their sum, because 0 * inf would be NaN.
            more = tl.fma(tl.broadcast_to(row_sum, plane_sum.shape), tl.broadcast_to(w, plane_sum.shape), plane_sum)
            plane_sum = tl.where(w != 0, more, plane_sum)
            row_x += stride_y
            row_weights += BLOCK_R
        total = add(total, plane_sum, weight_z, weight_at_z + p, p < count_z, FORM_Z)

    row = tile * BLOCK_R + tl.arange(0, BLOCK_R)[:, None]
    target = y + plane.to(tl.int64) * n_y * n_columns
    fit = (row < n_y) & columns_fit
    tl.store(target + (row * n_columns + column), saturate_cast(total, LOW, HIGH, y.dtype.element_ty), mask=fit)
