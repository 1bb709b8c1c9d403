"""Ragged arrays with out, and without, in a process that may have 12 MiB more than before: without_room_ragged.py
LIBRARY [all]. Each with out in order or with gaps, or both. Prints how many found memory without out, a few that take
what a call before has left, and what failed with it."""

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
MANY = 480 << (12 if sys.argv[1] == "numpy" else 13)  # rows
SPARE = 12 << 20
rng = np.random.default_rng(0)
lengths = rng.integers(0, 3, MANY)
few = np.full(5, MANY // 5)
n = int(lengths.sum())
x = rng.random(n + n % 2, np.float32)
total = n
padded = rng.random((MANY, 2), np.float32)
wide = rng.random((MANY // 5 * 5, 4), np.float32)
ids = ragged.row_ids(lengths)
places = np.concatenate([np.arange(3)] * (MANY // 3))
truth = np.arange(2) < lengths[:, None]
spans = np.arange(MANY).reshape(-1, 1) % 7
ends = spans + 3
batch = rng.random((MANY // 64, 64), np.float32)
of_rows = lengths.reshape(-1, 64)
if sys.argv[1] == "torch":
    import torch

    lengths, x, padded, wide, ids, places, truth, spans, ends, batch, of_rows = map(
        torch.from_numpy, (lengths, x, padded, wide, ids, places, truth, spans, ends, batch, of_rows)
    )
plan = ragged.Plan(lengths)
offsets = plan.offsets
calls = {
    "offsets": lambda **to: ragged.offsets(lengths, **to),
    "row_ids": lambda **to: ragged.row_ids(lengths, **to),
    "positions": lambda **to: ragged.positions(lengths, **to),
    "ranges": lambda **to: ragged.ranges(lengths, lengths, 2, **to),
    "long ranges": lambda **to: ragged.ranges(7, few, 2, **to),
    "mask": lambda **to: ragged.mask(lengths, 9, **to),
    "long mask": lambda **to: ragged.mask([9, 0], 7 * MANY, **to),
    "lengths": lambda **to: ragged.lengths(offsets, **to),
    "spans": lambda **to: ragged.spans_to_mask(spans, ends, 9, **to),
    "pad": lambda **to: ragged.pad(x[:total], lengths, **to),
    "pad far": lambda **to: ragged.pad(wide[:, 0], few, 2 * MANY, value=5, **to),
    "unpad": lambda **to: ragged.unpad(padded, lengths, **to),
    "repeat_padded": lambda **to: ragged.repeat_padded(batch, of_rows, **to),
    "counts": lambda **to: tenter.repeat_interleave(padded, lengths, 0, **to),
    "flattened": lambda **to: tenter.repeat_interleave(batch.T, 2, **to),
    "flattened by counts": lambda **to: tenter.repeat_interleave(batch.T, lengths, **to),
    "positions of counts": lambda **to: tenter.repeat_interleave(lengths, **to),
    "plan": lambda **to: plan.repeat(padded, **to),
    "sum": lambda **to: ragged.segment_sum(x[:total], lengths, **to),
    "mean": lambda **to: ragged.segment_mean(x[:total], lengths, **to),
    "max": lambda **to: ragged.segment_max(x[:total], lengths, **to),
    "softmax": lambda **to: ragged.segment_softmax(x[:total], lengths, **to),
    "long softmax": lambda **to: ragged.segment_softmax(wide, few, **to),
    "softmax of a column": lambda **to: ragged.segment_softmax(wide[:, 1], few, **to),
}  # fmt: skip


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
        outs = [out if isinstance(y, np.ndarray) else torch.from_numpy(out) for out, y in zip(outs, made)]
        limited.allow(SPARE)
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
