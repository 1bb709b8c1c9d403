"""Five calls with out, and without, in a process that may have 16 MiB more than before: without_room.py LIBRARY"""

from __future__ import annotations

import sys

import limited
import numpy as np
import torch

import tenter

tenter.memory.limit(0)  # no memory of one call is kept for the next
tenter.set_num_threads(1)
x = np.ones((2048, 2048), np.float32)
room = np.full(4096 * 4096, 2, np.float32)
if sys.argv[1] == "torch":
    x, room = torch.from_numpy(x), torch.from_numpy(room)
square, rows = room.reshape(4096, 4096), room.reshape(2, -1)[0]
calls = [
    lambda x, **to: tenter.repeat(x, 2, 2, **(to and {"out": square})),
    lambda x, **to: tenter.tile(x, 2, **(to and {"out": rows.reshape(2048, 4096)})),
    lambda x, **to: tenter.repeat_interleave(x, 2, 0, **(to and {"out": rows.reshape(4096, 2048)})),
    lambda x, **to: tenter.resize(x, 4096, axes=0, **(to and {"out": rows.reshape(4096, 2048)})),
    lambda x, **to: tenter.interpolate(x[None, None], scale_factor=2, **(to and {"out": square[None, None]})),
]
for call in calls:
    call(x[:3, :3])
limited.allow(16 << 20)
for call in calls:
    call(x, out=True)
    try:
        call(x)
    except MemoryError:
        print("refused", end=" ")
