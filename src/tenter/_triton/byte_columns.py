"""Sums of bytes along columns as products of matrices, exact in 32 bits: each input is read about once, however many
outputs read it, as in antialiased images that shrink.

A tile of rows is multiplied by the weights of a tile of outputs. A weight, a multiple of 2**-22, is three signed bytes,
and so three products. Inputs are signed too, less 128, which `bias` adds again.
"""

import triton
import triton.language as tl

from tenter._triton.copy import divided
from tenter._triton.window import saturate_cast


@triton.jit
def byte_columns(
    x, y, first_x, weight_x, bias_x, blocks, n_x, n_in_x, n_rows, tiles, magic_tiles, shift_tiles,
    n_inner, n_outer, outer_stride, slow_stride,
    INNER: tl.constexpr, STEP: tl.constexpr, INNER_STEP: tl.constexpr, SLOW: tl.constexpr, ALIGNED: tl.constexpr,
    INSIDE: tl.constexpr, INT64: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, BLOCK_R: tl.constexpr,
    BLOCK_O: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """y[slow, outer, x, inner] = sums of x. Rows are those of (slow, outer, inner).

    first_x: the first input of each tile of outputs, a multiple of ALIGNED
    blocks: blocks of BLOCK_K inputs that a tile of outputs reads
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
    reads = blocks * BLOCK_K  # a multiple, so that weights are loaded 16 at a time
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
