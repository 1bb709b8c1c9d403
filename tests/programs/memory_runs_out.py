"""Calls whose memory runs out in the middle, at many places: a MemoryError, inputs and `out` as they were."""

from __future__ import annotations

import ctypes

import numpy as np
from limited import allow, allow_all

import tenter
import tenter.image

# Large blocks are mapped one by one, as the space that freed ones leave in the heap would be used by later calls.
M_MMAP_THRESHOLD = -3
ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 16)
tenter.set_num_threads(1)
tenter.memory.set_limit(0)
x = np.random.default_rng(0).integers(0, 256, (1000, 1000, 4), np.uint8)
kept, counts = x.copy(), (np.arange(x.size) % 5).astype(np.uint8)
m, out = tenter.axis_map(1000, 3000, "cubic", edge="wrap"), np.full((3000, 1000, 4), 9, np.uint8)
calls = [
    lambda: tenter.image.resize(x, (3000, 3000), alpha=True, linear_light=True),
    lambda: tenter.resize(x, (3000, 3000), axes=(0, 1), edge="constant", value=7),
    lambda: tenter.resize(x, (3000, 3000), axes=(0, 1), edge="wrap"),
    lambda: tenter.repeat_interleave(x.reshape(-1), counts),
    lambda: m.apply(x, 0, out=out),
]
small = x[:40, :40]
tenter.image.resize(small, (30, 30), alpha=True)
tenter.resize(small, (9, 9), axes=(0, 1), edge="constant", value=7)
for k, call in enumerate(calls):
    failed = 0
    for spare in (0, 1, 2, 4, 7, 9, 11, 14, 20, 28, 34, 37, 40):
        ctypes.CDLL(None).malloc_trim(0)
        allow(spare << 20)
        try:
            y = call()
        except MemoryError:
            y, failed = None, failed + 1
        allow_all()
        assert np.array_equal(x, kept) and (y is not None or (out == 9).all()), k
        y = None
    assert failed and call() is not None, k
print("fine")
