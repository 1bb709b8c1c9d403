"""The table: every row beside its peers, then once more beside PyTorch with huge pages."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks import huge_pages
from benchmarks.machine import Settings
from benchmarks.measure import measure
from benchmarks.results import Contest, Direction, Result
from benchmarks.rows import rows

WIDE_SPREAD = 0.30
GRIDS = ("OpenCV", "scikit-image")  # groups whose rows differ in channels only are shown as one line


def run(settings: Settings) -> list[Result]:
    found = []
    for row in rows():
        if settings.wants(row.group, row.name):
            found.append(measure(row, settings.seconds, settings.bandwidth))
            print(line(found[-1]), flush=True)
    huge_pages.merge(found, huge_pages.run(settings))
    return found


def line(result: Result) -> str:
    """A row as it comes in."""
    parts = [part(result.forward)]
    if result.backward is not None:
        parts.append(f"backward {part(result.backward)}")
    return f"{result.group}: {result.name}: {'; '.join(parts)}"


def part(of: Direction) -> str:
    against = "".join(f", {name} {cell(contest)}" for name, contest in of.contests.items())
    return f"failed ({of.failed})" if of.failed else f"{of.ours_ms:.3f} ms{share(of, ', ', ' of bandwidth')}{against}"


def share(of: Direction, before: str = "", after: str = "") -> str:
    return "" if of.of_bandwidth is None else f"{before}{of.of_bandwidth:.0%}{after}"


def cell(contest: Contest | None) -> str:
    if contest is None:
        return "-"
    if contest.failed:
        return "fails"
    marks = " ~" * (contest.spread > WIDE_SPREAD) + " †" * (not contest.peer_agrees)
    return f"{contest.ratio:.2f}x{marks}"


def markdown(found: list[Result]) -> list[str]:
    parts = []
    for group in dict.fromkeys(r.group for r in found):
        of = [r for r in found if r.group == group]
        parts += [f"### {group}", grid(of) if group in GRIDS else table(of)]
    return parts


def table(found: list[Result]) -> str:
    names = list(dict.fromkeys(name for r in found for name in r.forward.contests))
    backward = any(r.backward is not None for r in found)
    head = ["Call", "tenter, ms", "of copy bandwidth", *names]
    if backward:
        head += ["gradient, ms", *(f"gradient, {name}" for name in names)]
    return lined(head, [
        [r.name, *cells(r.forward, names, True), *(cells(r.backward, names, False) if backward else [])] for r in found
    ])  # fmt: skip


def grid(found: list[Result]) -> str:
    """Names end in what the columns say."""
    head = list(dict.fromkeys(r.name.rpartition(", ")[2] for r in found))
    of: dict[str, dict[str, str]] = {}
    for r in found:
        name, _, column = r.name.rpartition(", ")
        of.setdefault(name, {})[column] = "failed" if r.forward.failed else cell(r.forward.contests.get(r.group))
    return lined(["Call", *head], [[name, *(cells.get(column, "-") for column in head)] for name, cells in of.items()])


def lined(head: list[str], body: list[list[str]], rule: str = "---:") -> str:
    """A table in Markdown; rule: how the columns after the first are aligned."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [head, ["---", *[rule] * (len(head) - 1)], *body])


def beside(page: Path, name: str, text: str, said: str) -> str:
    """Writes a table of Markdown as a CSV file next to a page. Returns a link to it."""
    first, _, *rest = text.splitlines()
    with page.with_name(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(line[1:-1].strip().split(" | ") for line in [first, *rest])
    return f"[{said}]({name}.csv)"


def cells(of: Direction | None, names: list[str], forward: bool) -> list[str]:
    if of is None or of.failed:
        return ["-" if of is None else "failed", *["-"] * (len(names) + forward)]
    return [f"{of.ours_ms:.2f}", *([share(of)] if forward else []), *(cell(of.contests.get(name)) for name in names)]
