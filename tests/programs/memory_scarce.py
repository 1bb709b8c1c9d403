"""Results that no memory can be had for: idle blocks go first, what is held stays as it is. Prints the errors."""

from __future__ import annotations

import numpy as np
import torch
from limited import allow, allow_all

import tenter
from tenter import memory

memory.set_limit(64 << 20)
tenter.set_num_threads(1)
x = np.ones((4, 1024, 1024), np.uint8)
kept = tenter.repeat_interleave(x, 4, 0)
for _ in range(2):
    tenter.repeat_interleave(x, 10, 0)  # 40 MiB idle
allow(30 << 20)
before = memory.stats()
assert before.idle_bytes == 40 << 20 and before.used_blocks == 1
for t in (x, torch.from_numpy(x)):
    for _ in range(2):
        try:
            tenter.repeat_interleave(t, 100, 0)
        except MemoryError as error:
            print(error)
    now = memory.stats()
    assert now == before._replace(idle_bytes=0, idle_blocks=0), now  # idle memory went first
for t in (x, torch.from_numpy(x)):
    y = tenter.repeat_interleave(t, 15, 0)  # fits where the idle memory was
    assert y.min() == y.max() == 1
    del y
assert kept.min() == kept.max() == 1
allow_all()
assert (tenter.repeat_interleave(x, 30, 0) == 1).all() and memory.stats().used_blocks == 1
