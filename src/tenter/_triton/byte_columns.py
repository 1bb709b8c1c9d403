"""Sums of bytes along columns as products of matrices, exact in 32 bits: each input is read about once, however many
outputs read it, as in antialiased images that shrink.

A tile of rows is multiplied by the weights of a tile of outputs. A weight, a multiple of 2**-22, is three signed bytes,
and so three products. Inputs are signed too, less 128, which `bias` adds again.
"""

import math

import triton
import triton.language as tl

from tenter._triton import copies, tables
from tenter._triton.copies import NARROW, divisor, next_power_of_two
from tenter._triton.copy import divided
from tenter._triton.launches import Launches
from tenter._triton.window import saturate_cast
from tenter._triton.window_pass import WindowPass

# The most values inside a column, the least number of rows, and the most taps, by which no product comes near 2**31:
# some devices' products saturate.
FEW_INNER, LEAST_ROWS, MOST_TAPS = 4, 16, 1 << 16
# The most rows of a tile, if inputs are loaded in words of WORD bytes or more; else half as many, as each byte takes a
# thread's registers for its address.
MOST_ROWS, WORD = 128, 4
# Outputs of a tile; twice as many where an output is less than NEAR inputs from the next, whose tiles would share most
# of their inputs.
OUTPUTS, NEAR = 16, 4


@triton.jit
def byte_columns(
    x, y, first_x, weight_x, bias_x, reads, n_x, n_in_x, n_rows, tiles, magic_tiles, shift_tiles,
    n_inner, n_outer, outer_stride, slow_stride,
    INNER: tl.constexpr, STEP: tl.constexpr, INNER_STEP: tl.constexpr, SLOW: tl.constexpr, ALIGNED: tl.constexpr,
    INSIDE: tl.constexpr, INT64: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, x, inner] = sums of x. Rows are those of (slow, outer, inner).

    first_x: the first of the `reads` inputs of each tile of outputs, a multiple of ALIGNED
    weight_x: for each tile, byte of a weight, output and input
    bias_x: 128 times the sum of each output's weights
    tiles: the number of tiles of outputs
    STEP, INNER_STEP: elements from a column to the next, and from a value inside a column to the next
    ALIGNED: what strides of rows are in units of
    INSIDE: whether the inputs of all tiles are inside of the axis
    """
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    down = divided(program, tiles, magic_tiles, shift_tiles, INT64)
    tile = program - down * tiles
    row = down * BLOCK_R + tl.arange(0, BLOCK_R)
    rows_fit = row < n_rows
    outer = tl.minimum(row, n_rows - 1)
    inner = outer * 0
    if INNER:
        inner = outer % INNER
        outer = outer // INNER
    target = outer
    offset = inner * INNER_STEP
    if SLOW:
        offset += (outer // n_outer) * (slow_stride * ALIGNED)
        outer = outer % n_outer
    offset += outer * (outer_stride * ALIGNED)
    first = tl.multiple_of(tl.load(first_x + tile), ALIGNED)
    k = tl.arange(0, BLOCK_K)
    o = tl.arange(0, BLOCK_O)
    at = x + offset[:, None] + (first + k)[None, :] * STEP
    weights = weight_x + tile * (3 * BLOCK_O) * reads + o[:, None] * reads + k[None, :]
    low = tl.zeros((BLOCK_R, BLOCK_O), tl.int32)
    middle = tl.zeros((BLOCK_R, BLOCK_O), tl.int32)
    high = tl.zeros((BLOCK_R, BLOCK_O), tl.int32)
    for k0 in range(0, reads, BLOCK_K):
        if INSIDE:
            value = tl.load(at)
        else:
            value = tl.load(at, mask=(first + k0 + k < n_in_x)[None, :], other=0)
        signed = (value ^ 128).to(tl.int8, bitcast=True)
        low = tl.dot(signed, tl.trans(tl.load(weights)), low, out_dtype=tl.int32)
        middle = tl.dot(signed, tl.trans(tl.load(weights + BLOCK_O * reads)), middle, out_dtype=tl.int32)
        high = tl.dot(signed, tl.trans(tl.load(weights + 2 * BLOCK_O * reads)), high, out_dtype=tl.int32)
        at += BLOCK_K * STEP
        weights += BLOCK_K
    output = tile * BLOCK_O + o
    outputs_fit = output < n_x
    bias = tl.load(bias_x + tl.where(outputs_fit, output, 0))
    total = low + (middle << 8) + (high << 16) + bias[None, :]
    made = saturate_cast(total, LOW, HIGH, y.dtype.element_ty)
    column = (target * n_x)[:, None] + output[None, :]
    tl.store(y + column * n_inner + inner[:, None], made, mask=rows_fit[:, None] & outputs_fit[None, :])


def is_faster(pass_: WindowPass) -> bool:
    x, n_inner = pass_.x, pass_.inner[0]
    if pass_.options.accumulate != "int32" or not pass_.y.n == pass_.z.n == 1 or n_inner > FEW_INNER:
        return False
    rows, step = pass_.slow[0] * pass_.outer[0] * n_inner, max(abs(x.stride), abs(pass_.inner[1]))
    return rows >= LEAST_ROWS and x.n < x.n_in and x.taps <= MOST_TAPS and step <= NARROW


def add(made: Launches, pass_: WindowPass) -> None:
    x, n_inner = pass_.x, pass_.inner[0]
    assert x.map is not None
    outputs = OUTPUTS if x.n_in >= NEAR * x.n else 2 * OUTPUTS
    aligned = math.gcd(16, made.alignment_of(pass_.source), pass_.outer[1], pass_.slow[1], x.n_in)
    aligned = aligned if x.stride == 1 else 1
    block_k, found = tables.in_bytes(x.map, outputs, aligned, made.device)
    first, weight, bias = made.own(found)
    reads = len(weight) // (3 * outputs * len(first))
    n_rows = pass_.slow[0] * pass_.outer[0] * n_inner
    block_r = min(max(next_power_of_two(n_rows), LEAST_ROWS), MOST_ROWS if aligned >= WORD else MOST_ROWS // 2)
    while block_r > LEAST_ROWS and -(-n_rows // block_r) * len(first) < copies.PROGRAMS:
        block_r //= 2
    pass_.add(
        made, byte_columns, -(-n_rows // block_r) * len(first), 4 if block_r > 32 else block_r // 16, aligned,
        **divisor("tiles", len(first)), first_x=first, weight_x=weight, bias_x=bias, reads=reads, n_rows=n_rows,
        STEP=x.stride, INNER_STEP=pass_.inner[1], ALIGNED=aligned, INSIDE=reads <= x.n_in, BLOCK_R=block_r,
        BLOCK_O=outputs, BLOCK_K=block_k)  # fmt: skip
