"""Calls of tenter.interp that are refused: the argument, what was expected, and the call."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from sweeps import in_one_test

X, C, NAN = np.arange(8.0).reshape(2, 4), [0.0, 1.0, 3.0, 7.0], float("nan")
DAYS = np.arange("2020-01-01", "2020-01-05", dtype="datetime64[D]")
QUANTITY = type("Quantity", (), {"__module__": "pint", "__array__": lambda self: np.zeros(1)})()
WRONG = [
    ((X, QUANTITY, C), {}, TypeError, "at: expected numbers in one unit (at.magnitude), got pint.Quantity"),
    ((X, [0.5], [0, NAN, 1, 2]), {}, ValueError, "coordinates: expected finite ones, without NaN or NaT, got nan at position 1"),
    ((X, [0.5, NAN], C), {}, ValueError, "at: expected finite ones, without NaN or NaT, got nan at position 1"),
    ((X, [np.inf], C), {}, ValueError, "at: expected finite ones"),
    ((X, DAYS[:1], np.array(["2020", "NaT", "2021", "2022"], "M8[D]")), {}, ValueError, "coordinates: expected finite ones"),
    ((X, [0.5], [0, 2, 1, 3]), {}, ValueError, "coordinates: expected ones that ascend or descend at every step, as these "
     "ascend from end to end, got another order at positions 1 and 2"),
    ((X, [0.5], [3, 2, 2, 0]), {}, ValueError, "coordinates: expected ones that ascend or descend at every step"),
    ((X, [0.5], [0, 90, 180, 360]), {"period": 360}, ValueError, "coordinates: expected ones that differ modulo the period"),
    ((X, [0.5], [0, 90, 180, -1e-20]), {"period": 360}, ValueError, "left out), got the same at positions 0 and 3"),
    ((X, [7 - 1e-15, 7 + 1e-15], [*C, 9]), {"mode": "area"}, ValueError, "at: expected cells wider than what coordinates are "
     "rounded by, got cell 0"),
    ((X, [0.5], [0, 1e-200, 2e-200, 1]), {"mode": "catmull-rom"}, ValueError, "coordinates: expected steps whose weights are finite"),
    ((X, [0.5], C), {"period": np.timedelta64(1, "D")}, TypeError, "period: expected a number, got numpy.timedelta64"),
    ((X, [0.5], [0, 1, 2]), {}, ValueError, "coordinates: expected 4, as x has 4 along axis 1, got 3"),
    ((X, [0, 1], C), {"mode": "area"}, ValueError, "coordinates: expected 5 edges, as x has 4 along axis 1, got 4"),
    ((X, [0], [*C, 9]), {"mode": "area"}, ValueError, "at: expected the edges of cells in mode area, one more than cells, got 1"),
    ((X, [0, 2, 1], [*C, 9]), {"mode": "area"}, ValueError, "at: expected ones that ascend or descend"),
    ((X, [0, 2], [*C, 9]), {"mode": "area", "period": 8}, ValueError, "coordinates: expected edges of one period, 8.0"),
    ((X, [0, 10], [*C, 9]), {"mode": "area", "period": 9}, ValueError, "at: expected edges of cells no wider than the period"),
    ((X, [[0.5], [1.5]], C), {}, ValueError, "at: expected a row of numbers, 1-d, as all rows of x share them (others need a "
     "call for each row), got [[0.5], [1.5]]"),
    ((X, 0.5, C), {}, ValueError, "at: expected a row of numbers, 1-d, got 0.5"),
    ((X, ["a"], C), {}, TypeError, "at: expected real numbers or datetime64, got <U1"),
    ((X, [1j], C), {}, TypeError, "at: expected real numbers"),
    ((X, [True], C), {}, TypeError, "at: expected real numbers"),
    ((X, DAYS, C), {}, TypeError, "coordinates: expected the kind that at has, datetime64[D], got float64"),
    ((X, [1.0], DAYS), {}, TypeError, "coordinates: expected the kind that at has, float64, got datetime64[D]"),
    ((X, np.ones(1, "m8[M]"), np.arange(4).astype("m8[M]")), {}, TypeError, "at: expected times of a unit of one length"),
    ((X, DAYS, DAYS), {"period": 360}, TypeError, "period: expected a timedelta64 of a unit of one length"),
    ((X, [1.0], C), {"period": -1}, ValueError, "period: expected a finite one above 0, got -1"),
    ((X, [1.0], C), {"period": "y"}, TypeError, "period: expected a number, got 'y'"),
    ((X, [1.0], C), {"period": 9, "edge": "constant"}, ValueError, "edge: expected none where there is a period"),
    ((X, [1.0], C), {"mode": "pchip"}, ValueError, "got 'pchip', whose slopes are not linear in x"),
    ((X, [1.0], C), {"mode": "cubic"}, ValueError, "got 'cubic', of which each result reads nearly all of x"),
    ((X, [1.0], C), {"mode": "slinear"}, ValueError, "got 'slinear' (did you mean 'linear'?)"),
    ((X, [1.0], C), {"mode": "linaer"}, ValueError, "got 'linaer' (did you mean 'linear'?)"),
    ((X, [1.0], C), {"mode": 1}, TypeError, "mode: expected one of linear, nearest"),
    ((X, [1.0], C), {"edge": "wrap"}, ValueError, "edge: expected one of replicate, constant, extrapolate, got 'wrap'"),
    ((X, [1.0], C), {"edge": "extrapolate", "mode": "nearest"}, ValueError, "edge: expected one that mode nearest has"),
    ((X[:, :1], [1.0], [0]), {"edge": "extrapolate"}, ValueError, "edge: expected replicate or constant for one coordinate"),
    ((X, [1.0], C), {"value": 3}, ValueError, "value: expected none, unless edge is constant, got 3"),
    ((X, [1.0], C), {"edge": "constant", "value": (1, 2, 3)}, ValueError, "value: expected a number or two, below and above"),
    ((X.astype(int), [1.0], C), {"edge": "constant", "value": NAN}, ValueError, "value: expected a value of int64, got nan"),
    ((X, [1.0], C), {"edge": "constant", "value": "0"}, TypeError, "value: expected a number, got '0'"),
    ((X, [1.0], C), {"weights": C}, ValueError, "weights: expected none, unless mode is area"),
    ((X, [0, 1], [*C, 9]), {"mode": "area", "weights": [1, 1]}, ValueError, "weights: expected 4, one for each cell of x"),
    ((X, [0, 1], [*C, 9]), {"mode": "area", "weights": [1, 1, 0, 1]}, ValueError, "weights: expected finite ones above 0"),
    ((X, [1.0], C, 2), {}, IndexError, "axis: expected a dim of a 2-d input"),
    ((X, [1.0], []), {}, ValueError, "coordinates: expected at least one, got none"),
    ((np.array(["a", "b", "c", "d"]), [1.0], C), {}, TypeError, "x: expected numbers, of which mode linear takes sums, got str"),
    ((X, [1.0], [0, 1e308, 1.1e308, 1.5e308]), {}, ValueError, "coordinates: expected numbers up to 1e300"),
    ((X,), {}, TypeError, "at: expected an array, a tensor or a list of numbers, got none"),
    ((X, [1.0], C, 1, "linear"), {}, TypeError, "mode: expected it by its name, mode='linear'"),
    ((X, [1.0], C), {"kind": "linear"}, TypeError, "kind: expected no argument of this name, got 'linear' (did you mean mode='linear'?)"),
    ((X, [1.0]), {"xp": C}, TypeError, "xp: expected no argument of this name, got [0.0, 1.0, 3.0, 7.0] (did you mean coordinates="),
]  # fmt: skip


@in_one_test("args, how, kind, message", WRONG)
def test_a_wrong_call_says_what_was_expected(args, how, kind, message):
    with pytest.raises(kind) as raised:
        tenter.interp(*args, **how)
    assert type(raised.value) is kind
    assert message in str(raised.value)
    assert "\n  in interp(" in str(raised.value)


def test_a_map_has_no_fill_value_and_names_its_call():
    with pytest.raises(ValueError, match="edge: expected replicate or extrapolate, as a map has no fill value"):
        tenter.maps.from_coordinates([0.5], C, edge="constant")
    with pytest.raises(ValueError, match=r"(?s)finite ones.*in maps.from_coordinates\(at=\[nan\], coordinates="):
        tenter.maps.from_coordinates([NAN], C)


def test_positions_that_need_a_gradient_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"at: expected coordinates without a gradient \(at.detach\(\)\)"):
        tenter.interp(X, torch.ones(2, requires_grad=True), C)
