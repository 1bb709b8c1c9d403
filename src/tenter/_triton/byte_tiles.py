"""Launches of `byte_columns`: when, and in which tiles."""

import math

from tenter._triton import copies, tables
from tenter._triton.byte_columns import byte_columns
from tenter._triton.copies import NARROW, divisor, next_power_of_two
from tenter._triton.launches import Launches
from tenter._triton.window_pass import WindowPass

# The most values inside a column, and the least number of rows.
FEW_INNER, LEAST_ROWS = 4, 16
# The longest axis. Tables of weights with zeros between them have up to 200 bytes for each position, and no product
# comes near 2**31, at which those of some devices saturate.
LONGEST = 1 << 16
# The most rows of a tile, if inputs are loaded in words of WORD bytes or more; else half as many, as each byte takes a
# thread's registers for its address.
MOST_ROWS, WORD = 128, 4
# Outputs of a tile; twice as many where an output is less than NEAR inputs from the next, whose tiles would share most
# of their inputs.
OUTPUTS, NEAR = 16, 4


def is_faster(pass_: WindowPass) -> bool:
    x, n_inner = pass_.x, pass_.inner[0]
    if pass_.options.accumulate != "int32" or not pass_.y.n == pass_.z.n == 1 or n_inner > FEW_INNER:
        return False
    rows, step = pass_.slow[0] * pass_.outer[0] * n_inner, max(abs(x.stride), abs(pass_.inner[1]))
    return rows >= LEAST_ROWS and x.n < x.n_in <= LONGEST and step <= NARROW


def add(made: Launches, pass_: WindowPass) -> None:
    x, n_inner = pass_.x, pass_.inner[0]
    assert x.map is not None
    outputs = OUTPUTS if x.n_in >= NEAR * x.n else 2 * OUTPUTS
    aligned = math.gcd(16, made.alignment_of(pass_.source), pass_.outer[1], pass_.slow[1], x.n_in)
    aligned = aligned if x.stride == 1 else 1
    block_k, found = tables.of_bytes(x.map, outputs, aligned, made.device)
    first, weight, bias = made.own(found)
    reads = len(weight) // (3 * outputs * len(first))
    n_rows = pass_.slow[0] * pass_.outer[0] * n_inner
    block_r = min(max(next_power_of_two(n_rows), LEAST_ROWS), MOST_ROWS if aligned >= WORD else MOST_ROWS // 2)
    while block_r > LEAST_ROWS and -(-n_rows // block_r) * len(first) < copies.PROGRAMS:
        block_r //= 2
    pass_.add(
        made, byte_columns, -(-n_rows // block_r) * len(first), 4 if block_r > 32 else block_r // 16, aligned,
        **divisor("tiles", len(first)), first_x=first, weight_x=weight, bias_x=bias, blocks=reads // block_k,
        n_rows=n_rows, STEP=x.stride, INNER_STEP=pass_.inner[1], ALIGNED=aligned, INSIDE=reads <= x.n_in,
        BLOCK_R=block_r, BLOCK_O=outputs, BLOCK_K=block_k)  # fmt: skip
