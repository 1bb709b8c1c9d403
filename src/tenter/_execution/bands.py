"""Results made a band at a time: what is made of an array before it is resized, and of a result after, exists for a
band only. The bits are those of the whole."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays import blocks, limits
from tenter._arrays.layout import resized_order
from tenter._arrays.numpy_arrays import address, layout
from tenter._arrays.types import Array
from tenter._kernels import core
from tenter._specs.resize import Resize
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._part import part

Place = tuple[slice, ...]
# Of what a band reads and makes, together: in cache, and long enough for all threads.
BYTES = _native.tuning.apart_bytes
# Outputs along a resized axis that a band has at least, where it can: its first rows read what the one before has read.
LEAST = 16


def lengths(n: int, n_bytes: int, least: int = 1) -> Iterator[slice]:
    """A dim of n positions in bands, where all of it would take n_bytes."""
    step = max(1, least, n * BYTES // max(n_bytes, 1))
    for at in range(0, n, step):
        yield slice(at, min(at + step, n))


def along(axis: int, some: slice) -> Place:
    return (slice(None),) * axis + (some,)


@contextmanager
def answered_after(several: bool) -> Iterator[None]:
    """Signals are answered once several parts of a result are all written: their handlers may raise."""
    handlers: dict[Any, Any] = {}
    came: list[int] = []
    try:
        if several:
            for each in signal.valid_signals():
                if callable(handler := signal.getsignal(each)):
                    try:
                        signal.signal(each, lambda number, _: came.append(number))
                    except ValueError:  # not in the main thread, where alone they are answered
                        break
                    handlers[each] = handler
        yield
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
        for number in came:
            signal.raise_signal(number)


def resized(
    x: Array, spec: Resize, real: str, prepare: Callable[[Array, Array], Any],
    finish: Callable[[Array, Place], Array], out: Array | None = None,
) -> Array:  # fmt: skip
    """x resized by way of floats named `real`, in fresh memory and in x's order of axes, or in out.

    prepare: makes of some of x the floats to resize, in the memory given. finish: makes of what comes out, and where
    that goes, elements of x's dtype.
    """
    shape = spec.shape_out(x.shape)
    limits.memory(shape, x.itemsize)
    maps = dict(spec.maps(x.shape, real, False))
    order = resized_order(x.shape, np.empty_like(x).strides, spec.axes, False)  # as floats of all of it would lie
    back = np.argsort(order).tolist()
    wholes = {order.index(a): m for a, m in maps.items()}
    # The slowest resized axis, its number among the dims in memory and in x.
    slow = min(wholes)
    axis, (index, rows) = order[slow], _rows(wholes[slow])
    made = tuple(shape[d] for d in order)
    result = blocks.empty(made, x.dtype)[0].transpose(back) if out is None else out
    n_bytes = max(x.size, result.size) * np.dtype(real).itemsize
    bands = list(lengths(made[slow], n_bytes, 2 * _reach(rows)))
    reads = [rows.reads(some.start, some.stop) for some in bands]
    longest = max((read.stop - read.start for read in reads), default=0)
    room = _floats(tuple(longest if d == axis else x.shape[d] for d in order), real)
    filled, last = room.transpose(back), slice(0, 0)
    with answered_after(out is not None and len(bands) > 1):
        for some, read in zip(bands, reads):
            kept = max(last.stop - read.start, 0) if read.stop else 0  # windows reach past a band
            if kept:
                common = slice(read.start - last.start, last.stop - last.start)
                filled[along(axis, slice(0, kept))] = filled[along(axis, common)]
            new = slice(read.start + kept, read.stop)
            given = x[along(axis, new)] if index is None else x.take(index[new], axis)
            prepare(given, filled[along(axis, slice(kept, read.stop - read.start))])
            last = read
            held = room[along(slow, slice(0, read.stop - read.start))]
            values = _floats((*made[:slow], some.stop - some.start, *made[slow + 1 :]), real)
            here = {**wholes, slow: part(rows, some.start, some.stop)[1]}
            core.host_plan(layout(held), tuple(here.items()), wholes=wholes).run(address(held), address(values), False)
            place = along(axis, some)
            result[place] = finish(values.transpose(back), place)
    return result


def _floats(shape: tuple[int, ...], real: str) -> Array:
    return blocks.empty(shape, np.dtype(real))[0]


def _reach(m: Copy | Window) -> int:
    """Over how many outputs an input's influence reaches."""
    taps = 1 if isinstance(m, Copy) else int(np.diff(m.rows()[1]).max(initial=0))
    return -(-taps * m.n_out // max(m.n_in, 1))


def _rows(whole: AxisMap) -> tuple[Any, Copy | Window]:
    """Inputs by index, None for all, and the map from these, whose bands read few of them."""
    return whole.laid_out if isinstance(whole, Gather) else (None, whole)
