"""Where the tests of this folder run: on a CUDA device, or, with TRITON_INTERPRET=1, on the CPU, step by step.

Interpreted kernels read and write memory as it comes: what they touch is checked here, and that every byte of a result
is written once.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cuda_helpers import cuda, device, nothing_owed  # noqa: F401, fixtures of all modules here

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """All tests of the compiler are slow where kernels are interpreted, and what they import takes seconds."""
    slow = INTERPRETED and collection_path.name == "test_compile.py"
    return True if slow and "not slow" in config.option.markexpr else None


@pytest.fixture(scope="session")
def on() -> str:
    """The device to put tensors on."""
    if not INTERPRETED and not torch.cuda.is_available():
        pytest.skip("no CUDA device; TRITON_INTERPRET=1 runs these tests without one")
    return "cpu" if INTERPRETED else "cuda"


class Watch:
    """What the running launch may touch: first and last address + 1 of each argument's memory; and how often each byte
    of the running plan's result was written."""

    def __init__(self) -> None:
        self.readable: list[tuple[int, int]] = []
        self.writable: list[tuple[int, int]] = []
        self.result, self.written = (0, 0), np.zeros(0, np.uint8)
        self.loads = self.stores = 0

    def inside(self, addresses: Any, size: int, memories: list[tuple[int, int]]) -> None:
        if len(addresses):
            at = addresses.astype(np.int64)
            held = np.zeros(len(at), bool)
            for first, last in memories:
                held |= (at >= first) & (at + size <= last)
            assert held.all(), f"{np.sum(~held)} of {len(at)} addresses outside of every argument"

    def wrote(self, addresses: Any, size: int) -> None:
        at = addresses.astype(np.int64)
        at = at[(at >= self.result[0]) & (at < self.result[1])] - self.result[0]
        for byte in range(size):
            np.add.at(self.written, at + byte, 1)


def memory(x: torch.Tensor) -> tuple[int, int]:
    storage = x.untyped_storage()
    return storage.data_ptr(), storage.data_ptr() + storage.nbytes()


if not INTERPRETED:

    @pytest.fixture
    def watch() -> None:
        pytest.skip("kernels on a device are not watched")


if INTERPRETED:
    from triton.language import core
    from triton.runtime import interpreter
    from triton.runtime.interpreter import InterpreterBuilder

    from tenter._arrays import torch_tensors
    from tenter._execution import executor
    from tenter._torch import device as device_calls
    from tenter._torch.counted import by_counts
    from tenter._triton import copies, launch, launches

    WATCH = Watch()

    @functools.cache
    def builtins(of: Any) -> list[tuple[str, Any]]:
        return [(name, member) for name, member in inspect.getmembers(of) if core.is_builtin(member)]

    @pytest.fixture(scope="session", autouse=True)
    def _quicker() -> Iterator[None]:
        """Without half of what Triton's interpreter does: for each launch it looks for the functions of its language
        again, and of each operation on int32 it computes whether it overflows, which it asserts in debug mode alone."""

        def patch_builtin(of: Any, builder: Any, *scope: Any) -> None:  # scope: from Triton 3.6 on
            for name, member in builtins(of):
                interpreter._patch_attr(of, name, member, builder, *scope)

        patch, builder = pytest.MonkeyPatch(), interpreter.interpreter_builder
        patch.setattr(interpreter, "_patch_builtin", patch_builtin)
        patch.setattr(builder, "options", dataclasses.replace(builder.options, sanitize_overflow=False))
        yield
        patch.undo()

    @pytest.fixture(scope="session", autouse=True)
    def _run_by_triton() -> Iterator[None]:
        """Tensors in memory of the host count as a device's, kernels are watched, calls are cut into few programs."""
        load, store, interpret, run = (
            InterpreterBuilder.create_masked_load, InterpreterBuilder.create_masked_store, launch.interpret, launches.Launches.run
        )  # fmt: skip

        def watched_load(self: Any, pointers: Any, mask: Any, *rest: Any) -> Any:
            size = pointers.get_element_ty().primitive_bitwidth // 8
            WATCH.inside(pointers.data[np.broadcast_to(mask.data, pointers.data.shape)], size, WATCH.readable)
            WATCH.loads += 1
            return load(self, pointers, mask, *rest)

        def watched_store(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
            size = pointers.get_element_ty().primitive_bitwidth // 8
            addresses = pointers.data[np.broadcast_to(mask.data, pointers.data.shape)]
            WATCH.inside(addresses, size, WATCH.writable)
            WATCH.wrote(addresses, size)
            WATCH.stores += 1
            return store(self, pointers, value, mask, *rest)

        def watched_launch(kernel: Any, grid: int, args: Any) -> None:
            WATCH.readable = [memory(a) for a in args if isinstance(a, torch.Tensor)]
            # What follows the target are tables, but for a report.
            WATCH.writable = [memory(a) for a in args[1:2]] + [memory(a) for a in args[2:] if is_report(a)]
            interpret(kernel, grid, args)

        def watched_run(self: Any, x: torch.Tensor, y: torch.Tensor, offsets: Any = None) -> None:
            WATCH.result = (y.data_ptr(), y.data_ptr() + y.nbytes)
            WATCH.written = np.zeros(y.nbytes, np.uint8)
            try:
                run(self, x, y, offsets)
            finally:  # memory of a result that is gone may hold part of another launch's
                WATCH.result = (0, 0)
            assert (WATCH.written == 1).all(), "bytes of the result that were not written once"

        def found(call: str, x: torch.Tensor, *args: Any) -> torch.Tensor | None:
            return by_counts(x, *args) if call == "repeat_interleave" else None

        patch = pytest.MonkeyPatch()
        patch.setattr(InterpreterBuilder, "create_masked_load", watched_load)
        patch.setattr(InterpreterBuilder, "create_masked_store", watched_store)
        patch.setattr(launch, "interpret", watched_launch)
        patch.setattr(launches.Launches, "run", watched_run)
        patch.setattr(torch_tensors, "device", lambda x: "cpu")
        executor.of(torch.zeros(1))
        for kind in (torch.Tensor, torch.nn.Parameter):  # the core knows that these are on the host
            patch.setitem(executor.FIND, kind, found)
        patch.setattr(copies, "PROGRAMS", 1)
        yield
        patch.undo()

    @pytest.fixture
    def watch() -> Watch:
        return WATCH

    def is_report(a: Any) -> bool:
        return any(a is report.words for report in device_calls._reports.values())
