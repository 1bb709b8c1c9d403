"""What an output of a resampled signal costs against the signal's length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from benchmarks.plots import FONT, GREY, quiet, save
from benchmarks.race import OURS, Drawn

FLOAT32 = 4  # bytes of an output
REPEATED = "tenter, the same call again"
COLOURS = {OURS: "#2563eb", REPEATED: "#2563eb", "PyTorch": "#db2777", "np.interp": "#0f9d78",
           "resample_poly": "#e08a00"}  # fmt: skip
LABELS = {OURS: "tenter, each call new", "resample_poly": "SciPy resample_poly (another filter)"}


def draw(found: list[Drawn], path: Path) -> None:
    """A panel for each kind and ratio; a name is "linear to 0.92, 1,000"."""
    panels = list(dict.fromkeys(panel(one) for one in found))
    columns = 3
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(FONT):
        figure = Figure((3.6 * columns, 2.7 * rows + 0.5), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        handles: dict[str, Any] = {}
        for axes, name in zip(grid, panels):
            quiet(axes, name)
            for who, points in lines([one for one in found if panel(one) == name and not one.failed]).items():
                style = {"ls": (0, (3, 2)), "lw": 1.1} if who == REPEATED else {"lw": 1.5, "marker": "o", "ms": 2.6}
                handles[who] = axes.plot(*points, color=COLOURS[who], **style)[0]
            scales(axes)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for axes in grid[::columns]:
            axes.set_ylabel("nanoseconds an output")
        figure.supxlabel("samples in", fontsize=8, color=GREY)
        shown = [LABELS.get(who, who) for who in handles]
        figure.legend(handles.values(), shown, loc="outside upper center", ncols=5, frameon=False)
        save(figure, path)


def panel(one: Drawn) -> str:
    """The name without the length, whose thousands are set off by commas alone."""
    return one.name.rpartition(", ")[0]


def lines(of: list[Drawn]) -> dict[str, tuple[list[float], list[float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for one in of:
        outputs = one.output / FLOAT32
        found.setdefault(OURS, []).append((one.at, one.ours_ms * 1e6 / outputs))
        found.setdefault(REPEATED, []).append((one.at, one.again_ms * 1e6 / outputs))
        for name, c in one.contests.items():
            if not c.failed:
                found.setdefault(name, []).append((one.at, c.peer_ms * 1e6 / outputs))
    return {name: (list(x), list(y)) for name, points in found.items() for x, y in [zip(*points)]}


def scales(axes: Any) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(10, numticks=12))
    axes.xaxis.set_minor_locator(NullLocator())
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(10, (1,) if high / low > 100 else (1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda ns, _: f"{ns:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
