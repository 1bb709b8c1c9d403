"""A thread whose first call comes when memory is short; prints what it gave, and gives afterwards."""

from __future__ import annotations

import threading

import numpy as np
from limited import allow, allow_all

import tenter

tenter._native.tuning.stream_bytes = 0
tenter.set_num_threads(1)
x = np.ones((1, 1024, 1024), np.float32)
for _ in range(2):
    tenter.repeat_interleave(x, 2, 2)


def late() -> None:
    hog: list[bytearray] = []
    allow(0)
    for n in (1 << 16, 1 << 15, 1 << 14, 1 << 13):
        try:
            while True:
                hog.append(bytearray(n))
        except MemoryError:
            pass
    try:
        said: object = int(tenter.repeat_interleave(x, 2, 2).sum())
    except MemoryError:
        said = "MemoryError"
    allow_all()
    print(said, int(tenter.repeat_interleave(x, 2, 2).sum()))


thread = threading.Thread(target=late)
thread.start()
thread.join()
