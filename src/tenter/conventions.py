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

__all__ = ["PRESETS", "Convention", "compare"]


class Convention(NamedTuple):
    """A library's rules.

    align: of every mode but nearest, nearest_align: of that; names of geometry.ALIGNS. tie: which pixel a nearest
    position between two takes (geometry.TIES). arithmetic: of nearest positions: exact, or a library's own rounding
    (sampling.ARITHMETIC). cubic: Keys's `a`, cubic_antialias: with antialias. edge: sampling.EDGES, edge_antialias:
    with antialias. antialias: does shrinking blur unless told otherwise? area: mean of the pixels `touched`, or of the
    `overlap`. follows: do positions follow a given `scale`, or the `sizes` it made? between: are 8-bit values cut to
    their range between two axes? modes: those that mean something there.

    >>> PRESETS["pillow"].antialias, PRESETS["torch"].antialias
    (True, False)
    """

    align: str = "centre"
    nearest_align: str = "centre"
    tie: str = "prefer_ceil"
    arithmetic: str = "exact"
    cubic: float = -0.75
    cubic_antialias: float = -0.5
    edge: str = "replicate"
    edge_antialias: str = "renormalise"
    antialias: bool = False
    area: str = "overlap"
    follows: str = "scale"
    between: bool = False
    modes: tuple[str, ...] = ()


_TORCH = Convention(
    nearest_align="asymmetric", tie="floor", arithmetic="torch", area="touched", between=True,
)  # fmt: skip

PRESETS = {
    # torch.nn.functional.interpolate; with antialias it follows Pillow.
    "torch": _TORCH,
    # Image.resize: always antialiased, but for NEAREST.
    "pillow": Convention(antialias=True, cubic=-0.5, edge="renormalise", follows="sizes", between=True),
    # cv2.resize: never antialiased, but for INTER_AREA. Its nearest is the far left pixel, computed in float64.
    "opencv": Convention(nearest_align="asymmetric", tie="floor", arithmetic="double", cubic_antialias=-0.75),
    # The Resize operator of opset 19, its attributes' defaults.
    "onnx": Convention(tie="prefer_floor", cubic_antialias=-0.75, edge_antialias="replicate"),
    # jax.image.resize.
    "jax": Convention(
        arithmetic="float", cubic=-0.5, edge="renormalise", antialias=True, follows="sizes",
    ),
    # tf.image.resize of TensorFlow 2, antialias=False; its bicubic makes up for what lies outside.
    "tensorflow": Convention(arithmetic="float", cubic=-0.5, follows="sizes"),
    # skimage.transform.resize, order 0 and 1, mode="reflect", anti_aliasing=False.
    "skimage": Convention(edge="reflect", follows="sizes", modes=("nearest", "nearest-exact", "linear")),
    # scipy.ndimage.zoom, order 0 and 1, grid_mode=False: corners are lined up.
    "scipy": Convention(
        align="corners", nearest_align="corners", follows="sizes", modes=("nearest", "nearest-exact", "linear"),
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


def compare(*names: str, n_in: int = 4, n_out: int = 6) -> str:
    """A table of where conventions differ, and a drawing of what each makes of one axis: the weights of every output.

    names: of PRESETS; all of them if there are none. n_in, n_out: of the axis drawn. Returns text; print it.

    Raises ValueError for a name that is none.

    >>> print(compare("pillow", "torch").splitlines()[0].split())
    ['pillow', 'torch']
    """
    try:
        chosen = {name: convention(name) for name in names or PRESETS}
        n_in, n_out = check.integer("n_in", n_in, least=1), check.integer("n_out", n_out, least=1)
    except limits.Refusal as refusal:
        raise check.error(refusal, "conventions.compare", *names) from None
    return "\n".join([*_table(chosen), "", *_drawing(chosen, n_in, n_out)])


def _table(chosen: dict[str, Convention]) -> list[str]:
    rows = [["", *chosen]]
    for k, field in enumerate(Convention._fields):
        values = [_word(c[k]) for c in chosen.values()]
        if len(set(values)) > 1:
            rows.append([field, *values])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) if value else "all"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _drawing(chosen: dict[str, Convention], n_in: int, n_out: int) -> list[str]:
    from tenter.resizing import axis_map  # late: it reads this module

    lines: list[str] = []
    for mode in ("nearest", "linear", "cubic"):
        pictures = {}
        for name, how in chosen.items():
            if not how.modes or mode in how.modes:
                pictures[name] = axis_map(n_in, n_out, mode, like=name).dense()
        groups: list[tuple[list[str], npt.NDArray[np.float64]]] = []
        for name, matrix in pictures.items():
            same = [g for g in groups if np.allclose(g[1], matrix, atol=1e-6)]
            if same:
                same[0][0].append(name)
            else:
                groups.append(([name], matrix))
        for names, matrix in groups:
            lines.append(f"{mode}, {n_in} -> {n_out}: {', '.join(names)}")
            lines += [f"  out {o}: " + "  ".join(_shade(w) for w in row) for o, row in enumerate(matrix)]
    return lines


def _shade(weight: float) -> str:
    if abs(weight) < 5e-7:
        return "     ."
    return f"{weight:6.3f}"
