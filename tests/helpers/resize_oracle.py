"""The matrix of one resized axis, written a second time and slowly: positions as fractions, filters as formulas, one
weight after another. Nothing of it is tenter's."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

HALF = Fraction(1, 2)


def keys(a: float) -> Callable[[float], float]:
    def weight(x: float) -> float:
        x = abs(x)
        if x <= 1:
            return (a + 2) * x**3 - (a + 3) * x**2 + 1
        return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0

    return weight


def mitchell_netravali(b: float, c: float) -> Callable[[float], float]:
    def weight(x: float) -> float:
        x = abs(x)
        if x < 1:
            return ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b) / 6
        if x < 2:
            return ((-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c) / 6
        return 0.0

    return weight


def sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def lanczos(n: int) -> Callable[[float], float]:
    return lambda x: sinc(x) * sinc(x / n) if abs(x) < n else 0.0


# Of each mode: weight by distance, and the distance from which on there is none.
FILTERS: dict[str, tuple[Callable[[float], float], float]] = {
    "linear": (lambda x: max(0.0, 1 - abs(x)), 1),
    "cubic": (keys(-0.75), 2),
    "catmull-rom": (keys(-0.5), 2),
    "mitchell": (mitchell_netravali(1 / 3, 1 / 3), 2),
    "bspline": (mitchell_netravali(1, 0), 2),
    "lanczos2": (lanczos(2), 2), "lanczos": (lanczos(3), 3), "lanczos4": (lanczos(4), 4), "lanczos5": (lanczos(5), 5),
    "box": (lambda x: 1.0 if -0.5 < x <= 0.5 else 0.0, 0.5),
    "hamming": (lambda x: sinc(x) * (0.54 + 0.46 * math.cos(math.pi * x)) if abs(x) < 1 else 0.0, 1),
}  # fmt: skip


def positions(
    n_in: int, n_out: int, align: str = "half_pixel", scale: Fraction | None = None,
    box: tuple[Fraction, Fraction] | None = None,
) -> tuple[list[Fraction], Fraction]:  # fmt: skip
    """The index that each output samples, and the step between them."""
    lo, hi = box or (Fraction(0), Fraction(n_in))
    step = 1 / scale if scale else (hi - lo) / n_out
    if align == "align_corners":
        step = (hi - lo - 1) / (n_out - 1) if n_out > 1 else Fraction(0)
        return [lo + o * step for o in range(n_out)], step
    if align == "asymmetric":
        return [lo + o * step for o in range(n_out)], step
    return [lo + (o + HALF) * step - HALF for o in range(n_out)], step


EDGES = ("replicate", "reflect", "symmetric", "wrap", "constant", "renormalize", "extrapolate")
TIES = ("floor", "ceil", "prefer_floor", "prefer_ceil")


def pixel(i: int, n: int, edge: str) -> int | None:
    """What stands for pixel i of n, by walking there; None for nothing."""
    if 0 <= i < n:
        return i
    if edge in ("replicate", "extrapolate"):
        return 0 if i < 0 else n - 1
    if edge == "wrap":
        return pixel(i + n if i < 0 else i - n, n, edge)
    if edge == "symmetric":
        return pixel(-1 - i if i < 0 else 2 * n - 1 - i, n, edge)
    if edge == "reflect":
        return 0 if n == 1 else pixel(-i if i < 0 else 2 * n - 2 - i, n, edge)
    return None


def row(n: int, at: Fraction, step: Fraction, weight: Callable[[float], float], support: float, edge: str,
        antialias: bool) -> np.ndarray:  # fmt: skip
    """The weights of one output at index `at`."""
    found = np.zeros(n)
    if edge == "extrapolate" and not 0 <= at <= n - 1:
        return found
    wide = max(Fraction(1), abs(step)) if antialias else Fraction(1)
    reach = math.ceil(support * wide) + 1
    taps = range(math.floor(at) - reach, math.ceil(at) + reach + 1)
    weights = {i: weight(float((i - at) / wide)) for i in taps}
    if edge == "renormalize":
        weights = {i: w for i, w in weights.items() if 0 <= i < n}
    total = math.fsum(weights.values())
    for i, w in weights.items():
        at_pixel = pixel(i, n, edge)
        if at_pixel is not None:
            found[at_pixel] += w / total if abs(total) > 1e-12 else 0.0
    return found


def area_row(n: int, at: Fraction, step: Fraction, edge: str) -> np.ndarray:
    """By how much of the area around an output's position each pixel covers."""
    found = [Fraction(0)] * n
    if edge == "extrapolate" and not 0 <= at <= n - 1:
        return np.zeros(n)
    begin, end = at + HALF - step / 2, at + HALF + step / 2
    for i in range(math.floor(begin), math.ceil(end)):
        at_pixel = pixel(i, n, edge)
        if at_pixel is not None:
            found[at_pixel] += (min(i + 1, end) - max(i, begin)) / step
    total = sum(found)
    if edge == "renormalize" and total:
        found = [w / total for w in found]
    return np.array([float(w) for w in found])


def nearest(at: Fraction, tie: str) -> int:
    return {
        "floor": math.floor(at), "ceil": math.ceil(at),
        "prefer_floor": math.ceil(at - HALF), "prefer_ceil": math.floor(at + HALF),
    }[tie]  # fmt: skip


def nearest_row(n: int, at: Fraction, tie: str, edge: str) -> np.ndarray:
    found = np.zeros(n)
    index = pixel(nearest(at, tie), n, "replicate" if edge == "renormalize" else edge)  # the nearest of what is left
    if index is not None and not (edge == "extrapolate" and not 0 <= at <= n - 1):
        found[index] = 1
    return found


def matrix(
    n_in: int, n_out: int, mode: str, edge: str, antialias: bool = False, align: str = "half_pixel",
    scale: Fraction | None = None, box: tuple[Fraction, Fraction] | None = None, tie: str = "prefer_ceil",
) -> np.ndarray:  # fmt: skip
    """Of antialiased corners, which are PyTorch's own thing, nothing is known here."""
    reverse = box is not None and box[1] < box[0]
    if reverse:
        box = (n_in - box[0], n_in - box[1])
    where, step = positions(n_in, n_out, align, scale, box)
    rows = []
    for at in where:
        if mode == "area":
            rows.append(area_row(n_in, at, step, edge))
        elif mode == "nearest":
            rows.append(nearest_row(n_in, at, tie, edge))
        else:
            rows.append(row(n_in, at, step, *FILTERS[mode], edge, antialias))
    found = np.array(rows).reshape(n_out, n_in)
    return found[:, ::-1] if reverse else found
