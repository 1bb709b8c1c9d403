"""A plan's launches on a device. They know layouts and no addresses, so they run on all tensors of a layout."""

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from tenter._triton import launch
from tenter._triton.driver import FIXED, Launch, Launcher
from tenter._triton.passes import FIRST_TEMPORARY, INPUT, OUTPUT, Buffer
from tenter._triton.tables import DeviceTables


class Step(NamedTuple):
    """One launch.

    source, target: numbers of memories; source_at, target_at: bytes into them
    args: all except source and target, which come first
    per_call: the positions of the counts' offsets in args
    """

    kernel: launch.Kernel
    grid: int
    source: int
    source_at: int
    target: int
    target_at: int
    args: tuple[Any, ...]
    per_call: tuple[int, ...]


class Launches:
    """The steps that apply maps to tensors of one layout on one device.

    at: the input's address modulo 16
    temporaries: the bytes of each, by its largest use
    positions: in the maps' tables
    chunk_steps: bytes between the inputs and between the results of chunks that have these launches, or divisors; 0 if
        there is one chunk
    """

    alignment = 256

    def __init__(
        self, device: torch.device, at: int, temporaries: Sequence[int], positions: int, chunk_steps: tuple[int, int]
    ) -> None:
        self.device, self.at, self.chunk_steps = device, at, chunk_steps
        self.temporaries, self.positions = list(temporaries), positions
        self.steps: list[Step] = []
        self.tables: list[DeviceTables] = []
        self.chunked = False  # whether the steps are those of several chunks
        self.launcher: Launcher | None = None  # of the steps, after the first call

    def own(self, tables: DeviceTables) -> list[torch.Tensor]:
        self.tables.append(tables)
        return tables.tensors

    def temporary(self, number: int, shape: Sequence[int], dtype: str, itemsize: int) -> Buffer:
        self.temporaries += [0] * (number + 1 - len(self.temporaries))
        n_bytes = -(-math.prod(shape) * itemsize // self.alignment) * self.alignment
        self.temporaries[number] = max(self.temporaries[number], n_bytes)
        return Buffer(FIRST_TEMPORARY + number, 0, dtype, itemsize)

    def alignment_of(self, buffer: Buffer) -> int:
        """Returns the largest power of two, up to 16, that divides a buffer's address in all chunks."""
        at = buffer.at + (self.at if buffer.memory == INPUT else 0)
        return math.gcd(16, at, self.chunk_steps[buffer.memory] if buffer.memory < FIRST_TEMPORARY else 0)

    def add(
        self, function: Any, grid: int, source: Buffer, target: Buffer, pointers: tuple[str, str], int64: bool,
        warps: int, **args: Any,
    ) -> None:  # fmt: skip
        """Adds a launch.

        pointers: the types of source and target
        int64: whether integers have 64 bits
        args: by name; tables are tensors, absent ones None, constants have names in capitals
        """
        if grid:
            aligned = [self.alignment_of(source) == 16, self.alignment_of(target) == 16]
            kernel, values = launch.specialize(function, pointers, aligned, {**args, "INT64": int64}, int64, warps)
            per_call = tuple(k for k, value in enumerate(values) if value is launch.PER_CALL)
            self.steps.append(Step(kernel, grid, source.memory, source.at, target.memory, target.at, values, per_call))

    def add_chunk(self, chunk: "Launches", source_at: int, target_at: int) -> None:
        """Adds the steps of a chunk that begins so many bytes into the input and the result. Chunks share the memory of
        their temporaries, as each is launched after the one before it."""
        self.chunked = True
        begin = {INPUT: source_at, OUTPUT: target_at}
        for step in chunk.steps:
            source, from_ = chunk._address(step.source, step.source_at)
            target, to = chunk._address(step.target, step.target_at)
            from_, to = from_ + begin.get(source, 0), to + begin.get(target, 0)
            self.steps.append(step._replace(source=source, source_at=from_, target=target, target_at=to))
        self.temporaries = [max(0, *self.temporaries, sum(chunk.temporaries))]
        self.tables = list(dict.fromkeys([*self.tables, *chunk.tables]))

    def run(self, x: torch.Tensor, y: torch.Tensor, offsets: torch.Tensor | None = None) -> None:
        """Reads x and writes y on the device's current stream, without waiting. offsets: those of the counts that
        elements are repeated or summed by; int64 and contiguous."""
        launcher = self.launcher
        if launcher is None:
            if self.device.type == "cpu":
                self._interpret(x, y, offsets)
                return
            launcher = self.launcher = Launcher(
                self.device.index, [self._launch(step) for step in self.steps], self.tables
            )
        buffer = self._buffer(x) if self.temporaries else None
        launcher.run(
            x.data_ptr(),
            y.data_ptr(),
            0 if buffer is None else buffer.data_ptr(),
            0 if offsets is None else offsets.data_ptr(),
        )

    def _launch(self, step: Step) -> Launch:
        """Returns a step with the numbers of a call: the addresses of x, y, the temporaries and the offsets."""
        values = [(3, 0) if k in step.per_call else (FIXED, value) for k, value in enumerate(step.args)]
        ends = [self._address(step.source, step.source_at), self._address(step.target, step.target_at)]
        kinds = step.kernel.types
        arguments = [number for number, kind in zip([*ends, *values], kinds, strict=True) if kind != "constexpr"]
        return Launch(step.kernel, [(FIXED, step.grid), *arguments])

    def _address(self, memory: int, at: int) -> tuple[int, int]:
        if memory < FIRST_TEMPORARY:
            return memory, at
        return FIRST_TEMPORARY, sum(self.temporaries[: memory - FIRST_TEMPORARY]) + at

    def _buffer(self, x: torch.Tensor) -> torch.Tensor:
        # PyTorch's allocator reuses this memory for later work of this stream only.
        return x.new_empty(sum(self.temporaries), dtype=torch.uint8)

    def _memories(self, x: torch.Tensor, y: torch.Tensor) -> list[tuple[torch.Tensor, int]]:
        """Returns the memories that steps refer to: (tensor, bytes into it)."""
        if not self.temporaries:
            return [(x, 0), (y, 0)]
        buffer = self._buffer(x)
        return [(x, 0), (y, 0), *((buffer, at) for at in itertools.accumulate(self.temporaries[:-1], initial=0))]

    def _interpret(self, x: torch.Tensor, y: torch.Tensor, offsets: torch.Tensor | None) -> None:
        memories = self._memories(x, y)
        for kernel, grid, source, source_at, target, target_at, args, per_call in self.steps:
            ends = [
                launch.typed(memories[k][0], memories[k][1] + at, pointer)
                for k, at, pointer in zip((source, target), (source_at, target_at), kernel.types)
            ]
            launch.interpret(kernel, grid, (*ends, *_replaced(args, per_call, offsets)))


def _replaced(args: tuple[Any, ...], positions: tuple[int, ...], value: Any) -> tuple[Any, ...]:
    return tuple(value if k in positions else arg for k, arg in enumerate(args))
