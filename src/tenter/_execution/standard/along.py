"""Axis maps as standard functions, each along one axis of an array.

Copies with a closed form are a reshape and a broadcast, other copies and picks are a take, sums are those of takes: a
take for each tap of the outputs, or, of many taps, one take of all. A tap that a row has not is never added, so inf and
NaN stay where they are.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.standard_arrays import dtype_name, namespace
from tenter._arrays.types import Array, Ints
from tenter._execution.standard.numbers import device_of, has
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._tap_table import tap_table
from tenter.maps._values import trusted

# How many times as long as their taps the rows of one take may be, where rows have unlike numbers of them.
PADDED = 4
# Numbers of a segment up to which they are added one by one, where a compiler makes one loop of that. XLA's for
# processors stores what more would read, such as a conversion to float32, beforehand.
ADDED = 15


def taken(x: Any, index: Ints, axis: int) -> Any:
    """x's elements by their indices, all of them within its bounds."""
    # int64 is what libraries index by, and some by nothing else.
    indices = table(x, index if has(x, "int64") else narrow(index, x.shape[axis]))
    return namespace(x).take(x, indices, axis=axis)


def narrow(index: Ints, n: int) -> Array:
    """Indices of n elements, in half the memory where that does."""
    return index.astype(np.int32) if n < 2**31 else index


class Way(NamedTuple):
    """How a library takes elements and adds them. most: taps of an output up to which each is a take of its own.
    fused: whether terms that are added one by one are one loop. If so, rows of more taps are cut into pieces; if not,
    they are one take. between: what is done with sums before the map of another axis reads them.
    """

    take: Callable[[Any, Ints, int], Any]
    most: int
    fused: bool
    between: Callable[[Any, AxisMap], Any] = lambda y, m: y


USUAL = Way(taken, 16, False)


def along(x: Any, maps: Sequence[tuple[int, AxisMap]], way: Way = USUAL) -> Any:
    """The maps applied, each along its axis; x in a dtype that holds their sums."""
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
    """Copies that repeat each block of their axis equally often, all by one broadcast."""
    by_axis = dict(copies)
    apart: list[int] = []
    wide: list[int] = []
    after = list(x.shape)
    for d, n in enumerate(x.shape):
        m = by_axis.get(d)
        block, repeat = (n, 1) if m is None else (m.block, m.repeat or 0)
        if repeat == 1:
            apart.append(n)
            wide.append(n)
            continue
        front, back = [n // block] * (n != block), [block] * (block != 1)
        apart += [*front, 1, *back]
        wide += [*front, repeat, *back]
        after[d] = n * repeat
    if apart == wide:
        return x
    xp = namespace(x)
    return xp.reshape(xp.broadcast_to(xp.reshape(x, tuple(apart)), tuple(wide)), tuple(after))


def longest(m: AxisMap) -> int:
    """The taps of the output that has most of them."""
    window = m.laid_out[1] if isinstance(m, Gather) else m
    return 1 if isinstance(window, Copy) else int(np.diff(window.rows()[1]).max(initial=0))


def _along(x: Any, axis: int, m: AxisMap, way: Way) -> Any:
    """Of blocks, if the map has them, which are x's next dim."""
    if isinstance(m, Copy):
        return way.take(x, m.block_index, axis)
    if isinstance(m, Gather):
        if m.picks:
            return way.take(x, m.index, axis)
        order, m = m.laid_out
        x = way.take(x, order, axis)
    if m.width:
        return _segments(x, axis, m.width, way)
    return _windows(x, axis, m, way)


def table(x: Any, values: Array) -> Any:
    """A table beside x."""
    return namespace(x).asarray(values, device=device_of(x))


def _reshaped(x: Any, axis: int, *parts: int) -> Any:
    """x with one axis in parts."""
    return namespace(x).reshape(x, (*x.shape[:axis], *parts, *x.shape[axis + 1 :]))


def _joined(x: Any, axis: int) -> Any:
    """x with an axis and the next as one."""
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
        return namespace(x).zeros(shape, dtype=x.dtype, device=device_of(x))
    taps = longest(m)
    if taps <= way.most:
        return _by_takes(x, axis, m, way)
    if not way.fused and taps * n_out <= PADDED * (n_taps + n_out):
        return _by_one_take(x, axis, m, way)
    pieces, sums = _cut(m, min(max(2, -(-n_taps // n_out)), way.most))
    return _windows(_windows(x, axis, pieces, way), axis, sums, way)


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
    """Inputs, weights and numbers of taps of a window's rows; weights None where all are one."""
    inputs, weight, taps = tap_table(m, namespace(x).isdtype(x.dtype, "integral"))
    return inputs, None if m.ones else weight, taps


def _cut(m: Window, most: int) -> tuple[Window, Window]:
    """Rows in pieces of a bounded number of taps, and the pieces' sums."""
    start, offset = m.rows()
    n_pieces = -(-np.diff(offset) // most)
    ends = np.concatenate([[0], np.cumsum(n_pieces)])
    row = np.repeat(np.arange(len(start)), n_pieces)
    first = offset[row] + (np.arange(ends[-1]) - ends[row]) * most
    cuts = np.concatenate([first, offset[-1:]])
    pieces = trusted(
        Window, n_in=m.n_in // m.block, n_out=len(row), start=start[row] + first - offset[row], offset=cuts,
        weight=m.weight, width=None, block=1,
    )  # fmt: skip
    sums = trusted(
        Window, n_in=len(row), n_out=len(start), start=np.minimum(ends[:-1], len(row)), offset=ends, weight=None,
        width=None, block=1,
    )  # fmt: skip
    return pieces, sums


def _beside(x: Any, axis: int, values: Array) -> Any:
    """Values along an axis, or it and the next, in x's dtype."""
    xp = namespace(x)
    shape = [1] * x.ndim
    shape[axis : axis + values.ndim] = values.shape
    return xp.reshape(table(x, values.astype(dtype_name(x))), tuple(shape))


def _only(x: Any, axis: int, where: Array) -> Any:
    """x where a condition holds, else 0."""
    if where.all():
        return x
    xp = namespace(x)
    shape = [1] * x.ndim
    shape[axis : axis + where.ndim] = where.shape
    return xp.where(xp.reshape(table(x, where), tuple(shape)), x, xp.zeros_like(x))
