"""Ragged and lazy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawings.svg import CELL_H, CELL_W, GAP, PALETTE, Custom, Figure, Lines, Svg, number

import tenter
from tenter import maps, ragged as rows_of

LENGTHS = np.array([2, 0, 3])
X = np.array([1.0, 2.0, 3.0, 4.0, 6.0])
STEP = CELL_W + GAP


def row(svg: Svg, left: float, top: float, label: str, values: Any, colors: Any, hollow: bool = False) -> None:
    svg.text(left + 12, top + CELL_H / 2 + 4.5, label, "dim")
    for k, (value, color) in enumerate(zip(values, colors, strict=True)):
        svg.cell(left + 110 + k * STEP, top, number(value), color, hollow)


def ragged() -> Figure:
    colors = PALETTE[rows_of.row_ids(LENGTHS)]

    def described(svg: Svg, left: float, top: float, width: float) -> None:
        for k, (label, values) in enumerate({"x": X, "row_ids": rows_of.row_ids(LENGTHS),
                                             "positions": rows_of.positions(LENGTHS)}.items()):  # fmt: skip
            row(svg, left, top + k * (CELL_H + 6), label, values, colors, hollow=k > 0)
        y = top + 3 * (CELL_H + 6)
        svg.text(left + 12, y + 18, "offsets", "dim")
        offsets = rows_of.offsets(LENGTHS).tolist()
        for at in sorted(set(offsets)):
            x = left + 110 + at * STEP - GAP / 2
            svg.parts.append(f'<path d="M{x:.0f} {top - 3:.0f}V{y + 4:.0f}" class="none"/>')
            svg.text(x, y + 18, " ".join([str(at)] * offsets.count(at)), "cell")

    def padded(svg: Svg, left: float, top: float, width: float) -> None:
        held = rows_of.mask(LENGTHS)
        for (r, c), value in np.ndenumerate(rows_of.pad(X, LENGTHS)):
            color = PALETTE[r] if held[r, c] else None
            svg.cell(left + 70 + c * STEP, top + r * (CELL_H + GAP), number(value), color)
            svg.cell(left + 210 + c * STEP, top + r * (CELL_H + GAP), "1" if held[r, c] else "0", color, hollow=True)
        svg.text(left + 72, top + 3 * (CELL_H + GAP) + 14, "pad", "dim")
        svg.text(left + 212, top + 3 * (CELL_H + GAP) + 14, "mask", "dim")

    tall = 4 * (CELL_H + 6)
    return Figure(
        "Rows of 2, 0 and 3 positions: their row ids, positions, offsets, padded form, mask and sums",
        "lengths = np.array([2, 0, 3])\nx = np.array([1.0, 2.0, 3.0, 4.0, 6.0]);  z = np.array([4.0, 5.0, 6.0])",
        [[Custom(tall, described, "ragged.row_ids(lengths), ...", "the second row is empty"),
          Custom(tall, padded, "ragged.pad(x, lengths)", "dashed: padding")],
         [Lines("ragged.segment_sum(x, lengths)", maps.Copy.repeats(LENGTHS).T, "a sum for each row", colors=colors),
          Lines("repeat_interleave(z, lengths)", maps.Copy.repeats(LENGTHS), "its transpose", x="z")]],
    )  # fmt: skip


def lazy() -> Figure:
    x, counts = np.array([0.0, 1.0, 2.0]), [1, 3, 2]
    source = tenter.repeat_interleave(np.arange(3), counts)

    def drawn(through: bool) -> Custom:
        def draw(svg: Svg, left: float, top: float, width: float) -> None:
            s = tenter.lazy.repeat_interleave(x, counts)
            y = np.exp(s)
            stretched = tenter.repeat_interleave(x, counts)
            few, many = PALETTE[:3], PALETTE[source]
            steps: list[tuple[str, Any, Any, bool]] = [("x", x, few, False)]
            if through:
                steps += [("exp, of 3", y.base, few, False), ("what y shows", y.materialize(), many, True)]
            else:
                steps += [("repeated", stretched, many, False), ("exp, of 6", np.exp(stretched), many, False)]
            for k, (label, values, colors, hollow) in enumerate(steps):
                row(svg, left, top + k * (CELL_H + 12), label, values, colors, hollow)

        code = "tenter.lazy.repeat_interleave" if through else "tenter.repeat_interleave"
        note = "hollow: not in memory; y.sum() multiplies by counts" if through else "six elements in memory, twice"
        return Custom(3 * (CELL_H + 12), draw, f"y = np.exp({code}(x, counts))", note)

    says = "With a lazy array the exponential is computed for three elements, not for six"
    return Figure(says, "x = np.array([0.0, 1.0, 2.0]);  counts = [1, 3, 2]", [[drawn(False)], [drawn(True)]])
