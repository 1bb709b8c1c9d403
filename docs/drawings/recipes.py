"""The recipes' figures: batches drawn as batches, a row of cells for each row. Values, colors and lines are computed by
the calls that the pages show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from drawings.svg import CELL_H, CELL_W, GAP, LINES, PAD, PALETTE, Custom, Figure, Svg

import tenter
from tenter import maps, ragged

LABEL, BETWEEN = 190.0, 16.0  # width of a block's label; height between blocks without lines


@dataclass
class Block:
    """cells: texts by row and column. inputs: the input whose color each cell has; -1: none. lines: a matrix from the
    cells of the block before to the cells of this one; both blocks have one row then."""

    label: str
    cells: Any
    inputs: Any
    hollow: bool = False
    lines: Any = None

    def height(self) -> float:
        return len(self.cells) * (CELL_H + GAP) - GAP


def figure(says: str, blocks: list[Block]) -> Figure:
    tall = sum(block.height() + (BETWEEN if block.lines is None else LINES) for block in blocks)

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        y, before = top + 4, 0.0
        start = left + PAD + LABEL
        for block in blocks:
            y += 0 if y == top + 4 else (BETWEEN if block.lines is None else LINES)
            if block.lines is not None:
                for o, i in np.argwhere(block.lines):
                    middles = [start + k * (CELL_W + GAP) + CELL_W / 2 for k in (i, o)]
                    svg.line(middles[0], before, middles[1], y, 2.0, color(np.ravel(block.inputs)[o], i))
            for k, line in enumerate(block.label.split("\n")):
                svg.text(left + PAD, y + 17 + 18 * k, line, "" if k == 0 else "dim")
            for (r, c), text in np.ndenumerate(np.asarray(block.cells, object)):
                shown = PALETTE[k] if (k := int(np.asarray(block.inputs)[r, c])) >= 0 else None
                x = start + c * (CELL_W + GAP)
                svg.cell(x, y + r * (CELL_H + GAP), str(text), shown, hollow=block.hollow and k >= 0)
            y += block.height()
            before = y

    return Figure(says, "", [[Custom(tall, draw)]])


def color(of_output: int, i: int) -> Any:
    return PALETTE[of_output if of_output >= 0 else i]


def row(values: Any) -> Any:
    return np.asarray(values, object)[None]


def sentence_labels() -> Figure:
    labels, tokens = np.array([7, 4, 9]), [3, 0, 2]
    by = maps.Copy.repeats(tokens)
    return figure(
        "The label of each sentence is repeated for its tokens; the second sentence has none",
        [Block("label of each sentence", row(labels), row(range(3))),
         Block("label of each token", row(tenter.repeat_interleave(labels, tokens)), row(by.dense().argmax(1)),
               lines=by.dense())])  # fmt: skip


def spans() -> Figure:
    starts, ends, n = np.array([1, 4]), np.array([3, 5]), 6
    each = ragged.spans_to_mask(starts[:, None], ends[:, None], n)
    inside = np.where(each.any(0), each.argmax(0), -1)
    rows = np.where(each, np.arange(2)[:, None], -1)
    texts = np.where(each, "", "").astype(object)
    for k, (s, e) in enumerate(zip(starts, ends, strict=True)):
        texts[k, s:e] = f"{s}:{e}"
    return figure(
        "Two spans above the tokens that they cover, and the mask",
        [Block("spans", texts, rows), Block("token", row(range(n)), row(inside), hollow=True),
         Block("mask", row(ragged.spans_to_mask(starts, ends, n).astype(int)), row(inside))])  # fmt: skip


def beams() -> Figure:
    states = ["A", "B"]
    right, wrong = maps.Copy.repeat_each(2, 3), maps.Copy.tile(2, 3)
    blocks = [Block("states of two sentences", row(states), row(range(2)))]
    for label, by in (("repeat_interleave: right\nbeams kept together", right), ("repeat: wrong order", wrong)):
        i = by.dense().argmax(1)
        blocks.append(Block(label, row(np.asarray(states)[i]), row(i), lines=by.dense() if by is right else None))
    return figure("Three beams for each sentence: repeat_interleave keeps them together, repeat does not", blocks)


def attention_masks() -> Figure:
    masks = np.array([[1, 0], [1, 1]])
    heads = tenter.expand(masks[:, None], -1, 3, -1)
    blocks = [Block("masks (sentence, key)", masks, [[0, 0], [1, 1]])]
    for k in range(2):
        label = f"sentence {k}: heads x keys\na view, no copies"
        blocks.append(Block(label, heads[k], np.full((3, 2), k), hollow=True))
    return figure("The mask of each sentence, seen by its three heads without copies", blocks)


def grouped_query_attention() -> Figure:
    by = maps.Copy.repeat_each(2, 4)
    return figure(
        "Each head of K and V is shared by four query heads",
        [Block("heads of K and V", row(["k0", "k1"]), row(range(2))),
         Block("query heads", row([f"q{h}" for h in range(8)]), row(by.dense().argmax(1)), hollow=True,
               lines=by.dense())])  # fmt: skip


def durations() -> Figure:
    x, counts = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[2, 0, 1], [1, 3, 1]])
    frames, lengths = ragged.repeat_padded(x, counts)
    reads = np.full(frames.shape, -1)
    reads[ragged.mask(lengths, frames.shape[1])] = tenter.repeat_interleave(counts.ravel())
    return figure(
        "Two utterances of three phonemes become two rows of frames; the end of the shorter one is padding",
        [Block("phonemes\n2 utterances x 3", x, np.arange(6).reshape(2, 3)),
         Block("counts", counts, np.arange(6).reshape(2, 3), hollow=True),
         Block("frames, padded\ndashed: padding", frames, reads)])  # fmt: skip


def packing() -> Figure:
    plan = ragged.Plan(np.array([2, 0, 3]))
    padded = plan.pad(np.arange(1, 6))
    held = np.where(plan.mask(), np.arange(3)[:, None], -1)
    return figure(
        "Three padded sequences, the second of them empty, packed in a row, with the offsets of the sequences",
        [Block("padded, 3 sequences\ndashed: padding", padded, held),
         Block("packed", row(plan.unpad(padded)), row(plan.row_ids)),
         Block("positions", row(plan.positions), row(plan.row_ids), hollow=True),
         Block("cu_seqlens", row(plan.offsets), row([-1] * 4))])  # fmt: skip


def graphs() -> Figure:
    edges = ragged.Plan.from_offsets([0, 2, 2, 5])
    messages = np.arange(1, 6)
    return figure(
        "Messages of five edges are summed for three nodes; the second node has no edges",
        [Block("messages of edges", row(messages), row(edges.row_ids)),
         Block("sums of nodes", row(edges.sum(messages)), row([0, -1, 2]), lines=edges.map.T.dense())])  # fmt: skip


def all_recipes() -> dict[str, Figure]:
    made = (sentence_labels, spans, beams, attention_masks, grouped_query_attention, durations, packing, graphs)
    return {f"cookbook/{draw.__name__.replace('_', '-')}": draw() for draw in made}
