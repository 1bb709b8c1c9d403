"""Small arrays as cells: the label of each, and the color that its sources give it. Text and figures draw them."""

from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.types import Array
from tenter._explain.facts import Facts
from tenter.maps import AxisMap
from tenter.maps._drawing import Color, colors, mixture
from tenter.maps._entries import row

# Rows and columns of an array that are drawn.
MOST_ROWS, MOST_COLUMNS = 8, 16


class Grid(NamedTuple):
    """The cells of an array.

    labels: rows of cells
    paints: their colors; None where nothing is read
    more: what is not drawn, in words
    """

    labels: list[list[str]]
    paints: list[list[Color | None]]
    more: str


def grids(facts: Facts) -> tuple[Grid, Grid] | None:
    """Returns the grids of the input and the result; None if they are too large."""
    if facts.shown is None:
        return None
    values, result = facts.shown
    shape = facts.made.x.shape or (1,)
    sources = _sources(facts, shape)
    painted: Any = np.empty(shape, object)
    for at in np.ndindex(*shape):
        painted[at] = sources[at]
    paints = painted
    for axis, m in facts.maps:
        paints = _mapped(paints, axis, m)
    return _grid(values, painted.reshape(values.shape)), _grid(result, paints.reshape(result.shape))


def _sources(facts: Facts, shape: tuple[int, ...]) -> Any:
    """Returns a color for each position along the axes that have a map."""
    axes = [axis for axis, _ in facts.maps if shape[axis] > 1]
    if not axes:
        axes = [d for d, n in enumerate(shape) if n > 1]
    lengths = [shape[axis] for axis in axes]
    scale = colors(int(np.prod(lengths, dtype=int)), facts.mixes)
    found: Any = np.empty(shape, object)
    for at in np.ndindex(*shape):
        k = 0
        for axis, n in zip(axes, lengths):
            k = k * n + at[axis]
        found[at] = scale[k]
    return found


def _mapped(paints: Any, axis: int, m: AxisMap) -> Any:
    """Returns the colors after a map along an axis."""
    moved = np.moveaxis(paints, axis, 0)
    before: Any = moved.reshape(m.n_in, -1)
    after: Any = np.empty((m.n_out, before.shape[1]), object)
    for o in range(m.n_out):
        taps = row(m, o, m.n_in).taps
        for k in range(before.shape[1]):
            parts = [(before[i, k], w) for i, w in taps if before[i, k] is not None]
            after[o, k] = mixture(parts) if parts else None
    return np.moveaxis(after.reshape(m.n_out, *moved.shape[1:]), 0, axis)


def _grid(values: Array, paints: Any) -> Grid:
    """Returns the grid of the first slice of the last two dims. Numbers have four digits."""
    front = values.shape[:-2]
    where = "[" + ", ".join(["0"] * len(front)) + "]" if any(n > 1 for n in front) else ""
    more = f"the slice {where} of shape {tuple(values.shape[len(front) :])}" if where else ""
    for _ in front:
        values, paints = values[0], paints[0]
    values, paints = np.atleast_2d(values), np.atleast_2d(paints)
    rows, columns = values.shape
    if rows > MOST_ROWS or columns > MOST_COLUMNS:
        shown = f"its first {min(rows, MOST_ROWS)} rows and {min(columns, MOST_COLUMNS)} columns"
        more = f"{more}, {shown}" if more else shown
    values, paints = values[:MOST_ROWS, :MOST_COLUMNS], paints[:MOST_ROWS, :MOST_COLUMNS]
    return Grid([[label(v) for v in line] for line in values.tolist()], [list(line) for line in paints], more)


def label(value: Any) -> str:
    """A value in few characters.

    >>> label(0.714285), label(3.0), label(True), label("abcdefghijk")
    ('0.714', '3', 'True', 'abcdefg…')
    """
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, complex):
        return f"{value:.2g}"
    words = str(value)
    words = "".join([c if c.isprintable() else "?" for c in words])
    return words if len(words) <= 8 else words[:7] + "…"
