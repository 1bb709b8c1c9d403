"""Ragged arrays with out, and without, in a process that may have 12 MiB more than before, of which 16 bytes for each row
are few: without_room_ragged.py LIBRARY [all]. Each with out in order or with gaps, or both; where kernels cannot write to
out, the process may have the result's bytes as well. Prints how many found memory without out, a few that take what a
call before has left, and what failed with it."""

from __future__ import annotations

import ctypes
import sys

import limited
import numpy as np

import tenter
from tenter import ragged

ctypes.CDLL(None).mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD: no memory of earlier arrays is at hand
tenter.memory.set_limit(0)  # no memory of one call is kept for the next
tenter.set_num_threads(1)
MANY = 120 << (10 if sys.argv[1] == "numpy" else 11)  # rows
WIDTH = 47
SPARE = 12 << 20
rng = np.random.default_rng(0)
lengths = rng.integers(0, WIDTH + 1, MANY)
few = np.full(5, MANY * 5)
total = int(lengths.sum())
x = rng.random(total, np.float32)
padded = rng.random((MANY, WIDTH), np.float32)
column = rng.random((MANY, 1), np.float32)
wide = rng.random(MANY * 25, np.float32)
spans = np.arange(MANY).reshape(-1, 1) % 7
ends = spans + 3
batch = rng.random((MANY // 64, 64), np.float32)
of_rows = lengths.reshape(-1, 64)
if sys.argv[1] == "torch":
    import torch

    lengths, few, x, padded, column, wide, spans, ends, batch, of_rows = map(
        torch.from_numpy, (lengths, few, x, padded, column, wide, spans, ends, batch, of_rows)
    )
plan = ragged.Plan(lengths)
plan.lengths
calls = {
    "row_ids": lambda **to: ragged.row_ids(lengths, **to),
    "positions": lambda **to: ragged.positions(lengths, **to),
    "ranges": lambda **to: ragged.ranges(lengths, lengths, 2, **to),
    "long ranges": lambda **to: ragged.ranges(7, few, 2, **to),
    "mask": lambda **to: ragged.mask(lengths, 300, **to),
    "spans": lambda **to: ragged.spans_to_mask(spans, ends, 300, **to),
    "pad": lambda **to: ragged.pad(x, lengths, 70, **to),
    "pad far": lambda **to: ragged.pad(wide, few, 16 * MANY, value=5, **to),
    "unpad": lambda **to: ragged.unpad(padded, lengths, **to),
    "repeat_padded": lambda **to: ragged.repeat_padded(batch, of_rows, **to),
    "counts": lambda **to: tenter.repeat_interleave(column, lengths, 0, **to),
    "scalars": lambda **to: tenter.repeat_interleave(batch.reshape(-1), lengths, **to),
    "positions of counts": lambda **to: tenter.repeat_interleave(lengths, **to),
    "plan's row ids": lambda **to: ragged.row_ids(plan, **to),
    "plan's repeat": lambda **to: plan.repeat(column, **to),
    "plan's pad": lambda **to: plan.pad(x, 70, **to),
    "softmax": lambda **to: ragged.segment_softmax(x, lengths, **to),
}  # fmt: skip
made_first = ("repeat_padded", "softmax")


def rooms(y):
    """As it is; every other element of its last dim."""
    shape, dtype = y.shape, y.dtype if isinstance(y, np.ndarray) else np.dtype(str(y.dtype).removeprefix("torch."))
    yield np.zeros(shape, dtype)
    yield np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]


failed, refused = [], 0
for k, (name, call) in enumerate(calls.items()):
    want = call()
    two = isinstance(want, tuple)
    made = want if two else (want,)
    for number, outs in enumerate(zip(*map(rooms, made))):
        if len(sys.argv) < 3 and number != k % 2:
            continue
        more = outs[0].size * outs[0].itemsize * ((number > 0) + (name in made_first))
        outs = [out if isinstance(y, np.ndarray) else torch.from_numpy(out) for out, y in zip(outs, made)]
        limited.allow(SPARE + more)
        try:
            call(out=tuple(outs) if two else outs[0])
        except MemoryError as error:
            failed.append(f"{name}, {number}: {error}")
        limited.allow_all()
        if not failed and not all(
            np.array_equal(np.asarray(a), np.asarray(b), equal_nan=True) for a, b in zip(outs, made)
        ):
            failed.append(f"{name}, {number}: other values")
    limited.allow(SPARE)
    try:
        call()
    except (MemoryError, RuntimeError):  # of PyTorch's allocator
        refused += 1
    limited.allow_all()
print(len(calls) - refused, *failed)
