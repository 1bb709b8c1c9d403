"""The table of targets, and the short one of docs/features.md: target and measured ratio, row by row."""

from __future__ import annotations

from typing import Any

from benchmarks.huge_pages import PYTORCH
from benchmarks.results import Contest, Direction, Result
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
    body = [
        [r.name, t.peer, *pair(r.forward, t.peer, t.forward), *pair(r.adjoint, t.peer, t.adjoint)]
        for r in found for t in r.targets
    ]  # fmt: skip
    if not body:
        return []
    aimed = [reached(of, t.peer, ratio) for r in found for t in r.targets
             for of, ratio in ((r.forward, t.forward), (r.adjoint, t.adjoint)) if ratio is not None]  # fmt: skip
    head = ["Call", "against", "target", "measured", "adjoint, target", "adjoint, measured"]
    return [
        "### Targets",
        f"{sum(aimed)} of {len(aimed)} reached, forward and adjoint counted apart.",
        lined(head, body),
    ]


def contest(of: Direction | None, peer: str) -> Contest | None:
    return None if of is None or of.failed else of.contests.get(peer)


def reached(of: Direction | None, peer: str, ratio: float) -> bool:
    found = contest(of, peer)
    return found is not None and not found.failed and found.ratio >= ratio


def pair(of: Direction | None, peer: str, ratio: float | None) -> list[str]:
    """Target and measured."""
    if ratio is None:
        return ["-", "-"]
    shown = "failed" if of is not None and of.failed else cell(contest(of, peer))
    return [f"{ratio:g}x", shown if reached(of, peer, ratio) else f"{shown} **short**"]


def summary(about: dict[str, Any], found: list[Result]) -> list[str]:
    by_name = {r.name: r for r in found}
    body = []
    for label, name in SUMMARY.items():
        if (r := by_name.get(name)) is not None:
            body.append([label, cell(contest(r.forward, PYTORCH)), cell(contest(r.adjoint, PYTORCH))])
    where = (
        f"PyTorch {about['versions']['torch']}'s time / tenter's, above one where tenter is faster "
        f"({about['processor']}, {about['threads']} threads):"
    )
    more = "Marks, more rows and PyTorch with huge pages: [benchmarks.md](benchmarks.md)."
    return [where, lined(["Call", "forward", "gradient"], body), more]
