"""Makes results chunk by chunk, so that what precedes and follows the resize exists for one chunk only. The bits are
the same as for the whole array."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tenter._arrays import blocks, limits
from tenter._arrays.layout import resized_order
from tenter._arrays.types import Array
from tenter._parts.values import applied
from tenter._specs.resize import Resize
from tenter.maps import Copy, Window
from tenter.maps._part import laid_out, part

Place = tuple[slice, ...]
# Bytes that a chunk reads and writes together. They fit in the caches, and give work to all threads.
BYTES = 4 << 20
# Minimum outputs of a chunk along a resized axis, where possible. Neighboring chunks read overlapping inputs.
LEAST = 16


def lengths(n: int, n_bytes: int, least: int = 1) -> Iterator[slice]:
    """Cuts a dim of n positions into chunks. n_bytes: the bytes of the entire dim."""
    step = max(1, least, n * BYTES // max(n_bytes, 1))
    for at in range(0, n, step):
        yield slice(at, min(at + step, n))


def along(axis: int, chunk: slice) -> Place:
    return (slice(None),) * axis + (chunk,)


def resized(
    x: Array, spec: Resize, real: str, prepare: Callable[[Array, Array], Any],
    finish: Callable[[Array, Place], Array],
) -> Array:  # fmt: skip
    """Resizes x by way of floats, in fresh memory with x's order of axes.

    real: the name of the float dtype
    prepare(chunk of x, floats): writes the floats to resize
    finish(resized floats, place in the result): returns elements of x's dtype
    """
    shape = spec.shape_out(x.shape)
    limits.memory(shape, x.itemsize)
    maps = dict(spec.maps(x.shape, real, False))
    # the memory order of the whole array as floats
    order = resized_order(x.shape, np.empty_like(x).strides, spec.axes, False)
    back = np.argsort(order).tolist()
    wholes = {order.index(a): m for a, m in maps.items()}
    # The slowest resized axis: its position among the dims in memory, and in x.
    slow = min(wholes)
    axis, (index, rows) = order[slow], laid_out(wholes[slow])
    made = tuple(shape[d] for d in order)
    result: Array = blocks.empty(made, x.dtype)[0].transpose(back)
    n_bytes = max(x.size, result.size) * np.dtype(real).itemsize
    chunks = list(lengths(made[slow], n_bytes, 2 * _reach(rows)))
    reads = [rows.reads(chunk.start, chunk.stop) for chunk in chunks]
    longest = max((read.stop - read.start for read in reads), default=0)
    scratch = blocks.empty(tuple(longest if d == axis else x.shape[d] for d in order), np.dtype(real))[0]
    filled, last = scratch.transpose(back), slice(0, 0)
    for chunk, read in zip(chunks, reads):
        n_common = max(last.stop - read.start, 0) if read.stop else 0  # windows of two chunks overlap
        if n_common:
            common = slice(read.start - last.start, last.stop - last.start)
            filled[along(axis, slice(0, n_common))] = filled[along(axis, common)]
        new = slice(read.start + n_common, read.stop)
        new_inputs = x[along(axis, new)] if index is None else x.take(index[new], axis)
        prepare(new_inputs, filled[along(axis, slice(n_common, read.stop - read.start))])
        last = read
        filled_scratch = scratch[along(slow, slice(0, read.stop - read.start))]
        here = {**wholes, slow: part(rows, chunk.start, chunk.stop)[1]}
        values = applied(filled_scratch, here, wholes)
        place = along(axis, chunk)
        result[place] = finish(values.transpose(back), place)
    return result


def _reach(m: Copy | Window) -> int:
    """Returns the number of outputs that one input contributes to, at most."""
    taps = 1 if isinstance(m, Copy) else int(np.diff(m.rows()[1]).max(initial=0))
    return -(-taps * m.n_out // max(m.n_in, 1))
