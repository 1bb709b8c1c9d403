"""The matrix of an axis that a spline resizes, written a second time and slowly: the coefficients solve a dense system
on a long axis, and B-splines are sums of truncated powers. Nothing of it is tenter's."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from tests.helpers import resize_oracle as oracle

FAR = 60  # samples of padding; what is further away does not matter
PADDING = 12  # SciPy's, before it computes coefficients for edges that are not periodic


def bspline(order: int, x: float) -> float:
    if order % 2 == 0 and abs(x) == (order + 1) / 2:
        return 0.0
    terms = [(-1) ** k * math.comb(order + 1, k) * max(0.0, (order + 1) / 2 - abs(x) - k) ** order
             for k in range(order + 2)]  # fmt: skip
    return math.fsum(terms) / math.factorial(order)


def stands_for(i: int, n: int, edge: str) -> int | None:
    """The sample at position i of the padded axis; None for zero."""
    if edge in ("reflect", "symmetric", "wrap"):
        return oracle.pixel(i, n, edge)
    if edge == "extrapolate":
        return oracle.pixel(i, n, "reflect")
    folded = oracle.pixel(i + PADDING, n + 2 * PADDING, "symmetric" if edge == "replicate" else "reflect")
    assert folded is not None
    return oracle.pixel(folded - PADDING, n, edge)


@functools.cache
def coefficients_of(n: int, order: int, edge: str) -> np.ndarray:
    """The matrix from samples to coefficients, those of the padding included."""
    length = n + 2 * FAR
    values = [bspline(order, k) for k in range(3)]
    samples = sum(np.eye(length, k=k) * values[abs(k)] for k in range(-2, 3))
    padded = np.zeros((length, n))
    for i in range(length):
        if (j := stands_for(i - FAR, n, edge)) is not None:
            padded[i, j] = 1
    return np.linalg.solve(samples, padded)


def matrix(n: int, at: Sequence[float], order: int, edge: str) -> np.ndarray:
    """at: the index that each output samples."""
    coefficients = coefficients_of(n, order, edge)
    made = np.zeros((len(at), n))
    for o, x in enumerate(at):
        if edge == "extrapolate" and not 0 <= x <= n - 1:
            continue
        x = min(max(x, -PADDING), n - 1 + PADDING) if edge == "replicate" else x
        for i in range(math.floor(x) - order, math.floor(x) + order + 2):
            if edge != "constant" or -PADDING <= i < n + PADDING:
                made[o] += bspline(order, x - i) * coefficients[i + FAR]
    return made
