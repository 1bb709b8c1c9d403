"""Ragged functions of arrays that repeat one element 2**40 times, in a process that may have a GiB more than before.
Prints what was not refused by name."""

from __future__ import annotations

import sys

import limited
import numpy as np

from tenter import ragged

MANY = 2**40
torch = None
if sys.argv[1] == "torch":
    import torch


def promised(*shape, dtype="float32"):
    one = np.ones((), dtype)
    return torch.from_numpy(one).expand(shape) if torch else np.broadcast_to(one, shape)


calls = {
    f"{how} {dtype}": lambda how=how, dtype=dtype: getattr(ragged, f"segment_{how}")(
        promised(MANY, dtype=dtype), [MANY]
    )
    for how in ("sum", "mean", "max", "min", "softmax")
    for dtype in ("float16", "float32")
} | {
    "plan's sum": lambda: ragged.Plan([1, MANY - 1]).sum(promised(MANY, 2)),
    "another axis": lambda: ragged.segment_max(promised(2**20, 2**20), [2**20], axis=1),
}  # fmt: skip
if not torch:
    calls |= {
        "pad": lambda: ragged.pad(promised(MANY), [MANY]),
        "unpad": lambda: ragged.unpad(promised(1, MANY), [4]),
        "repeat_padded": lambda: ragged.repeat_padded(promised(1, 4, MANY), [[1, 0, 0, 0]]),
        "row_ids": lambda: ragged.row_ids([MANY]),
    }
limited.allow(1 << 30)
for name, call in calls.items():
    try:
        call()
        print(name, "made")
    except MemoryError as error:
        if ": expected at most the machine's" not in str(error):
            print(name, error)
    except Exception as error:
        print(name, repr(error))
