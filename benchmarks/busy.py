"""`python -m benchmarks busy`: calls of 10 us to 10 ms while other processes want the cores.

Each condition is a process of its own: so many processes beside it that never sleep, and PyTorch not there, loaded, or
running a loop of its own between the calls. A call is timed on one thread and on all of them, in turns; what counts is
the median and the 95th percentile on all threads over the median on one. The same share of calls on one thread says
what the machine does to any call: where that is short of the goal too, threads are not the cause.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import tenter

ALONE, LOADED, BETWEEN = "without PyTorch", "PyTorch loaded", "PyTorch's loops between"
TURNS, BLOCK = 12, 0.02  # of both numbers of threads; seconds of calls of a turn
MOST = 3  # times the time on one thread
GOAL = 0.95  # of calls
HEAD = ["busy", "process", "call", "one thread", "median", "95th percentile", f"within {MOST}", "one thread within"]
# A process that computes until its parent ends, even if that is killed.
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100_000): pass"


def calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    rng = np.random.default_rng(0)
    for name, n in (("64 KiB", 1 << 13), ("1 MiB", 1 << 17), ("4 MiB", 1 << 19), ("32 MiB", 1 << 22)):
        x = rng.random(n, np.float32)
        yield f"np.repeat by 2, {name}", partial(tenter.numpy.repeat, x, 2)
        yield f"np.tile by 3, {name}", partial(tenter.numpy.tile, x, 3)
    for side in (160, 640, 1600):
        pixels = rng.integers(0, 256, (side, side, 3), np.uint8)
        to = side * 2 // 3, side * 2 // 3
        for words, how in (
            ("linear", {"antialias": False}),
            ("cubic, antialiased", {"mode": "cubic", "antialias": True}),
        ):
            yield f"{side} x {side} bytes, {words}", partial(tenter.resize, pixels, to, axes=(0, 1), **how)


def measured(process: str, threads: int) -> list[tuple[str, list[float], list[float]]]:
    """Of each call its times on one thread and on all."""
    between: Callable[[], Any] = lambda: None  # noqa: E731
    if process != ALONE:
        import torch

        torch.set_num_threads(threads)
        if process == BETWEEN:
            x = torch.ones(1 << 20)
            between = lambda: x.add_(1)  # noqa: E731
    found = []
    for name, call in calls():
        spent: dict[int, list[float]] = {1: [], threads: []}
        for turn in range(2 * TURNS):
            n = (1, threads)[turn % 2]
            tenter.set_num_threads(n)
            call()
            end = time.perf_counter() + BLOCK
            while time.perf_counter() < end:
                between()
                start = time.perf_counter()
                call()
                spent[n].append(time.perf_counter() - start)
        found.append((name, spent[1], spent[threads]))
    return found


def main(chosen: argparse.Namespace) -> int:
    from benchmarks.table import lined  # which imports PyTorch

    rows, within, of_machine = [], 0, 0
    for busy in range(chosen.busy + 1):
        others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(busy)]
        try:
            for process in (ALONE, LOADED, BETWEEN):
                command = [sys.executable, "-m", "benchmarks.busy", process, str(chosen.threads)]
                made = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                for name, one, every in json.loads(made.stdout):
                    least = float(np.median(one))
                    ratios = np.array(every) / least
                    good, alone = (float((np.array(t) <= MOST * least).mean()) for t in (every, one))
                    within, of_machine = within + (good >= GOAL), of_machine + (good < GOAL and alone < GOAL)
                    numbers = (
                        f"{np.median(ratios):.2f}",
                        f"{np.percentile(ratios, 95):.2f}",
                        f"{good:.0%}",
                        f"{alone:.0%}",
                    )
                    rows.append([str(busy), process, name, f"{least * 1e6:.0f} us", *numbers])
        finally:
            for other in others:
                other.kill()
                other.wait()
    print(lined(HEAD, rows, "---"))
    print(f"\n{GOAL:.0%} of calls within {MOST} times the time on one thread: {within} of {len(rows)} rows")
    print(f"of the others, calls on one thread miss it too in {of_machine}")
    return 0


def add_arguments(parser: argparse.ArgumentParser, positive: Callable[[str], int]) -> None:
    parser.add_argument("--busy", type=int, default=2, metavar="N", help="at most so many others (default: 2)")
    parser.add_argument("--threads", type=positive, default=2, metavar="N", help="of every library (default: 2)")


if __name__ == "__main__":  # without the imports of `python -m benchmarks`
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
