"""Missing values of NumPy arrays of float32 or float64, filled and divided by the core. Others take NumPy."""

from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays import blocks
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.layout import memory_order
from tenter._arrays.numpy_arrays import address
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))


def filled(x: Array, mask: Array | None, skipna: bool, weighs: bool) -> tuple[Array, Array | None]:
    """Returns x with 0 where a value is missing, and ones where it is not, each in x's order of axes.

    mask: False where a value is missing, with x's dims, some maybe of length 1; None for none
    skipna: whether NaN is missing
    weighs: whether ones are wanted
    """
    order = memory_order(x.shape, x.strides)
    values = np.ascontiguousarray(x.transpose(order))
    period, there = 1, None
    if mask is not None:
        there = mask.transpose(order)
        outer = 0  # dims that read the same mask again and again
        while outer < x.ndim - 1 and there.shape[outer] == 1:
            outer += 1
        there = np.ascontiguousarray(np.broadcast_to(there, (*there.shape[:outer], *values.shape[outer:])))
        period = there.size
    y, to, _ = blocks.empty(values.shape, x.dtype)
    ones, weights, _ = blocks.empty(values.shape, x.dtype) if weighs else (None, 0, False)
    if y.size:
        _native.fill_gaps(
            address(values), 0 if there is None else address(there), period, y.size, NUMBERS[x.dtype.name], skipna, to,
            weights, thread_count(),
        )  # fmt: skip
    back: Any = np.argsort(order)
    return y.transpose(back), None if ones is None else ones.transpose(back)


def divided(sums: Array, shares: Array, above: float) -> Array:
    """Divides sums, which are overwritten, by shares, and returns NaN where these are not above a number."""
    order = memory_order(sums.shape, sums.strides)
    to, by = sums.transpose(order), np.broadcast_to(shares, sums.shape).transpose(order)
    if not to.flags.c_contiguous:
        to = np.ascontiguousarray(to)
    by = np.ascontiguousarray(by, sums.dtype)
    if to.size:
        _native.divide_by_shares(address(to), address(by), to.size, NUMBERS[to.dtype.name], above, thread_count())
    found: Array = to.transpose(np.argsort(order))
    return found
