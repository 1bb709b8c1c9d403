"""Draws docs/operations.png, the picture at the top of the README: `python docs/pictures.py`.

The title of a panel is the code that computes its numbers. Its lines are the entries of an axis map, which must give
the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

import tenter
from tenter import axis_map, maps

Floats = npt.NDArray[np.float64]

WIDTH, MARGIN, GUTTER, PAD = 900, 18, 12, 14  # CSS pixels, as everything below
CARD_W, CARD_H, HEADING = (WIDTH - 2 * MARGIN - 2 * GUTTER) / 3, 177, 33
CELL_W, CELL_H, GAP = 36, 30, 6
INPUTS, OUTPUTS_END = 57, CARD_H - 13  # where in a card the inputs start and the outputs end
DENSITY, OVERSAMPLE = 2, 3  # pixels per CSS pixel; drawn this much larger again, for smooth edges
SCALE = DENSITY * OVERSAMPLE
INK, GRAY, BORDER, CARD, WHITE = "#1f2328", "#59636e", "#d1d9e0", "#f6f8fa", "#ffffff"
PALETTE = np.array([[37.0, 99, 235], [219, 39, 119], [245, 166, 35]])  # of x: blue, magenta, amber
SIX = tenter.interpolate(PALETTE.T[None], 6, mode="linear", align_corners=True)[0].T


@dataclass(frozen=True)
class Panel:
    code: str  # the title, evaluated; a line break splits it
    map: maps.AxisMap
    note: str = ""
    same: str = ""  # code that must give the same result; shown after the note
    colors: tuple[Floats, ...] = tuple(PALETTE)  # of the inputs
    x: str = "x"


COUNTS = maps.Copy.counts([1, 3, 2])
# For each row: the heading, code that is shown and run before the panels, and the panels.
ROWS = [
    ("Repeat each element or the whole array, or expand without a copy", "x = np.array([10.0, 20.0, 30.0])", [
        Panel("repeat_interleave(x, 2)", maps.Copy.every(3, 2), "each element twice, like", "np.repeat(x, 2)"),
        Panel("repeat(x, 2)", maps.Copy.cycle(3, 2), "the whole array twice, like", "tile(x, 2)"),
        Panel("expand(x, 2, 3)", maps.Copy.cycle(3, 2), "a view: two rows, no copy"),
    ]),
    ("Interpolate to any size", "s = x[None, None]  # batch, channel, width", [
        Panel('interpolate(s, 5, mode="nearest")', axis_map(3, 5, "nearest"), "input at a cell's left edge"),
        Panel('interpolate(s, 5, mode="nearest-exact")', axis_map(3, 5, "nearest-exact"), "input at a cell's center"),
        Panel('interpolate(s, 5, mode="linear")', axis_map(3, 5, "linear"), "the two nearest inputs, weighted"),
    ]),
    ("Counts, gradients, shrinking", "A = maps.Copy.counts([1, 3, 2]);  g = np.arange(1.0, 7.0)", [
        Panel("repeat_interleave(x, [1, 3, 2])", COUNTS, "a count for each element, like", "A.apply(x, 0)"),
        Panel("A.T.apply(g, 0)", COUNTS.T, "its gradient, for gradients g of the outputs",
              colors=tuple(COUNTS.apply(PALETTE, 0)), x="g"),
        Panel('interpolate(g[None, None], 3,\nmode="linear", antialias=True)',
              axis_map(6, 3, "linear", antialias=True), colors=tuple(SIX), x="g"),
    ]),
]  # fmt: skip
FOOTER = "Lines are the entries of the operation's sparse matrix, wider for more weight. The gradient is its transpose."


class Canvas:
    """Draws in CSS pixels."""

    def __init__(self, width: float, height: float) -> None:
        self.image = Image.new("RGBA", (round(width * SCALE), round(height * SCALE)))
        self.draw = ImageDraw.Draw(self.image)

    def text(self, x: float, y: float, text: str, size: float, fill: str, anchor: str = "ls") -> None:
        font = ImageFont.load_default(size=size * SCALE)
        self.draw.text((x * SCALE, y * SCALE), text, fill, font, anchor)

    def box(self, x: float, y: float, w: float, h: float, r: float, fill: str, outline: str, line: float = 1) -> None:
        box = [round(v * SCALE) for v in (x, y, x + w, y + h)]
        self.draw.rounded_rectangle(box, r * SCALE, fill, outline, round(line * SCALE))

    def curve(self, x0: float, y0: float, x1: float, y1: float, width: float, fill: str) -> None:
        t = np.linspace(0, 1, 65)
        middle = np.stack([x0 + (x1 - x0) * t * t * (3 - 2 * t), y0 + (y1 - y0) * t], axis=1)
        along = np.stack([(x1 - x0) * 6 * t * (1 - t), np.full_like(t, y1 - y0)], axis=1)
        across = along[:, ::-1] * [-1, 1] / np.linalg.norm(along, axis=1, keepdims=True) * width / 2
        outline = np.concatenate([middle + across, (middle - across)[::-1]])
        self.draw.polygon((outline * SCALE).ravel().tolist(), fill)


def hexed(color: Floats) -> str:
    return "#" + "".join(f"{round(c):02x}" for c in color)


def cells(canvas: Canvas, values: Floats, colors: Floats, left: float, top: float, hollow: bool) -> None:
    for k, (value, color) in enumerate(zip(values, colors, strict=True)):
        x, fill = left + k * (CELL_W + GAP), hexed(color)
        canvas.box(x, top, CELL_W, CELL_H, 7, WHITE if hollow else fill, fill, 1.75)
        text = INK if hollow or color @ [0.299, 0.587, 0.114] > 140 else WHITE
        canvas.text(x + CELL_W / 2, top + CELL_H / 2, f"{value:.3g}", 13.5, text, "mm")


def panel(canvas: Canvas, p: Panel, left: float, top: float, names: dict[str, Any]) -> None:
    x, y = names[p.x], eval(p.code, names)
    matrix, colors = p.map.dense(), np.array(p.colors)
    if not np.allclose(matrix @ x, y.ravel()) or (p.same and not np.array_equal(y, eval(p.same, names))):
        raise AssertionError(f"{p.code} gave {y}, its map {matrix @ x}")

    canvas.box(left, top, CARD_W, CARD_H, 10, CARD, CARD)
    code, _, more = p.code.partition("\n")
    canvas.text(left + PAD, top + 23, code, 14.5, INK)
    canvas.text(left + PAD, top + 42, *((more, 14.5, INK) if more else (f"{p.note} {p.same}", 13, GRAY)))

    rows, step = y.reshape(-1, y.shape[-1]), CELL_H + GAP
    starts = [left + (CARD_W - n * (CELL_W + GAP) + GAP) / 2 for n in (len(x), rows.shape[1])]
    inputs, outputs = top + INPUTS, top + OUTPUTS_END - len(rows) * step + GAP
    for o, i in np.argwhere(matrix):
        row, column = divmod(int(o), rows.shape[1])
        ends = [start + k * (CELL_W + GAP) + CELL_W / 2 for start, k in zip(starts, (i, column), strict=True)]
        width = max(0.8, 3.2 * matrix[o, i])
        canvas.curve(ends[0], inputs + CELL_H - 1, ends[1], outputs + row * step + 1, width, hexed(colors[i]))
    mixed = matrix @ colors / matrix.sum(1, keepdims=True)
    cells(canvas, x, colors, starts[0], inputs, hollow=False)
    for k, (values, blend) in enumerate(zip(rows, mixed.reshape(*rows.shape, 3), strict=True)):
        cells(canvas, values, blend, starts[1], outputs + k * step, hollow=np.may_share_memory(x, y))


def drawn() -> Image.Image:
    height = MARGIN + len(ROWS) * (HEADING + CARD_H + 8) + 24
    canvas = Canvas(WIDTH, height)
    canvas.box(0.5, 0.5, WIDTH - 1.5, height - 1.5, 14, WHITE, BORDER)
    names: dict[str, Any] = {**vars(tenter), "np": np}  # for the code of the panels
    for r, (heading, code, panels) in enumerate(ROWS):
        exec(code, names)
        top = MARGIN - 4 + r * (HEADING + CARD_H + 8)
        canvas.text(MARGIN + 2, top + 20, heading, 17, INK)
        canvas.text(WIDTH - MARGIN - 2, top + 20, code, 13.5, GRAY, "rs")
        for k, p in enumerate(panels):
            panel(canvas, p, MARGIN + k * (CARD_W + GUTTER), top + HEADING, names)
    canvas.text(WIDTH / 2, height - 15, FOOTER, 13, GRAY, "ms")
    image = canvas.image.reduce(OVERSAMPLE)
    small = image.convert("RGB").quantize(255, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.putpalette([*(small.getpalette() or ()), 255, 255, 255])  # color 255: outside the rounded corners
    small.paste(255, mask=image.getchannel("A").point([255] * 128 + [0] * 128))
    return small


def main() -> None:
    drawn().save(Path(__file__).with_name("operations.png"), optimize=True, transparency=255)


if __name__ == "__main__":
    main()
