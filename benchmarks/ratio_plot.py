"""How many times faster tenter is than each library: a dot for each call, on one axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.plots import FONT, INK, quiet, save
from benchmarks.race import Drawn
from benchmarks.results import LOSS

FASTER, SLOWER = "#2563eb", "#db2777"
SHAKEN = 0.28  # of a line's height, by which dots are apart that would lie on each other


def draw(found: dict[str, list[Drawn]], path: Path) -> None:
    """A panel for each part, a line for each library."""
    panels = {title: lines for title, of in found.items() if (lines := ratios(of))}
    if not panels:
        return
    heights = [len(lines) + 1.2 for lines in panels.values()]
    with matplotlib.rc_context(FONT):
        figure = Figure((9, 0.26 * sum(heights) + 0.5), layout="constrained")
        grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights).ravel()
        for axes, (title, lines) in zip(grid, panels.items()):
            quiet(axes, title)
            strip(axes, lines)
        scale(grid[-1])
        figure.supxlabel("times faster than the library (log scale); right of the line tenter is faster", fontsize=8)
        save(figure, path)


def ratios(found: list[Drawn]) -> dict[str, list[float]]:
    lines: dict[str, list[float]] = {}
    for one in found:
        for name, contest in one.contests.items():
            if not (one.failed or contest.failed):
                lines.setdefault(name, []).append(contest.ratio)
    return lines


def strip(axes: Any, lines: dict[str, list[float]]) -> None:
    for at, of in enumerate(lines.values()):
        shifts = [at + SHAKEN * ((i * 0.618) % 1 * 2 - 1) for i in range(len(of))]
        axes.scatter(of, shifts, s=7, lw=0, alpha=0.6, c=[SLOWER if r < LOSS else FASTER for r in of])
    axes.axvline(1, color=INK, lw=0.8)
    axes.set_yticks(range(len(lines)), [f"{name} ({len(of)})" for name, of in lines.items()])
    axes.set_ylim(len(lines) - 0.4, -0.6)


def scale(axes: Any) -> None:
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    marks = [m * 10.0**k for k in range(-2, 4) for m in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([m for m in marks if low <= m <= high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda ratio, _: f"{ratio:g}x"))
