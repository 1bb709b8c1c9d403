"""interpolate in float64 beside the same sums in fractions: positions and weights lose no bits on the way to the map."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import tenter


def triangle(d: Fraction) -> Fraction:
    return max(Fraction(0), 1 - abs(d))


def keys(a: Fraction) -> Callable[[Fraction], Fraction]:
    def weight(d: Fraction) -> Fraction:
        d = abs(d)
        if d < 1:
            return ((a + 2) * d - (a + 3)) * d * d + 1
        return ((d - 5) * d + 8) * d * a - 4 * a if d < 2 else Fraction(0)

    return weight


# mode, filter, its support, antialias, align_corners, and units in the last place of the largest input: cubic's
# polynomial, in float64, rounds by a few.
CASES = [
    ("bilinear", triangle, 1, False, False, 1.5), ("bilinear", triangle, 1, False, True, 1.5),
    ("bilinear", triangle, 1, True, False, 1.5), ("bicubic", keys(Fraction(-3, 4)), 2, False, False, 15),
    ("bicubic", keys(Fraction(-3, 4)), 2, False, True, 15), ("bicubic", keys(Fraction(-1, 2)), 2, True, False, 15),
]  # fmt: skip


def exact(x: np.ndarray, n_out: int, weight: Callable, support: int, antialias: bool, corners: bool) -> list[Fraction]:
    n_in, found = len(x), []
    step = Fraction(n_in - 1, max(n_out - 1, 1)) if corners else Fraction(n_in, n_out)
    wide = max(step, Fraction(1)) if antialias else Fraction(1)
    for o in range(n_out):
        at = o * step if corners else (o + Fraction(1, 2)) * step - Fraction(1, 2)
        taps = range(floor(at - support * wide), ceil(at + support * wide) + 1)
        weights = {i: weight((i - at) / wide) for i in taps if not antialias or 0 <= i < n_in}
        total = sum(weights.values()) if antialias else 1
        found.append(sum(w / total * Fraction(x[min(max(i, 0), n_in - 1)].item()) for i, w in weights.items()))
    return found


@pytest.mark.parametrize("mode, weight, support, antialias, corners, units", CASES)
def test_as_near_as_fractions(mode, weight, support, antialias, corners, units):
    rng = np.random.default_rng(0)
    for _ in range(30):
        n_in, n_out = (int(n) for n in rng.integers(2, 60, 2))
        x = rng.standard_normal(n_in)
        how = {"mode": mode, "antialias": antialias, "align_corners": corners}
        got = tenter.interpolate(x.reshape(1, 1, -1, 1), (n_out, 1), **how).ravel()
        want = exact(x, n_out, weight, support, antialias, corners)
        worst = max(abs(float(Fraction(g.item()) - w)) for g, w in zip(got, want))
        assert worst <= units * np.finfo(float).eps * abs(x).max(), (n_in, n_out)
