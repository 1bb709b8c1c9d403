"""tenter.interp: values at given coordinates, read at other positions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import interp_oracle
import tenter
from sweeps import in_one_test


def check_case(seed):
    x, at, c, how = interp_oracle.case(seed)
    got, want = tenter.interp(x, at, c, **how), interp_oracle.interp(x, at, c, **how)
    assert got.shape == want.shape and got.dtype == np.float64
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11, err_msg=f"{seed} {how}")
    # Any axis: the same along the first one.
    first = tenter.interp(np.moveaxis(x, -1, 0), at, c, axis=0, **how)
    np.testing.assert_array_equal(np.moveaxis(first, 0, -1), got)


@pytest.mark.parametrize(
    "seeds", [range(240), pytest.param(range(240, 3240), marks=pytest.mark.slow)], ids=["some", "many"]
)
def test_every_mode_is_its_formula(seeds):
    for seed in seeds:
        check_case(seed)


@in_one_test("dtype", ["float64", "int64"])
def test_a_position_gives_the_same_bits_among_any_others(dtype):
    rng = np.random.default_rng(7)
    n = 40_000  # more than a task looks up
    c = np.cumsum(rng.integers(1, 9, n)).astype(dtype)
    at = rng.integers(-5, int(c[-1]) + 5, 2 * n).astype(dtype)
    at = at if dtype == "int64" else np.where(rng.random(2 * n) < 0.5, at, rng.uniform(-5, c[-1] + 5, 2 * n))
    x, order = rng.standard_normal(n), np.argsort(at)
    for mode in ("linear", "nearest", "previous", "next"):
        made = tenter.interp(x, at, c, mode=mode)
        np.testing.assert_array_equal(tenter.interp(x, at[order], c, mode=mode), made[order])
        np.testing.assert_array_equal(tenter.interp(x, at[99:130], c, mode=mode), made[99:130])
    np.testing.assert_allclose(tenter.interp(x, at, c), np.interp(at, c, x), rtol=1e-9, atol=1e-9)


def test_linear_is_numpys_interp():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        c, x = interp_oracle.coordinates(rng, n), rng.standard_normal(n)
        at = np.concatenate([rng.uniform(c[0] - 2, c[-1] + 2, 20), c])
        np.testing.assert_allclose(tenter.interp(x, at, c), np.interp(at, c, x), rtol=1e-12, atol=1e-13)
        assert (tenter.interp(x, c, c) == x).all()
        period = float(rng.uniform(c[-1] - c[0] + 0.1, 40))
        where = rng.uniform(-100, 100, 30)
        want = np.interp(where, c, x, period=period)
        np.testing.assert_allclose(tenter.interp(x, where, c, period=period), want, rtol=1e-11, atol=1e-11)
        ends = {"left": -5.0, "right": np.nan}
        got = tenter.interp(x, at, c, edge="constant", value=(-5.0, np.nan))
        np.testing.assert_allclose(got, np.interp(at, c, x, **ends), rtol=1e-12, atol=1e-13)


@pytest.mark.slow  # SciPy and xarray take seconds to import
@pytest.mark.parametrize("mode", ["linear", "nearest", "previous", "next"])
def test_modes_are_those_of_scipy_and_xarray(mode):
    interpolate, xarray = pytest.importorskip("scipy.interpolate"), pytest.importorskip("xarray")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 30))
        # Halves: ties, and positions at coordinates.
        c = np.cumsum(rng.integers(1, 5, n)).astype(float)
        at = np.unique(np.concatenate([rng.integers(2 * c[0], 2 * c[-1] + 1, 30) / 2, rng.uniform(c[0], c[-1], 9)]))
        x = rng.standard_normal((3, n))
        want = interpolate.interp1d(c, x, kind=mode)(at)
        np.testing.assert_allclose(tenter.interp(x, at, c, mode=mode), want, rtol=1e-12, atol=1e-13)
        down = tenter.interp(x[:, ::-1], at, c[::-1], mode=mode)
        np.testing.assert_allclose(
            down, interpolate.interp1d(c[::-1], x[:, ::-1], kind=mode)(at), rtol=1e-12, atol=1e-13
        )
        if mode in ("linear", "nearest"):
            beyond = np.append(at, [c[0] - 1, c[-1] + 1])
            labelled = xarray.DataArray(x, dims=("row", "t"), coords={"t": c}).interp(t=beyond, method=mode)
            got = tenter.interp(x, beyond, c, mode=mode, edge="constant", value=np.nan)
            np.testing.assert_allclose(got, labelled.values, rtol=1e-12, atol=1e-13)
    if mode == "linear":
        beyond = rng.uniform(c[0] - 9, c[-1] + 9, 50)
        want = interpolate.interp1d(c, x, fill_value="extrapolate")(beyond)
        np.testing.assert_allclose(tenter.interp(x, beyond, c, edge="extrapolate"), want, rtol=1e-11, atol=1e-11)


@pytest.mark.slow
def test_catmull_rom_is_the_cubic_with_numpys_slopes():
    interpolate = pytest.importorskip("scipy.interpolate")
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 30))
        c = interp_oracle.coordinates(rng, n)
        x = rng.standard_normal((n, 2))
        at = rng.uniform(c[0] - 1, c[-1] + 1, 40)
        want = interpolate.CubicHermiteSpline(c, x, np.gradient(x, c, axis=0, edge_order=2), axis=0)(at)
        got = tenter.interp(x, at, c, 0, mode="catmull-rom", edge="extrapolate")
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)
        parabola = tenter.interp(c**2, at, c, mode="catmull-rom", edge="extrapolate")
        np.testing.assert_allclose(parabola, at**2, rtol=1e-10, atol=1e-10)


@in_one_test("mode, exact", [("linear", True), ("area", True), ("catmull-rom", False)])
def test_equal_steps_are_resize(mode, exact):
    for n, m in ((8, 16), (12, 5), (9, 9)):
        x = np.random.default_rng(n).standard_normal((3, n))
        if mode == "area":
            got = tenter.interp(x, np.linspace(0, n, m + 1), np.arange(n + 1), mode="area")
            np.testing.assert_allclose(got, tenter.resize(x, m, axes=1, mode="area"), rtol=1e-13, atol=1e-14)
            continue
        at = tenter.geometry.Geometry(n, m).index()
        got, want = (
            tenter.interp(x, at, np.arange(n), mode=mode),
            tenter.resize(x, m, axes=1, mode=mode, antialias=False),
        )
        inner = slice(None) if exact else (at >= 1) & (at <= n - 2)  # at edges the slopes differ
        np.testing.assert_allclose(got[:, inner], want[:, inner], rtol=1e-13, atol=1e-13)


def test_areas_keep_sums():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, m = (int(k) for k in rng.integers(1, 200, 2))
        edges = np.concatenate([[0], np.cumsum(rng.uniform(0.01, 2, n))])
        after = np.sort(np.concatenate([[0, edges[-1]], rng.uniform(0, edges[-1], m)]))
        x = rng.random((4, n)) + 1
        area, new = np.diff(edges), np.diff(after)
        for sign in (1, -1):
            y = tenter.interp(x[:, ::sign], after[::-1], edges[::sign], mode="area")[:, ::-1]
            np.testing.assert_allclose((y * new).sum(1), (x * area).sum(1), rtol=1e-12)
        # Around a circle, from any point on.
        turned = after + rng.uniform(-3, 3) * edges[-1]
        y = tenter.interp(x, turned, edges, mode="area", period=edges[-1])
        np.testing.assert_allclose((y * new).sum(1), (x * area).sum(1), rtol=1e-12)
        # With weights, each output has the weight of what it covers.
        w = rng.uniform(0.1, 1, n)
        y, of = (tenter.interp(v, after, edges, mode="area", **how) for v, how in ((x, {"weights": w}), (w, {})))
        np.testing.assert_allclose((y * of * new).sum(1), (x * w * area).sum(1), rtol=1e-12)


def test_edges_off_by_rounding_read_no_other_cell():
    fine, coarse = np.arange(1441) * 0.25 - 0.125, np.linspace(-0.125, 359.875, 361)
    assert np.diff(tenter.maps.from_coordinates(coarse, fine + 1e-14, "area").offset).tolist() == [4] * 360
    tenth = np.arange(0, 1.05, 0.1)  # 0.30000000000000004
    assert tenter.interp(np.arange(11.0), [0.3, 0.6, 0.7], tenth, mode="previous").tolist() == [3, 6, 7]


def test_a_value_of_no_weight_is_not_read():
    x, c = np.array([1.0, np.nan, 3.0, 4.0, np.inf]), np.array([0.0, 1, 2, 3, 4])
    for mode in ("linear", "catmull-rom", "nearest", "previous", "next"):
        assert tenter.interp(x, [0.0, 2.0, 3.0], c, mode=mode).tolist() == [1, 3, 4]
    assert np.isnan(tenter.interp(x, [0.5, 1.0], c)).all()
    assert tenter.interp(x, [2, 3, 4], [0, 1, 2, 3, 4, 5], mode="area").tolist() == [3, 4]


def test_times_are_exact():
    days = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
    x = np.arange(len(days), dtype=float)
    at = days[0] + np.array([0, 36, 1000], "timedelta64[h]")
    assert tenter.interp(x, at, days).tolist() == [0, 1.5, 1000 / 24]
    # A nanosecond between coordinates that a float64 of nanoseconds does not tell apart.
    start = np.datetime64("2026-01-01T00:00:00", "ns")
    ns = start + np.array([0, 2, 10], "timedelta64[ns]")
    assert tenter.interp([0.0, 1.0, 9.0], ns[:1] + np.arange(4), ns).tolist() == [0, 0.5, 1, 2]
    months = np.array(["2020-01", "2020-02", "2020-03"], "datetime64[M]")
    middle = np.array(["2020-02-15T12"], "datetime64[h]")
    assert tenter.interp([0.0, 0.0, 1.0], middle, months).tolist() == [0.5]
    hours = np.array([1, 13], "timedelta64[h]")
    got = tenter.interp([1.0, 0.0], np.array([19, 43], "timedelta64[h]"), hours, period=np.timedelta64(1, "D"))
    assert got.tolist() == [0.5, 0.5]
    large = 2**60 + np.array([0, 4], np.int64)
    assert tenter.interp([0.0, 4.0], 2**60 + np.array([1, 3]), large).tolist() == [1, 3]


def test_dtypes_stay():
    c, at = [0, 2, 4], [1, 4, 0, 3]
    assert tenter.interp(np.array([0, 101, 255], np.uint8), at, c).tolist() == [50, 255, 0, 178]
    for dtype in ("float32", "float16", "complex64", "int64", "longdouble"):
        got = tenter.interp(np.array([2, 4, 8], dtype), at, c)
        assert got.dtype == dtype and got.tolist() == [3, 8, 2, 6]
    words = np.array(["a", "b", "c"])
    assert tenter.interp(words, at, c, mode="previous").tolist() == ["a", "c", "a", "b"]
    flags = np.array([True, False, True])
    got = tenter.interp(flags, [-1, 0, 5], c, mode="nearest", edge="constant", value=False)
    assert got.dtype == bool and got.tolist() == [False, True, False]
    assert tenter.interp(np.zeros((2, 0)), [], []).shape == (2, 0)
    assert tenter.interp(np.zeros((0, 3)), at, c).shape == (0, 4)


def test_a_fill_value_of_fewer_bits_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for value in (np.float32(3), np.float16(3), np.complex64(3)):
            x = np.zeros(3, complex)
            assert tenter.interp(x, [9], [0, 1, 2], edge="constant", value=value).tolist() == [3]
            assert tenter.resize(x, 3, box=[(3, 6)], edge="constant", value=value).tolist() == [3, 3, 3]


def test_out_is_written_and_left_as_it_is_by_a_wrong_call():
    x, out = np.arange(6.0).reshape(2, 3), np.full((2, 2), 7.0)
    for how in ({}, {"edge": "constant", "value": -1.0}):
        assert tenter.interp(x, [0.5, 9], [0, 1, 2], out=out, **how) is out
        assert (out == tenter.interp(x, [0.5, 9], [0, 1, 2], **how)).all()
    with pytest.raises(ValueError, match="out: expected shape"):
        tenter.interp(x, [0.5], [0, 1, 2], out=out)


def test_a_map_from_coordinates_is_what_interp_applies():
    for seed in range(0, 240, 3):
        x, at, c, how = interp_oracle.case(seed)
        if how.pop("edge", None) == "constant":
            del how["value"]
        A = tenter.maps.from_coordinates(at, c, how.pop("mode"), **how)
        mode = ("linear", "nearest", "previous", "next", "catmull-rom", "area")[seed % 6]
        y = tenter.interp(x, at, c, mode=mode, **how)
        np.testing.assert_array_equal(A.apply(x, x.ndim - 1), y)
        np.testing.assert_allclose(x @ A.dense().T, y, rtol=1e-11, atol=1e-11)
        assert (A.T.dense() == A.dense().T).all()
        if len(y.T) > 2:
            np.testing.assert_allclose(A[1:3].apply(x, x.ndim - 1), y[..., 1:3], rtol=1e-13, atol=1e-13)
    up = np.arange(5.0)
    kinds = [
        ("Window", up + 0.5, up, {}), ("Gather", up[::-1] + 0.5, up, {}), ("Window", up[::-1] + 0.5, up[::-1], {}),
        ("Copy", up, up, {}), ("Gather", up - 2, up, {"period": 5}), ("Copy", up[1:], up, {"mode": "previous"}),
    ]  # fmt: skip
    for kind, at, c, how in kinds:
        assert type(tenter.maps.from_coordinates(at, c, **how)).__name__ == kind
