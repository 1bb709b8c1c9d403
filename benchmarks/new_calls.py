"""Calls that do not repeat: `python -m benchmarks augment`, `ragged`, `segments`, `signals`, `photographs`, or `new`,
which is all of them.

For each number of threads a process of its own, as some libraries read theirs once, when they start.
`python -m benchmarks.new_calls` is that process; it prints a result per line, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import augment, new_report, photographs, ragged, segments, signals
from benchmarks.machine import Settings, machine
from benchmarks.measure import copy_bandwidth
from benchmarks.memory import release
from benchmarks.peers import set_threads
from benchmarks.race import Drawn, drawn, race

OUT = Path("docs/measured/new-calls.json")
PARTS: dict[str, Any] = {
    "augment": augment,
    "ragged": ragged,
    "segments": segments,
    "signals": signals,
    "photographs": photographs,
}
THREADS = ("RAYON_NUM_THREADS", "VIPS_CONCURRENCY", "OMP_NUM_THREADS")  # of kornia-rs, libvips, PyTorch
# Of a quick run: how many times smaller what is largest is, and how long a workload takes with each of its peers.
QUICK_CUT = {"augment": 2, "ragged": 4, "segments": 10, "signals": 100, "photographs": 4}
QUICK_SECONDS, SECONDS = 0.03, {"augment": 3.0, "ragged": 0.8, "segments": 2.0, "signals": 1.0, "photographs": 0.7}


class Chosen(NamedTuple):
    """What one process measures."""

    part: str
    threads: int
    cut: int
    seconds: float
    only: str

    def wants(self, group: str, name: str) -> bool:
        return self.only.lower() in f"{group}: {name}".lower()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", metavar="TEXT", default="", help="only what has this in its group and name; printed")
    parser.add_argument("--threads", type=int, metavar="N", help="these alone (default: one, and as many as cores)")
    parser.add_argument("--seconds", type=float, metavar="S", help="at most about, per call (default: of each part)")
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds; printed, not written")
    parser.add_argument("--render", action="store_true", help="write the page from the results that are there")
    parser.add_argument("--tables", action="store_true", help="print each call of the results that are there")
    parser.add_argument("--out", type=Path, metavar="JSON", help=f"where to write, in any case (default: {OUT})")


def main(chosen: argparse.Namespace) -> int:
    out = chosen.out or (None if chosen.only or chosen.quick else OUT)
    if chosen.tables:
        print(new_report.every_call(chosen.out or OUT))
        return 0
    if chosen.render:
        return wrote(new_report.render(chosen.out or OUT))
    found: dict[str, list[Drawn]] = {}
    bandwidth = copy_bandwidth()
    for part in PARTS if chosen.what == "new" else [chosen.what]:
        start = time.monotonic()
        found[part] = []
        for threads in [chosen.threads] if chosen.threads else PARTS[part].thread_counts():
            seconds = chosen.seconds or (QUICK_SECONDS if chosen.quick else SECONDS[part])
            found[part] += child(Chosen(part, threads, QUICK_CUT[part] if chosen.quick else 1, seconds, chosen.only))
        print(f"{part}: {time.monotonic() - start:.0f} s", flush=True)
        if out is not None and found[part]:
            wrote(new_report.write(out, part, machine(Settings(0, chosen.seconds or 0.0, bandwidth)), found[part]))
    if not any(found.values()):
        print(f"nothing contains {chosen.only!r}", file=sys.stderr)
        return 2
    return int(any(one.failed for of in found.values() for one in of))


def wrote(paths: list[Path]) -> int:
    for path in paths:
        print(f"wrote {path}")
    return 0


def child(chosen: Chosen) -> Iterator[Drawn]:
    environment = {**os.environ, **dict.fromkeys(THREADS, str(chosen.threads))}
    command = [sys.executable, "-m", "benchmarks.new_calls", json.dumps(chosen)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            found = drawn(json.loads(line))
            print(f"{chosen.part}: {new_report.line(found)}", flush=True)
            yield found
    if process.returncode:
        yield Drawn(chosen.part, "the process", chosen.threads, failed=f"it ended with {process.returncode}")


def measure(chosen: Chosen) -> Iterator[Drawn]:
    set_threads(chosen.threads)
    for work in PARTS[chosen.part].works(chosen.threads, chosen.cut):
        if chosen.wants(work.group, work.name):
            yield race(work, chosen.threads, chosen.seconds)
            release()  # the memory of signals of 10^8 samples is not held while others are measured


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for one in measure(Chosen(*json.loads(sys.argv[1]))):
        print(json.dumps(asdict(one)), flush=True)
