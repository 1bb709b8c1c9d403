"""Draws the pages' figures: `python docs/draw.py`; with --check it fails if a committed one differs."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from drawings.compared import alignments, pixels, weights  # noqa: E402
from drawings.idea import composed, kronecker  # noqa: E402
from drawings.recipes import all_recipes  # noqa: E402
from drawings.rows import lazy, ragged  # noqa: E402
from drawings.svg import PALETTE, Figure, Grids, Lines  # noqa: E402

from tenter import axis_map, maps  # noqa: E402

X, Y = "x = np.array([1, 2, 3])", "y = np.array([[1, 2], [3, 4]])"
S = "x = np.array([10.0, 20.0, 30.0]);  s = x[None, None]  # batch, channel, width"
COUNTS = maps.Copy.repeats([1, 3, 2])

FIGURES: dict[str, Figure] = {
    "operations/which-one": Figure(
        "repeat_interleave repeats each element, repeat and tile the whole array, expand is a view of rows",
        f"{X}\n{Y}",
        [[Lines("repeat_interleave(x, 2)", maps.Copy.repeat_each(3, 2),
                "each element: torch.repeat_interleave, np.repeat"),
          Lines("repeat(x, 2)", maps.Copy.tile(3, 2), "the whole array: Tensor.repeat")],
         [Lines("tile(x, 2)", maps.Copy.tile(3, 2), "the same here: torch.tile, np.tile"),
          Lines("expand(x, 2, 3)", maps.Copy.tile(3, 2), "a view, no copy: Tensor.expand, np.broadcast_to")],
         [Grids("repeat_interleave(y, 2, dim=1)", "each column twice"),
          Grids("repeat(y, 1, 2)", "all columns twice: a number for each dim")],
         [Grids("tile(y, 2)", "one number is for the last dim"), Grids("expand(y[:1], 2, 2)", "a view", x="y")],
         [Grids("repeat_interleave(y, 2)", "no dim: y is flattened first")]],
    ),
    "operations/repeat_interleave": Figure(
        "Each element is repeated in place, by one count or by a count for each; the gradient sums the copies",
        f"{X}\n{Y}\ng = np.arange(1.0, 7.0)",
        [[Lines("repeat_interleave(x, 2)", maps.Copy.repeat_each(3, 2), "one count for all"),
          Lines("repeat_interleave(x, [1, 3, 2])", COUNTS, "a count for each")],
         [Lines("repeat_interleave(x, [2, 0, 3])", maps.Copy.repeats([2, 0, 3]), "a count may be 0"),
          Lines("maps.Copy.repeats([1, 3, 2]).T.apply(g, 0)", COUNTS.T, "the gradient: sums over the copies", x="g",
                colors=tuple(COUNTS.apply(PALETTE[:3], 0)))],
         [Grids("repeat_interleave(y, 2, dim=0)"), Grids("repeat_interleave(y, [1, 2], dim=1)")]],
    ),
    "operations/repeat": Figure(
        "The whole array is repeated along each dim, and along new dims in front",
        f"{X}\n{Y}",
        [[Lines("repeat(x, 2)", maps.Copy.tile(3, 2), "1 2 3 1 2 3, not 1 1 2 2 3 3"),
          Lines("repeat(x, 2, 1)", maps.Copy.tile(3, 2), "more sizes than dims: dims in front")],
         [Grids("repeat(y, 2, 1)", "down"), Grids("repeat(y, 1, 2)", "across")],
         [Grids("repeat(y, 2, 3)", "a number for each dim")]],
    ),
    "operations/tile": Figure(
        "As repeat, but missing numbers are ones, put in front",
        f"{X}\n{Y}",
        [[Lines("tile(x, 2)", maps.Copy.tile(3, 2)), Lines("tile(x, (2, 1))", maps.Copy.tile(3, 2))],
         [Grids("tile(y, 2)", "the same as tile(y, (1, 2))"), Grids("tile(y, (2, 1))")]],
    ),
    "operations/expand": Figure(
        "A view: rows and columns that look repeated are the same memory, drawn hollow",
        f"{X}\ncolumn = np.array([[1], [2]])",
        [[Lines("expand(x, 3, 3)", maps.Copy.tile(3, 3), "hollow cells take no memory"),
          Grids("expand(column, -1, 3)", "a dim of length 1 is stretched; -1 keeps a size", x="column")]],
    ),
    "operations/interpolate": Figure(
        "Modes of interpolate: which inputs an output reads, wider lines for more weight, dashed for negative weight",
        S,
        [[Lines('interpolate(s, 5, mode="nearest")', axis_map(3, 5, "nearest"), "the input at a cell's left edge"),
          Lines('interpolate(s, 5, mode="nearest-exact")', axis_map(3, 5, "nearest-exact"),
                "the input at a cell's center")],
         [Lines('interpolate(s, 5, mode="linear")', axis_map(3, 5, "linear", like="torch"),
                "align_corners=False: edges line up"),
          Lines('interpolate(s, 5, mode="linear",\n    align_corners=True)',
                axis_map(3, 5, "linear", align="align_corners"),
                "the first and last input stay")],
         [Lines('interpolate(s, 2, mode="linear")', axis_map(3, 2, "linear", like="torch"),
                "two inputs each; shrinking skips"),
          Lines('interpolate(s, 2, mode="linear",\n    antialias=True)',
                axis_map(3, 2, "linear", antialias=True),
                "shrinking reads all inputs")],
         [Lines('interpolate(s, 2,\n    mode="area")',
                axis_map(3, 2, "area", like="torch"), "means of the inputs touched"),
          Lines('interpolate(s[:, :, None], (1, 4),\n    mode="bicubic")', axis_map(3, 4, "cubic", like="torch"),
                "dashed: negative weights, so it may overshoot")]],
    ),
    "operations/resize": Figure(
        "resize: alignment, edges, filters and boxes",
        "x = np.array([10.0, 20.0, 30.0])",
        [[Lines("resize(x, 5)", axis_map(3, 5), 'edges of the axes line up: align="half_pixel"'),
          Lines('resize(x, 5, align="align_corners")', axis_map(3, 5, align="align_corners"),
                "centers of the corners line up")],
         [Lines('resize(x, 4, edge="wrap")', axis_map(3, 4, edge="wrap"), "after its end the axis begins again"),
          Lines('resize(x, 4, box=[(1, 3)])', axis_map(3, 4, box=[(1, 3)]), "a part of the axis")],
         [Lines("resize(x, 2)", axis_map(3, 2), "filters widen where an axis shrinks: antialias"),
          Lines('resize(x, 2, mode="area", like="opencv")', axis_map(3, 2, "area", like="opencv"),
                "weights are the covered shares of the inputs")]],
    ),
    "ragged": ragged(),
    "lazy": lazy(),
    "conventions-align": alignments(),
    "conventions-weights": weights(),
    "conventions-pixels": pixels(),
    "idea": Figure(
        "An operation is a sparse matrix; its gradient is the transpose",
        "x = np.array([1.0, 2.0, 3.0]);  g = np.arange(1.0, 7.0)\n"
        'A = maps.Copy.repeats([1, 3, 2]);  B = axis_map(6, 2, "area")\n'
        "rows = axis_map(2, 3);  columns = maps.Copy.repeat_each(2, 2)",
        [[Lines("A.apply(x, 0)", COUNTS, "the operation: repeat_interleave(x, [1, 3, 2])"),
          Lines("A.T.apply(g, 0)", COUNTS.T, "its gradient, by the transpose", x="g",
                colors=tuple(COUNTS.apply(PALETTE[:3], 0)))],
         [composed(COUNTS, axis_map(6, 2, "area"))], [kronecker(axis_map(2, 3), maps.Copy.repeat_each(2, 2))]],
    ),
    **all_recipes(),
}  # fmt: skip


def main() -> None:
    differ = []
    for name, figure in FIGURES.items():
        path, drawn = HERE / f"{name}.svg", figure.svg()
        if "--check" not in sys.argv:
            path.write_text(drawn)
        elif not path.exists() or path.read_text() != drawn:
            differ.append(path.name)
    sys.exit(f"run docs/draw.py: {', '.join(differ)} differ" if differ else 0)


if __name__ == "__main__":
    main()
