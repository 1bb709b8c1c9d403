"""Blocks in a forked child, its child, and the parent afterwards: nothing is shared, nothing from before the fork is kept.

Prints the exit statuses of two children."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tenter
from tenter import _native, memory

memory.set_limit(256 << 20)
torch.set_num_threads(1)  # its own threads would hang the children
x = np.ones((700, 400), np.float32)


def child(body: Callable[[], Any]) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = 0 if body() else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


array, tensor = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(torch.from_numpy(x), 2, 0)
early = [tenter.repeat_interleave(x, 2, 0) for _ in range(3)]
del early[2]
assert memory.stats().idle_blocks == 1


def in_child() -> bool:
    global array, tensor, early
    assert memory.stats().idle_bytes == 0 and not _native.Block.recycles()
    assert (array == 1).all() and (tensor == 1).all()
    made = memory.stats()
    for t in (x, torch.from_numpy(x)):
        for _ in range(3):
            y = tenter.repeat_interleave(t, 2, 0)
        assert bool((y == 1).all())
        assert type(getattr(y, "base", None)) is not _native.Block
        assert t is x or y.untyped_storage().resizable()
    now = memory.stats()
    assert (now.fresh, now.reused) == (made.fresh, made.reused)
    array[...] = 5
    tensor.fill_(6)
    del array, tensor, early
    gc.collect()
    assert memory.stats().idle_bytes == 0 and memory.stats().used_blocks == made.used_blocks - 4
    memory.clear()
    memory.set_limit(0)
    memory.set_limit(1 << 30)
    assert not _native.Block.recycles()
    return child(lambda: not _native.Block.recycles() and bool((tenter.repeat_interleave(x, 3, 0) == 1).all())) == 0


print(child(in_child))
assert (array == 1).all() and (tensor == 1).all()  # the child's writes are its own
assert memory.stats().idle_bytes == 0  # given back before the fork
made = memory.stats()
del early
gc.collect()
assert memory.stats().idle_bytes == 0  # from before the fork: not kept
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused and memory.stats().fresh == made.fresh + 1
del y
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused + 1  # from after it: kept again
r, w = os.pipe()
pid = os.fork()
if pid == 0:  # nor does the child see what the parent writes
    os.read(r, 1)
    os._exit(0 if (array == 1).all() and (tensor == 1).all() else 1)
array[...] = 3
tensor.fill_(4)
os.write(w, b"x")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
