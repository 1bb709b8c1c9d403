"""Counts of many scalars, and what the kernel for them writes."""

from __future__ import annotations

import numpy as np

from cases import values
from tenter import _native

CHUNK = 1 << 14  # inputs that a task of the kernel takes
SIZES = [1, 2, 4, 8]


def sparse(n, count, every):
    """Zeros, and a count here and there."""
    counts = np.zeros(n, np.int64)
    counts[every // 2 :: every] = count
    return counts


def scalars(n, size):
    return values((n, size), "uint8").view(f"V{size}" if size == 16 else f"u{size}")[:, 0]


def with_room(x, counts, stream, change=None, n_threads=2):
    """What the kernel writes, and what each task of it had room for; change: of the counts, once they are summed."""
    runs = _native.testing.Runs(counts.ctypes.data, counts.itemsize == 4, x.size, n_threads)
    before = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[[*range(0, x.size, CHUNK), x.size]]
    assert runs.total == before[-1]
    if change is not None:
        counts[...] = change
    zone = 4096 + 64
    room = np.full(before[-1] * x.itemsize + 2 * zone, 0xA5, np.uint8)
    runs.copy(x.ctypes.data, room.ctypes.data + zone, x.itemsize, n_threads, stream)
    assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all(), "written outside of the result"
    return room[zone:-zone].view(x.dtype), before
