"""One row: checked, then timed against each peer in alternating calls."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.check import compare
from benchmarks.rows import CLOSE, Row

Call = Callable[[], Any]

LEAST_PAIRS, MOST_PAIRS = 7, 60
COPIED_BYTES = 256_000_000


@dataclass
class Contest:
    """Against one peer. ratio: median over pairs of peer time / our time; spread: interquartile range / median."""

    ratio: float = 0.0
    spread: float = 0.0
    pairs: int = 0
    ours_ms: float = 0.0
    peer_ms: float = 0.0
    peer_error: float = 0.0
    peer_agrees: bool = True
    failed: str = ""


@dataclass
class Direction:
    """Forward or adjoint."""

    ours_ms: float = 0.0
    error: float = 0.0
    of_bandwidth: float | None = None
    contests: dict[str, Contest] = field(default_factory=dict)
    failed: str = ""


@dataclass
class Result:
    group: str
    name: str
    forward: Direction
    adjoint: Direction | None = None


def measure(row: Row, seconds: float, bandwidth: float) -> Result:
    case = row.make()
    x = case.x
    truth = partial(case.truth, x.double() if case.check == CLOSE else x)
    result = Result(row.group, row.name, direction(
        partial(case.ours, x), {name: partial(f, x) for name, f in case.peers.items()}, truth, case.check, seconds
    ))  # fmt: skip
    if result.forward.failed:
        return result
    y = case.ours(x)
    touched = sum(a.nbytes for a in (x, y, case.beside) if a is not None)
    result.forward.of_bandwidth = touched / (result.forward.ours_ms * 1e-3) / bandwidth
    if isinstance(x, torch.Tensor) and x.is_floating_point():
        g = torch.randn_like(y)
        del y
        peers = {name: gradient(f, x, g) for name, f in case.peers.items()}
        wide = gradient(case.truth, x.double(), g.double())
        result.adjoint = direction(gradient(case.ours, x, g), peers, wide, CLOSE, seconds)
    return result


def gradient(f: Callable[[Any], Any], x: torch.Tensor, g: torch.Tensor) -> Call:
    """The call that takes f's gradient at x, g being the gradient of the outputs."""
    x = x.detach().requires_grad_()
    y = f(x)
    return lambda: torch.autograd.grad(y, x, g, retain_graph=True)[0]


def direction(ours: Call, peers: dict[str, Call], truth: Call, check: str, seconds: float) -> Direction:
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
            samples += alternate(ours, peer, seconds, measured.contests[name])
    measured.ours_ms = float(np.median(samples if samples else [timed(ours) for _ in range(LEAST_PAIRS)])) * 1e3
    return measured


def alternate(ours: Call, peer: Call, seconds: float, contest: Contest) -> list[float]:
    """Fills in the contest; our times in seconds. Who goes first changes from pair to pair."""
    for _ in range(2):
        timed(ours), timed(peer)
    pairs: list[tuple[float, float]] = []
    spent = 0.0
    while len(pairs) < LEAST_PAIRS or (spent < seconds and len(pairs) < MOST_PAIRS):
        if len(pairs) % 2:
            b, a = timed(peer), timed(ours)
        else:
            a, b = timed(ours), timed(peer)
        pairs.append((a, b))
        spent += a + b
    low, contest.ratio, high = (float(q) for q in np.percentile([b / a for a, b in pairs], (25, 50, 75)))
    contest.spread, contest.pairs = (high - low) / contest.ratio, len(pairs)
    contest.ours_ms, contest.peer_ms = (float(m) * 1e3 for m in np.median(pairs, axis=0))
    return [a for a, _ in pairs]


def timed(call: Call) -> float:
    gc.disable()
    start = time.perf_counter()
    result = call()
    stop = time.perf_counter()
    gc.enable()
    del result
    return stop - start


def copy_bandwidth() -> float:
    """Bytes read and written per second by Tensor.copy_ between warm memory."""
    source, target = (torch.ones(COPIED_BYTES // 4) for _ in range(2))
    for _ in range(3):
        target.copy_(source)
    return 2 * COPIED_BYTES / float(np.median([timed(lambda: target.copy_(source)) for _ in range(15)]))
