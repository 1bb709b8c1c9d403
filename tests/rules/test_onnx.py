"""like="onnx" is ONNX's Resize: its own node tests, and sweeps beside its reference implementation."""

from __future__ import annotations

from ast import literal_eval
from functools import cache

import numpy as np
import pytest
from onnx import helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

import onnx_node
import tenter
from sweeps import in_one_test

CASES = onnx_node.cases()


@pytest.mark.parametrize("name", CASES)
def test_shipped_node_tests(name):
    operator, attributes, inputs, expected = CASES[name]
    found = onnx_node.run(operator, attributes, inputs)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_there_are_node_tests_of_every_operator():
    counts = {name: sum(case[0] == name for case in CASES.values()) for name in onnx_node.OPERATORS}
    assert counts["Resize"] >= 39 and all(counts.values()), counts


SIZES = [
    (1, 1),
    (1, 4),
    (1, 5),
    (5, 1),
    (8, 1),
    (2, 3),
    (3, 2),
    (4, 4),
    (4, 8),
    (8, 4),
    (5, 7),
    (7, 5),
    (8, 6),
    (10, 3),
]
FAMILIES = [
    *[{"mode": "nearest", "nearest_mode": tie} for tie in onnx_node.TIE],
    *[{"mode": "linear", "antialias": a, "exclude_outside": e} for a in (0, 1) for e in (0, 1)],
    *[
        {"mode": "cubic", "antialias": a, "exclude_outside": e, "cubic_coeff_a": c}
        for a, e, c in [(0, 0, -0.5), (0, 0, -0.75), (0, 1, -0.75), (1, 0, -0.75), (1, 1, -0.5)]
    ],
]


def reference(attributes, x, roi=None, scales=None, sizes=None):
    """What ONNX's reference implementation makes of it."""
    given = {"x": x, "roi": roi, "scales": scales, "sizes": sizes}
    names = tuple(name if value is not None else "" for name, value in given.items())
    inputs = {name: np.array(value) for name, value in given.items() if value is not None}
    (found,) = evaluator(names, str(sorted(attributes.items()))).run(None, inputs)
    return found


@cache
def evaluator(names, attributes):
    return ReferenceEvaluator(helper.make_node("Resize", names, ["y"], **dict(literal_eval(attributes))))


def same(attributes, x, **given):
    expected = reference(attributes, x, **given)
    found = onnx_node.resize(attributes, x, **given)
    rounding = 2e-5 if attributes["mode"] == "cubic" else 1e-5  # cubic coefficients are float32 in the reference
    np.testing.assert_allclose(found, expected, rtol=0, atol=rounding, err_msg=f"{attributes} {x.shape} {given}")


def name(attributes):
    return " ".join(f"{v}" if isinstance(v, str) else f"{k}={v}" for k, v in attributes.items())


@in_one_test("family", FAMILIES, ids=name)
@in_one_test(
    "coordinates", [c for c in onnx_node.COORDINATES if c not in ("tf_crop_and_resize", "tf_half_pixel_for_nn")]
)
@in_one_test("given", ["sizes", "scales"])
def test_positions_beside_the_reference(coordinates, family, given):
    """tf_half_pixel_for_nn left ONNX with opset 13; tests/rules/test_geometry.py has it."""
    attributes, rng = {**family, "coordinate_transformation_mode": coordinates}, np.random.default_rng(0)
    # 0.37, as others put half_pixel_symmetric's middle a rounding beside a pixel, where the reference takes the wrong two.
    for n_in, n_out in SIZES:
        if coordinates == "pytorch_half_pixel" and n_out == 1:
            continue  # ONNX's text and ONNX Runtime sample index 0, the reference index -0.5
        sizes, scales = ([n_out], None) if given == "sizes" else (None, [(n_out + 0.37) / n_in])
        same(attributes, rng.random(n_in), sizes=sizes, scales=scales)


@pytest.mark.parametrize(
    "family", [f for f in FAMILIES if not f.get("antialias") and not f.get("exclude_outside")], ids=name
)
def test_regions_beside_the_reference(family):
    """With antialias the reference widens filters by the whole axis's ratio, not by the region's as ONNX's text has it."""
    attributes = {**family, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    rng = np.random.default_rng(0)
    for n_in, n_out in SIZES:
        begin, end = rng.uniform(-0.2, 0.6), rng.uniform(0.3, 1.2)
        if family["mode"] == "nearest":  # tenter turns a region round with its ties
            begin, end = sorted((begin, end))
        same(attributes, rng.random(n_in), roi=[begin, end], sizes=[n_out])


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
@pytest.mark.parametrize("family", FAMILIES, ids=name)
def test_policies_beside_the_reference(policy, family):
    rng = np.random.default_rng(0)
    for coordinates in ("half_pixel", "align_corners", "asymmetric"):
        for k, (h, a) in enumerate(SIZES):
            w, b = SIZES[(3 * k + 5) % len(SIZES)]
            scale = (min if policy == "not_larger" else max)(a / h, b / w)
            if min(scale * h, scale * w) >= 0.5:  # else the reference has a length of 0, tenter of 1
                attributes = {
                    **family,
                    "axes": [2, 1],
                    "keep_aspect_ratio_policy": policy,
                    "coordinate_transformation_mode": coordinates,
                }
                same(attributes, rng.random((2, h, w)), sizes=[b, a])


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=name)
def test_every_size_beside_the_reference(family):
    rng, compared = np.random.default_rng(0), 0
    for coordinates in ("half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        for n_in in range(1, 40):
            for n_out in range(1, 40):
                if reference_is_exact(coordinates, n_in, n_out):
                    compared += 1
                    same({**family, "coordinate_transformation_mode": coordinates}, rng.random(n_in), sizes=[n_out])
    assert compared > 4000


def reference_is_exact(coordinates, n_in, n_out):
    """Whole and half positions come out whole and half? If not, the reference takes the wrong pixels beside them."""
    from onnx.reference.ops.op_resize import _compute_x_ori

    at = tenter.geometry.Geometry(n_in, n_out, coordinates).index()
    scale = n_out / n_in
    rounded, _ = _compute_x_ori(coordinates, np.arange(n_out), scale, n_in, scale * n_in, n_out, None)
    return not np.any((rounded != at) & (np.abs(2 * at - np.round(2 * at)) < 1e-6))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # other operators' cases overflow as they are made
def test_no_node_test_is_in_another_module():
    assert onnx_node.of_operators(load_model_tests(kind="node")).keys() == CASES.keys()
