"""`window` along rows and columns (and planes), for neighboring output rows that share most of their input rows.

A program makes a tile, in one plane or in several, one after the other. It sums each input row along the columns once,
and adds the sum to all output rows that read it. Outputs are added in the order of `window`.
"""

import triton
import triton.language as tl

from tenter._triton.copy import divided, split_inner
from tenter._triton.window import WEIGHTS, add, add_row, saturate_cast, taps_of


@triton.jit
def load_taps(offset, stride, weight, weight_at, count, FORM: tl.constexpr, TAPS: tl.constexpr):
    """Returns the offsets and the weights of each output's TAPS taps, in registers. An output with fewer taps repeats
    its last with weight 0."""
    offsets, weights = (), ()
    for k in tl.static_range(TAPS):
        if FORM == WEIGHTS:
            w = tl.load(weight + weight_at + k, mask=k < count, other=0)
        else:
            w = tl.where(k < count, 1.0, 0.0)
        offsets = offsets + (offset + tl.minimum(k, count - 1) * stride,)
        weights = weights + (w,)
    return offsets, weights


@triton.jit
def add_taps(x, offsets, weights, count, total, TAPS: tl.constexpr):
    """Returns total + the sum of the first `count` taps. The others keep the total, because 0 * inf would be NaN."""
    for k in tl.static_range(TAPS):
        more = tl.fma(tl.load(x + offsets[k]).to(total.dtype), weights[k], total)
        total = tl.where(k < count, more, total)
    return total


@triton.jit
def sum_rows(
    x, rows, stride_y, row_weights, offsets, weights, offset, weight_at_x, count_x, stride_x, weight_x, taps_x, used,
    SUM: tl.constexpr, FORM_X: tl.constexpr, TAPS_X: tl.constexpr, UNROLL: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_C: tl.constexpr,
):  # fmt: skip
    """Returns a tile's sums along rows and columns of one plane. UNROLL: input rows whose loads wait together; rows
    after the last repeat it with weights of 0."""
    total = tl.zeros((BLOCK_R, BLOCK_C), SUM)
    for r0 in range(0, rows, UNROLL):
        for j in tl.static_range(UNROLL):
            row_x = x + tl.minimum(r0 + j, rows - 1).to(tl.int64) * stride_y
            row_sum = tl.zeros((1, BLOCK_C), SUM)
            if TAPS_X > 0:
                row_sum = add_taps(row_x, offsets, weights, count_x, row_sum, TAPS_X)
            else:
                (row_sum,) = add_row(
                    row_x, offset, weight_at_x, count_x, stride_x, weight_x, taps_x, used, (row_sum,), FORM_X, 0, 4,
                    False, 0, 1, BLOCK_C)  # fmt: skip
            w = tl.load(row_weights + (r0 + j) * BLOCK_R)
            # Outputs that do not read the row keep their sum, because 0 * inf would be NaN.
            more = tl.fma(tl.broadcast_to(row_sum, total.shape), tl.broadcast_to(w, total.shape), total)
            total = tl.where(w != 0, more, total)
    return total


@triton.jit
def shared_row_window(
    x, y,
    start_z, offset_z, weight_z, width_z, n_z, stride_z, first_row, n_read, weight_y, max_read, n_y, stride_y,
    across, magic_across, shift_across, down, magic_down, shift_down, n_planes, each,
    start_x, offset_x, weight_x, width_x, taps_x, n_x, stride_x,
    n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, FORM_X: tl.constexpr, TAPS_X: tl.constexpr,
    SUMS_Z: tl.constexpr, PLANES: tl.constexpr, SLOW: tl.constexpr, INNER: tl.constexpr, UNROLL: tl.constexpr,
    INT64: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_C: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x. The arguments are those of `window`, except for rows: a tile's output
    rows read n_read input rows from first_row on. weight_y has max_read * BLOCK_R weights for each tile, one for each
    input row and output row; 0 if the output does not read the input.

    across, down: the tiles of a plane
    each: the planes of a program
    SUMS_Z: whether there are sums along z
    TAPS_X: the taps that are kept in registers, if each output has at least one; else 0
    """
    n_columns = n_x * n_inner
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    above = divided(program, across, magic_across, shift_across, INT64)
    first_column = (program - above * across) * BLOCK_C
    column = first_column + tl.arange(0, BLOCK_C)[None, :]
    columns_fit = column < n_columns
    lowest = divided(above, down, magic_down, shift_down, INT64)
    tile = above - lowest * down

    o_x, offset = split_inner(tl.where(columns_fit, column, 0), n_inner, inner_stride, INNER)
    first_x, weight_at_x, count_x = taps_of(o_x, start_x, offset_x, width_x, 0, FORM_X)
    offset = offset + first_x * stride_x
    offsets, weights = load_taps(offset, stride_x, weight_x, weight_at_x, count_x, FORM_X, TAPS_X)
    first_y, rows = tl.load(first_row + tile), tl.load(n_read + tile)
    row_weights = weight_y + tile.to(tl.int64) * (max_read * BLOCK_R) + tl.arange(0, BLOCK_R)[:, None]
    row = tl.arange(0, BLOCK_R)[:, None]
    fit = (tile * BLOCK_R + row < n_y) & columns_fit
    # The parts of an address are added in this order, so that the offsets between a thread's stores are constants.
    x += first_y.to(tl.int64) * stride_y
    y += (tile * BLOCK_R).to(tl.int64) * n_columns + first_column

    for plane in range(lowest * each, tl.minimum(lowest * each + each, n_planes)):
        outer = plane
        first_z, weight_at_z, count_z = taps_of(plane * 0, start_z, offset_z, width_z, 0, FORM_Z)
        if PLANES:
            outer = plane // n_z
            first_z, weight_at_z, count_z = taps_of(plane - outer * n_z, start_z, offset_z, width_z, 0, FORM_Z)
        x_plane = x
        if SLOW:
            x_plane += (outer // n_outer) * slow_stride.to(tl.int64)
            outer = outer % n_outer
        x_plane += outer * outer_stride.to(tl.int64)
        if SUMS_Z:
            total = tl.zeros((BLOCK_R, BLOCK_C), SUM)
            for p in range(count_z):
                at = x_plane + (first_z + p).to(tl.int64) * stride_z
                plane_sum = sum_rows(
                    at, rows, stride_y, row_weights, offsets, weights, offset, weight_at_x, count_x, stride_x, weight_x,
                    taps_x, columns_fit, SUM, FORM_X, TAPS_X, UNROLL, BLOCK_R, BLOCK_C)  # fmt: skip
                (total,) = add((total,), (plane_sum,), weight_z, weight_at_z + p, p < count_z, FORM_Z, 1)
        else:
            at = x_plane + first_z.to(tl.int64) * stride_z
            total = sum_rows(
                at, rows, stride_y, row_weights, offsets, weights, offset, weight_at_x, count_x, stride_x, weight_x,
                taps_x, columns_fit, SUM, FORM_X, TAPS_X, UNROLL, BLOCK_R, BLOCK_C)  # fmt: skip
        y_row = y + plane * (n_y.to(tl.int64) * n_columns) + row * n_columns
        tl.store(y_row + tl.arange(0, BLOCK_C)[None, :], saturate_cast(total, LOW, HIGH, y.dtype.element_ty), mask=fit)
