"""Calls with out, and without, in a process that may have 12 MiB more than before: without_room.py LIBRARY [all]. Each
with out as it lies in one of six ways, or in all; where kernels cannot write to out, the process may have the result's
bytes as well. Prints how many found memory without out, and what failed with it."""

from __future__ import annotations

import ctypes
import sys
import tempfile

import limited
import numpy as np

import tenter

ctypes.CDLL(None).mallopt(-3, 1 << 16)  # M_MMAP_THRESHOLD: no memory of earlier arrays is at hand
tenter.memory.set_limit(0)  # no memory of one call is kept for the next
tenter.set_num_threads(1)
SIDE = 1200
SPARE = 12 << 20
each_way = len(sys.argv) > 2
x = np.random.default_rng(0).random((SIDE, SIDE), np.float32)
pixels = (256 * np.random.default_rng(1).random((SIDE // 2, SIDE // 2, 4))).astype(np.uint8)
counts = np.full(SIDE, 3)
wrapping = {"axes": 0, "mode": "linear", "edge": "wrap"}
outside = {"axes": 0, "box": [(-100, SIDE + 100)]}
light = {"linear_light": True, "alpha": False}
part = np.s_[: SIDE // 2]
calls = {
    "repeat": lambda **to: tenter.repeat(x, 2, 3, **to),
    "tile": lambda **to: tenter.tile(x, (1, 6), **to),
    "counts": lambda **to: tenter.repeat_interleave(x, counts, 0, **to),
    "scalars": lambda **to: tenter.repeat_interleave(x.reshape(-1)[: SIDE**2 // 4], 20, **to),
    "interpolate": lambda **to: tenter.interpolate(x[None, None], scale_factor=2, **to),
    "bilinear": lambda **to: tenter.interpolate(x[None, None], scale_factor=2, mode="bilinear", **to),
    "cubic": lambda **to: tenter.resize(x[part], 3 * SIDE, axes=0, mode="cubic", **to),
    "smaller and larger": lambda **to: tenter.resize(x[part], (100, 40 * SIDE), axes=(0, 1), mode="cubic", antialias=True, **to),
    "wrapping": lambda **to: tenter.resize(x, 3 * SIDE, **wrapping, **to),
    "reversed": lambda **to: tenter.resize(x, 3 * SIDE, axes=1, box=[(SIDE, 0)], **to),
    "value": lambda **to: tenter.resize(x, 3 * SIDE, edge="constant", value=2, **outside, **to),
    "picture": lambda **to: tenter.image.resize(pixels, (4 * SIDE, SIDE), alpha=True, **to),
    "light": lambda **to: tenter.image.resize(pixels, (3 * SIDE, SIDE), **light, **to),
    "floats": lambda **to: tenter.image.resize(x.reshape(600, 600, 4), (SIDE, 2 * SIDE), alpha=True, **to),
    "map": lambda **to: tenter.axis_map(SIDE, 3 * SIDE, "cubic").apply(x, 1, **to),
    "sums of blocks": lambda **to: tenter.maps.Copy.tile(SIDE, 4).T.apply(four, 0, **to),
}  # fmt: skip
four = np.tile(x, (4, 4))
made_first = ("light",)  # by floats, which Python changes before and after
if sys.argv[1] == "torch":
    import torch

    x, pixels, counts, four = map(torch.from_numpy, (x, pixels, counts, four))


def rooms(y):
    """Memory, and whether kernels write there: as it is; one of three; in a file; turned; every other row and column;
    rows in longer ones of a file."""
    shape, dtype = y.shape, y.dtype if isinstance(y, np.ndarray) else np.dtype(str(y.dtype).removeprefix("torch."))
    yield np.empty(shape, dtype), True
    yield np.empty((3, *shape), dtype)[1], True
    with tempfile.TemporaryFile() as file:
        yield np.memmap(file, dtype, "w+", shape=shape), True
    yield np.empty(shape[::-1], dtype).transpose(range(len(shape))[::-1]), False
    yield np.empty([2 * n for n in shape], dtype)[(slice(None, None, 2),) * len(shape)], False
    with tempfile.TemporaryFile() as file:
        yield np.memmap(file, dtype, "w+", shape=(*shape[:-1], shape[-1] + 1))[..., :-1], False


failed, refused = [], 0
for k, (name, call) in enumerate(calls.items()):
    want = call()
    for number, (room, direct) in enumerate(rooms(want)):
        if each_way or number == k % 6:
            out = room if isinstance(want, np.ndarray) else torch.from_numpy(room)
            out[...] = 0
            limited.allow(SPARE if direct and name not in made_first else SPARE + room.size * room.itemsize)
            try:
                call(out=out)
            except MemoryError as error:
                failed.append(f"{name}, {number}: {error}")
            limited.allow_all()
            if not failed and not np.array_equal(np.asarray(out), np.asarray(want)):
                failed.append(f"{name}, {number}: other values")
    limited.allow(SPARE)
    try:
        call()
    except MemoryError:
        refused += 1
    limited.allow_all()
print(len(calls) - refused, *failed)
