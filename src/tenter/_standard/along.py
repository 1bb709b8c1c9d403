"""Axis maps as the Array API's functions, each along one axis of an array.

Copies with a closed form are a reshape and a broadcast. Other copies are a take. Sums are sums of takes: one take for
each tap of the outputs or, for many taps, one take of all. A tap that a row lacks is never added, so inf and NaN do not
spread.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.standard_arrays import dtype_name, from_numpy, made_beside, namespace
from tenter._arrays.types import Array, Ints
from tenter._standard.numbers import has
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._tap_table import tap_table
from tenter.maps._values import trusted

# How much padding one take may have: its rows together may be this many times as long as their taps.
PADDED = 4
# Segments of up to this many numbers are added one by one if the compiler makes one loop of that. With more readers,
# XLA's compiler for processors stores the operand first, e.g. a conversion to float32.
ADDED = 15


def taken(x: Any, index: Ints, axis: int) -> Any:
    """Returns x's elements by indices, which must all be in bounds."""
    # All libraries take int64 indices, and some take no others.
    indices = table(x, index if has(x, "int64") else narrow(index, x.shape[axis]))
    return namespace(x).take(x, indices, axis=axis)


def narrow(index: Ints, n: int) -> Array:
    """Returns indices of n elements as int32 if they fit."""
    return index.astype(np.int32) if n < 2**31 else index


class Way(NamedTuple):
    """How a library takes and adds elements.

    most: up to this many taps of an output, each tap is a separate take
    fused: whether the compiler makes one loop of terms that are added one by one; if so, rows of more taps are cut into
        chunks, else they are one take
    between: called on sums before the map of another axis reads them
    """

    take: Callable[[Any, Ints, int], Any]
    most: int
    fused: bool
    between: Callable[[Any, AxisMap], Any] = lambda y, m: y


USUAL = Way(taken, 16, False)


def along(x: Any, maps: Sequence[tuple[int, AxisMap]], way: Way = USUAL) -> Any:
    """Applies maps, each along its axis. x: in a dtype that holds their sums."""
    closed = [(axis, m) for axis, m in maps if isinstance(m, Copy) and m.repeat is not None]
    y, summed = repeated(x, closed) if closed else x, False
    for axis, m in maps:
        if (axis, m) in closed:
            continue
        y = _one(way.between(y, m) if summed else y, axis, m, way)
        summed = summed or not isinstance(m, Copy)
    return y


def _one(x: Any, axis: int, m: AxisMap, way: Way) -> Any:
    if m.block == 1:
        return _along(x, axis, m, way)
    n, block = x.shape[axis] // m.block, m.block
    return _joined(_along(_reshaped(x, axis, n, block), axis, m, way), axis)


def repeated(x: Any, copies: list[tuple[int, Copy]]) -> Any:
    """Applies copies that repeat all blocks of their axis equally often, by one broadcast."""
    by_axis = dict(copies)
    split: list[int] = []
    wide: list[int] = []
    after = list(x.shape)
    for d, n in enumerate(x.shape):
        m = by_axis.get(d)
        block, repeat = (n, 1) if m is None else (m.block, m.repeat or 0)
        if repeat == 1:
            split.append(n)
            wide.append(n)
            continue
        front, back = [n // block] * (n != block), [block] * (block != 1)
        split += [*front, 1, *back]
        wide += [*front, repeat, *back]
        after[d] = n * repeat
    if split == wide:
        return x
    xp = namespace(x)
    return xp.reshape(xp.broadcast_to(xp.reshape(x, tuple(split)), tuple(wide)), tuple(after))


def longest(m: AxisMap) -> int:
    """Returns the largest number of taps of an output."""
    window = m._in_order[1] if isinstance(m, Gather) else m
    return 1 if isinstance(window, Copy) else int(np.diff(window.rows()[1]).max(initial=0))


def _along(x: Any, axis: int, m: AxisMap, way: Way) -> Any:
    """Applies a map. If it has blocks, they are x's next dim."""
    if isinstance(m, Copy):
        return way.take(x, m._blocks, axis)
    if isinstance(m, Gather):
        if m.picks:
            return way.take(x, m.index, axis)
        order, m = m._in_order
        x = way.take(x, order, axis)
    if m.width:
        return _segments(x, axis, m.width, way)
    return _windows(x, axis, m, way)


def table(x: Any, values: Array) -> Any:
    """Returns values as an array of x's library and device."""
    return from_numpy(values, x)


def _reshaped(x: Any, axis: int, *parts: int) -> Any:
    """Splits one axis into several."""
    return namespace(x).reshape(x, (*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def _joined(x: Any, axis: int) -> Any:
    """Joins an axis and the next."""
    return namespace(x).reshape(x, (*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))


def _segments(x: Any, axis: int, width: int, way: Way) -> Any:
    parts = _reshaped(x, axis, x.shape[axis] // width, width)
    if not way.fused or width > ADDED:
        return namespace(x).sum(parts, axis=axis + 1, dtype=x.dtype)
    before: tuple[Any, ...] = (slice(None),) * (axis + 1)
    total = parts[before + (0,)]
    for k in range(1, width):
        total = total + parts[before + (k,)]
    return total


def _windows(x: Any, axis: int, m: Window, way: Way) -> Any:
    n_out = m.n_out // m.block
    shape = (*x.shape[:axis], n_out, *x.shape[axis + 1 :])
    n_taps = int(m.rows()[1][-1])
    if not n_taps:
        return made_beside(x, namespace(x).zeros, shape, dtype=x.dtype)
    taps = longest(m)
    if taps <= way.most:
        return _by_takes(x, axis, m, way)
    if not way.fused and taps * n_out <= PADDED * (n_taps + n_out):
        return _by_one_take(x, axis, m, way)
    chunk_map, sums = _cut(m, min(max(2, -(-n_taps // n_out)), way.most))
    return _windows(_windows(x, axis, chunk_map, way), axis, sums, way)


def _by_takes(x: Any, axis: int, m: Window, way: Way) -> Any:
    inputs, weight, count = _taps(x, m)
    total = None
    for k in range(len(inputs)):
        term = way.take(x, inputs[k], axis)
        term = _only(term, axis, k < count) if weight is None else term * _beside(term, axis, weight[k])
        total = term if total is None else total + term
    return _only(total, axis, count > 0)


def _by_one_take(x: Any, axis: int, m: Window, way: Way) -> Any:
    inputs, weight, count = _taps(x, m)
    taps = len(inputs)
    term = _reshaped(way.take(x, inputs.T.reshape(-1), axis), axis, len(count), taps)
    some = np.arange(taps) < count[:, None]
    term = _only(term, axis, some) if weight is None else term * _beside(term, axis, weight.T)
    return _only(namespace(x).sum(term, axis=axis + 1, dtype=x.dtype), axis, count > 0)


def _taps(x: Any, m: Window) -> tuple[Ints, Array | None, Ints]:
    """Returns the inputs, the weights (None if all are one) and the number of taps of a window's rows."""
    inputs, weight, taps = tap_table(m, namespace(x).isdtype(x.dtype, "integral"))
    return inputs, None if m.ones else weight, taps


def _cut(m: Window, most: int) -> tuple[Window, Window]:
    """Cuts rows into chunks of a bounded number of taps. Returns the map to the chunks, and the map that sums them."""
    start, offset = m.rows()
    n_chunks = -(-np.diff(offset) // most)
    ends = np.concatenate([[0], np.cumsum(n_chunks)])
    row = np.repeat(np.arange(len(start)), n_chunks)
    first = offset[row] + (np.arange(ends[-1]) - ends[row]) * most
    cuts = np.concatenate([first, offset[-1:]])
    chunk_map = trusted(
        Window, n_in=m.n_in // m.block, n_out=len(row), start=start[row] + first - offset[row], offset=cuts,
        weight=m.weight, width=None, block=1,
    )  # fmt: skip
    sums = trusted(
        Window, n_in=len(row), n_out=len(start), start=np.minimum(ends[:-1], len(row)), offset=ends, weight=None,
        width=None, block=1,
    )  # fmt: skip
    return chunk_map, sums


def _beside(x: Any, axis: int, values: Array) -> Any:
    """Returns values in x's dtype, shaped to broadcast along an axis (and the next one if values are 2-D)."""
    xp = namespace(x)
    shape = [1] * x.ndim
    shape[axis : axis + values.ndim] = values.shape
    return xp.reshape(table(x, values.astype(dtype_name(x))), tuple(shape))


def _only(x: Any, axis: int, where: Array) -> Any:
    """Returns x where a condition holds, else 0."""
    if where.all():
        return x
    xp = namespace(x)
    shape = [1] * x.ndim
    shape[axis : axis + where.ndim] = where.shape
    return xp.where(xp.reshape(table(x, where), tuple(shape)), x, xp.zeros_like(x))
