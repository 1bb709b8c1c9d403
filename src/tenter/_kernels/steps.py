"""Native calls with the memory that each reads and writes, as places in memory that is known when they run."""

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays import blocks
from tenter._arrays.thread_count import thread_count

# What a step reads and writes: the call's input and output, then temporaries.
INPUT, OUTPUT, FIRST_TEMPORARY = range(3)
# The temporaries that hold a result in another order and what gathers read: passes take two each, of four by turns.
LAST, GATHERED = 8, 9


class Buffer(NamedTuple):
    """Memory of one dtype, `at` bytes into one of a call's memories."""

    memory: int
    at: int
    dtype: str
    itemsize: int


class Step(NamedTuple):
    kernel: _native.KernelCall
    source: int
    source_at: int
    target: int
    target_at: int


class Temporaries:
    """The temporaries that steps share, each as large as the largest use of it."""

    alignment = 64

    def __init__(self) -> None:
        self.temporaries: list[int] = []  # bytes of each

    def temporary(self, number: int, shape: Sequence[int], dtype: str, itemsize: int) -> Buffer:
        self.temporaries += [0] * (number + 1 - len(self.temporaries))
        n_bytes = -(-math.prod(shape) * itemsize // self.alignment) * self.alignment
        self.temporaries[number] = max(self.temporaries[number], n_bytes)
        return Buffer(FIRST_TEMPORARY + number, 0, dtype, itemsize)


class Steps(Temporaries):
    """Steps that apply maps to arrays of one layout."""

    def __init__(self, n_bytes: int) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.small = n_bytes < _native.tuning.small_bytes

    def run(self, source: int, target: int, stream: bool = False) -> None:
        """Reads the input at address source, writes the output at address target; stream: past the caches."""
        n_threads = 1 if self.small else thread_count()
        if len(self.steps) == 1:
            kernel, from_, from_at, to, to_at = self.steps[0]
            kernel(source + from_at, target + to_at, n_threads, stream)
            return
        size = sum(self.temporaries)
        held = blocks.block(size)
        room = np.empty(size, np.uint8) if held is None else held
        at = room.ctypes.data if isinstance(room, np.ndarray) else room.address
        addresses = [source, target, *(at + before for before in itertools.accumulate(self.temporaries, initial=0))]
        for kernel, from_, from_at, to, to_at in self.steps:
            kernel(addresses[from_] + from_at, addresses[to] + to_at, n_threads, stream and to == OUTPUT)

    def run_whole(self, source: int, target: int, stream: bool) -> bool:
        """The same to a caller's memory, to its end: a signal is answered after it. False where much lies between
        steps, which tiles of the result have less of."""
        if sum(self.temporaries) > _native.tuning.scratch_bytes:
            return False
        _native.hold_signals(True)
        try:
            self.run(source, target, stream)
        finally:
            _native.hold_signals(False)
        return True

    def add(self, kernel: _native.KernelCall, source: Buffer, target: Buffer) -> None:
        self.steps.append(Step(kernel, source.memory, source.at, target.memory, target.at))
