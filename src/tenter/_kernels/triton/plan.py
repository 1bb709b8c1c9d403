"""A plan for a device: launches that know layouts and no addresses, so one plan serves every tensor of its layout."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from tenter._kernels.steps import FIRST_TEMPORARY, INPUT, Buffer
from tenter._kernels.triton import launch
from tenter._kernels.triton.launch import Kernel
from tenter._kernels.triton.tables import Sent, await_all

LINE = 256  # bytes that temporaries are aligned to


class Step(NamedTuple):
    """One launch. args: all but source and target, which come first; `runs` says where the offsets of counts go."""

    kernel: Kernel
    grid: int
    source: int
    source_at: int
    target: int
    target_at: int
    args: tuple[Any, ...]
    runs: tuple[int, ...]


class Plan:
    """Steps that apply maps to tensors of one layout on one device. at: how far the input's address is from whole 16
    bytes."""

    small_kernel = None

    def __init__(self, device: torch.device, at: int) -> None:
        self.device, self.at = device, at
        self.steps: list[Step] = []
        self.temporaries: list[int] = []  # bytes of each
        self.tables: list[Sent] = []
        self.starts: list[Callable[..., None]] = []  # what launches each step, once it has been compiled

    def temporary(self, pass_: int, n_bytes: int) -> int:
        while len(self.temporaries) <= pass_:
            self.temporaries.append(0)
        self.temporaries[pass_] = max(self.temporaries[pass_], -(-n_bytes // LINE) * LINE)
        return FIRST_TEMPORARY + pass_

    def keep(self, sent: Sent) -> list[torch.Tensor]:
        self.tables.append(sent)
        return sent.tensors

    def alignment(self, buffer: Buffer) -> int:
        """The largest power of two, up to 16, that divides a buffer's address."""
        at = (buffer.at + (self.at if buffer.memory == INPUT else 0)) % 16
        return at & -at or 16

    def add(
        self, function: Any, grid: int, source: Buffer, target: Buffer, pointers: tuple[str, str], wide: bool,
        warps: int, **args: Any,
    ) -> None:  # fmt: skip
        """A launch of a kernel: its arguments by name, tables as tensors, None for what is not there, constants in
        capitals. pointers: the types of source and target. wide: have numbers 64 bits?"""
        if grid:
            whole = [self.alignment(source) == 16, self.alignment(target) == 16]
            kernel, values = launch.kernel(function, pointers, whole, {**args, "LONG": wide}, wide, warps)
            runs = tuple(k for k, value in enumerate(values) if value is launch.LATER)
            self.steps.append(Step(kernel, grid, source.memory, source.at, target.memory, target.at, values, runs))

    def run(self, x: torch.Tensor, y: torch.Tensor, offsets: torch.Tensor | None = None) -> None:
        """Reads x, writes y, on the device's current stream and without waiting for it. offsets: of the counts by which
        elements are repeated, or were, int64 and contiguous."""
        if self.device.type == "cpu":
            self._interpret(x, y, offsets)
            return
        addresses = [x.data_ptr(), y.data_ptr()]
        if self.temporaries:
            held = self._room(y)
            addresses += [held.data_ptr() + at for at in self._places()]
        device = self.device.index
        with launch.current(device) as stream:
            await_all(self.tables, stream)
            if not self.starts:
                self.starts = [launch.loaded(step.kernel, device, step.grid) for step in self.steps]
            for start, (_, _, source, source_at, target, target_at, args, runs) in zip(self.starts, self.steps):
                if runs:
                    assert offsets is not None
                    args = _with(args, runs, offsets.data_ptr())
                start(addresses[source] + source_at, addresses[target] + target_at, *args, stream=stream)

    def _room(self, y: torch.Tensor) -> torch.Tensor:
        """For temporaries; PyTorch's allocator gives it to nobody else on this stream before the steps are done."""
        return torch.empty(sum(self.temporaries), dtype=torch.uint8, device=y.device)

    def _places(self) -> list[int]:
        return list(itertools.accumulate(self.temporaries, initial=0))[:-1]

    def _interpret(self, x: torch.Tensor, y: torch.Tensor, offsets: torch.Tensor | None) -> None:
        held = self._room(y)
        memories = [(x, 0), (y, 0), *((held, at) for at in self._places())]
        for kernel, grid, source, source_at, target, target_at, args, runs in self.steps:
            (a, a_at), (b, b_at) = memories[source], memories[target]
            ends = [
                launch.typed(a, a_at + source_at, kernel.types[0]),
                launch.typed(b, b_at + target_at, kernel.types[1]),
            ]
            launch.interpret(kernel, grid, (*ends, *_with(args, runs, offsets)))


def _with(args: tuple[Any, ...], places: tuple[int, ...], value: Any) -> tuple[Any, ...]:
    return tuple(value if k in places else arg for k, arg in enumerate(args))
