"""The table of targets, shares of the copy bandwidth, and the short table of docs/features.md, row by row."""

from __future__ import annotations

from typing import Any

from benchmarks.huge_pages import PYTORCH
from benchmarks.results import BANDWIDTH, Contest, Direction, Result, reached
from benchmarks.table import cell, lined

# What docs/features.md shows, by the names of the rows.
SUMMARY = {
    "`repeat_interleave`, a count per element, 1M scalars":
        "repeat_interleave 1M scalars, counts 0..8, float32",
    "`repeat_interleave`, grouped-query K/V, 4 each, bfloat16":
        "repeat_interleave grouped-query K/V (4, 8, 4096, 128) dim 1, 4 each, bfloat16",
    "`repeat`, (1024, 1024) by (4, 4)":
        "repeat (1024, 1024) by (4, 4), float32",
    "`interpolate`, bilinear, (8, 64, 128, 128) to 256²":
        "bilinear (8, 64, 128, 128) to (256, 256), float32",
    "`interpolate`, bicubic, the same":
        "bicubic (8, 64, 128, 128) to (256, 256), float32",
    "`interpolate`, trilinear, (2, 32, 64, 64, 64) to 128³":
        "trilinear (2, 32, 64, 64, 64) to (128, 128, 128), float32",
    "`interpolate`, bilinear antialiased, (8, 3, 1080, 1920) to 224²":
        "antialiased bilinear (8, 3, 1080, 1920) to (224, 224), float32",
    "`interpolate`, bilinear antialiased, one uint8 photograph to 224²":
        "antialiased bilinear (1080, 1920, 3) to (224, 224), uint8, tensor (channels-last)",
}  # fmt: skip


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


def summary(about: dict[str, Any], found: list[Result]) -> list[str]:
    by_name = {r.name: r for r in found}
    body = []
    for label, name in SUMMARY.items():
        if (r := by_name.get(name)) is not None:
            body.append([label, cell(against(r.forward)), cell(against(r.adjoint))])
    where = (
        f"PyTorch {about['versions']['torch']}'s time / tenter's, above one where tenter is faster "
        f"({about['processor']}, {about['threads']} threads):"
    )
    more = "Marks, more rows and PyTorch with huge pages: [benchmarks.md](benchmarks.md)."
    return [where, lined(["Call", "forward", "gradient"], body), more]


def against(of: Direction | None) -> Contest | None:
    return None if of is None or of.failed else of.contests.get(PYTORCH)
