"""How a result is cut into chunks: about as long as the input's, so that what a chunk reads fits in memory too."""

import math
from typing import Any

import dask
import numpy as np
from dask.utils import parse_bytes

from tenter._parts.rows import positions
from tenter._parts.work import Work
from tenter.maps import AxisMap, Copy

Chunks = tuple[tuple[int, ...], ...]
# If chunks would have fewer bytes, axes that grow get longer chunks than the input's. A task costs about as much as
# this many bytes.
LEAST = 1 << 20


def chosen(work: Work, chunks: Chunks) -> Chunks:
    """Returns the chunks of the result. chunks: the input's. Axes that do not change keep them."""
    lengths = {axis: max(1, *chunks[axis]) for axis in work.maps if work.shape_out[axis]}
    tiled = {axis for axis in lengths if _is_tiled(work.maps[axis])}
    _lengthen(work, chunks, lengths, tiled)
    _shorten(work, chunks, lengths, tiled)
    found = []
    for axis, n_out in enumerate(work.shape_out):
        if axis not in work.maps:
            found.append(chunks[axis])
        elif axis not in lengths:
            found.append((0,))
        elif axis in tiled and lengths[axis] < work.shape[axis]:
            found.append(chunks[axis] * (n_out // work.shape[axis]))
        else:
            found.append(cut(n_out, lengths[axis]))
    return tuple(found)


def cut(n: int, length: int) -> tuple[int, ...]:
    """Cuts n positions into chunks of a length. The last chunk may be shorter."""
    return (length,) * (n // length) + ((n % length,) if n % length else ())


def _is_tiled(m: AxisMap) -> bool:
    return isinstance(m, Copy) and m.repeat is not None and m.n_in == m.block > 1


def _lengthen(work: Work, chunks: Chunks, lengths: dict[int, int], tiled: set[int]) -> None:
    grown = [axis for axis in lengths if work.shape_out[axis] > work.shape[axis]]
    while _made(work, chunks, lengths) < LEAST:
        longer = [
            axis for axis in grown
            if lengths[axis] < work.shape_out[axis] and (axis not in tiled or lengths[axis] >= work.shape[axis])
        ]  # fmt: skip
        if not longer:
            break
        axis = min(longer, key=lambda axis: lengths[axis])
        lengths[axis] = min(2 * lengths[axis], work.shape_out[axis])
        if axis in tiled:
            lengths[axis] -= lengths[axis] % work.shape[axis]


def _shorten(work: Work, chunks: Chunks, lengths: dict[int, int], tiled: set[int]) -> None:
    """Shortens chunks until each reads at most Dask's usual chunk size, or twice the input's largest chunk."""
    largest = math.prod(max(c, default=0) for c in chunks) * work.dtype.itemsize
    most = max(parse_bytes(dask.config.get("array.chunk-size", "128MiB")), 2 * largest)
    reads = {axis: _longest(work, axis, n) for axis, n in lengths.items()}
    while work.dtype.itemsize * math.prod(_lengths(work, chunks, reads)) > most:
        shorter = [axis for axis, n in lengths.items() if n > 1 and axis not in tiled]
        if not shorter:
            break
        axis = max(shorter, key=reads.__getitem__)
        lengths[axis] = -(-lengths[axis] // 2)
        reads[axis] = _longest(work, axis, lengths[axis])


def _made(work: Work, chunks: Chunks, lengths: dict[int, int]) -> int:
    return work.dtype.itemsize * math.prod(_lengths(work, chunks, lengths))


def _lengths(work: Work, chunks: Chunks, lengths: dict[int, int]) -> list[int]:
    """Returns the given lengths, and for other axes the length of the longest chunk."""
    return [lengths.get(axis, max(chunk, default=0)) for axis, chunk in enumerate(chunks)]


def _longest(work: Work, axis: int, length: int) -> int:
    """Returns the largest number of positions that a chunk's outputs read along an axis."""
    m, n_out = work.maps[axis], work.shape_out[axis]
    if _is_tiled(m):
        return min(length, m.n_in)
    found = 0
    for lo in range(0, n_out, length):
        at: Any = positions(m, lo, min(lo + length, n_out))
        found = max(found, at.stop - at.start if isinstance(at, slice) else len(np.unique(at)))
    return found
