"""`python -m benchmarks rates`: what speed alone decides, against the clock.

Random sums of random arrays, on one thread. For each kernel: by how much its steps take longer than the rates of
`native/kernels/rates.hpp` say. For each question of `native/kernels/choices.cpp` that another answer would change: how
often the answer is the faster one, and how much longer all its calls take than with the faster answer of each."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import tenter
from benchmarks.measure import timed
from tenter import _native
from tenter._plans.plan import plan
from tenter._rules.rounding import ONCE
from tenter.maps import AxisMap, Copy

ROUNDS, BLOCK = 7, 1e-3  # timings of a call, of which the least counts; seconds of a timing
EQUAL = 1.05  # times that differ by less are equal
DTYPES = ("float32", "float32", "float32", "float64", "float16", "uint8", "int16")
MODES = ("linear", "linear", "cubic", "area", "lanczos3")


class Given(NamedTuple):
    """Maps by themselves, as a specification."""

    given: tuple[tuple[int, AxisMap], ...]

    def shape_out(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        after = dict(self.given)
        return tuple(after[d].n_out if d in after else n for d, n in enumerate(shape))

    def maps(self, shape: tuple[int, ...], dtype: str, on_device: bool) -> Any:
        return self.given

    def order(self, shape: tuple[int, ...], *how: Any) -> tuple[int, ...]:
        return tuple(range(len(shape)))

    def rounding_of(self, dtype: str) -> str:
        return ONCE


def main(minutes: float) -> int:
    threads = tenter.get_num_threads()
    tenter.set_num_threads(1)
    kernels: dict[str, list[float]] = {}
    questions: dict[str, list[tuple[float, float]]] = {}
    end = time.monotonic() + 60 * minutes
    try:
        for x, maps in tasks():
            if time.monotonic() > end:
                break
            compared(x, maps, kernels, questions)
    finally:
        _native.tuning.reset()
        tenter.set_num_threads(threads)
    print("kernel: measured / estimated, median (from a tenth to nine tenths) of steps")
    for name, found in sorted(kernels.items()):
        lo, *_, hi = np.quantile(found, (0.1, 0.9))
        print(f"  {name:18} {statistics.median(found):5.2f} ({lo:.2f} to {hi:.2f}) of {len(found)}")
    print(
        "question: plans that another answer changes; of these slower than it; time against the faster answer of each"
    )
    for name, pairs in sorted(questions.items()):
        slower = sum(ours > EQUAL * other for ours, other in pairs)
        lost = sum(ours for ours, _ in pairs) / sum(min(pair) for pair in pairs)
        print(f"  {name:18} {len(pairs):4} {slower:4} {lost:6.2f}")
    return 0


def compared(
    x: np.ndarray,
    maps: tuple[tuple[int, AxisMap], ...],
    kernels: dict[str, list[float]],
    questions: dict[str, list[tuple[float, float]]],
) -> None:
    """Times a task as it is planned, and as each other answer plans it."""
    tuning = _native.tuning
    tuning.reset()
    usual, run = planned(x, maps)
    seconds = fastest(run)
    if len(usual.steps) == 1:  # after it has run: some maps get tables after some uses
        name, nanoseconds, _ = usual.steps[0]
        kernels.setdefault(name, []).append(seconds * 1e9 / nanoseconds)
    for k, name in enumerate(_native.WORDS["choice"]):
        for answer in ("taken", "left"):
            tuning.reset()
            again, run = planned(x, maps)
            setattr(tuning, answer, 1 << k)
            forced, other = planned(x, maps)
            if [kernel for kernel, *_ in forced.steps] == [kernel for kernel, *_ in again.steps]:
                continue
            theirs = fastest(other)
            tuning.reset()
            questions.setdefault(name, []).append((fastest(run), theirs))


def planned(x: np.ndarray, maps: tuple[tuple[int, AxisMap], ...]) -> tuple[Any, Callable[[], Any]]:
    """The core's plan, and its call without Python's part."""
    spec = Given(maps)
    steps: Any = plan(x, spec).steps
    y = np.empty(spec.shape_out(x.shape), x.dtype)
    source, target, run = x.ctypes.data, y.ctypes.data, steps.run

    def call() -> np.ndarray:
        run(source, target, False)
        return y

    return steps, call


def fastest(call: Callable[[], Any]) -> float:
    calls = max(1, int(BLOCK / max(timed(call), timed(call), 1e-7)))
    return min(timed(call, calls) for _ in range(ROUNDS))


def tasks() -> Iterator[tuple[np.ndarray, tuple[tuple[int, AxisMap], ...]]]:
    seed = 0
    while True:
        rng = np.random.default_rng((65, seed))
        seed += 1
        ndim = int(rng.integers(1, 5))
        cuts = np.diff([0.0, *np.sort(rng.random(ndim - 1)), 1.0])
        values = 2.0 ** rng.uniform(4, 20)
        shape = [max(1, round(values**share)) for share in cuts]
        axes = sorted(rng.choice(ndim, int(rng.integers(1, min(3, ndim) + 1)), replace=False).tolist())
        x = (rng.random(shape) * 99).astype(str(rng.choice(DTYPES)))
        if ndim > 1 and rng.random() < 0.2:
            x = np.ascontiguousarray(x.swapaxes(0, -1)).swapaxes(0, -1)
        yield x, tuple((axis, a_map(rng, shape[axis])) for axis in axes)


def a_map(rng: np.random.Generator, n: int) -> AxisMap:
    """Sums of n inputs: resampled, and gradients of resampling and of repeats."""
    far = 2.0 ** rng.uniform(-3, 3) if rng.random() < 0.9 else 2.0 ** rng.uniform(-8, 8)
    m, mode = max(1, min(round(n * far), 1 << 16)), str(rng.choice(MODES))
    kind = rng.random()
    if kind < 0.5:
        return tenter.axis_map(n, m, mode, antialias=bool(rng.random() < 0.5) and mode != "area")
    if kind < 0.8:
        return tenter.axis_map(m, n, mode).T
    return Copy.repeats(rng.multinomial(n, np.full(m, 1 / m))).T
