"""tenter.interp on the arrays of other libraries, and its gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from sweeps import in_one_test, sampled

C, AT = np.array([0.0, 1, 3, 7]), np.array([0.5, 2, 8, -1, 3])
X = np.random.default_rng(0).standard_normal((2, 4))
CALLS = [
    {}, {"mode": "nearest"}, {"mode": "catmull-rom"}, {"edge": "constant", "value": (-3.0, 2.0)}, {"period": 9},
    {"edge": "extrapolate"},
]  # fmt: skip


@in_one_test("how", CALLS)
def test_gradients_are_those_of_the_map(how):
    torch = pytest.importorskip("torch")
    x = torch.tensor(X, requires_grad=True)

    def f(x):
        return tenter.interp(x, AT, C, **how)

    assert torch.equal(f(x), torch.from_numpy(tenter.interp(X, AT, C, **how)))
    assert torch.autograd.gradcheck(f, (x,))
    assert torch.autograd.gradgradcheck(lambda x: f(x) ** 3, (x,))
    # A fill value has no gradient. The rest is the transposed map.
    inside = (AT >= 0) & (AT <= 7) if "value" in how else np.ones(5, bool)
    plain = {k: v for k, v in how.items() if k not in ("edge", "value")}
    A = tenter.maps.from_coordinates(
        AT[inside], C, **plain, edge=how["edge"] if how.get("edge") == "extrapolate" else "replicate"
    )
    (got,) = torch.autograd.grad(f(x).sum(), x)
    np.testing.assert_allclose(got.numpy(), A.T.apply(np.ones((2, inside.sum())), 1), rtol=1e-14, atol=1e-15)
    rows = torch.func.vmap(lambda r: tenter.interp(r, AT, C, **how))(x)
    assert torch.equal(rows, f(x))
    assert torch.equal(tenter.interp(x.T, torch.from_numpy(AT), torch.from_numpy(C), 0, **how).T, f(x))


@in_one_test("how", sampled(CALLS, 3))
def test_other_libraries_give_the_same(how):
    want = tenter.interp(X.astype(np.float32), AT, C, **how)
    da, xp = pytest.importorskip("dask.array"), pytest.importorskip("array_api_strict")
    for chunks in ((1, 2), (2, 4), (1, (1, 3))):
        lazily = tenter.interp(da.from_array(X.astype(np.float32), chunks=chunks), AT, C, **how)
        assert isinstance(lazily, da.Array) and lazily.dtype == np.float32
        np.testing.assert_array_equal(lazily.compute(scheduler="sync"), want)
    strict = tenter.interp(xp.asarray(X.astype(np.float32)), AT, C, **how)
    np.testing.assert_allclose(np.from_dlpack(strict), want, rtol=1e-6)
    jax = pytest.importorskip("jax")
    x = jax.numpy.asarray(X, np.float32)

    def f(x):
        return tenter.interp(x, AT, C, **how)

    np.testing.assert_array_equal(f(x), want)
    np.testing.assert_allclose(jax.jit(f)(x), want, rtol=1e-6)


@pytest.mark.slow
def test_compiled_code_calls_it_between_its_graphs_and_has_the_map_within():
    torch = pytest.importorskip("torch")
    x, A = torch.from_numpy(X), tenter.maps.from_coordinates(AT, C)
    want = tenter.interp(x * 2, AT, C) + 1
    assert torch.equal(torch.compile(lambda x: tenter.interp(x * 2, AT, C) + 1, backend="eager")(x), want)
    within = torch.compile(lambda x: A.apply(x * 2, 1) + 1, backend="eager", fullgraph=True)
    assert torch.equal(within(x), want)
    with pytest.raises(Exception, match="makes it outside of the compiled code"):
        torch.compile(lambda x: tenter.interp(x, AT, C), backend="eager", fullgraph=True)(x)


def test_labels_and_times_of_pandas_are_coordinates():
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2020-01-01", "2020-01-04")
    assert tenter.interp([0.0, 3.0], days, days[[0, 3]]).tolist() == [0, 1, 2, 3]
