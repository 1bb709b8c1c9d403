"""Splines of PyTorch's tensors, with gradients; of JAX and the Array API; on the command line."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from tenter._rules import splines
from tenter.cli.main import main

ORDERS = (2, 3, 4, 5)


def values(*shape, dtype="float64"):
    return np.random.default_rng(0).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("edge", splines.EDGES)
def test_gradients_of_both_orders_are_exact(edge):
    torch = pytest.importorskip("torch")
    for order, size in ((3, (9, 3)), (5, (2, 11))):
        x = torch.tensor(values(5, 6), requires_grad=True)
        value = 0.5 if edge == "constant" else 0

        def f(x, order=order, size=size, value=value):
            return tenter.resize(x, size, axes=(0, 1), mode=f"spline{order}", edge=edge, value=value, antialias=False)

        assert torch.autograd.gradcheck(f, x)
        assert torch.autograd.gradgradcheck(f, x)
        np.testing.assert_allclose(f(x).detach().numpy(), f(x.detach().numpy()), rtol=0, atol=1e-13)


def test_a_gradient_is_the_transpose_of_the_map():
    torch = pytest.importorskip("torch")
    for n, m in ((40, 80), (80, 30)):
        a = tenter.axis_map(n, m, "spline3", antialias=False).dense()
        x, g = torch.tensor(values(n, 3), requires_grad=True), values(m, 3)
        tenter.resize(x, m, axes=0, mode="spline3", antialias=False).backward(torch.tensor(g))
        np.testing.assert_allclose(x.grad.numpy(), a.T @ g, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_compiled_exported_and_mapped_code_has_the_same_values():
    torch = pytest.importorskip("torch")
    x = torch.tensor(values(2, 3, 20, 22, dtype="float32"))

    class Up(torch.nn.Module):
        def forward(self, x):
            return tenter.resize(x, (41, 33), axes=(2, 3), mode="spline3")

    want = Up()(x)
    torch.testing.assert_close(torch.compile(Up())(x), want, rtol=0, atol=2e-6)
    torch.testing.assert_close(torch.func.vmap(lambda x: tenter.resize(x, (41, 33), axes=(1, 2), mode="spline3"))(x), want,
                               rtol=0, atol=2e-6)  # fmt: skip
    exported = torch.export.export(Up(), (x,)).module()
    torch.testing.assert_close(exported(x), want, rtol=0, atol=2e-6)


@pytest.mark.slow
def test_onnx_runtime_has_the_same_values(tmp_path):
    torch, runtime = pytest.importorskip("torch"), pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    x = torch.tensor(values(1, 2, 12, 13, dtype="float32"))

    class Up(torch.nn.Module):
        def forward(self, x):
            return tenter.resize(x, (25, 31), axes=(2, 3), mode="spline3")

    tenter.torch.register_onnx() if hasattr(tenter.torch, "register_onnx") else None
    torch.onnx.export(Up(), (x,), str(tmp_path / "up.onnx"), dynamo=True)
    session = runtime.InferenceSession(str(tmp_path / "up.onnx"))
    (made,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    np.testing.assert_allclose(made, Up()(x).numpy(), rtol=0, atol=1e-5)


def test_jax_has_the_same_values_and_gradients():
    jax = pytest.importorskip("jax")
    x = values(14, 9, dtype="float32")

    def f(x):
        return tenter.resize(x, (30, 5), mode="spline3", antialias=False)

    want = f(x)
    np.testing.assert_allclose(f(jax.numpy.asarray(x)), want, rtol=0, atol=2e-6)
    np.testing.assert_allclose(jax.jit(f)(x), want, rtol=0, atol=2e-6)
    g = jax.grad(lambda x: (f(x) ** 2).sum())(jax.numpy.asarray(x))
    a, b = (tenter.axis_map(n, m, "spline3", antialias=False).dense() for n, m in ((14, 30), (9, 5)))
    np.testing.assert_allclose(g, 2 * a.T @ (a @ x @ b.T) @ b, rtol=0, atol=1e-4)


def test_arrays_of_the_standard_have_the_same_values():
    strict = pytest.importorskip("array_api_strict")
    x = values(14, 9)
    for edge in splines.EDGES:
        how = {"mode": "spline4", "edge": edge, "antialias": False}
        made = tenter.resize(strict.asarray(x), (30, 5), **how)
        np.testing.assert_allclose(np.asarray(made), tenter.resize(x, (30, 5), **how), rtol=0, atol=1e-13)


def test_the_command_line_makes_scipys_values_in_blocks_without_scipy(tmp_path):
    zarr, ndimage = pytest.importorskip("zarr"), pytest.importorskip("scipy.ndimage")
    x = values(20, 30, 25, dtype="float32")
    # By mode mirror: by SciPy's default, a last row is 0 where a rounding error puts it beyond the axis.
    want = ndimage.zoom(x.astype(np.float64), (2, 0.5, 1.2), order=3, mode="mirror")
    np.save(tmp_path / "in.npy", x)
    zarr.create_array(str(tmp_path / "in.zarr"), data=x, chunks=(7, 11, 9))
    how = ["--axes", "0,1,2", "--scale", "2,0.5,1.2"]
    for more in (["--like", "scipy", "--mode", "cubic"], ["--like", "scipy", "--mode", "spline3"]):
        for kind in ("npy", "zarr"):
            out = tmp_path / f"out{more[-1]}.{kind}"
            assert main(["resize", str(tmp_path / f"in.{kind}"), str(out), *how, *more]) == 0
            made = np.load(out) if kind == "npy" else zarr.open_array(str(out))[...]
            np.testing.assert_allclose(made, want, rtol=0, atol=4e-6)
