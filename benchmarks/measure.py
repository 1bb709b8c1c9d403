"""One workload: checked, then timed against each peer in alternating calls."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import torch

from benchmarks.check import compare
from benchmarks.results import Contest, Direction, Result
from benchmarks.workloads import CLOSE, Case, Row

Call = Callable[[], Any]
Clock = Callable[[Call, int], float]  # seconds a call, of so many

LEAST_PAIRS, MOST_PAIRS = 7, 60
COPIED_BYTES = 256_000_000


def timed(call: Call, calls: int = 1) -> float:
    """Seconds a call; the last result is freed after the clock has stopped."""
    gc.disable()
    start = time.perf_counter()
    for _ in range(calls - 1):
        call()
    result = call()
    stop = time.perf_counter()
    gc.enable()
    del result
    return (stop - start) / calls


def measure(row: Row, seconds: float, bandwidth: float, block: float = 0.0, clock: Clock = timed) -> Result:
    """Both directions of a row; what goes wrong in it does not end the run."""
    result = Result(row.group, row.name, Direction(), targets=list(row.targets))
    try:
        case = row.make()
        result.forward = forward(case, seconds * row.share, block, clock)
        if not result.forward.failed:
            result.moved = touched(case, case.ours(case.x))
            if has_backward(case):
                result.backward = backward(case, seconds * row.share, block, clock)
        for of in (result.forward, result.backward):
            if of is not None and not of.failed:
                of.of_bandwidth = result.moved / (of.ours_ms * 1e-3) / bandwidth
    except Exception as error:
        result.forward.failed = f"{type(error).__name__}: {error}"
    return result


def touched(case: Case, result: Any) -> int:
    """Bytes of all inputs and of the result."""
    return sum(a.nbytes for a in (case.x, result, case.beside) if a is not None)


def has_backward(case: Case) -> bool:
    return isinstance(case.x, torch.Tensor) and case.x.is_floating_point()


def forward(case: Case, seconds: float, block: float = 0.0, clock: Clock = timed) -> Direction:
    x = case.x
    peers: dict[str, Call] = {name: partial(f, x) for name, f in case.peers.items()}
    truth = partial(case.truth, wide(x) if case.check == CLOSE else x)
    return direction(partial(case.ours, x), peers, truth, case.check, seconds, block, clock)


def backward(case: Case, seconds: float, block: float = 0.0, clock: Clock = timed) -> Direction:
    x = case.x
    g = torch.randn_like(case.ours(x))
    peers = {name: when_called(partial(gradient, f, x, g)) for name, f in case.peers.items()}
    truth = gradient(case.truth, x.double(), g.double())
    return direction(gradient(case.ours, x, g), peers, truth, CLOSE, seconds, block, clock)


def wide(x: Any) -> Any:
    return x.double() if isinstance(x, torch.Tensor) else x.astype(np.float64)


def gradient(f: Callable[[Any], Any], x: torch.Tensor, g: torch.Tensor) -> Call:
    """The call that takes f's gradient at x, g being the gradient of the outputs."""
    x = x.detach().requires_grad_()
    y = f(x)
    return lambda: torch.autograd.grad(y, x, g, retain_graph=True)[0]


def when_called(make: Callable[[], Call]) -> Call:
    """The call that `make` returns, made at its first call: where a peer refuses, that is its contest's failure."""
    made = cache(make)
    return lambda: made()()


def direction(
    ours: Call, peers: dict[str, Call], truth: Call, check: str, seconds: float, block: float, clock: Clock
) -> Direction:
    """block: seconds that one timing lasts at least, by as many calls as that takes."""
    measured = Direction()
    try:
        want = truth()
        measured.error, right = compare(ours(), want, check)
        if not right:
            measured.failed = f"differs by {measured.error:.3g}"
    except Exception as error:
        measured.failed = f"{type(error).__name__}: {error}"
    if measured.failed:
        return measured
    for name, peer in peers.items():
        contest = measured.contests[name] = Contest()
        try:
            contest.peer_error, contest.peer_agrees = compare(peer(), want, check)
        except Exception as error:
            contest.failed = f"{type(error).__name__}: {error}"
    del want
    samples: list[float] = []
    for name, peer in peers.items():
        if not measured.contests[name].failed:
            samples += alternate(ours, peer, seconds, measured.contests[name], block, clock)
    if not samples:
        calls = calls_in(block, ours, clock)
        samples = [clock(ours, calls) for _ in range(LEAST_PAIRS)]
    measured.ours_ms = float(np.median(samples)) * 1e3
    return measured


def calls_in(block: float, call: Call, clock: Clock) -> int:
    return 1 if block == 0 else max(1, round(block / min(clock(call, 1) for _ in range(3))))


def alternate(
    ours: Call, peer: Call, seconds: float, contest: Contest, block: float, clock: Clock, least: int = LEAST_PAIRS
) -> list[float]:
    """Fills in the contest; our times in seconds."""
    pairs = in_turns(ours, peer, seconds, block, clock, least)
    fill(contest, pairs)
    return [a for a, _ in pairs]


def in_turns(
    ours: Call,
    peer: Call,
    seconds: float,
    block: float,
    clock: Clock,
    least: int = LEAST_PAIRS,
    most: int = MOST_PAIRS,
) -> list[tuple[float, float]]:
    """Seconds of a call of each, in pairs. Who goes first changes from pair to pair."""
    n_ours, n_peer = calls_in(block, ours, clock), calls_in(block, peer, clock)
    for _ in range(2):
        clock(ours, n_ours), clock(peer, n_peer)
    pairs: list[tuple[float, float]] = []
    spent = 0.0
    while len(pairs) < least or (spent < seconds and len(pairs) < most):
        if len(pairs) % 2:
            b, a = clock(peer, n_peer), clock(ours, n_ours)
        else:
            a, b = clock(ours, n_ours), clock(peer, n_peer)
        pairs.append((a, b))
        spent += a * n_ours + b * n_peer
    return pairs


def fill(contest: Contest, pairs: list[tuple[float, float]]) -> None:
    """The contest's numbers from pairs of seconds, ours and the peer's."""
    low, contest.ratio, high = (float(q) for q in np.percentile([b / a for a, b in pairs], (25, 50, 75)))
    contest.spread, contest.pairs = (high - low) / contest.ratio, len(pairs)
    contest.ours_ms, contest.peer_ms = (float(m) * 1e3 for m in np.median(pairs, axis=0))


def copy_bandwidth() -> float:
    """Bytes read and written per second by Tensor.copy_ between warm memory."""
    source, target = (torch.ones(COPIED_BYTES // 4) for _ in range(2))
    for _ in range(3):
        target.copy_(source)
    return 2 * COPIED_BYTES / float(np.median([timed(lambda: target.copy_(source)) for _ in range(15)]))
