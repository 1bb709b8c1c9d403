"""The pictures of docs/measured/calls.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from benchmarks import growth
from benchmarks.curves import size
from benchmarks.results import Point

INK, GREY, RULE = "#1f2328", "#59636e", "#e3e7eb"
COLOURS = {"tenter": "#2563eb", "PyTorch": "#db2777", "NumPy": "#0f9d78", "OpenCV": "#e08a00", "Pillow": "#7c5cc4"}
CYCLE = ("#2563eb", "#db2777", "#0f9d78", "#e08a00")
UNITS = ((1e3, "s"), (1, "ms"), (1e-3, "µs"))  # in milliseconds
FONT: Any = {"font.size": 8, "text.color": INK, "axes.labelcolor": GREY, "xtick.color": GREY, "ytick.color": GREY}


def latency(found: list[Point], path: Path) -> None:
    """A panel per operation, tenter beside its peers."""
    panels = list(dict.fromkeys(p.panel for p in found))
    columns = 4
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(FONT):
        figure = Figure((2.6 * columns, 2.2 * rows + 0.4), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        handles: dict[str, Any] = {}
        for axes, panel in zip(grid, panels):
            of = [p for p in found if p.panel == panel and not p.forward.failed]
            quiet(axes, panel)
            handles |= {name: axes.plot(*line, color=COLOURS[name], lw=1.3, marker="o", ms=2.4)[0]
                        for name, line in lines(of).items()}  # fmt: skip
            binary(axes)
            times(axes)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes in grid[::columns]:
            axes.set_ylabel("time a call")
        figure.supxlabel("size of the input", fontsize=8, color=GREY)
        figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=5, frameon=False)
        save(figure, path)


def lines(of: list[Point]) -> dict[str, tuple[list[float], list[float]]]:
    """Where and how many milliseconds: tenter's line, and one per peer."""
    found = {"tenter": ([p.at for p in of], [p.forward.ours_ms for p in of])}
    for peer in dict.fromkeys(name for p in of for name in p.forward.contests):
        fought = [p for p in of if peer in p.forward.contests and not p.forward.contests[peer].failed]
        found[peer] = ([p.at for p in fought], [p.forward.contests[peer].peer_ms for p in fought])
    return found


TITLES = {
    growth.ELEMENTS: "Size of the result",
    growth.SCALE: "Scale factor of (1, 3, 512, 512)",
    growth.DIMS: "Dims that share 2¹⁸ elements, 2²⁴ in the result",
    growth.THREADS: "Threads",
}


def growths(found: list[Point], path: Path) -> None:
    """Four panels; a colour per operation, tenter's line solid, PyTorch's dashed."""
    with matplotlib.rc_context(FONT):
        figure = Figure((12, 7), layout="constrained")
        for axes, (panel, title) in zip(figure.subplots(2, 2).ravel(), TITLES.items()):
            quiet(axes, title)
            of = [p for p in found if p.panel == panel and not p.forward.failed]
            for colour, name in zip(CYCLE, dict.fromkeys(p.name for p in of)):
                for who, line in lines([p for p in of if p.name == name]).items():
                    ours = who == "tenter"
                    axes.plot(*line, color=colour, lw=1.4, ls="-" if ours else (0, (3, 2)), marker="o", ms=2.6,
                              label=name if ours else None)  # fmt: skip
            if panel == growth.ELEMENTS:
                binary(axes)
            else:
                ticks(axes, sorted({p.at for p in of}), log=panel != growth.DIMS)
            times(axes)
            axes.set_ylabel("time a call")
            axes.legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
        figure.suptitle("tenter: solid lines.  PyTorch: dashed lines.", fontsize=10, color=INK)
        save(figure, path)


def quiet(axes: Any, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=8.5, color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(RULE)
    axes.tick_params(length=0, which="both")
    axes.grid(color=RULE, lw=0.6)


def binary(axes: Any) -> None:
    """Sizes in bytes along x."""
    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    axes.set_xticks([4.0**k for k in range(1, 20, 2) if low <= 4.0**k <= high])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: size(n)))
    axes.xaxis.set_minor_locator(NullLocator())


def ticks(axes: Any, at: list[float], log: bool) -> None:
    if log:
        axes.set_xscale("log", base=2)
    axes.set_xticks(at, [f"{n:g}" for n in at])
    axes.xaxis.set_minor_locator(NullLocator())


def times(axes: Any) -> None:
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(10, (1,) if high / low > 100 else (1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ms, _: duration(ms)))
    axes.yaxis.set_minor_formatter(NullFormatter())


def duration(ms: float) -> str:
    for unit, name in UNITS:
        if ms >= 0.999 * unit:
            return f"{ms / unit:.3g} {name}"
    return f"{ms * 1e6:.3g} ns"


def save(figure: Figure, path: Path) -> None:
    figure.savefig(path, dpi=160, facecolor="white", metadata={"Software": None})
