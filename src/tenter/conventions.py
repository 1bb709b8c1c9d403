"""What libraries mean by "resize", as data: `tenter.resize(..., like="pillow")` fills in one of `PRESETS`.

Libraries disagree about where outputs are in the input, which pixel is nearest, the slope of the cubic filter, what is
read outside the array, and whether shrinking is antialiased. Each disagreement is a field of `Convention`.
`Convention.of("onnx", nearest_tie="ceil")` changes one; `compare` shows where conventions differ.
"""

from typing import Any, cast

import numpy as np

from tenter._arrays.arguments import error, integer
from tenter._arrays.errors import Refusal
from tenter._arrays.types import Floats
from tenter._rules.presets import PRESETS as PRESETS, Convention as Convention, convention
from tenter.resampling import axis_map

__all__ = ["PRESETS", "Convention", "compare"]


def compare(*names: str, n_in: int = 4, n_out: int = 6) -> str:
    """Where conventions differ: a table of fields, then the weights of each mode.

    Parameters
    ----------
    *names : str
        Names of `PRESETS`; all of them if there are none.
    n_in, n_out : int
        The lengths of the axis whose weights are shown, input and output.

    Returns
    -------
    str
        The fields that differ, one line each. Then for each mode the weights in hundredths: a row for each output, a
        column for each input. Conventions with the same weights share one drawing.

    Raises
    ------
    TypeError
        If a name is not a string, or a length is not an int.
    ValueError
        If a name is unknown, or a length below 1.

    See Also
    --------
    Convention : The fields.

    Examples
    --------
    >>> print(compare("pillow", "opencv", n_in=3, n_out=2).split("linear, ")[1].split("cubic")[0].rstrip())
    3 -> 2
       pillow         opencv
    in    0   1   2      0   1   2
    0    62  37   .     75  25   .
    1     .  37  62      .  25  75
    """
    try:
        chosen = {name: convention(name, "names") for name in names or PRESETS}
        n_in, n_out = integer("n_in", n_in, least=1), integer("n_out", n_out, least=1)
    except Refusal as refusal:
        raise error(refusal, "conventions.compare", *names) from None
    lines = _table(chosen)
    for mode in ("nearest", "nearest-exact", "linear", "cubic", "area"):
        drawn = [_drawing(names, matrix) for names, matrix in _groups(chosen, mode, n_in, n_out)]
        lines += ["", f"{mode}, {n_in} -> {n_out}", *_beside(drawn, [str(o) for o in range(n_out)])]
    return "\n".join(lines)


def _table(chosen: dict[str, Convention]) -> list[str]:
    """A line for each field that is not the same for all."""
    rows = [["", *chosen]]
    for k, field in enumerate(Convention._fields):
        values = [_word(c[k], field) for c in chosen.values()]
        if len(set(values)) > 1:
            rows.append([field, *values])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]


def _word(value: object, field: str) -> str:
    if field == "modes" and isinstance(value, tuple):
        return " ".join(m.removeprefix("nearest-") for m in value) if value else "all"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _groups(chosen: dict[str, Convention], mode: str, n_in: int, n_out: int) -> list[tuple[list[str], Floats]]:
    """The mode's matrices, each with the names of the conventions that have it."""
    groups: list[tuple[list[str], Floats]] = []
    for name, how in chosen.items():
        if how.modes and mode not in how.modes:
            continue
        matrix = axis_map(n_in, n_out, cast(Any, mode), like=cast(Any, name)).dense()
        same = [g for g in groups if np.allclose(g[1], matrix, atol=1e-6)]
        if same:
            same[0][0].append(name)
        else:
            groups.append(([name], matrix))
    return groups


def _drawing(names: list[str], matrix: Floats) -> list[str]:
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


def __dir__() -> list[str]:
    return __all__
