"""The table of targets, shares of the copy bandwidth, row by row."""

from __future__ import annotations

from benchmarks.results import BANDWIDTH, Direction, Result, reached
from benchmarks.table import lined


def markdown(found: list[Result]) -> list[str]:
    aimed = [(r, t) for r in found for t in r.targets if t.peer == BANDWIDTH]
    if not aimed:
        return []
    met = [meets(reached(of, BANDWIDTH), share) for r, t in aimed
           for of, share in ((r.forward, t.forward), (r.adjoint, t.adjoint)) if share is not None]  # fmt: skip
    body = [[r.name, *pair(r.forward, t.forward), *pair(r.adjoint, t.adjoint), t.why or "-"] for r, t in aimed]
    head = ["Call", "target", "measured", "adjoint, target", "adjoint, measured", "why less than usual"]
    return [
        "### Targets",
        f"Shares of the copy bandwidth: {sum(met)} of {len(met)} reached, forward and adjoint counted apart.",
        lined(head, body),
    ]


def meets(value: float | None, share: float) -> bool:
    return value is not None and value >= share


def pair(of: Direction | None, share: float | None) -> list[str]:
    """Target and measured."""
    if share is None:
        return ["-", "-"]
    value = reached(of, BANDWIDTH)
    shown = "failed" if of is not None and of.failed else "-" if value is None else f"{value:.0%}"
    return [f"{share:.0%}", shown if meets(value, share) else f"{shown} **short**"]
