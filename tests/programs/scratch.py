"""Scratch that cannot be had, in a worker thread: the caller gets a MemoryError, and the pool goes on."""

from __future__ import annotations

import numpy as np
from limited import allow

import tenter
from maps_of import planned
from tenter.maps import Window

tenter.set_num_threads(2)
n = 3_000_000
rows = Window(64, 16, np.arange(16) * 4, np.arange(17) * 4, np.ones(64))
columns = Window(n, n, np.arange(n), np.arange(n + 1), np.ones(n))
_ = rows._core, columns._core
x = np.ones((64, n), np.uint8)
allow(100 << 20)  # enough for the result, not for 16 rows of float32
try:
    planned(x, ((0, rows), (1, columns))).run(x)
except MemoryError:
    print("MemoryError")
print(tenter.interpolate(np.ones((1, 8, 300, 300), np.float32), 600, mode="bilinear").min())
