"""Kernels for counts on a device: their prefix sum, and sums of any length with one program for each."""

import triton
import triton.language as tl

from tenter._triton.window import add, saturate_cast, taps_of

# The words of a report: the call's ticket; 1 + the position of a negative count; 1 if the sum is 2**63 or more; 1 + the
# sum of the counts, if another was expected. A word is 0 if there is no such error.
TICKET, NEGATIVE, OVERFLOW, TOTAL = (tl.constexpr(k) for k in range(4))


@triton.jit
def prefix_sum(
    counts, offsets, before, report, n, step, expected, ticket,
    PART: tl.constexpr, VERIFY: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """offsets[i + 1] = counts[0] + ... + counts[i], one block for each program. Negative counts count as 0.

    PART: store only the sum of each block, in offsets
    before: the prefix sum of the blocks; None for a single block
    report: where errors are written; None for nowhere
    VERIFY: the total must be `expected`
    """
    program = tl.program_id(0).to(tl.int64)
    i = program * BLOCK + tl.arange(0, BLOCK)
    fits = i < n
    count = tl.load(counts + i * step, mask=fits, other=0).to(tl.int64)
    negative = count < 0  # also unsigned counts of 2**63 and more
    count = tl.where(negative, 0, count)
    if PART:
        tl.store(offsets + program, tl.sum(count))
    else:
        sums = tl.cumsum(count)
        if before is not None:
            sums += tl.load(before + program)
        tl.store(offsets + 1 + i, sums, mask=fits)
        if program == 0:
            tl.store(offsets, tl.full((), 0, tl.int64))
        if report is not None:
            # The first sum of 2**63 or more wraps to a negative number.
            over = fits & (sums < count)
            total = tl.sum(tl.where(i == n - 1, sums, 0))
            is_negative, is_over = tl.max(negative.to(tl.int32)) > 0, tl.max(over.to(tl.int32)) > 0
            is_other = False
            if VERIFY:
                is_other = ((program + 1) * BLOCK >= n) & (total != expected)
            if is_negative:
                tl.store(report + NEGATIVE, tl.min(tl.where(negative, i, n)) + 1)
            if is_over:
                tl.store(report + OVERFLOW, tl.full((), 1, tl.int64))
            if is_other:
                tl.store(report + TOTAL, total + 1)
            if is_negative | is_over | is_other:
                tl.store(report + TICKET, tl.full((), 0, tl.int64) + ticket)


@triton.jit
def long_sums(
    x, y, start_x, offset_x, weight_x, width_x, n_x, stride_x, n_in_x, least,
    n_inner, inner_stride, n_outer, outer_stride, slow_stride,
    FORM_X: tl.constexpr, INT64: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, SUM: tl.constexpr,
    OUTPUTS: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_I: tl.constexpr,
):  # fmt: skip
    """`window` along one axis, for outputs with more than `least` inputs. A program adds BLOCK_K inputs at a time, then
    its partial sums. The order depends only on the number of inputs."""
    program = tl.program_id(0)
    if INT64:
        program = program.to(tl.int64)
    tiles, blocks = tl.cdiv(n_inner, BLOCK_I), tl.cdiv(n_x, OUTPUTS)
    inner = (program % tiles) * BLOCK_I + tl.arange(0, BLOCK_I)[None, :]
    outer = program // tiles // blocks
    lowest = ((program // tiles) % blocks) * OUTPUTS
    base = x + (outer // n_outer) * slow_stride + (outer % n_outer) * outer_stride + inner * inner_stride
    outputs = tl.minimum(lowest + tl.arange(0, OUTPUTS), n_x - 1)
    _, _, counts = taps_of(outputs, start_x, offset_x, width_x, n_in_x, FORM_X)
    if tl.max(counts) > least:
        for o in range(lowest, tl.minimum(lowest + OUTPUTS, n_x)):
            first, weight_at, count = taps_of(o, start_x, offset_x, width_x, n_in_x, FORM_X)
            if count > least:
                total = tl.zeros((BLOCK_K, BLOCK_I), SUM)
                for k0 in range(0, count, BLOCK_K):
                    k = k0 + tl.arange(0, BLOCK_K)[:, None]
                    used = k < count
                    value = tl.load(base + (first + k) * stride_x, mask=used & (inner < n_inner), other=0).to(SUM)
                    (total,) = add((total,), (value,), weight_x, weight_at + k, used, FORM_X, 1)
                result = saturate_cast(tl.sum(total, axis=0)[None, :], LOW, HIGH, y.dtype.element_ty)
                tl.store(y + (outer * n_x + o) * n_inner + inner, result, mask=inner < n_inner)
