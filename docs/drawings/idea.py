"""Composition of maps, and several axes at once, as matrices."""

from __future__ import annotations

import numpy as np
from drawings.compared import matrix
from drawings.svg import Custom, Svg

from tenter import maps

CELL = 30.0


def composed(a: maps.AxisMap, b: maps.AxisMap) -> Custom:
    product = (b @ a).dense()
    if not np.allclose(product, b.dense() @ a.dense()):
        raise AssertionError("the product of the maps is not that of their matrices")

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        x = left + 60.0
        for sign, m, label in (("", b.dense(), "B, 6 to 2"), ("@", a.dense(), "A, 3 to 6"),
                               ("=", product, "B @ A, 3 to 2")):  # fmt: skip
            svg.text(x - 24, top + 100, sign)
            matrix(svg, x, top + 90 - len(m) * CELL / 2, m, CELL, numbers=True)
            svg.text(x, top + 200, label, "dim")
            x += m.shape[1] * CELL + 60

    return Custom(212, draw, "B @ A", "first A, then B: (B @ A) @ x is B.apply(A.apply(x, 0), 0)")


def kronecker(rows: maps.AxisMap, columns: maps.AxisMap) -> Custom:

    def draw(svg: Svg, left: float, top: float, width: float) -> None:
        both = np.kron(rows.dense(), columns.dense())
        image = np.arange(1.0, 5.0).reshape(2, 2)
        if not np.allclose(both @ image.ravel(), columns.apply(rows.apply(image, 0), 1).ravel()):
            raise AssertionError("the Kronecker product does not do both axes")
        x = left + 60.0
        for sign, m, label in (("", rows.dense(), "rows: 2 to 3"), ("⊗", columns.dense(), "columns: 2 to 4"),
                               ("=", both, "of all 4 pixels: never formed")):  # fmt: skip
            svg.text(x - 24, top + 190, sign)
            matrix(svg, x, top + 185 - len(m) * CELL / 2, m, CELL, numbers=True)
            svg.text(x, top + 196 + len(m) * CELL / 2, label, "dim")
            x += m.shape[1] * CELL + 100

    note = "axes are independent: the matrix of both is the Kronecker product"
    return Custom(390, draw, "columns.apply(rows.apply(image, 0), 1)", note)
