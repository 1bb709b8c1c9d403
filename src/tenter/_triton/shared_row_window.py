"""`window` along rows and columns (and planes), for neighboring output rows that share most of their input rows.

A program makes a tile, in one plane or in several, one after the other. It sums each input row along the columns once,
and adds the sum to all output rows that read it. A thread has GROUP neighboring columns, which share the loads of their
inputs, and CHANNELS values inside each, which share the weights. Outputs are added in the order of `window`.

Weights are dense: a group of columns, or the rows of a tile, have a weight for each input that one of them reads. A
weight of +0.0 means that an output does not read the input, and one of -0.0 that it reads it with a weight of 0. An
infinite input times +0.0 is NaN, so a tile with a NaN is computed again, with a choice for each weight. The bits are
those of `window`, except for the sign of a zero to which a sum underflows.
"""

import triton
import triton.language as tl

from tenter._triton.copy import divided, split_inner
from tenter._triton.window import add, saturate_cast, taps_of, zeros


@triton.jit
def add_tap(total, value, weight, EXACT: tl.constexpr):
    """Returns total + value * weight. EXACT: returns the total if the weight is +0.0."""
    weight = tl.broadcast_to(weight, total.shape)
    more = tl.fma(tl.broadcast_to(value, total.shape), weight, total)
    if EXACT:
        bits = weight.to(tl.int64 if weight.dtype == tl.float64 else tl.int32, bitcast=True)
        more = tl.where(bits != 0, more, total)
    return more


@triton.jit
def add_column_tap(
    sums, x, offset, inner_stride, weights,
    FIRST: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """Returns the sums of a group's columns with one more input. FIRST: where its GROUP weights begin."""
    values, more = (), ()
    for c in tl.static_range(CHANNELS):
        values = values + (tl.load(x + (offset + c * inner_stride)).to(sums[0].dtype),)
    for g in tl.static_range(GROUP):
        for c in tl.static_range(CHANNELS):
            more = more + (add_tap(sums[g * CHANNELS + c], values[c], weights[FIRST + g], EXACT),)
    return more


@triton.jit
def load_weights(weight, at, step, COUNT: tl.constexpr):
    """Returns COUNT weights, `step` apart, in registers."""
    weights = ()
    for k in tl.static_range(COUNT):
        weights = weights + (tl.load(weight + (at + k * step)),)
    return weights


@triton.jit
def sum_rows(
    x, offset, stride_x, inner_stride, weights, weight_x, weight_at, n_groups, taps, reads, stride_y, weight_y,
    SUM: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr, TAPS: tl.constexpr, STEP: tl.constexpr,
    UNROLL_X: tl.constexpr, UNROLL_Y: tl.constexpr, BLOCK_R: tl.constexpr, BLOCK_G: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """Returns a tile's sums along rows and columns of one plane: for each value of a group, those of all groups."""
    totals = zeros(GROUP * CHANNELS, BLOCK_R, BLOCK_G, SUM)
    x += offset
    for _ in range(0, reads, UNROLL_Y):
        for _y in tl.static_range(UNROLL_Y):  # not _, which Triton 3.4 takes for a variable of the loop around it
            row_sums = zeros(GROUP * CHANNELS, 1, BLOCK_G, SUM)
            if TAPS > 0:
                for k in tl.static_range(TAPS):
                    at = k * (STEP if STEP > 0 else stride_x)
                    row_sums = add_column_tap(row_sums, x, at, inner_stride, weights, k * GROUP, GROUP, CHANNELS, EXACT)
            else:
                tl.static_assert(GROUP * CHANNELS == 1)
                for k0 in range(0, taps, UNROLL_X):
                    for i in tl.static_range(UNROLL_X):
                        k = k0 + i
                        loaded = (tl.load(weight_x + (k * n_groups + weight_at)),)
                        row_sums = add_column_tap(row_sums, x, k * stride_x, 0, loaded, 0, 1, 1, EXACT)
            w = tl.load(weight_y)
            more = ()
            for v in tl.static_range(GROUP * CHANNELS):
                more = more + (add_tap(totals[v], row_sums[v], w, EXACT),)
            totals = more
            x += stride_y.to(tl.int64)
            weight_y += BLOCK_R
    return totals


@triton.jit
def sum_planes(
    x, first_z, weight_at_z, count_z, stride_z, weight_z,
    offset, stride_x, inner_stride, weights, weight_x, weight_at, n_groups, taps, reads, stride_y, weight_y,
    FORM_Z: tl.constexpr, SUMS_Z: tl.constexpr, SUM: tl.constexpr, GROUP: tl.constexpr, CHANNELS: tl.constexpr,
    TAPS: tl.constexpr, STEP: tl.constexpr, UNROLL_X: tl.constexpr, UNROLL_Y: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_G: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """Returns a tile's sums in one output plane."""
    at = x + first_z.to(tl.int64) * stride_z
    totals = zeros(GROUP * CHANNELS, BLOCK_R, BLOCK_G, SUM)
    for p in range(count_z if SUMS_Z else 1):
        sums = sum_rows(
            at, offset, stride_x, inner_stride, weights, weight_x, weight_at, n_groups, taps, reads, stride_y, weight_y,
            SUM, GROUP, CHANNELS, TAPS, STEP, UNROLL_X, UNROLL_Y, BLOCK_R, BLOCK_G, EXACT)  # fmt: skip
        if SUMS_Z:
            totals = add(totals, sums, weight_z, weight_at_z + p, p < count_z, FORM_Z, GROUP * CHANNELS)
            at += stride_z.to(tl.int64)
        else:
            totals = sums
    return totals


@triton.jit
def shared_row_window(
    x, y,
    start_z, offset_z, weight_z, width_z, n_z, stride_z, first_y, weight_y, reads, n_y, stride_y,
    across, magic_across, shift_across, down, magic_down, shift_down, n_planes, each,
    first_x, weight_x, taps, n_groups, n_lanes, n_x, stride_x,
    n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_Z: tl.constexpr, SUMS_Z: tl.constexpr, PLANES: tl.constexpr, SLOW: tl.constexpr, INNER: tl.constexpr,
    GROUP: tl.constexpr, CHANNELS: tl.constexpr, APART: tl.constexpr, WHOLE: tl.constexpr, TAPS: tl.constexpr,
    STEP: tl.constexpr, VEC: tl.constexpr, UNROLL_X: tl.constexpr, UNROLL_Y: tl.constexpr, FINITE: tl.constexpr,
    INT64: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_G: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, z, y, x, inner] = sums of x. The arguments are those of `window`, except for rows and columns.

    first_y, reads: a tile's output rows read `reads` input rows from first_y on
    weight_y: for each tile and each of these, its weight in each output row of the tile
    first_x, taps: a group's columns read `taps` inputs from first_x on
    weight_x: for each of these and each column of a group, its weights in all groups
    across, down: the tiles of a plane
    each: the planes of a program
    SUMS_Z: whether there are sums along z
    CHANNELS: n_inner if a thread has all values inside its columns, else 1
    APART: whether a group's columns are apart in the result, because other threads have values inside them
    VEC: values of a thread that are stored together
    WHOLE: whether the last group is whole
    TAPS: taps if the weights are kept in registers, else 0
    STEP: stride_x if it is small, else 0
    FINITE: whether no sum can be infinite, so that none is NaN
    """
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    above = divided(program, across, magic_across, shift_across, INT64)
    first_group = (program - above * across) * BLOCK_G
    lowest = divided(above, down, magic_down, shift_down, INT64)
    tile = above - lowest * down

    # A lane has CHANNELS values of each column of a group.
    lane = tl.multiple_of(tl.minimum(first_group + tl.arange(0, BLOCK_G)[None, :], n_lanes - 1), [1, 1])
    group, inner_offset = split_inner(lane, n_inner, inner_stride, INNER if CHANNELS == 1 else 0)
    offset = inner_offset + tl.load(first_x + group) * stride_x
    weights = load_weights(weight_x, group, n_groups, TAPS * GROUP)
    x += tl.load(first_y + tile).to(tl.int64) * stride_y
    row = tl.arange(0, BLOCK_R)[:, None]
    row_weights = weight_y + tile.to(tl.int64) * (reads * BLOCK_R) + row
    # The parts of an address are added in this order, so that the offsets between a thread's stores are constants.
    VALUES: tl.constexpr = GROUP * CHANNELS
    n_columns = n_lanes * VALUES if WHOLE and not APART else n_x * n_inner
    y += (tile * BLOCK_R).to(tl.int64) * n_columns
    rows_fit = tile * BLOCK_R + row < n_y
    if APART:
        fit = rows_fit & (first_group + tl.arange(0, BLOCK_G)[None, :] < n_lanes)
        column = lane + group * ((GROUP - 1) * n_inner)
    else:
        y += first_group * VALUES
        stored = tl.arange(0, VEC * BLOCK_G)[None, :]
        column = stored // VEC * VALUES + stored % VEC
        fit = rows_fit & (first_group + stored // VEC < n_lanes)

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
        totals = sum_planes(
            x_plane, first_z, weight_at_z, count_z, stride_z, weight_z,
            offset, stride_x, inner_stride, weights, weight_x, group, n_groups, taps, reads, stride_y, row_weights,
            FORM_Z, SUMS_Z, SUM, GROUP, CHANNELS, TAPS, STEP, UNROLL_X, UNROLL_Y, BLOCK_R, BLOCK_G, False)  # fmt: skip
        if not FINITE:
            unordered = totals[0] != totals[0]
            for v in tl.static_range(1, GROUP * CHANNELS):
                unordered = unordered | (totals[v] != totals[v])
            if tl.max(tl.max(unordered.to(tl.int32), 0), 0) > 0:
                totals = sum_planes(
                    x_plane, first_z, weight_at_z, count_z, stride_z, weight_z,
                    offset, stride_x, inner_stride, weights, weight_x, group, n_groups, taps, reads, stride_y,
                    row_weights, FORM_Z, SUMS_Z, SUM, GROUP, CHANNELS, TAPS, STEP, UNROLL_X, UNROLL_Y, BLOCK_R, BLOCK_G,
                    True)  # fmt: skip
        made = ()
        for v in tl.static_range(VALUES):
            made = made + (saturate_cast(totals[v], LOW, HIGH, y.dtype.element_ty),)
        target = y + plane * (n_y.to(tl.int64) * n_columns) + row * n_columns + column
        if APART:
            for g in tl.static_range(GROUP):
                fits = fit if WHOLE else fit & (group * GROUP + g < n_x)
                address = tl.multiple_of(tl.max_contiguous(target + g * n_inner, [1, 2]), [1, 1])  # see copy.py
                tl.store(address, made[g], mask=fits)
        else:
            for v in tl.static_range(0, VALUES, VEC):
                fits = fit if WHOLE else fit & (first_group * VALUES + column + v < n_columns)
                address = tl.max_contiguous(target + v, [1, VEC])
                if VEC == 4:
                    pairs = tl.join(tl.join(made[v], made[v + 2]), tl.join(made[v + 1], made[v + 3]))
                    tl.store(address, tl.reshape(pairs, (BLOCK_R, 4 * BLOCK_G)), mask=fits)
                elif VEC == 2:
                    tl.store(address, tl.reshape(tl.join(made[v], made[v + 1]), (BLOCK_R, 2 * BLOCK_G)), mask=fits)
                else:
                    tl.store(address, made[v], mask=fits)
