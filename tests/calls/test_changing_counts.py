"""Counts that another thread changes while they are used: nothing is written but the result."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

import tenter
from counts_helpers import CHUNK, SIZES, scalars, sparse, with_room
from tenter import _native
from tenter._arrays.dtypes import NUMBERS

CHANGES = {
    "one more": lambda c: c + 1,
    "many more": lambda c: c * 40 + 3,
    "fewer": lambda c: c // 2,
    "none": lambda c: c * 0,
    "none but the last": lambda c: sparse(c.size, 3, 2 * c.size - 2),
    "negative": lambda c: -c - 1,
    "some negative": lambda c: np.where(np.arange(c.size) % 1000 == 500, -c - 1, c),
    "negative, low bits small": lambda c: c - (1 << 30),
    "the largest": lambda c: np.full(c.size, np.iinfo(c.dtype).max),
    "the least": lambda c: np.full(c.size, np.iinfo(c.dtype).min),
    "one of the largest": lambda c: c + sparse(c.size, np.iinfo(c.dtype).max - 64, c.size),
    "past 64, low bits small": lambda c: c + 128,
    "shuffled": lambda c: np.random.default_rng(2).permutation(c),
    "any bits": lambda c: np.random.default_rng(3).integers(np.iinfo(c.dtype).min, np.iinfo(c.dtype).max, c.size),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_counts_that_change_before_they_are_used(change, level):
    """Each task writes what its counts say now, as far as there is room for what they said before."""
    n = 2 * CHUNK + 777
    for kind in (np.int64, np.int32):
        counts = np.random.default_rng(4).integers(0, 9, n).astype(kind)
        counts[CHUNK + 5 :: 3000] = 70
        with np.errstate(over="ignore"):
            now = change(counts.copy()).astype(kind)
        for size in SIZES:
            x = scalars(n, size)
            for stream in (False, True):
                got, before = with_room(x, counts.copy(), stream, now)
                for c, (lo, hi) in enumerate(itertools.pairwise(before)):
                    of = slice(c * CHUNK, min(n, (c + 1) * CHUNK))
                    most = np.where(now[of] < 0, hi - lo, np.minimum(now[of].astype(np.int64), hi - lo))
                    ends = np.minimum(np.cumsum(most), hi - lo)
                    want = np.repeat(x[of], np.diff(ends, prepend=0))
                    assert got[lo : lo + want.size].tobytes() == want.tobytes(), (kind, size, stream, c)


def test_counts_that_change_while_they_are_used(level):
    n = 8 * CHUNK + 5
    kept = np.random.default_rng(5).integers(0, 9, n)
    counts, stop = kept.copy(), threading.Event()
    other = [kept, kept * 9, -kept, np.full(n, 2**63 - 1), np.zeros(n, np.int64)]

    def disturb():
        while not stop.is_set():
            for now in other:
                counts[...] = now

    thread = threading.Thread(target=disturb)
    x, zone = scalars(n, 2), 4096
    runs = _native.testing.Runs(counts.ctypes.data, False, n, 2)
    room = np.full(runs.total * 2 + 2 * zone, 0xA5, np.uint8)
    thread.start()
    try:
        for k in range(20):
            runs.copy(x.ctypes.data, room.ctypes.data + zone, 2, 1 + k % 2, k % 4 > 1)
    finally:
        stop.set()
        thread.join()
    assert (room[:zone] == 0xA5).all() and (room[-zone:] == 0xA5).all()
    assert tenter.repeat_interleave(x, kept).tobytes() == np.repeat(x, kept).tobytes()


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_counts_that_change_while_they_are_read(kind, monkeypatch):
    """Whatever another thread writes there, offsets ascend to the total that is returned, and all is written within."""
    for name, small in {"runs_chunk": 64, "shared_counts": 0, "parallel_bytes": 0}.items():
        monkeypatch.setattr(_native.tuning, name, small)
    counts, done = np.zeros(5000, kind), threading.Event()

    def change():
        while not done.is_set():
            counts[::3] = 100
            counts[::3] = 0

    changing = threading.Thread(target=change)
    changing.start()
    try:
        offsets = np.empty(counts.size + 1, np.int64)
        for _ in range(300):
            number = NUMBERS[counts.dtype.name]
            total = _native.offsets(counts.ctypes.data, number, counts.itemsize, counts.size, offsets.ctypes.data, 2)
            assert offsets[0] == 0 and offsets[-1] == total and (np.diff(offsets) >= 0).all()
            if counts.itemsize > 1:
                runs = _native.testing.Runs(counts.ctypes.data, counts.itemsize == 4, counts.size, 2)
                room = np.full(runs.total + 64, 0xA5, np.uint8)
                x = np.ones(counts.size, np.uint8)
                runs.copy(x.ctypes.data, room.ctypes.data, 1, 2, False)
                assert (room[: runs.total] <= 1).all() and (room[runs.total :] == 0xA5).all()
    finally:
        done.set()
        changing.join()
