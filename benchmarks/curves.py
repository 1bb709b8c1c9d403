"""Points of curves: one workload each, forward alone, checked and timed as the table's rows are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from benchmarks.machine import Settings, free_memory
from benchmarks.measure import forward
from benchmarks.peers import set_threads
from benchmarks.results import Direction, Point
from benchmarks.workloads import Case

SHARE = 0.2  # of the seconds that a row of the table gets
BLOCK = 1e-3  # seconds that one timing lasts at least: a microsecond is not seen by the clock alone
NEEDED = 10  # times the result: ours, the peer's, the truth in float64, PyTorch's tables of int64


class Workload(NamedTuple):
    """at: where on the curve. output: bytes of the result, as far as the workload's name says."""

    panel: str
    name: str
    at: float
    make: Callable[[], Case]
    output: int
    threads: int | None = None


def run(workloads: Iterable[Workload], settings: Settings) -> list[Point]:
    found = []
    for work in workloads:
        if settings.wants(work.panel, work.name):
            set_threads(work.threads or settings.threads)
            found.append(Point(work.panel, work.name, work.at, attempt(work, settings.seconds * SHARE)))
            print(line(found[-1]), flush=True)
    set_threads(settings.threads)
    return found


def attempt(work: Workload, seconds: float) -> Direction:
    """What goes wrong at one point does not end the run."""
    if NEEDED * work.output > free_memory():
        return Direction(failed=f"left out: needs about {NEEDED * work.output / 2**30:.0f} GiB of memory")
    try:
        return forward(work.make(), seconds, BLOCK)
    except Exception as error:
        return Direction(failed=f"{type(error).__name__}: {error}")


def line(point: Point) -> str:
    of = point.forward
    against = "".join(f", {name} {c.failed or f'{c.ratio:.2f}x'}" for name, c in of.contests.items())
    return f"{point.panel}: {point.name}: {point.at:g}: {of.failed or f'{of.ours_ms * 1e3:.2f} us'}{against}"


def failures(found: list[Point]) -> list[str]:
    return [f"- {p.panel}, {p.name}, {p.at:g}: {p.forward.failed}" for p in found if p.forward.failed]


def size(n: float) -> str:
    """Bytes, in the unit that fits."""
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:g} {unit}"
        n /= 1024
    return f"{n:g} GiB"
