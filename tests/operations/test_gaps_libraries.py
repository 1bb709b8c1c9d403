"""resize with missing values in PyTorch, JAX, Dask, xarray and the Array API standard."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from sweeps import in_one_test
from tenter import ragged

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 17, 23)).astype(np.float32)
X[RNG.random(X.shape) < 0.3] = np.nan
THERE = RNG.random((17, 23)) > 0.3
SIZE = {"size": (9, 30), "axes": (1, 2)}
CALLS = [
    {"skipna": True},
    {"where": THERE, "skipna": True},
    {"where": THERE, "skipna": True, "edge": "constant", "value": 3.0},
    {"where": THERE, "skipna": True, "mode": "nearest-exact"},
    {"where": THERE, "skipna": True, "mode": "cubic", "min_valid": 0.2},
    {"where": THERE[:, :1], "skipna": True, "box": ((15, 2), (1, 20))},
]


def of(library):
    if library == "torch":
        torch = pytest.importorskip("torch")
        return lambda x: torch.from_numpy(x.copy())
    if library == "jax":
        return pytest.importorskip("jax.numpy").asarray
    if library == "dask":
        da = pytest.importorskip("dask.array")
        return lambda x: da.from_array(x, chunks=(2, 7, 9)[-x.ndim :])
    return pytest.importorskip("array_api_strict").asarray


def same(got, want):
    got = np.asarray(got)
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("calls", [CALLS[1:2], pytest.param(CALLS, marks=pytest.mark.slow)], ids=["one", "all"])
@pytest.mark.parametrize("library", ["torch", "jax", "dask", "strict"])
def test_every_library_gives_numpys_result(library, calls):
    made = of(library)
    for how in calls:
        want = tenter.resize(X, **SIZE, **how)
        same(tenter.resize(made(X), **SIZE, **how), want)
        if "where" in how:
            same(tenter.resize(made(X), **SIZE, **{**how, "where": made(how["where"])}), want)
    numbers = np.arange(17 * 23, dtype=np.int16).reshape(17, 23)
    want = tenter.resize(numbers, (9, 30), where=THERE, value=-5)
    assert abs(np.asarray(tenter.resize(made(numbers), (9, 30), where=THERE, value=-5)) - want).max() <= 1


def test_gradients_of_every_order_are_those_of_the_formula():
    torch = pytest.importorskip("torch")
    x, there = torch.randn(1, 6, 4, dtype=torch.float64), torch.rand(6, 4) > 0.4
    there[:3, :3] = False
    x[0, 5, 3] = torch.nan
    for how in ({"where": there}, {"skipna": True}, {"where": there, "skipna": True, "mode": "cubic"}):

        def f(v, how=how):
            return tenter.resize(v, (3, 3), axes=(1, 2), **how).nan_to_num(0)

        given = x.clone() if how.get("skipna") else x.nan_to_num(0)
        given.requires_grad_()
        some = torch.autograd.grad(f(given).sin().sum(), given)[0]
        assert torch.isfinite(some).all()
        if "where" in how:
            assert (some[:, ~there] == 0).all()
        # Linear in x: the transpose, applied to a direction.
        g, v = torch.randn(1, 3, 3, dtype=torch.float64), torch.randn_like(x)
        back = torch.autograd.grad(f(given), given, g)[0]
        moved = f(given.detach() + v) - f(given.detach())
        torch.testing.assert_close((moved * g).sum(), (back * v).sum())


@pytest.mark.slow
def test_gradients_are_those_of_differences():
    torch = pytest.importorskip("torch")
    x, there = torch.randn(2, 7, 6, dtype=torch.float64, requires_grad=True), torch.rand(7, 6) > 0.4
    for mode in ("linear", "cubic", "area"):
        how = {"axes": (1, 2), "mode": mode, "where": there, "min_valid": 0.3}
        f = lambda v, how=how: tenter.resize(v, (4, 5), **how).nan_to_num(0)
        assert torch.autograd.gradcheck(f, x) and torch.autograd.gradgradcheck(f, x)


@pytest.mark.slow
def test_transforms_and_compiled_code_give_the_eager_result():
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = torch.from_numpy(X)
    for how in CALLS:
        want = tenter.resize(X, **SIZE, **how)
        each = {**SIZE, **how, "axes": (0, 1)}
        same(torch.func.vmap(lambda v, each=each: tenter.resize(v, **each))(x), want)
        same(jax.vmap(lambda v, each=each: tenter.resize(v, **each))(X), want)
        same(jax.jit(lambda v, how=how: tenter.resize(v, **SIZE, **how))(X), want)
        tensors = {n: torch.from_numpy(v.copy()) if n == "where" else v for n, v in how.items()}
        f = torch.compile(lambda v, t=tensors: tenter.resize(v, **SIZE, **t), fullgraph=True, backend="aot_eager")
        same(f(x), want)


def test_segments_of_tensors_are_numpys():
    torch = pytest.importorskip("torch")
    x, lengths = X[0, 0], [5, 0, 18]
    for name in ("sum", "mean", "max", "min", "softmax"):
        f = getattr(ragged, f"segment_{name}")
        tensor = torch.from_numpy(x).requires_grad_()
        y = f(tensor, lengths, skipna=True, where=torch.from_numpy(THERE[0]))
        same(y.detach(), f(x, lengths, skipna=True, where=THERE[0]))
        y[torch.isfinite(y)].sum().backward()
        assert torch.isfinite(tensor.grad).all() and (tensor.grad[~torch.from_numpy(THERE[0])] == 0).all()


@in_one_test("kind", ["array", "lazy"])
def test_labelled_arrays_take_masks_by_the_names_of_dims(kind):
    xarray = pytest.importorskip("xarray")
    da = xarray.DataArray(X[:, :16], {"lat": np.arange(16.0)}, ("t", "lat", "lon"), name="warm")
    there = xarray.DataArray(THERE[:16], {"lat": np.arange(16.0)}, ("lat", "lon"))
    given = da.chunk(t=1) if kind == "lazy" else da
    got = tenter.resize(given, {"lat": 4}, mode="area", where=there.T, skipna=True, min_valid=0.5)
    want = tenter.resize(da.values, 4, axes=1, mode="area", where=THERE[:16], skipna=True, min_valid=0.5)
    np.testing.assert_allclose(got.values, want, rtol=1e-5)
    assert got.name == "warm"
    coarse = tenter.resize(given, {"lat": 4}, mode="area", skipna=True)
    np.testing.assert_allclose(coarse.values, da.coarsen(lat=4).mean().values, rtol=1e-5)
    with pytest.raises(ValueError, match="where: expected x's coordinates along lat, got others"):
        tenter.resize(da, {"lat": 4}, where=there.assign_coords(lat=np.arange(16) + 1.0))
    with pytest.raises(ValueError, match="where: expected some of the dims t, lat, lon, got 'x'"):
        tenter.resize(da, {"lat": 4}, where=there.rename(lat="x"))
    with pytest.raises(TypeError, match="where: expected a DataArray, whose dims have names"):
        tenter.resize(xarray.Dataset({"a": da}), {"lat": 4}, where=THERE[:16])
