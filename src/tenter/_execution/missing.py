"""Missing values of NumPy arrays of float32 or float64, filled and divided by the core. Others take NumPy."""

import math
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays import blocks, limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.layout import Layout, Order, contiguous, memory_order, resized_order
from tenter._arrays.numpy_arrays import address
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array
from tenter._plans import cache, core
from tenter._rules.axis_rule import user_filters
from tenter._specs.resize import Resize
from tenter.maps import Copy

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
# Bytes of a chunk: its inputs and outputs, each twice.
BYTES = 1 << 20


def resized(x: Array, mask: Array | None, spec: Resize, skipna: bool, above: float) -> Array:
    """Resizes what is there, and divides it by the share of weight that is. Neither x nor the result is empty.

    mask: as for `filled`
    above: outputs with a share that is not above it are NaN
    """
    x = x if x.flags.aligned else x.copy()
    shape = spec.shape_out(x.shape)
    limits.memory(shape, x.itemsize)
    order = resized_order(x.shape, x.strides, spec.axes, False)
    back: Any = np.argsort(order)
    of = _Planned(spec, order, x)
    shares = None
    if mask is not None and not skipna and mask.size < x.size:
        ones = mask.transpose(order).astype(x.dtype, order="C")
        shares = np.empty(of.made(ones.shape), x.dtype)
        of.plan(ones.shape).run(address(ones), address(shares), False)
    x, mask = x.transpose(order), None if mask is None else mask.transpose(order)
    made = of.made(x.shape)
    y, to, streams = blocks.empty(made, x.dtype)
    loops, each = _chunk(x.shape, made, of.first, x.itemsize)
    chunk = (*(1,) * loops, *x.shape[loops:])
    rest = None
    if each:
        rest = chunk[loops] % each and of.plan((*chunk[:loops], chunk[loops] % each, *chunk[loops + 1 :]))
        chunk = (*chunk[:loops], each, *chunk[loops + 1 :])
    _native.resize_gaps(
        of.plan(chunk), rest or None, _given(x, x.shape), _given(mask, x.shape), _given(shares, made), made, to,
        streams, NUMBERS[x.dtype.name], skipna, above, loops, each, BYTES, thread_count(),
    )  # fmt: skip
    found: Array = y.transpose(back)
    return found


class _Planned:
    """Plans of a specification for contiguous arrays. order: its dims from slowest to fastest. first: the first of
    these that changes; their number for none"""

    def __init__(self, spec: Resize, order: Order, x: Array) -> None:
        self.spec, self.order, self.dtype = spec, order, x.dtype
        self.maps = tuple((order.index(axis), m) for axis, m in spec.maps(x.shape, x.dtype.name, False))
        changed = [k for k, m in self.maps if not (isinstance(m, Copy) and m.repeat == 1)]
        self.first = min(changed, default=len(order))

    def made(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return core.shape_out(shape, self.maps)

    def plan(self, shape: tuple[int, ...]) -> _native.HostPlan:
        name, itemsize = self.dtype.name, self.dtype.itemsize
        key = "gaps", self.spec, self.order, shape, name
        found: _native.HostPlan | None = cache.plans.get(key)
        if found is None:
            layout = Layout(shape, tuple(contiguous(shape, itemsize)), name, itemsize)
            found = core.host_plan(layout, self.maps, None, self.spec.rounding_of(name))
            if not user_filters(self.spec.rules):
                cache.store(key, found)
        return found


def _chunk(shape: tuple[int, ...], made: tuple[int, ...], first: int, itemsize: int) -> tuple[int, int]:
    """Returns the dims of which one position at a time is resized, and how many positions of the next dim are a chunk;
    0 if one position of the dims before the first that changes is more than a chunk."""
    for k in range(first):
        n_bytes = 2 * itemsize * (math.prod(shape[k + 1 :]) + math.prod(made[k + 1 :]))
        if n_bytes <= BYTES or (k == first - 1 and first == len(shape)):
            return k, min(shape[k], max(1, BYTES // n_bytes))
    return first, 0


def _given(x: Array | None, shape: tuple[int, ...]) -> tuple[int, list[tuple[int, int]]]:
    """Returns the address, and the length and stride of each dim; 0 along dims that are broadcast."""
    if x is None:
        return 0, []
    steps = [step if n > 1 else 0 for n, step in zip(x.shape, x.strides)]
    return address(x), list(zip(shape, steps))


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
