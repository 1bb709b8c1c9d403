"""The table of targets, shares of the copy bandwidth, row by row."""

from __future__ import annotations

from benchmarks.results import BANDWIDTH, Direction, Result, reached
from benchmarks.table import lined


def by_group(found: list[Result]) -> str:
    """A line for each group: how many of its targets are reached, and the least measured to target."""
    body = []
    for group in dict.fromkeys(r.group for r in found):
        aimed = [
            (value / target, r.name)
            for r in found if r.group == group
            for t in r.targets if t.peer == BANDWIDTH
            for of, target in ((r.forward, t.forward), (r.backward, t.backward))
            if target and (value := reached(of, BANDWIDTH)) is not None
        ]  # fmt: skip
        if aimed:
            least, name = min(aimed)
            body.append([group, f"{sum(share >= 1 for share, _ in aimed)} of {len(aimed)}", f"{least:.0%}", name])
    return lined(["Calls", "targets reached", "least, of its target", "in"], body)


def table(found: list[Result]) -> str:
    aimed = [(r, t) for r in found for t in r.targets if t.peer == BANDWIDTH]
    body = [[r.name, *pair(r.forward, t.forward), *pair(r.backward, t.backward), t.why or "-"] for r, t in aimed]
    return lined(["Call", "target", "measured", "gradient, target", "gradient, measured", "why less than usual"], body)


def meets(value: float | None, share: float) -> bool:
    return value is not None and value >= share


def pair(of: Direction | None, share: float | None) -> list[str]:
    """Target and measured."""
    if share is None:
        return ["-", "-"]
    value = reached(of, BANDWIDTH)
    shown = "failed" if of is not None and of.failed else "-" if value is None else f"{value:.0%}"
    return [f"{share:.0%}", shown if meets(value, share) else f"{shown} **short**"]
