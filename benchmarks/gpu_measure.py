"""A row on a device: checked and timed as on the CPU, by the device's clock; its gradient in deterministic mode too."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import torch

import tenter.torch
from benchmarks import measure as cpu
from benchmarks.check import compare
from benchmarks.gpu_rows import DETERMINISTIC, PYTORCH, rows
from benchmarks.measure import Call, Clock, alternate, gradient, has_backward, timed, touched
from benchmarks.results import Contest, Direction, Result
from benchmarks.workloads import CLOSE, Case, Row

BLOCK = 5e-3  # seconds that one timing lasts at least: by then the host's work for a call is done during the one before
COPIED_BYTES = 2**31
DETERMINISTIC_PAIRS = 3  # at least: PyTorch takes up to a third of a second


def on_events(call: Call, calls: int = 1) -> float:
    """Seconds a call, between two events on the device; each result is freed before the next call."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    gc.disable()
    torch.cuda.synchronize()
    start.record()
    for _ in range(calls):
        call()
    stop.record()
    stop.synchronize()
    gc.enable()
    return start.elapsed_time(stop) * 1e-3 / calls


def clock_of(device: str) -> Clock:
    return on_events if device == "cuda" else timed


def copy_bandwidth(device: str, n_bytes: int = COPIED_BYTES) -> float:
    """Bytes read and written per second by Tensor.copy_ on the device."""
    source, target = (torch.ones(n_bytes // 4, device=device) for _ in range(2))
    clock = clock_of(device)
    clock(lambda: target.copy_(source), 3)
    return 2 * n_bytes / float(np.median([clock(lambda: target.copy_(source), 5) for _ in range(15)]))


def measure(row: Row, device: str, seconds: float, bandwidth: float, block: float = BLOCK) -> Result:
    row = row._replace(make=cache(row.make))
    result = cpu.measure(row, seconds, bandwidth, block, clock_of(device))
    try:
        if result.backward is not None and not result.backward.failed and PYTORCH in result.backward.contests:
            contest = deterministic(row.make(), device, seconds, block)
            result.backward.contests[DETERMINISTIC] = contest
        tenter.torch.synchronize()  # raises what a kernel has found wrong since
        del row
        torch.cuda.empty_cache()  # blocks of one row's sizes do not fit the next one
    except Exception as error:
        result.forward.failed = f"{type(error).__name__}: {error}"
    return result


def deterministic(case: Case, device: str, seconds: float, block: float) -> Contest:
    """The gradients alone, recorded and taken in PyTorch's deterministic mode, where ours must be what it was."""
    contest, clock = Contest(), clock_of(device)
    g = torch.randn_like(case.ours(case.x))
    want = gradient(case.ours, case.x, g)()
    with deterministic_mode():
        try:
            ours, peer = gradient(case.ours, case.x, g), gradient(case.peers[PYTORCH], case.x, g)
            contest.peer_error, contest.peer_agrees = compare(peer(), want.double(), CLOSE)
        except RuntimeError as error:
            contest.failed = f"{type(error).__name__}: {error}"
            return contest
        if not torch.equal(ours(), want):
            raise ValueError("another gradient in deterministic mode")
        del want
        alternate(ours, peer, seconds, contest, block, clock, DETERMINISTIC_PAIRS)
    return contest


@contextmanager
def deterministic_mode() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def unmeasured(cut: int = 1) -> list[Result]:
    """Every row without a figure, but for its bytes, which are known."""
    found = []
    for row in rows("meta", cut):
        case = row.make()
        backward = Direction() if has_backward(case) else None
        moved = touched(case, case.truth(case.x))
        found.append(Result(row.group, row.name, Direction(), backward, list(row.targets), moved))
    return found
