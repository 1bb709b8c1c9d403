"""Splines of order 2 to 5: SciPy's values, and maps like all others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import spline_oracle as oracle
import tenter
from sweeps import in_one_test, sampled
from tenter._rules import splines
from tenter.maps import Window

ndimage = pytest.importorskip("scipy.ndimage")
try:
    import dask.array as dask_array
except ImportError:
    dask_array = None
ORDERS = (2, 3, 4, 5)
# SciPy's names of edges, and ours.
EDGES = {"mirror": "reflect", "reflect": "symmetric", "grid-wrap": "wrap", "nearest": "replicate",
         "grid-constant": "constant", "constant": "extrapolate"}  # fmt: skip
# SciPy's start value for reflect has a wrong last term, of about pole ** (2 n - 1).
SHORTEST_REFLECTED = 24


def difference(got, want, x):
    """Relative to the range of x."""
    assert got.shape == want.shape
    return float(np.abs(got - want).max(initial=0) / max(np.abs(x).max(initial=0), 1e-300))


def called(seed):
    """Arguments of one random call of SciPy's zoom, and of the same call of resize; None where SciPy's length is
    another, or its last position is beyond the axis by a rounding error."""
    r = np.random.default_rng(seed)
    ndim, order, mode, centered = (
        r.integers(1, 4),
        int(r.integers(2, 6)),
        str(r.choice(list(EDGES))),
        bool(r.integers(2)),
    )
    least = SHORTEST_REFLECTED if mode == "reflect" else 1
    shape = tuple(map(int, r.integers(least, least + (60, 24, 12)[ndim - 1], ndim)))
    size = tuple(map(int, r.integers(1, (90, 40, 16)[ndim - 1], ndim)))
    x = r.standard_normal(shape).astype(r.choice(["float32", "float64"]))
    if mode == "constant":  # whose outputs beyond the axis are 0: no position may be there by a rounding error
        size = tuple(n if m == 1 or (m - 1) * ((n - 1) / (m - 1)) > n - 1 else m for n, m in zip(shape, size))
    factors = [m / n for m, n in zip(size, shape)]
    if tuple(round(n * f) for n, f in zip(shape, factors)) != size:
        return None
    ours = {"size": size, "axes": tuple(range(ndim)), "mode": f"spline{order}", "antialias": False,
            "align": "half_pixel" if centered else "align_corners", "edge": EDGES[mode]}  # fmt: skip
    return x, (factors, order, mode, centered), ours


def check(seed):
    if (call := called(seed)) is None:
        return
    x, (factors, order, mode, centered), ours = call
    with np.errstate(all="ignore"):
        want = ndimage.zoom(x.astype(np.float64), factors, order=order, mode=mode, grid_mode=centered)
    got = tenter.resize(x, **ours)
    assert got.dtype == x.dtype
    assert difference(got, want, x) < (1e-12 if x.dtype == np.float64 else 1e-6), (seed, ours)


@pytest.mark.filterwarnings("ignore:It is recommended")
def test_splines_have_scipys_values():
    for seed in range(40):
        check(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:It is recommended")
@pytest.mark.parametrize("part", range(10))
def test_splines_have_scipys_values_in_many_calls(part):
    for seed in range(500 * part, 500 * (part + 1)):
        check(seed)


BOXES = (None, (-3.5, 9.25), (2, 5))


@in_one_test("order, edge, n, m, box",
          sampled(product(ORDERS, EDGES.values(), (1, 2, 9, 30), (1, 7, 45), BOXES), 101))  # fmt: skip
def test_a_splines_map_is_the_values_of_b_splines_by_the_inverse_of_those_at_the_samples(order, edge, n, m, box):
    how = {} if box is None else {"box": [box]}
    a = tenter.axis_map(n, m, f"spline{order}", edge=edge, antialias=False, **how)
    lo, hi = box or (0, n)
    at = [lo + (o + 0.5) * (hi - lo) / m - 0.5 for o in range(m)]
    want = oracle.matrix(n, at, order, edge)
    np.testing.assert_allclose(a.dense(), want, rtol=0, atol=2e-13)
    np.testing.assert_array_equal(a.T.dense(), a.dense().T)
    x = np.random.default_rng(0).standard_normal((n, 3))
    np.testing.assert_allclose(a.apply(x, 0), a.dense() @ x, rtol=0, atol=1e-12)
    y = np.random.default_rng(1).standard_normal((m, 3))
    np.testing.assert_allclose(a.T.apply(y, 0), a.dense().T @ y, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(a.to_scipy().toarray(), a.dense())
    np.testing.assert_allclose((a.T @ a).dense(), a.dense().T @ a.dense(), rtol=0, atol=1e-12)
    for k in range(0, m, 5):
        reads, row = a.reads(k, k + 1), np.flatnonzero(a[k : k + 1].dense())
        assert not row.size or (reads.start <= row[0] and row[-1] < reads.stop)


def test_a_map_that_enlarges_is_applied_as_two_and_one_that_shrinks_as_one():
    def kernels(n, m, edge):
        x, how = np.zeros((n, 40, 8), np.float32), {"axes": 0, "mode": "spline3", "edge": edge, "antialias": False}
        found = "".join(tenter.explain(tenter.resize, x, m, **how).kernels)
        return [word in found for word in ("solves for its coefficients", "weighted sums")]

    for edge in EDGES.values():
        assert kernels(40, 80, edge) == [True, True]
        assert kernels(80, 40, edge) == [False, True]


@pytest.mark.parametrize("order", ORDERS)
def test_a_periodic_axis_is_applied_as_two_maps_from_any_input_on(order):
    for n, m, box in ((110, 221, None), (120, 300, (-30.5, 61.25)), (115, 290, (95, 230))):
        how = {"mode": f"spline{order}", "edge": "wrap", "antialias": False, "box": None if box is None else [box]}
        a = tenter.axis_map(n, m, **how)
        first, second, _ = a.__dict__["_factors"]
        lo, hi = box or (0, n)
        want = oracle.matrix(n, [(lo + (o + 0.5) * (hi - lo) / m - 0.5) % n for o in range(m)], order, "wrap")
        np.testing.assert_allclose(a.dense(), want, rtol=0, atol=2e-13)
        np.testing.assert_allclose(second.dense() @ first.dense(), want, rtol=0, atol=2e-13)
        x = np.random.default_rng(0).standard_normal((n, 5))
        y = tenter.resize(x, m, axes=0, **how)
        np.testing.assert_allclose(y, want @ x, rtol=0, atol=1e-12)
        assert "_factors" in a.T.__dict__ and a.T.T is a
        np.testing.assert_allclose(a.T.apply(y, 0), want.T @ y, rtol=0, atol=1e-11)
        lazy = tenter.lazy.resize(x, m, axes=0, **how)
        for lo, hi in ((0, 7), (m // 2, m // 2 + 1), (m - 30, m)):
            assert np.asarray(lazy[lo:hi]).tobytes() == y[lo:hi].tobytes()
        if dask_array is not None:
            made = tenter.resize(dask_array.from_array(x, chunks=(33, 5)), m, axes=0, **how)
            assert made.compute(scheduler="sync").tobytes() == y.tobytes()


@pytest.mark.parametrize("order", ORDERS)
def test_a_spline_passes_through_its_samples(order):
    x = np.random.default_rng(0).standard_normal((9, 7))
    y = tenter.resize(x, (17, 13), mode=f"spline{order}", align="align_corners")
    np.testing.assert_allclose(y[::2, ::2], x, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(tenter.resize(x, (9, 7), mode=f"spline{order}"), x)


@pytest.mark.parametrize("order", ORDERS)
def test_a_constant_stays_constant_at_every_edge(order):
    for edge, dtype in product(splines.EDGES, (np.float64, np.float32, np.uint8, np.int16)):
        x = np.full((6, 5), 100, dtype)
        value = 100 if edge in ("constant", "extrapolate") else 0
        y = tenter.resize(x, (13, 4), mode=f"spline{order}", edge=edge, value=value, antialias=False)
        assert y.dtype == dtype
        np.testing.assert_allclose(y, 100, rtol=4e-7 if dtype == np.float32 else 1e-13)


DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "int64", "float16", "float32", "float64", "complex64",
          "complex128")  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_rounded_once_to_their_dtype(dtype):
    r = np.random.default_rng(0)
    x = (200 * r.random((2, 12, 14))).astype(dtype)
    if x.dtype.kind == "c":
        x = x + 1j * (100 * r.random(x.shape)).astype(x.real.dtype)
    y = tenter.resize(x, (30, 9), axes=(1, 2), mode="spline3", antialias=False)
    assert y.dtype == x.dtype
    real = x.dtype.kind != "c"
    exact = tenter.resize(
        x.astype("float64" if real else "complex128"), (30, 9), axes=(1, 2), mode="spline3", antialias=False
    )
    if x.dtype.kind in "iu":
        info = np.iinfo(dtype)
        assert np.all(np.abs(y - np.clip(exact, info.min, info.max)) <= 0.5 + 1e-4)
    else:
        np.testing.assert_allclose(y, exact, rtol=0, atol=300 * max(2e-7, np.finfo(dtype).eps))


def test_layout_batches_and_threads_change_no_bit():
    x = np.random.default_rng(0).standard_normal((5, 33, 34, 35)).astype(np.float32)
    how = {"size": (70, 51, 80), "axes": (1, 2, 3), "mode": "spline3"}
    want = tenter.resize(x, **how)
    before = tenter.get_num_threads()
    try:
        for n in (1, 2, 3):
            tenter.set_num_threads(n)
            assert tenter.resize(x, **how).tobytes() == want.tobytes()
    finally:
        tenter.set_num_threads(before)
    assert tenter.resize(x[2:3], **how).tobytes() == want[2:3].tobytes()
    spaced = np.zeros((5, 66, 34, 70), np.float32)[:, ::2, :, ::2]
    spaced[...] = x
    assert tenter.resize(spaced, **how).tobytes() == want.tobytes()
    out = np.empty_like(want)
    assert tenter.resize(x, out=out, **how) is out and out.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("edge", "like"), [("reflect", None), ("replicate", None), ("wrap", None), ("reflect", "scipy")]
)
def test_parts_are_bit_identical_to_the_whole(edge, like):
    x = np.random.default_rng(0).standard_normal((90, 40)).astype(np.float32)
    for size in ((190, 61), (50, 90), (301, 20)):
        how = {"size": size, "axes": (0, 1), "mode": "spline3", "edge": edge, "like": like, "antialias": False}
        want = tenter.resize(x, **how)
        made = tenter.lazy.resize(x, **how)
        for rows, columns in (
            (slice(0, 40), slice(3, 9)),
            (slice(17, 18), slice(0, 20)),
            (slice(30, 50), slice(5, 19)),
        ):
            assert np.asarray(made[rows, columns]).tobytes() == want[rows, columns].tobytes(), (size, rows)
        if dask_array is not None:
            for chunks in ((90, 40), (16, 40), (7, 9)):
                got = tenter.resize(dask_array.from_array(x, chunks=chunks), **how)
                assert np.asarray(got.compute(scheduler="sync")).tobytes() == want.tobytes(), (size, chunks)


@pytest.mark.parametrize("kind", [np.nan, np.inf])
def test_what_is_not_finite_stays_within_the_reach_of_a_row(kind):
    x = np.random.default_rng(0).standard_normal(200)
    x[100] = kind
    y = tenter.resize(x, 400, mode="spline3")
    spoiled = np.flatnonzero(~np.isfinite(y))
    assert spoiled[0] > 120 and spoiled[-1] < 280
    assert np.isnan(ndimage.zoom(x, 2, order=3)).all()  # a recursive filter spreads it along the axis


def test_empty_arrays_and_single_samples():
    for order in ORDERS:
        mode = f"spline{order}"
        assert tenter.resize(np.zeros((0, 5)), (0, 9), mode=mode).shape == (0, 9)
        assert tenter.resize(np.zeros((3, 0)), 7, axes=0, mode=mode).shape == (7, 0)
        assert tenter.resize(np.zeros((3, 2)), 0, axes=0, mode=mode).shape == (0, 2)
        np.testing.assert_allclose(tenter.resize(np.array([5.0]), 4, mode=mode), 5, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mode": "spline6"}, "mode: expected one of"),
        ({"mode": "spline1"}, "mode: expected one of"),
        ({"mode": "spline3", "edge": "renormalize"}, "edge: expected one of reflect, symmetric, wrap, replicate"),
        ({"mode": "spline3", "edge": "mirror"}, "here it is 'reflect'"),
    ],
)
def test_what_splines_do_not_take_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        tenter.resize(np.zeros((4, 4)), (8, 8), **arguments)


@pytest.mark.parametrize("x", [np.zeros((4, 4), bool), np.zeros((4, 4), object), np.zeros((4, 4), "M8[s]")])
def test_splines_take_numbers_only(x):
    with pytest.raises(TypeError, match="x: expected numbers for mode 'spline3'"):
        tenter.resize(x, (8, 8), mode="spline3")


def test_an_empty_axis_has_no_spline():
    with pytest.raises(ValueError, match="x: expected axes of at least 1 to resize"):
        tenter.resize(np.zeros((0, 4)), (3, 4), mode="spline3")


def test_cubic_by_the_rules_of_scipy_and_scikit_image_is_their_order_3():
    x = np.random.default_rng(0).random((21, 18))
    want = ndimage.zoom(x, (2, 0.5), order=3)
    np.testing.assert_allclose(tenter.resize(x, want.shape, mode="cubic", like="scipy"), want, rtol=0, atol=1e-13)
    transform = pytest.importorskip("skimage.transform")
    for size in ((50, 40), (9, 40), (7, 5)):
        for order, mode in ((3, "cubic"), *((order, f"spline{order}") for order in ORDERS)):
            want = transform.resize(x, size, order=order, mode="reflect", clip=False)
            got = tenter.resize(x, size, mode=mode, like="skimage")
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12, err_msg=f"{size} {order}")


def test_where_an_axis_shrinks_the_spline_widens_with_antialias():
    x = np.tile([0.0, 1.0], 64)
    assert np.abs(tenter.resize(x, 32, mode="spline3")[4:-4] - 0.5).max() < 1e-3
    assert np.ptp(tenter.resize(x, 33, mode="spline3", antialias=False)) > 0.5
    y = np.random.default_rng(0).random(32)
    np.testing.assert_array_equal(
        tenter.resize(y, 64, mode="spline3"), tenter.resize(y, 64, mode="spline3", antialias=False)
    )


def test_the_map_keeps_its_factors_only_where_they_save_sums():
    enlarged, shrunk = (tenter.axis_map(64, m, "spline3", antialias=False) for m in (128, 32))
    assert isinstance(enlarged, Window) and "_factors" in enlarged.__dict__ and "_factors" in enlarged.T.__dict__
    assert "_factors" not in shrunk.__dict__


ALIGNS = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
)
WHERE = ({"size": 17}, {"size": 40}, {"scale": 1.7}, {"scale": 0.6}, {"size": 9, "box": [(2.5, 13.25)]},
         {"size": 30, "box": [(-4, 22)]}, {"size": 12, "box": [(11, 3)]})  # fmt: skip


def test_a_spline_of_order_3_is_bspline_of_the_coefficients_wherever_outputs_are():
    x = np.random.default_rng(0).standard_normal((20, 3))
    c = ndimage.spline_filter1d(x, 3, axis=0)
    for align, where in product(ALIGNS, WHERE):
        how = {**where, "axes": 0, "align": align, "edge": "reflect", "antialias": False}
        want = tenter.resize(c, mode="bspline", **how)
        np.testing.assert_allclose(tenter.resize(x, mode="spline3", **how), want, rtol=0, atol=1e-13, err_msg=f"{how}")


def test_images_with_alpha_have_the_splines_of_their_colors():
    x = np.full((12, 10, 4), 200, np.uint8)
    x[..., 3] = np.random.default_rng(0).integers(100, 256, (12, 10))
    y = tenter.image.resize(x, (30, 27), mode="spline3", alpha=True)
    assert y.shape == (30, 27, 4) and np.abs(y[..., :3].astype(int) - 200).max() <= 1
    want = tenter.resize(x[..., 3], (30, 27), mode="spline3")
    assert np.abs(y[..., 3].astype(int) - want).max() <= 1


@pytest.mark.parametrize("order", ORDERS)
def test_explain_says_what_a_spline_reads(order):
    said = str(tenter.explain(tenter.resize, np.arange(6.0), 9, mode=f"spline{order}"))
    assert f"Each output is on the curve of order {order} through all inputs" in " ".join(said.split())
