"""resize against matrices made a second time: every filter, edge, alignment, size; any axes; what lies where."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import resize_oracle
import tenter

EDGES = ("replicate", "reflect", "symmetric", "wrap", "constant", "renormalise", "extrapolate")
ALIGNS = ("centre", "corners", "asymmetric")
TIES = ("floor", "ceil", "prefer_floor", "prefer_ceil")
SIZES = [(1, 1), (1, 4), (4, 1), (2, 3), (3, 2), (4, 8), (5, 5), (8, 6), (7, 12), (17, 5), (31, 10)]
BOXES = [
    (Fraction(0), Fraction(3)), (Fraction(1, 3), Fraction(5, 2)), (Fraction(-3), Fraction(9)),
    (Fraction(-7, 2), Fraction(-1)), (Fraction(2), Fraction(5, 2)), (Fraction(40), Fraction(47)),
]  # fmt: skip


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("mode", resize_oracle.FILTERS)
def test_weights_of_every_filter(mode, edge):
    cubic = -0.75 if mode == "cubic" else None
    for (n_in, n_out), align, antialias in itertools.product(SIZES, ALIGNS, (False, True)):
        if align == "corners" and antialias:
            continue
        how = {"edge": edge, "antialias": antialias, "align": align}
        got = tenter.axis_map(n_in, n_out, mode, cubic=cubic, **how).dense()
        want = resize_oracle.matrix(n_in, n_out, mode, **how)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=f"{n_in} to {n_out}, {how}")


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos", "box", "mitchell", "area", "nearest"])
def test_weights_of_boxes(mode, edge):
    cubic = -0.75 if mode == "cubic" else None
    for box, n_in, n_out, antialias in itertools.product(BOXES, (1, 2, 5, 8), (1, 3, 10), (False, True)):
        if antialias and mode in ("area", "nearest"):
            continue
        got = tenter.axis_map(
            n_in, n_out, mode, box=[box], edge=edge, antialias=antialias, cubic=cubic, tie="prefer_ceil",
            align="centre",
        )  # fmt: skip
        want = resize_oracle.matrix(n_in, n_out, mode, edge, antialias, box=box)
        np.testing.assert_allclose(got.dense(), want, rtol=0, atol=1e-12, err_msg=f"{n_in} to {n_out}, {box}")


@pytest.mark.parametrize("edge", EDGES)
def test_weights_of_areas(edge):
    for n_in, n_out in SIZES:
        close(tenter.axis_map(n_in, n_out, "area", edge=edge).dense(), resize_oracle.matrix(n_in, n_out, "area", edge))
        for scale in (Fraction(1, 2), Fraction(3, 7), 0.7, 2.5):
            m = int(n_in * scale)
            if m:
                got = tenter.resize(np.eye(n_in), scale=scale, axes=0, mode="area", edge=edge)
                close(got, resize_oracle.matrix(n_in, m, "area", edge, scale=Fraction(scale)))


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("align", ALIGNS)
def test_which_pixel_is_nearest(align, tie):
    """Every tie falls to its side: no position is a rounding away from it."""
    for n_in, n_out in itertools.product(range(1, 13), range(1, 25)):
        for edge in ("replicate", "wrap", "constant"):
            got = tenter.axis_map(n_in, n_out, "nearest", align=align, tie=tie, edge=edge).dense()
            want = resize_oracle.matrix(n_in, n_out, "nearest", edge, align=align, tie=tie)
            assert np.array_equal(got, want), (n_in, n_out, edge)


@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos", "area", "nearest"])
def test_a_scale_is_followed(mode):
    cubic = -0.75 if mode == "cubic" else None
    for n, scale in itertools.product((1, 4, 9), (Fraction(1, 3), Fraction(7, 5), Fraction(2), 0.77, 1.3)):
        for rounding, edge in itertools.product(("floor", "round", "ceil"), ("replicate", "wrap")):
            exact = n * Fraction(scale) if isinstance(scale, Fraction) else Fraction(n * scale)
            out = {"floor": exact // 1, "round": (exact + Fraction(1, 2)) // 1, "ceil": -(-exact // 1)}[rounding]
            if out < 1:
                continue
            got = tenter.resize(
                np.eye(n), scale=scale, axes=0, mode=mode, rounding=rounding, edge=edge, cubic=cubic,
                tie="prefer_ceil", align="centre",
            )  # fmt: skip
            want = resize_oracle.matrix(n, out, mode, edge, scale=Fraction(scale))
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=f"{n} by {scale}, {rounding}")
