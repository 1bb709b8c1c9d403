"""What libraries mean by "resize", as data: `tenter.resize(..., like="pillow")` fills in one of these.

Libraries disagree about where outputs lie, which pixel is nearest, which cubic is the cubic, what lies past an edge
and whether shrinking blurs. Each disagreement is a field here, and every field can be given to `resize` by itself.
`compare` shows where conventions differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tenter import check, limits

__all__ = ["PRESETS", "Convention", "compare", "difference"]


class Convention(NamedTuple):
    """A library's rules.

    align: of every mode but the nearest kinds (geometry.ALIGNS); nearest-exact is always centred.
    nearest_align: of nearest.
    corners_antialias: of align="corners" with antialias.
    tie: which pixel nearest takes where its position lies between two (geometry.TIES); nearest-exact prefers the upper.
    arithmetic: whose rounding nearest's positions have (sampling.ARITHMETIC).
    exact_arithmetic: that of nearest-exact.
    cubic: Keys's `a`.
    cubic_antialias: that with antialias.
    edge: what stands for pixels past the edges (sampling.EDGES).
    edge_antialias: that with antialias.
    antialias: does shrinking blur, unless told otherwise?
    blur: how linear does: its `filter` widens, or a `gaussian` goes before it.
    area: the mean of the pixels `touched`, or of the `overlap`, each by how much of it lies within; none past edges.
    rounding: of length * scale, unless told otherwise: floor, round_even.
    follows: positions follow a given `scale`, the `sizes` it made, or the `length` with its fraction: corners, too.
    keeps: are axes that keep their length left as they are, whatever the scale, by linear and with antialias?
    between: are 8-bit values cut to their range between two axes?
    modes: those that mean something there; none for all.

    >>> PRESETS["pillow"].antialias, PRESETS["torch"].antialias
    (True, False)
    """

    align: str = "centre"
    nearest_align: str = "centre"
    corners_antialias: str = "corners"
    tie: str = "prefer_ceil"
    arithmetic: str = "exact"
    exact_arithmetic: str = "exact"
    cubic: float = -0.75
    cubic_antialias: float = -0.5
    edge: str = "replicate"
    edge_antialias: str = "renormalise"
    antialias: bool = False
    blur: str = "filter"
    area: str = "overlap"
    rounding: str = "floor"
    follows: str = "sizes"
    keeps: bool = False
    between: bool = False
    modes: tuple[str, ...] = ()


PRESETS = {
    # torch.nn.functional.interpolate; with antialias it follows Pillow.
    "torch": Convention(
        nearest_align="asymmetric", corners_antialias="corner_areas", tie="floor", arithmetic="torch",
        exact_arithmetic="torch", area="touched", follows="scale", keeps=True, between=True,
    ),
    # Image.resize: always antialiased, but for NEAREST, which nearest-exact is as well. area: Image.reduce.
    "pillow": Convention(
        arithmetic="pillow", exact_arithmetic="pillow", cubic=-0.5, edge="renormalise", antialias=True, between=True,
    ),
    # cv2.resize: never antialiased, but for INTER_AREA. INTER_NEAREST_EXACT, nearest-exact here, is Pillow's.
    "opencv": Convention(
        nearest_align="asymmetric", tie="floor", arithmetic="opencv", exact_arithmetic="pillow", cubic_antialias=-0.75,
        rounding="round_even", follows="scale",
    ),
    # The Resize operator of opset 19, its attributes' defaults.
    "onnx": Convention(tie="prefer_floor", cubic_antialias=-0.75, edge_antialias="replicate", follows="length"),
    # jax.image.resize, as documented.
    "jax": Convention(
        arithmetic="jax", exact_arithmetic="jax", cubic=-0.5, edge="renormalise", antialias=True,
    ),
    # tf.image.resize of TensorFlow 2, antialias=False, as documented.
    "tensorflow": Convention(arithmetic="jax", exact_arithmetic="jax", cubic=-0.5, edge="renormalise"),
    # skimage.transform.resize, order 0 and 1, mode="reflect"; order 0 with anti_aliasing=False.
    "skimage": Convention(
        arithmetic="scipy", exact_arithmetic="scipy", edge="reflect", edge_antialias="reflect", antialias=True,
        blur="gaussian", rounding="round_even", modes=("nearest", "nearest-exact", "linear"),
    ),
    # scipy.ndimage.zoom, order 0 and 1, grid_mode=False; grid_mode=True: nearest-exact, or linear with align="centre".
    "scipy": Convention(
        align="corners", nearest_align="corners", arithmetic="scipy", exact_arithmetic="scipy", rounding="round_even",
        modes=("nearest", "nearest-exact", "linear"),
    ),
}  # fmt: skip


def convention(like: object) -> Convention:
    """A preset by its name, or a convention as it is."""
    if isinstance(like, Convention):
        return like
    if not isinstance(like, str):
        limits.refuse(TypeError, "like", f"one of {', '.join(PRESETS)}, or a Convention", repr(like))
    if like not in PRESETS:
        limits.refuse(ValueError, "like", f"one of {', '.join(PRESETS)}, or a Convention", repr(like))
    return PRESETS[like]


def compare(*names: str, n_in: int = 4, n_out: int = 6) -> None:
    """Prints where conventions differ, as `difference` says it.

    >>> compare("opencv", "onnx", n_in=2, n_out=2)  # doctest: +ELLIPSIS +NORMALIZE_WHITESPACE
                   opencv      onnx
    nearest_align  asymmetric  centre
    ...
    """
    print(difference(*names, n_in=n_in, n_out=n_out))


def difference(*names: str, n_in: int = 4, n_out: int = 6) -> str:
    """Where conventions differ: a table of the fields that do, then which inputs every output reads, mode by mode.

    names: of PRESETS; all of them if there are none. n_in, n_out: of the axis drawn. Returns text. The rows of a
    drawing are outputs, its columns inputs, its numbers weights in hundredths; conventions that agree share one.

    Raises ValueError for a name that is none.

    >>> print(difference("pillow", "opencv", n_in=3, n_out=2).split("linear, ")[1].split("cubic")[0].rstrip())
    3 -> 2
       pillow         opencv
    in    0   1   2      0   1   2
    0    62  37   .     75  25   .
    1     .  37  62      .  25  75
    """
    try:
        chosen = {name: convention(name) for name in names or PRESETS}
        n_in, n_out = check.integer("n_in", n_in, least=1), check.integer("n_out", n_out, least=1)
    except limits.Refusal as refusal:
        raise check.error(refusal, "conventions.compare", *names) from None
    lines = _table(chosen)
    for mode in ("nearest", "nearest-exact", "linear", "cubic", "area"):
        drawn = [_drawing(names, matrix) for names, matrix in _groups(chosen, mode, n_in, n_out)]
        lines += ["", f"{mode}, {n_in} -> {n_out}", *_beside(drawn, [str(o) for o in range(n_out)])]
    return "\n".join(lines)


def _table(chosen: dict[str, Convention]) -> list[str]:
    """A line for each field that is not the same for all."""
    rows = [["", *chosen]]
    for k, field in enumerate(Convention._fields):
        values = [_word(c[k]) for c in chosen.values()]
        if len(set(values)) > 1:
            rows.append([field, *values])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(m.removeprefix("nearest-") for m in value) if value else "all"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _groups(
    chosen: dict[str, Convention], mode: str, n_in: int, n_out: int
) -> list[tuple[list[str], npt.NDArray[np.float64]]]:
    """The mode's matrices, each with the names of the conventions that have it."""
    from tenter.resizing import axis_map  # late: it reads this module

    groups: list[tuple[list[str], npt.NDArray[np.float64]]] = []
    for name, how in chosen.items():
        if how.modes and mode not in how.modes:
            continue
        matrix = axis_map(n_in, n_out, mode, like=name).dense()
        same = [g for g in groups if np.allclose(g[1], matrix, atol=1e-6)]
        if same:
            same[0][0].append(name)
        else:
            groups.append(([name], matrix))
    return groups


def _drawing(names: list[str], matrix: npt.NDArray[np.float64]) -> list[str]:
    """Names, numbers of inputs, and a line for each output, of one width."""
    lines = [", ".join(names), "".join(f"{i:4d}" for i in range(matrix.shape[1]))]
    lines += ["".join("   ." if abs(w) < 5e-7 else f"{round(100 * w):4d}" for w in row) for row in matrix]
    width = max(map(len, lines))
    return [line.ljust(width) for line in lines]


def _beside(drawings: list[list[str]], labels: list[str]) -> list[str]:
    """Drawings next to each other, as many as a line holds, after the outputs' numbers."""
    margin = [label.ljust(3) for label in ("", "in", *labels)]
    lines, used = margin, 0
    found: list[str] = []
    for drawing in drawings:
        if used and len(lines[0]) + len(drawing[0]) > 112:
            found += [*(line.rstrip() for line in lines), ""]
            lines, used = margin, 0
        lines = [line + (" " * 3 if used else "") + part for line, part in zip(lines, drawing)]
        used += 1
    return found + [line.rstrip() for line in lines]
