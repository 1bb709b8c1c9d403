"""Draws the pictures of the cookbook's pages: `python docs/cookbook/figures.py`.

A picture has rows of cells, and lines from each cell of the first row to what is made of it. Values and lines are
computed: lines are the entries of an axis map, values the results of the calls that the page shows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

import tenter
from tenter import maps, ragged

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))
from pictures import BORDER, CELL_H, CELL_W, GAP, GRAY, INK, OVERSAMPLE, PALETTE, WHITE, Canvas, hexed  # noqa: E402

WIDTH, LABEL, TOP, STEP = 640, 165, 18, 70  # CSS pixels: of the picture, left of the cells, above them, from row to row
NOTHING = -1  # the input of a cell that none is read for


class Row(NamedTuple):
    """label; a text for each cell, and the input whose color it has. hollow: the memory of the input."""

    label: str
    cells: Sequence[Any]
    inputs: Sequence[int]
    hollow: bool = False


def copied(label: str, values: Any, by: maps.AxisMap, inputs: Sequence[int], hollow: bool = False) -> Row:
    """A row that the map makes; inputs: the color of each of its inputs."""
    return Row(label, values, [inputs[i] for i in by.dense().argmax(1)], hollow)


def sentence_labels() -> tuple[list[Row], Any]:
    labels, tokens = np.array([7, 4, 9]), [3, 0, 2]
    by = maps.Copy.counts(tokens)
    made = tenter.repeat_interleave(labels, tokens)
    return [Row("labels", labels, range(3)), copied("a label for each token", made, by, range(3))], by.dense()


def spans() -> tuple[list[Row], Any]:
    starts, ends, n = np.array([1, 4]), np.array([3, 5]), 6
    each = ragged.spans_to_mask(starts[:, None], ends[:, None], n)
    inside = np.where(each.any(0), each.argmax(0), NOTHING)
    texts = [f"{s}:{e}" for s, e in zip(starts, ends, strict=True)]
    return [Row("spans", texts, range(2)),
            Row("mask over six tokens", ragged.spans_to_mask(starts, ends, n).astype(int), inside)], each.T  # fmt: skip


def beams() -> tuple[list[Row], Any]:
    by = maps.Copy.every(2, 3)
    return [Row("states", ["A", "B"], range(2)),
            copied("three beams each", tenter.numpy.repeat(["A", "B"], 3), by, range(2))], by.dense()  # fmt: skip


def attention_masks() -> tuple[list[Row], Any]:
    by = maps.Copy.every(2, 3)
    texts = [f"h{h}" for h in np.tile(np.arange(3), 2)]
    return [Row("masks of sentences", ["A", "B"], range(2)),
            copied("heads, without copies", texts, by, range(2), hollow=True)], by.dense()  # fmt: skip


def grouped_query_attention() -> tuple[list[Row], Any]:
    by = maps.Copy.every(2, 4)
    return [Row("heads of K and V", ["k0", "k1"], range(2)),
            copied("query heads", [f"q{h}" for h in range(8)], by, range(2), hollow=True)], by.dense()  # fmt: skip


def durations() -> tuple[list[Row], Any]:
    x, counts = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 0, 1], [1, 3, 1]])
    frames, lengths = ragged.repeat_padded(x, counts)
    reads = np.full(frames.shape, NOTHING)
    reads[ragged.mask(lengths, frames.shape[1])] = tenter.repeat_interleave(counts.ravel())
    lines = reads.ravel()[:, None] == np.arange(6)
    return [Row("phonemes, two rows", x.ravel(), [0, 1, 2, 0, 1, 2]),
            Row("frames, padded", frames.ravel(), [r if r < 0 else r % 3 for r in reads.ravel()])], lines  # fmt: skip


def packing() -> tuple[list[Row], Any]:
    lengths = np.array([2, 0, 3])
    plan = ragged.Plan(lengths)
    padded = plan.pad(np.arange(1, 6))
    held = np.where(plan.mask(), np.arange(3)[:, None], NOTHING).ravel()
    lines = np.eye(9)[np.flatnonzero(held >= 0)]
    return [Row("padded", padded.ravel(), held), Row("packed", plan.unpad(padded), plan.row_ids)], lines


def graphs() -> tuple[list[Row], Any]:
    edges = ragged.Plan.from_offsets([0, 2, 2, 5])
    messages = np.arange(1, 6)
    return [Row("messages of edges", messages, edges.row_ids),
            Row("sums of nodes", edges.sum(messages), [0, NOTHING, 2])], edges.map.T.dense()  # fmt: skip


def views() -> tuple[list[Row], Any]:
    x = np.array([1, 2, 3])
    by = maps.Copy.cycle(3, 2)
    return [Row("x", x, range(3)),
            copied("expand: x's memory", tenter.expand(x, 2, 3).ravel(), by, range(3), hollow=True),
            copied("repeat: new memory", tenter.repeat(x, 2), by, range(3))], by.dense()  # fmt: skip


PICTURES: dict[str, Callable[[], tuple[list[Row], Any]]] = {
    "sentence-labels": sentence_labels,
    "spans": spans,
    "beams": beams,
    "attention-masks": attention_masks,
    "grouped-query-attention": grouped_query_attention,
    "durations": durations,
    "packing": packing,
    "graphs": graphs,
    "views": views,
}


def draw(rows: list[Row], lines: Any) -> Image.Image:
    """lines: for each cell of the second row, which cells of the first it reads."""
    canvas = Canvas(WIDTH, 2 * TOP + (len(rows) - 1) * STEP + CELL_H)
    canvas.box(0.5, 0.5, WIDTH - 1.5, 2 * TOP + (len(rows) - 1) * STEP + CELL_H - 1.5, 14, WHITE, BORDER)
    starts = [LABEL + (WIDTH - LABEL - TOP - len(r.cells) * (CELL_W + GAP) + GAP) / 2 for r in rows]
    middle = CELL_W / 2
    for o, i in np.argwhere(lines):
        x0, x1 = (start + k * (CELL_W + GAP) + middle for start, k in zip(starts, (i, o), strict=False))
        canvas.curve(x0, TOP + CELL_H - 1, x1, TOP + STEP + 1, 3, color(rows[0].inputs[i]))
    for r, (row, start) in enumerate(zip(rows, starts, strict=True)):
        top = TOP + r * STEP
        canvas.text(TOP, top + CELL_H / 2, row.label, 14, INK, "lm")
        for k, (value, i) in enumerate(zip(row.cells, row.inputs, strict=True)):
            x, hollow = start + k * (CELL_W + GAP), row.hollow or i == NOTHING
            canvas.box(x, top, CELL_W, CELL_H, 7, WHITE if hollow else color(i), color(i), 1.75)
            ink = GRAY if i == NOTHING else INK if hollow or i == 2 else WHITE
            canvas.text(x + middle, top + CELL_H / 2, str(value), 13.5, ink, "mm")
    image = canvas.image.reduce(OVERSAMPLE)
    on_white = Image.new("RGBA", image.size, WHITE)
    on_white.alpha_composite(image)
    return on_white.convert("RGB").quantize(64, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def color(i: int) -> str:
    return BORDER if i == NOTHING else hexed(PALETTE[i])


def main() -> None:
    for name, made in PICTURES.items():
        draw(*made()).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
