"""What tests of CUDA tensors share: the device, the calls, and what finds a call that waits.

Under TRITON_INTERPRET=1 a device is not needed: tensors are in memory of the host, Triton runs the kernels there step by
step, and tests that need a real device (fixture `cuda`) are skipped.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import tenter
import tenter.torch
from program_helpers import PROGRAMS
from sweeps import sampled
from torch_cases import CASES, Case, Subject, subject

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
# Clocks of a device: about a second, and what is long beside a call.
SECOND, LONG = 1_800_000_000, 100_000_000


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where a test's tensors are."""
    if INTERPRETED:
        from tenter._arrays import torch_tensors
        from tenter._triton import copies

        monkeypatch.setattr(torch_tensors, "device", lambda x: "cpu")
        monkeypatch.setattr(copies, "PROGRAMS", 1)  # few large tiles: each program takes milliseconds
        yield "cpu"
    elif torch.cuda.is_available():
        yield "cuda"
    else:
        pytest.skip("no CUDA device")


@pytest.fixture
def cuda() -> Iterator[str]:
    """A real device: streams, graphs, memory past what a host has."""
    if INTERPRETED:
        pytest.skip("a real CUDA device is needed, kernels are interpreted")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    yield "cuda"
    torch.cuda.synchronize()


@pytest.fixture
def nothing_owed() -> Iterator[None]:
    """What a test before this one left to be raised, and what this one leaves, is no other's."""
    settle()
    yield
    settle()


def settle() -> list[str]:
    """Waits; the first lines of what was found."""
    found = []
    while True:
        try:
            tenter.torch.synchronize()
            return found
        except ValueError as error:
            found.append(str(error).splitlines()[0])


# ---- calls


def _of(name: str, shape: tuple[int, ...], other: tuple[int, ...], ours: Any, truth: Any) -> Case:
    return Case(name, "resize", shape, other, ours, None, truth)


def _on_host(f: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: f(x.cpu()).to(x.device)


_columns = lambda x: tenter.resize(x, (3, 9), axes=(0, 2), mode="lanczos", antialias=True)
_wrapped = lambda x: tenter.resize(x, 11, axes=1, mode="cubic", edge="wrap")
_bicubic = lambda x: tenter.resize(x, (7, 9), axes=(-2, -1), mode="cubic")
RESIZES = [
    _of("resize cubic", (2, 3, 4, 5), (3, 3, 6, 7), _bicubic, lambda x: F.interpolate(x, (7, 9), mode="bicubic")),
    _of("resize outer axes", (6, 3, 4), (5, 2, 7), _columns, _on_host(_columns)),
    _of("resize wrapped", (2, 5, 3), (3, 7, 2), _wrapped, _on_host(_wrapped)),
]
EVERY = [*CASES, *RESIZES]
# Calls whose result's size the host knows.
KNOWN = [case for case in EVERY if case.counts is None or case.total]
UNKNOWN = [case for case in EVERY if case not in KNOWN]
by_name = lambda case: case.name


def some(
    of: Iterable[Any], every: int, ids: Callable[[Any], str] = str, always: Callable[[Any], bool] = lambda c: False
) -> list[Any]:
    """Parameters of a test, as tests/helpers/sweeps.py has them where kernels are interpreted, which takes a thousand times as
    long."""
    return sampled([(c,) for c in of], 24 * every if INTERPRETED else 1, lambda p: ids(p[0]), lambda p: always(p[0]))


def on(case: Case, where: str) -> Subject:
    """A case's function, its truth and an input, on a device."""
    case = case._replace(device=where)
    return subject(case, case.ours)


def both_ways(f: Callable[..., torch.Tensor], x: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """f(x) and the gradient by v."""
    x = x.detach().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y, x, v)[0]


# ---- waiting


@contextlib.contextmanager
def waits_are(mode: str) -> Iterator[None]:
    """PyTorch says by itself where it waits for a device: "warn" or "error"."""
    torch.cuda.synchronize()
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that this is a prototype
        torch.cuda.set_sync_debug_mode(mode)
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


def waits(f: Callable[[], Any]) -> int:
    """How often f waits for a device."""
    with waits_are("warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        f()
    return sum("synchronizing CUDA operation" in str(warning.message) for warning in caught)


# ---- processes

HERE = Path(__file__).resolve().parent


def in_process(
    name: str, args: Sequence[str] = (), before: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """A program of tests/programs, which has these helpers; before: a command that runs it."""
    paths = [str(HERE), str(HERE.parent / "helpers"), str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p), **environment}
    command = [*before, sys.executable, str(PROGRAMS / name), *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)
