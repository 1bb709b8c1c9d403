"""PyTorch with THP_MEM_ALLOC_ENABLE=1, which it reads once, when its process starts: the rows' contests in a child.

`python -m benchmarks.huge_pages` is the child; it prints a result per line, as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial

from benchmarks import results
from benchmarks.machine import Settings
from benchmarks.measure import measure
from benchmarks.peers import set_threads
from benchmarks.results import Contest, Direction, Result
from benchmarks.rows import rows
from benchmarks.workloads import Case

PYTORCH, NAME = "PyTorch", "PyTorch, huge pages"
GROUPS = ("Repeat", "Interpolate", "8-bit images")  # what PyTorch takes part in


def run(settings: Settings) -> Iterator[Result]:
    """Tenter takes part in the child's pairs too, so that they are as near in time as all others."""
    command = [sys.executable, "-m", "benchmarks.huge_pages", json.dumps(settings)]
    environment = {**os.environ, "THP_MEM_ALLOC_ENABLE": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout or ():
            found = results.result(json.loads(line))
            print(f"{NAME}: {found.name}: {', '.join(ratios(found))}", flush=True)
            yield found
    if child.returncode:
        print(f"{NAME}: the child process ended with {child.returncode}", file=sys.stderr)


def ratios(found: Result) -> list[str]:
    return [
        of.failed or f"{c.ratio:.2f}x" for of in (found.forward, found.backward) if of for c in of.contests.values()
    ]


def merge(into: list[Result], found: Iterable[Result]) -> None:
    """The child's contests against PyTorch become contests of the same rows, under their own name."""
    by_name = {(r.group, r.name): r for r in into}
    for r in found:
        mine = by_name[r.group, r.name]
        for target, source in ((mine.forward, r.forward), (mine.backward, r.backward)):
            if target is not None and source is not None:
                add(target, source)


def add(target: Direction, source: Direction) -> None:
    target.contests[NAME] = source.contests.get(PYTORCH, Contest(failed=source.failed))


def main(settings: Settings) -> None:
    set_threads(settings.threads)
    for row in rows():
        if row.group in GROUPS and settings.wants(row.group, row.name):
            case = row.make()
            if PYTORCH in case.peers:
                case = case._replace(peers={PYTORCH: case.peers[PYTORCH]})
                found = measure(row._replace(make=partial(Case._make, case)), settings.seconds, settings.bandwidth)
                print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main(Settings(*json.loads(sys.argv[1])))
