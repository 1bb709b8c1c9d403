"""Composition of maps, and several axes at once, as matrices."""

from __future__ import annotations

import numpy as np
from drawings.compared import matrix
from drawings.svg import Custom, Svg

from tenter import axis_map, maps

CELL = 30.0


def composed() -> Custom:
    a, b = maps.Copy.every(3, 2), axis_map(6, 2, "area")

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        x = left + 60.0
        for sign, m, label in (("", b.dense(), "B, 6 to 2"), ("@", a.dense(), "A, 3 to 6"),
                               ("=", b.dense() @ a.dense(), "B @ A, 3 to 2")):  # fmt: skip
            svg.text(x - 24, top + 100, sign)
            matrix(svg, x, top + 90 - len(m) * CELL / 2, m, CELL, numbers=True)
            svg.text(x, top + 200, label, "dim")
            x += m.shape[1] * CELL + 60

    return Custom(
        212, draw, "B.apply(A.apply(x, 0), 0)", "one operation after the other is the product of the matrices"
    )


def kronecker() -> Custom:
    a, b = axis_map(2, 3, "linear"), maps.Copy.every(2, 2)

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        both = np.kron(a.dense(), b.dense())
        x = left + 60.0
        for sign, m, label in (("", a.dense(), "A, rows: 2 to 3"), ("⊗", b.dense(), "B, columns: 2 to 4"),
                               ("=", both, "of all 4 pixels: never formed")):  # fmt: skip
            svg.text(x - 24, top + 190, sign)
            matrix(svg, x, top + 185 - len(m) * CELL / 2, m, CELL, numbers=True)
            svg.text(x, top + 196 + len(m) * CELL / 2, label, "dim")
            x += m.shape[1] * CELL + 100

    note = "axes are independent: the matrix of both is the Kronecker product"
    return Custom(390, draw, "B.apply(A.apply(x, 0), 1)", note)
