"""What `python -m benchmarks random` says: tables, the slowest calls, and the pages that it writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.report import between
from benchmarks.results import LOSS, Contest
from benchmarks.table import lined

PAGE, SUMMARY = Path("docs/measured/random.md"), Path("docs/performance.md")
BEGIN, END = "<!-- random:begin -->", "<!-- random:end -->"
ITSELF = "the same call against itself"
HEAD = ["call / peer", "threads", "calls", "slower", "least", "median"]
SHARES = ["calls", "threads", "number", "slower", "as fast"]


class Drawn(NamedTuple):
    """setup: lines that make what the two expressions read."""

    function: str
    peer: str
    setup: str
    ours: str
    theirs: str


class Timed(NamedTuple):
    drawn: Drawn
    threads: int
    contest: Contest

    def source(self) -> str:
        c, d = self.contest, self.drawn
        times = f"tenter {shown(c.ours_ms)}, {d.peer} {shown(c.peer_ms)}, threads: {self.threads}"
        return "\n".join([f"# {c.ratio:.2f}x, {d.function}: {times}", d.setup, d.ours, d.theirs])


def shown(ms: float) -> str:
    return f"{ms:.3g} ms" if ms >= 1 else f"{ms * 1e3:.3g} us"


def is_slower(one: Timed) -> bool:
    return one.contest.ratio < LOSS


def table(found: list[Timed]) -> str:
    """A row for each function, peer and number of threads, the one with the slowest call first."""
    groups: dict[tuple[str, int], list[Timed]] = {}
    for one in found:
        name = one.drawn.function
        groups.setdefault((name if name == ITSELF else f"{name} / {one.drawn.peer}", one.threads), []).append(one)
    order = sorted(groups, key=lambda k: (k[0] == ITSELF, min(one.contest.ratio for one in groups[k])))
    return lined(HEAD, [row(name, threads, groups[name, threads]) for name, threads in order])


def row(name: str, threads: int, of: list[Timed]) -> list[str]:
    ratios = [one.contest.ratio for one in of]
    numbers = f"{min(ratios):.2f}x", f"{float(np.median(ratios)):.2f}x"
    return [name, str(threads), str(len(of)), str(sum(map(is_slower, of))), *numbers]


# What a row of shares counts, by the function's name.
COUNTED: dict[str, Callable[[str], bool]] = {
    "all": lambda name: name != ITSELF,
    "without `expand`": lambda name: name != ITSELF and "expand" not in name,
    "without gradients": lambda name: name != ITSELF and "gradient" not in name,
    "without gradients and `expand`": lambda name: name != ITSELF and "gradient" not in name and "expand" not in name,
    ITSELF: lambda name: name == ITSELF,
}


def shares(found: list[Timed]) -> str:
    """How many calls are as fast as the peer's, and how many seem slower by noise alone."""
    rows = []
    for name, counts in COUNTED.items():
        for threads in sorted({one.threads for one in found}):
            some = [one for one in found if one.threads == threads and counts(one.drawn.function)]
            if some:
                slower = sum(map(is_slower, some))
                as_fast = f"{100 * (1 - slower / len(some)):.1f}%"
                rows.append([name, str(threads), str(len(some)), str(slower), as_fast])
    return lined(SHARES, rows)


def slowest(found: list[Timed], most: int) -> Iterator[Timed]:
    """So many slower calls of each function and peer: else one known cause would be all that is shown."""
    so_far: Counter[tuple[str, str]] = Counter()
    compared = [one for one in found if one.drawn.function != ITSELF and is_slower(one)]
    for one in sorted(compared, key=lambda one: one.contest.ratio):
        so_far[one.drawn.function, one.drawn.peer] += 1
        if so_far[one.drawn.function, one.drawn.peer] <= most:
            yield one


def summary(found: list[Timed], about: str) -> str:
    return f"{about}\n\n{shares(found)}"


def page(found: list[Timed], about: str) -> str:
    sources = [f"```text\n{one.source()}\n```" for one in slowest(found, 1)] or ["No call was slower."]
    return "\n\n".join(
        [summary(found, about), "## Functions", table(found), "## The slowest call of each function", *sources]
    )


def write(found: list[Timed], about: str) -> None:
    for path, text in ((PAGE, page(found, about)), (SUMMARY, summary(found, about))):
        path.write_text(between(path, BEGIN, END, text), encoding="utf-8")
        print(f"wrote {path}")
