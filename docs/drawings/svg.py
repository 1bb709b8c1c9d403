"""Drawings of what operations do, as SVG: cells of inputs and outputs, and lines for the entries of axis maps.

A drawing has rows of panels. The title of a panel is code; it is run, and what it gives is what is drawn. Colors say
which input an output comes from. In a dark scheme the card is dark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

import tenter
from tenter import axis_map, maps

WIDTH, MARGIN, GUTTER, PAD = 760, 14, 12, 12  # CSS pixels, as everything below
CELL_W, CELL_H, GAP = 34, 26, 4
TITLE, NOTE, LINES = 20, 18, 48  # heights: of a line of code, of a note, of the lines between two rows of cells
PALETTE = np.array([[37.0, 99, 235], [219, 39, 119], [245, 166, 35], [22, 163, 74], [124, 58, 237], [8, 145, 178],
                    [190, 80, 40], [100, 116, 139]])  # fmt: skip
STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.code { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.cell { font-weight: 600; text-anchor: middle }
.white { fill: #fff }
.black { fill: #1f2328 }
.dim { fill: #59636e }
.page { fill: #fff; stroke: #d1d9e0 }
.panel { fill: #f6f8fa }
.none { fill: none; stroke: #b3bcc6; stroke-dasharray: 3 3 }
@media (prefers-color-scheme: dark) {
  text, .hollow { fill: #e6edf3 }
  .white { fill: #fff }
  .black { fill: #1f2328 }
  .dim { fill: #9da7b3 }
  .page { fill: #0d1117; stroke: #30363d }
  .panel { fill: #161b22 }
  .none { stroke: #59636e }
}
"""
Names = dict[str, Any]


def n(value: float) -> str:
    """A coordinate, in the same digits everywhere."""
    return f"{value:.1f}".removesuffix(".0")


def hexed(color: Any) -> str:
    return "#" + "".join(f"{round(float(c)):02x}" for c in color)


class Svg:
    def __init__(self) -> None:
        self.parts: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        of = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{n(x)}" y="{n(y)}"{of} xml:space="preserve">{escape(text)}</text>')

    def box(self, x: float, y: float, w: float, h: float, r: float, kind: str = "", look: str = "") -> None:
        of, rounded = f' class="{kind}"' if kind else "", f' rx="{n(r)}"' if r else ""
        self.parts.append(
            f'<rect x="{n(x)}" y="{n(y)}" width="{n(w)}" height="{n(h)}"{rounded}{of}{look and " " + look}/>'
        )

    def cell(self, x: float, y: float, text: str, color: Any, hollow: bool = False, w: float = CELL_W) -> None:
        """color: None for a cell that comes from no input."""
        if color is None:
            self.box(x, y, w, CELL_H, 5, "none")
            ink = "cell dim"
        else:
            fill = "" if hollow else f'fill="{hexed(color)}" '
            look = f'{fill}stroke="{hexed(color)}" stroke-width="1.75"'
            self.box(x, y, w, CELL_H, 5, "panel" if hollow else "", look)  # a hollow cell covers the lines behind it
            light = np.dot(color, [0.299, 0.587, 0.114]) > 140
            ink = "cell hollow" if hollow else "cell black" if light else "cell white"
        self.text(x + w / 2, y + CELL_H / 2 + 4.5, text, ink)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float, color: Any, dashed: bool = False) -> None:
        middle, dash = (y0 + y1) / 2, ' stroke-dasharray="4 3"' if dashed else ""
        self.parts.append(
            f'<path d="M{n(x0)} {n(y0)}C{n(x0)} {n(middle)} {n(x1)} {n(middle)} {n(x1)} {n(y1)}" fill="none" '
            f'stroke="{hexed(color)}" stroke-width="{width:.2f}"{dash}/>'
        )


def number(value: Any) -> str:
    return str(value) if isinstance(value, (str, np.str_)) else f"{value:.3g}".replace("-0.", "-.")


@dataclass
class Lines:
    """code: what is run. by: its map, which must give the same numbers. Lines are the map's entries."""

    code: str
    by: maps.AxisMap
    note: str = ""
    x: str = "x"
    colors: Sequence[Any] = tuple(PALETTE)

    def height(self, names: Names) -> float:
        rows = len(self.shown(names))
        return self.head() + CELL_H + LINES + rows * (CELL_H + GAP) + 6

    def head(self) -> float:
        return 8 + TITLE * len(self.code.split("\n")) + NOTE * bool(self.note)

    def shown(self, names: Names) -> Any:
        y = np.asarray(eval(self.code, names))
        return y.reshape(-1, y.shape[-1])

    def draw(self, svg: Svg, left: float, top: float, width: float, names: Names) -> None:
        x, y, matrix = np.asarray(names[self.x]).ravel(), self.shown(names), self.by.dense()
        if not np.allclose(matrix @ x, y.ravel()):
            raise AssertionError(f"{self.code} gave {y}, its map {matrix @ x}")
        titled(svg, left, top, self.code, self.note)
        hollow = np.may_share_memory(np.asarray(names[self.x]), np.asarray(eval(self.code, names)))
        colors = np.asarray(self.colors[: len(x)], float)
        step = CELL_W + GAP
        starts = [left + (width - len(row) * step + GAP) / 2 for row in (x, y[0])]
        inputs = top + self.head()
        outputs = inputs + CELL_H + LINES
        for o, i in np.argwhere(matrix):
            row, column = divmod(int(o), y.shape[1])
            svg.line(starts[0] + i * step + CELL_W / 2, inputs + CELL_H, starts[1] + column * step + CELL_W / 2,
                     outputs + row * (CELL_H + GAP), max(0.8, 3.2 * min(1, abs(matrix[o, i]))), colors[i],
                     dashed=matrix[o, i] < 0)  # fmt: skip
        for i, value in enumerate(x):
            svg.cell(starts[0] + i * step, inputs, number(value), colors[i])
        for o, value in enumerate(y.ravel()):
            row, column = divmod(o, y.shape[1])
            weights = np.abs(matrix[o])
            blend = weights @ colors / weights.sum() if weights.any() else None
            svg.cell(starts[1] + column * step, outputs + row * (CELL_H + GAP), number(value), blend, hollow)


@dataclass
class Grids:
    """code: what is run on `y`, a matrix, by an operation that copies."""

    code: str
    note: str = ""
    x: str = "y"

    def shown(self, names: Names) -> tuple[Any, Any, Any, bool]:
        x = np.asarray(names[self.x])
        y = np.asarray(eval(self.code, names))
        source = np.asarray(eval(self.code, {**names, self.x: np.arange(x.size).reshape(x.shape)}))
        shared = np.may_share_memory(x, y)
        return *(np.atleast_2d(a) for a in (x, y, source)), shared

    def head(self) -> float:
        return 8 + TITLE * len(self.code.split("\n")) + NOTE * bool(self.note)

    def height(self, names: Names) -> float:
        x, y, _, _ = self.shown(names)
        return self.head() + max(len(x), len(y)) * (CELL_H + GAP) + 10

    def draw(self, svg: Svg, left: float, top: float, width: float, names: Names) -> None:
        x, y, source, shared = self.shown(names)
        titled(svg, left, top, self.code, self.note)
        step, arrow = CELL_W + GAP, 26
        x0 = left + (width - (x.shape[1] + y.shape[1]) * step - arrow) / 2
        y0, colors = top + self.head(), PALETTE
        for (r, c), value in np.ndenumerate(x):
            svg.cell(x0 + c * step, y0 + r * (CELL_H + GAP), number(value), colors[r * x.shape[1] + c])
        svg.text(x0 + x.shape[1] * step + 3, y0 + CELL_H / 2 + 5, "→", "dim")
        x1 = x0 + x.shape[1] * step + arrow
        for (r, c), value in np.ndenumerate(y):
            svg.cell(x1 + c * step, y0 + r * (CELL_H + GAP), number(value), colors[int(source[r, c])], shared)


@dataclass
class Custom:
    """A panel that a function draws: it gets the svg, left, top and width."""

    tall: float
    draws: Callable[[Svg, float, float, float], None]
    code: str = ""
    note: str = ""

    def height(self, names: Names) -> float:
        return self.tall + self.head()

    def head(self) -> float:
        return 8 + TITLE * bool(self.code) + NOTE * bool(self.note)

    def draw(self, svg: Svg, left: float, top: float, width: float, names: Names) -> None:
        titled(svg, left, top, self.code, self.note)
        self.draws(svg, left, top + self.head(), width)


def titled(svg: Svg, left: float, top: float, code: str, note: str) -> None:
    lines = code.split("\n") if code else []
    for k, line in enumerate(lines):
        svg.text(left + PAD, top + 20 + k * TITLE, line, "code")
    if note:
        svg.text(left + PAD, top + 15 + len(lines) * TITLE, note, "dim")


@dataclass
class Figure:
    """says: the drawing in words, for readers who do not see it. setup: code that is shown above, and run first."""

    says: str
    setup: str
    rows: list[list[Any]]
    names: Names = field(default_factory=dict)

    def svg(self) -> str:
        names: Names = {**vars(tenter), "np": np, "axis_map": axis_map, "maps": maps, "tenter": tenter}
        exec(self.setup, names)
        svg, top = Svg(), MARGIN
        if self.setup:
            for line in self.setup.split("\n"):
                svg.text(MARGIN + 2, top + 14, line, "code dim")
                top += 20
            top += 6
        for row in self.rows:
            width = (WIDTH - 2 * MARGIN - (len(row) - 1) * GUTTER) / len(row)
            height = max(panel.height(names) for panel in row)
            for k, panel in enumerate(row):
                left = MARGIN + k * (width + GUTTER)
                svg.box(left, top, width, height, 8, "panel")
                panel.draw(svg, left, top, width, names)
            top += height + GUTTER
        height = top - GUTTER + MARGIN
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {n(height)}" width="{WIDTH}" '
            f'height="{n(height)}" role="img">\n<title>{escape(self.says)}</title>\n<style>{STYLE}</style>'
        )
        page = f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{n(height - 1)}" rx="10" class="page"/>'
        return "\n".join([head, page, *svg.parts, "</svg>", ""])
