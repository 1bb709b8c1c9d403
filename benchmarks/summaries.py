"""Many calls in few lines: the ratios of each kind, and where another library is faster.

Each page of measurements has a table of the latter. docs/performance.md collects these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from benchmarks.results import LOSS, Contest, Direction, Result
from benchmarks.table import lined

BEGIN, END = "<!-- slower:begin -->", "<!-- slower:end -->"
HEAD = ["Calls", "library", "slower", "the slowest", "times faster"]
NONE = "In none of these calls is another library faster."


class Met(NamedTuple):
    """A call beside a library. kind: of calls that share a line."""

    kind: str
    call: str
    library: str
    ratio: float


def slower(met: Iterable[Met]) -> str:
    """The table of a page, between marks."""
    return f"{BEGIN}\n\n{table(lines(met))}\n\n{END}"


def lines(met: Iterable[Met]) -> list[list[str]]:
    """One for each kind of calls and library that is faster in some."""
    groups: dict[tuple[str, str], list[Met]] = {}
    for one in met:
        groups.setdefault((one.kind, one.library), []).append(one)
    body = []
    for (kind, library), of in groups.items():
        lost = sorted((one.ratio, one.call) for one in of if one.ratio < LOSS)
        if lost:
            ratio, call = lost[0]
            body.append([kind, library, f"{len(lost)} of {len(of)}", call, f"{ratio:.2f}x"])
    return body


def table(body: list[list[str]], head: list[str] = HEAD) -> str:
    """The slowest first."""
    found = sorted(body, key=lambda line: float(line[-1].rstrip("x")))
    return lined(head, found, "---") if found else NONE


def rows(page: str) -> Iterator[list[str]]:
    """The lines of a page's tables of slower calls."""
    for part in page.split(BEGIN)[1:]:
        for line in part.split(END)[0].strip().splitlines()[2:]:
            yield line.strip("| ").split(" | ")


def ratios(contests: Iterable[Contest | None]) -> str:
    """The median, with the least and the most of several; "-" of none."""
    known = [c.ratio for c in contests if c is not None and not c.failed]
    if not known:
        return "-"
    span = f" ({min(known):.2g} to {max(known):.2g})" if len(known) > 1 else ""
    return f"{median(known):.2f}x{span}"


def directions(r: Result) -> Iterator[tuple[str, Direction]]:
    for said, of in (("", r.forward), (", gradient", r.backward)):
        if of is not None and not of.failed:
            yield said, of


def met(found: Iterable[Result]) -> Iterator[Met]:
    for r in found:
        for said, of in directions(r):
            for library, c in of.contests.items():
                if not c.failed:
                    yield Met(f"{r.group}{said}", r.name, library, c.ratio)


def by_library(found: list[Result]) -> str:
    """A line for each group and library: how many calls, and the ratios of calls and of their gradients."""
    body = []
    for group in dict.fromkeys(r.group for r in found):
        of = [r for r in found if r.group == group]
        for library in dict.fromkeys(name for r in of for _, way in directions(r) for name in way.contests):
            calls = ratios(r.forward.contests.get(library) for r in of)
            gradients = ratios(r.backward.contests.get(library) for r in of if r.backward is not None)
            number = sum(library in way.contests for r in of for _, way in directions(r))
            body.append([group, library, str(number), calls, gradients])
    return lined(["Calls", "library", "number", "times faster", "gradients, times faster"], body)
