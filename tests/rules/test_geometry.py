"""Where outputs lie: every rule against its formula, in fractions; ties at any size; what a Geometry says of itself."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import tenter
from sweeps import in_one_test
from tenter._rules.geometry import ALIGNS, TIES, Geometry
from tenter.geometry import affine

F = Fraction
HALF = F(1, 2)
LENGTHS = [(1, 1), (1, 5), (5, 1), (2, 3), (3, 2), (4, 8), (8, 4), (8, 6), (6, 8), (7, 7), (13, 29), (29, 13)]
SCALES = [None, F(3, 4), F(7, 5), F(11, 10)]
BOXES = [None, (F(1, 4), F(7, 2)), (F(-1), F(9, 8)), (F(0), F(1, 3))]


def corners(o, n, lo, extent, ratio, scale):
    length = extent * scale if scale else F(n)
    return lo + o * (extent - 1) / (length - 1) if length > 1 else lo


def corner_areas(o, n, lo, extent, ratio, scale):
    apart = corners(1, n, F(0), extent, ratio, scale)
    return lo + (o + HALF) * apart - HALF


def centre(o, n, lo, extent, ratio, scale):
    return lo + (o + HALF) * ratio - HALF


def half_pixel_symmetric(o, n, lo, extent, ratio, scale):
    length = extent / ratio
    return lo + extent / 2 * (1 - n / length) + (o + HALF) * ratio - HALF


def pytorch_half_pixel(o, n, lo, extent, ratio, scale):
    return centre(o, n, lo, extent, ratio, scale) if n > 1 else lo


def tf_crop_and_resize(o, n, lo, extent, ratio, scale):
    return corners(o, n, lo, extent, ratio, scale) if n > 1 else lo + (extent - 1) / 2


FORMULAS = {
    "half_pixel": centre,
    "align_corners": corners,
    "asymmetric": lambda o, n, lo, extent, ratio, scale: lo + o * ratio,
    "corner_areas": corner_areas,
    "half_pixel_symmetric": half_pixel_symmetric,
    "pytorch_half_pixel": pytorch_half_pixel,
    "tf_half_pixel_for_nn": lambda o, n, lo, extent, ratio, scale: lo + (o + HALF) * ratio,
    "tf_crop_and_resize": tf_crop_and_resize,
}
NEAREST = {
    "floor": floor,
    "ceil": ceil,
    "prefer_floor": lambda p: ceil(p - HALF),
    "prefer_ceil": lambda p: floor(p + HALF),
}


def exact(g):
    """Every output's index, by the formula."""
    lo, hi = g.box or (F(0), F(g.n_in))
    ratio = 1 / g.scale if g.scale else (hi - lo) / g.n_out
    return [FORMULAS[g.align](o, g.n_out, lo, hi - lo, ratio, g.scale) for o in range(g.n_out)]


CASES = [
    Geometry(n_in, n_out, align, scale, box)
    for align in ALIGNS
    for n_in, n_out in LENGTHS
    for scale in SCALES
    for box in BOXES
]


def test_formulas_are_for_every_rule():
    assert set(FORMULAS) == set(ALIGNS) and set(NEAREST) == set(TIES)


@pytest.mark.parametrize("align", ALIGNS)
def test_lines_are_the_formulas(align):
    for g in CASES:
        if g.align == align:
            first, step = g.line()
            assert [first + o * step for o in range(g.n_out)] == exact(g), g
            assert np.array_equal(g.index(), [float(p) for p in exact(g)]), g


@pytest.mark.parametrize("tie", TIES)
def test_nearest_is_exact(tie):
    for g in CASES:
        assert g.nearest(tie).tolist() == [NEAREST[tie](p) for p in exact(g)], g


@in_one_test("tie", TIES)
@in_one_test("n_in", [2**40, 2**40 + 1, 3 * 2**39, 10**12])
@in_one_test("n_out", [3, 7, 1000])
def test_nearest_is_exact_for_huge_sizes(n_in, n_out, tie):
    for scale in (None, F(n_out, n_in + 1), F(0.1)):
        g = Geometry(n_in, n_out, "half_pixel", scale)
        assert g.nearest(tie).tolist() == [NEAREST[tie](p) for p in exact(g)]


@pytest.mark.parametrize(
    "g",
    [
        Geometry(2**40, 4, box=(F(2**40 - 8), F(2**40))),  # every second pixel, between two
        Geometry(2**40, 4, box=(F(0), F(8))),
        Geometry(2**40, 2**2, scale=F(1, 2)),
    ],
    ids=repr,
)
def test_ties_of_huge_sizes(g):
    at = exact(g)
    assert all(p.denominator == 2 for p in at)
    assert g.nearest("prefer_floor").tolist() == [floor(p) for p in at]
    assert g.nearest("prefer_ceil").tolist() == [ceil(p) for p in at]


def test_positions_that_int64_cannot_hold():
    scale = F(10**12 + 39, 10**12 + 61)  # primes
    g = Geometry(10**12, 5, scale=scale, box=(F(1, 7), F(10**12)))
    for tie in TIES:
        assert g.nearest(tie).tolist() == [NEAREST[tie](p) for p in exact(g)]
    np.testing.assert_allclose(g.index(), [float(p) for p in exact(g)], rtol=1e-15)


def test_no_outputs():
    g = Geometry(4, 0)
    assert g.index().shape == g.nearest("floor").shape == (0,)


def test_repr_says_where_outputs_lie():
    assert repr(Geometry(4, 8)) == "Geometry(half_pixel: 4 -> 8, output o at index -1/4 + 1/2 o)"
    assert repr(Geometry(3, 5, "align_corners")) == "Geometry(align_corners: 3 -> 5, output o at index 0 + 1/2 o)"
    boxed = Geometry(9, 2, box=(F(1, 2), F(7)), scale=F(1, 3))
    assert repr(boxed) == "Geometry(half_pixel: 9 -> 2, box 1/2 to 7, scale 1/3, output o at index 3/2 + 3 o)"
    assert "scale 0.1," in repr(Geometry(9, 1, scale=F(0.1)))  # not 3602879701896397/36028797018963968


def test_pitch_is_input_pixels_for_each_output():
    assert Geometry(10, 4).pitch() == Geometry(10, 4, "align_corners").pitch() == F(5, 2)
    assert Geometry(10, 4, box=(F(1), F(3))).pitch() == HALF
    assert Geometry(10, 4, scale=F(2, 3)).pitch() == F(3, 2)


# ---- the matrix of a resized volume

CUTS = [
    ("half_pixel", None, None),
    ("asymmetric", F(5, 4), None),
    ("align_corners", None, None),
    ("half_pixel", None, (F(1), F(5, 2))),
]


@in_one_test("align, scale, box", CUTS)
def test_the_affine_takes_each_output_to_where_it_was_sampled(align, scale, box):
    matrix = np.array([[0, -0.8, 0, 3], [5, 0.1, 0, -7], [0, 0, 2, 1], [0, 0, 0, 1.0]])
    n_out = 7 if scale is None else int(6 * scale)
    where = [Geometry(6, n_out, align, scale, box), None, Geometry(4, 3, align)]
    new = affine(matrix, where)
    outputs = np.stack(np.meshgrid(np.arange(n_out), np.arange(5), np.arange(3), indexing="ij"), -1)
    sampled = np.stack(np.meshgrid(where[0].index(), np.arange(5), where[2].index(), indexing="ij"), -1)
    world = [points @ m[:3, :3].T + m[:3, 3] for points, m in ((outputs, new), (sampled, matrix))]
    np.testing.assert_allclose(*world, rtol=1e-13, atol=1e-13)


def test_wrong_matrices_are_refused():
    good = np.eye(3)
    for matrix, found in ((np.eye(2), "geometries: expected 1"), (np.zeros((2, 3)), "matrix"), (good * 2, "matrix"),
                          (good * np.nan, "matrix"), ("abc", "matrix"), (None, "matrix"), (np.ones(3), "matrix")):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match=found):
            affine(matrix, [None, None])
    for geometries in (None, Geometry(3, 4), [3, 4], [None]):
        with pytest.raises((TypeError, ValueError), match="geometries: expected"):
            affine(good, geometries)


@pytest.mark.slow
@pytest.mark.parametrize("align", ["half_pixel", "asymmetric"])
def test_linear_values_are_those_of_itk_on_the_grid_of_the_affine(align):
    """Needs SimpleITK, which no extra installs."""
    itk = pytest.importorskip("SimpleITK")
    scan = np.random.default_rng(0).integers(-1000, 1000, (12, 20, 24)).astype(np.float32)
    old, scale = np.diag([5.0, 0.8, 0.8, 1.0]), [F(5), F(4, 5), F(4, 5)]
    old[:3, 3] = 30, 20, 10
    made = tenter.resize(scan, scale=scale, axes=(0, 1, 2), align=align)
    new = affine(old, [Geometry(n, m, align, s) for n, m, s in zip(scan.shape, made.shape, scale)])

    def placed(image, matrix):
        image.SetSpacing(matrix.diagonal()[2::-1].tolist())
        image.SetOrigin(matrix[2::-1, 3].tolist())
        return image

    grid = placed(itk.Image(made.shape[::-1], itk.sitkFloat32), new)
    found = itk.Resample(placed(itk.GetImageFromArray(scan), old), grid, itk.Transform(), itk.sitkLinear, -9999.0)
    theirs = itk.GetArrayFromImage(found)
    inside = theirs != -9999
    assert inside.mean() > 0.95
    np.testing.assert_allclose(made[inside], theirs[inside], atol=1e-3)
