"""tenter.scipy: SciPy's functions, argument for argument."""

from __future__ import annotations

import inspect
from itertools import product

import numpy as np
import pytest

import tenter.scipy

ndimage = pytest.importorskip("scipy.ndimage")
MODES = list(tenter.scipy.MODES)
DTYPES = ("float64", "float32", "uint8", "int16", "complex64")
SHORTEST_REFLECTED = 24  # SciPy's start value for reflect has a wrong last term, of about pole ** (2 n - 1)


def check(seed):
    r = np.random.default_rng(seed)
    ndim, order, mode, dtype = r.integers(1, 4), int(r.integers(0, 6)), str(r.choice(MODES)), str(r.choice(DTYPES))
    least = SHORTEST_REFLECTED if mode in ("reflect", "grid-mirror") else 1
    shape = tuple(map(int, r.integers(least, (90, 40, 26)[ndim - 1], ndim)))
    factors = [float(f) for f in r.uniform(0.2, 2.5, ndim)]
    grid_mode, prefilter, cval = bool(r.integers(2)), bool(r.integers(2)), float(r.integers(0, 3))
    output = [None, None, np.float64, np.float32, np.int16][r.integers(5)] if dtype != "complex64" else None
    x = (100 + 50 * r.standard_normal(shape)).clip(0, 255).astype(dtype)
    if dtype == "complex64":
        x, grid_mode = x + 1j * x[::-1], False  # SciPy's grid_mode leaves complex numbers out
    if grid_mode and (mode == "wrap" or (mode in ("nearest", "constant") and not prefilter)):
        return
    size = [round(n * f) for n, f in zip(shape, factors)]
    if mode in ("constant", "wrap") and any((m - 1) * ((n - 1) / max(m - 1, 1)) > n - 1 for n, m in zip(shape, size)):
        return  # SciPy's last row is cval, or the first, by a rounding error
    arguments = (factors, output, order, mode, cval, prefilter)
    want = ndimage.zoom(x, *arguments, grid_mode=grid_mode)
    got = tenter.scipy.zoom(x, *arguments, grid_mode=grid_mode)
    assert got.dtype == want.dtype and got.shape == want.shape
    is_exact = want.dtype == np.float64 and x.dtype != np.float32
    atol = 1 if want.dtype.kind in "iu" else 250 * (1e-12 if is_exact else 1e-6)
    np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=f"{seed} {shape} {arguments} {grid_mode}")


@pytest.mark.filterwarnings("ignore:It is recommended")
def test_zoom_has_scipys_values():
    for seed in range(80):
        check(seed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:It is recommended")
@pytest.mark.parametrize("part", range(10))
def test_zoom_has_scipys_values_in_many_calls(part):
    for seed in range(500 * part, 500 * (part + 1)):
        check(seed)


@pytest.mark.parametrize("mode", MODES)
def test_coefficients_are_scipys(mode):
    x = np.random.default_rng(0).standard_normal((30, 26))
    for order in (2, 3, 4, 5):
        for output in (np.float64, np.float32):
            want = ndimage.spline_filter(x, order, output, mode)
            got = tenter.scipy.spline_filter(x, order, output, mode)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-11 if output is np.float64 else 1e-4)
        for axis in (0, 1, -1):
            want = ndimage.spline_filter1d(x.astype(np.int16), order, axis, mode=mode)
            np.testing.assert_allclose(tenter.scipy.spline_filter1d(x.astype(np.int16), order, axis, mode=mode), want,
                                       rtol=0, atol=1e-11)  # fmt: skip


@pytest.mark.filterwarnings("ignore:It is recommended")
def test_zoom_of_coefficients_is_zoom_of_samples():
    x = np.random.default_rng(0).standard_normal((30, 26))
    for order in (2, 3, 4, 5):
        whole = tenter.scipy.zoom(x, (1.7, 0.6), order=order, mode="mirror")
        c = tenter.scipy.spline_filter(x, order)
        steps = tenter.scipy.zoom(c, (1.7, 0.6), order=order, mode="mirror", prefilter=False)
        np.testing.assert_allclose(steps, whole, rtol=0, atol=1e-12)


def test_functions_have_scipys_parameters():
    for name in tenter.scipy.__all__:
        ours, its = (inspect.signature(getattr(of, name)).parameters for of in (tenter.scipy, ndimage))
        assert [(p.name, p.default, p.kind) for p in ours.values()] == [
            (p.name, p.default, p.kind) for p in its.values()
        ]


def test_tensors_have_gradients():
    torch = pytest.importorskip("torch")
    x = torch.tensor(np.random.default_rng(0).standard_normal((5, 6)), requires_grad=True)
    for f in (lambda x: tenter.scipy.zoom(x, 1.6), lambda x: tenter.scipy.zoom(x, 1.6, prefilter=False, mode="mirror"),
              lambda x: tenter.scipy.spline_filter(x, 4)):  # fmt: skip
        assert torch.autograd.gradcheck(f, x) and torch.autograd.gradgradcheck(f, x)
        np.testing.assert_allclose(f(x).detach().numpy(), f(x.detach().numpy()), rtol=0, atol=1e-13)


def test_output_takes_an_array():
    x, out = np.random.default_rng(0).integers(0, 99, (7, 8)).astype(np.uint8), np.zeros((14, 16), np.float32)
    assert tenter.scipy.zoom(x, 2, out) is out
    np.testing.assert_allclose(out, ndimage.zoom(x, 2, np.float32), rtol=0, atol=1e-4)


def test_integers_take_any_cval_and_results_have_the_order_of_bytes_of_the_machine():
    x = np.random.default_rng(0).integers(0, 200, (9, 8))
    kinds = (("uint8", -0.25), ("uint8", 99), ("int16", 90.5), (">i2", 90.5), (">f4", 0.0), (">f8", 1.5))
    for (dtype, cval), order in product(kinds, (1, 3)):
        how = {"order": order, "cval": cval, "mode": "grid-constant", "grid_mode": True}
        want, got = (of.zoom(x.astype(dtype), 1.7, **how) for of in (ndimage, tenter.scipy))
        assert got.dtype == want.dtype and got.dtype.isnative
        np.testing.assert_allclose(got, want, rtol=0, atol=1 if want.dtype.kind in "iu" else 2e-4)
    with pytest.raises(ValueError, match="cval: expected a value of uint8, got 300"):
        tenter.scipy.zoom(x.astype("uint8"), 2, cval=300, mode="grid-constant")


@pytest.mark.filterwarnings("ignore:It is recommended")
def test_an_order_above_the_axis_is_scipys():
    for n, order, mode in product((1, 2, 3, 5), (2, 3, 4, 5), ("mirror", "grid-constant", "grid-wrap", "nearest")):
        x = np.random.default_rng(n).standard_normal((n, 30))[:, :n]
        want = ndimage.zoom(x, 3, order=order, mode=mode, grid_mode=True)
        # SciPy continues "nearest" by a start value that short axes do not have exactly.
        got = tenter.scipy.zoom(x, 3, order=order, mode=mode, grid_mode=True)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11, err_msg=f"{n} {order} {mode}")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.zoom(np.zeros(4), 2, order=6), "order: expected an int from 0 to 5, got 6"),
        (lambda f: f.zoom(np.zeros(4), (2, 2)), "zoom: expected 1 numbers, one for each axis, got 2"),
        (lambda f: f.zoom(np.zeros(4), -1), "zoom: expected finite numbers of at least 0"),
        (lambda f: f.zoom(np.zeros(4), 2, mode="edge"), "mode: expected one of mirror"),
        (lambda f: f.zoom(np.zeros(4), 2, mode="wrap", grid_mode=True), "mode: expected 'grid-wrap'"),
        (lambda f: f.zoom(np.zeros(4, bool), 2), "input: expected numbers, got bool"),
        (lambda f: f.zoom(np.zeros(4, object), 2), "input: expected numbers, got object"),
        (lambda f: f.zoom(np.zeros(4), 2, np.zeros(9)), "output: expected an array of shape"),
        (lambda f: f.zoom(np.zeros((0, 4)), (3, 2), np.float32), None),
        (lambda f: f.zoom(np.zeros((0, 4)), (0, 2)), None),
        (lambda f: f.spline_filter(np.zeros((0, 8))), None),
        (lambda f: f.spline_filter1d(np.zeros(4, bool)), "input: expected numbers, got bool"),
        (lambda f: f.spline_filter(np.zeros(4), 6), "order: expected an int from 2 to 5, got 6"),
        (lambda f: f.spline_filter(np.zeros(4), 1), "order: expected an int from 2 to 5, got 1"),
        (lambda f: f.spline_filter1d(np.zeros(4), 3, 1), "axis: expected"),
    ],
)
def test_what_zoom_does_not_take_is_refused(call, words):
    if words is None:
        assert call(tenter.scipy).shape == (0, 8)
        return
    with pytest.raises((TypeError, ValueError, IndexError), match=words.replace("(", r"\(")):
        call(tenter.scipy)
