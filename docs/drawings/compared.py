"""Conventions of libraries side by side: positions of outputs, weights of inputs, and the resulting pixels."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from drawings.svg import PALETTE, WIDTH, Custom, Figure, Svg, hexed, n

import tenter
from tenter.conventions import PRESETS
from tenter.geometry import Geometry

LABEL = 104  # left of the columns
COLUMN = (WIDTH - 28 - LABEL - 10) / len(PRESETS)
#: 12 x 12: a ring, and a line of single pixels across
RING = np.array([[255 if abs(np.hypot(r - 5.5, c - 5.5) - 4) < 0.7 else 40 for c in range(12)] for r in range(12)])
PICTURE = np.where(np.eye(12) > 0, 150, RING).astype(float)


def alignments() -> Figure:
    def drawn(align: str) -> Custom:
        def draw(svg: Svg, left: float, top: float, width: float) -> None:
            for n_in, n_out, x0, cell in ((4, 6, left + 24, 58), (6, 3, left + 390, 50)):
                for i in range(n_in):
                    svg.box(x0 + i * cell, top, cell - 2, 24, 3, "", f'fill="{hexed(PALETTE[0])}" fill-opacity=".3"')
                    svg.text(x0 + (i + 0.5) * cell - 1, top + 17, str(i), "cell")
                for o, at in enumerate(Geometry(n_in, n_out, align=align).index()):
                    x = x0 + (at + 0.5) * cell - 1
                    look = f'fill="none" stroke="{hexed(PALETTE[1])}" stroke-width="2"'
                    svg.parts.append(f'<path d="M{n(x)} {n(top + 24)}V{n(top + 40)}" {look}/>')
                    look = f'fill="{hexed(PALETTE[1])}"'
                    svg.parts.append(f'<circle cx="{n(x)}" cy="{n(top + 50)}" r="10" {look}/>')
                    svg.text(x, top + 54.5, str(o), "cell white")

        notes = {"half_pixel": "the edges of the axes line up: PyTorch, Pillow, OpenCV, scikit-image, JAX, ONNX",
                 "align_corners": "the centers of the corner pixels line up: align_corners=True, SciPy's zoom",
                 "asymmetric": "index 0 is index 0: nearest of PyTorch and OpenCV"}  # fmt: skip
        return Custom(70, draw, f'align="{align}"', notes[align])

    says = "Positions of outputs in the input, for 4 to 6 and 6 to 3 pixels, by three alignments"
    return Figure(says, "", [[drawn(align)] for align in ("half_pixel", "align_corners", "asymmetric")])


def columns(svg: Svg, left: float, top: float) -> None:
    for k, library in enumerate(PRESETS):
        svg.text(left + LABEL + k * COLUMN + 2, top + 14, library, "dim")


def matrix(svg: Svg, left: float, top: float, m: Any, size: float, numbers: bool = False) -> None:
    """A cell for each entry, the stronger the larger; magenta for negative entries."""
    w, h = (k * size - 1.5 for k in m.shape[::-1])
    svg.box(left, top, w, h, 1.5, "", f'fill="none" stroke="{hexed(PALETTE[0])}" stroke-opacity=".6"')
    for r, c in np.argwhere(m):
        w = m[r, c]
        color = hexed(PALETTE[0] if w >= 0 else PALETTE[1])
        x, y = left + c * size, top + r * size
        look = f'fill="{color}" fill-opacity="{min(1, abs(w)):.2f}" stroke="{color}" stroke-opacity=".25"'
        svg.box(x, y, size - 1.5, size - 1.5, 1.5, "", look)
        if numbers:
            shown = str(Fraction(float(w)).limit_denominator(12))
            svg.text(x + size / 2 - 1, y + size / 2 + 4, shown, "cell white" if abs(w) > 0.6 else "cell")


def weights() -> Figure:
    rows = [(6, 3, m) for m in ("nearest", "nearest-exact", "linear", "cubic", "area")]
    rows += [(4, 6, m) for m in ("nearest", "linear", "cubic")]
    size = 11.5

    def panel(n_in: int, n_out: int, modes: list[str]) -> Custom:
        step = n_out * size + 12

        def draw(svg: Svg, left: float, top: float, width: float) -> None:
            columns(svg, left, top)
            for r, mode in enumerate(modes):
                y = top + 24 + r * step
                svg.text(left + 12, y + 14, mode)
                for k, (library, how) in enumerate(PRESETS.items()):
                    x = left + LABEL + k * COLUMN
                    if how.modes and mode not in how.modes:
                        svg.text(x + 4, y + 14, "-", "dim")
                    else:
                        found = tenter.axis_map(n_in, n_out, mode, like=library).dense()  # type: ignore[arg-type]
                        matrix(svg, x + 2, y, np.where(np.abs(found) < 5e-4, 0, found), size)

        note = "a row for each output, a column for each input; stronger for more weight, magenta where it is negative"
        return Custom(24 + len(modes) * step, draw, f"{n_in} -> {n_out}", note)

    by_size: dict[tuple[int, int], list[str]] = {}
    for n_in, n_out, mode in rows:
        by_size.setdefault((n_in, n_out), []).append(mode)
    says = "The weights of eight libraries' conventions in five modes, as matrices"
    return Figure(says, "", [[panel(*sizes, modes)] for sizes, modes in by_size.items()])


def pixels() -> Figure:
    cell, out = 10.0, 7

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        columns(svg, left, top)
        for r, mode in enumerate(("nearest", "linear", "cubic", "area")):
            y = top + 24 + r * (out * cell + 10)
            svg.text(left + 12, y + 14, mode)
            reference = tenter.resize(PICTURE, (out, out), mode=mode)
            for k, (library, how) in enumerate(PRESETS.items()):
                x = left + LABEL + k * COLUMN + 2
                if how.modes and mode not in how.modes:
                    svg.text(x + 2, y + 14, "-", "dim")
                    continue
                made = tenter.resize(PICTURE, (out, out), mode=mode, like=library)
                grays(svg, x, y, made, cell, np.abs(made - reference) > 25)

    def picture(svg: Svg, left: float, top: float, width: float) -> None:
        grays(svg, left + LABEL, top, PICTURE, cell, np.zeros((12, 12), bool))
        svg.text(left + 12, top + 14, "picture")
        for k, line in enumerate(("12 x 12 pixels, each result 7 x 7.", "Framed: more than 25 levels of 255",
                                  "from what tenter's own rules give.")):  # fmt: skip
            svg.text(left + LABEL + 140, top + 14 + k * 20, line, "dim")

    tall = 24 + 4 * (out * cell + 10)
    call = Custom(tall, draw, "tenter.resize(picture, (7, 7), mode=mode, like=library)", "")
    says = "A picture of a ring shrunk by eight libraries' conventions in four modes: most results differ"
    return Figure(says, "", [[Custom(12 * cell + 8, picture)], [call]])


def grays(svg: Svg, left: float, top: float, values: Any, cell: float, framed: Any) -> None:
    for (r, c), v in np.ndenumerate(values):
        level = round(float(np.clip(v, 0, 255)))
        svg.box(left + c * cell, top + r * cell, cell + 0.2, cell + 0.2, 0, "", f'fill="{hexed([level] * 3)}"')
    for r, c in np.argwhere(framed):
        look = f'fill="none" stroke="{hexed(PALETTE[1])}" stroke-width="1" stroke-opacity=".8"'
        svg.box(left + c * cell + 1, top + r * cell + 1, cell - 2, cell - 2, 1, "", look)
