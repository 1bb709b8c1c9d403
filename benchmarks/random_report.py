"""What `python -m benchmarks random` says: tables, the slowest calls, and the page that it writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.report import between
from benchmarks.results import LOSS, Contest
from benchmarks.summaries import Met, slower
from benchmarks.table import beside, lined

PAGE = Path("docs/measured/random.md")
BEGIN, END = "<!-- random:begin -->", "<!-- random:end -->"
ITSELF = "the same call against itself"
HEAD = ["call / peer", "calls", "slower", "least", "median"]
SHARES = ["calls", "threads", "number", "slower", "as fast", "median, times faster"]


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
    """A row for each function and peer, the one with the slowest call first."""
    groups: dict[str, list[Timed]] = {}
    for one in found:
        name = one.drawn.function
        groups.setdefault(name if name == ITSELF else f"{name} / {one.drawn.peer}", []).append(one)
    order = sorted(groups, key=lambda name: (name == ITSELF, min(one.contest.ratio for one in groups[name])))
    return lined(HEAD, [row(name, groups[name]) for name in order])


def row(name: str, of: list[Timed]) -> list[str]:
    ratios = [one.contest.ratio for one in of]
    return [name, str(len(of)), str(sum(map(is_slower, of))), f"{min(ratios):.2f}x", f"{median(ratios):.2f}x"]


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
                middle = f"{median(one.contest.ratio for one in some):.2f}x"
                rows.append([name, str(threads), str(len(some)), str(slower), as_fast, middle])
    return lined(SHARES, rows)


def slowest(found: list[Timed], most: int) -> Iterator[Timed]:
    """So many slower calls of each function and peer: else one known cause would be all that is shown."""
    so_far: Counter[tuple[str, str]] = Counter()
    compared = [one for one in found if one.drawn.function != ITSELF and is_slower(one)]
    for one in sorted(compared, key=lambda one: one.contest.ratio):
        so_far[one.drawn.function, one.drawn.peer] += 1
        if so_far[one.drawn.function, one.drawn.peer] <= most:
            yield one


def page(found: list[Timed], about: str) -> str:
    functions = beside(PAGE, "random", table(found), "Each function")
    parts = [f"{about}\n\n{shares(found)}", "## Functions", functions, "## Where tenter is slower", slower(met(found))]
    return "\n\n".join(parts)


def met(found: list[Timed]) -> Iterator[Met]:
    for one in found:
        if (name := one.drawn.function) != ITSELF:
            kind = "`expand`" if name == "expand" else "Gradients" if "gradient" in name else "Calls"
            yield Met(kind, f"{name}, {one.threads} thread{'s' * (one.threads > 1)}", one.drawn.peer, one.contest.ratio)


def write(found: list[Timed], about: str) -> None:
    PAGE.write_text(between(PAGE, BEGIN, END, page(found, about)), encoding="utf-8")
    print(f"wrote {PAGE}")


def medians(path: Path = PAGE) -> list[float]:
    """Of all random calls, for each number of threads, as the page has them."""
    rows = (line.strip("| ").split(" | ") for line in path.read_text(encoding="utf-8").splitlines())
    return [float(cells[-1].rstrip("x")) for cells in rows if cells[0] == "all"]
