"""JAX's transforms of every operation: the gradient is the transposed map's, a tangent the operation's own, a mapped
dim one more batch; and `AxisMap.apply` under all of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tenter
from sweeps import sampled
from tenter.maps import Copy, Gather, Window

Function = Callable[[Any], Any]


class Case(NamedTuple):
    name: str
    shape: tuple[int, ...]
    f: Function


def applied(name: str, m: Any) -> Case:
    return Case(f"{name}.apply", (2, m.n_in, 3), lambda x: m.apply(x, 1))


CASES = [
    Case("counts", (4, 3), lambda x: tenter.repeat_interleave(x, [1, 0, 2, 3], 0)),
    Case("cubic", (2, 5, 6), lambda x: tenter.resize(x, (7, 4), axes=(1, 2), mode="cubic")),
    Case("antialias", (1, 2, 7, 5), lambda x: tenter.interpolate(x, (3, 8), mode="bilinear", antialias=True)),
    Case("nearest", (1, 2, 5, 3), lambda x: tenter.interpolate(x, (7, 2))),
    Case("every", (3, 4), lambda x: tenter.repeat_interleave(x, 2, 1)),
    Case("flat", (2, 3), lambda x: tenter.repeat_interleave(x, 2)),
    Case("tile", (2, 3), lambda x: tenter.tile(x, (2, 1, 3))),
    Case("expand", (2, 1), lambda x: tenter.expand(x, 3, -1, 4)),
    Case("wrap", (6,), lambda x: tenter.resize(x, 8, mode="lanczos", edge="wrap")),
    Case("value", (6,), lambda x: tenter.resize(x, 5, box=[(-1, 6)], edge="constant", value=3) - 1),
    Case("area", (3, 40), lambda x: tenter.resize(x, 3, axes=1, mode="area")),
    Case("long rows", (90,), lambda x: tenter.resize(x, 1, mode="box", antialias=True)),
    applied("Copy", Copy.repeats([1, 3, 0, 2])),
    applied("cycle", Copy.tile(3, 2)),
    applied("Window", Window(4, 2, [0, 1], [0, 2, 5], [0.5, -1.0, 2.0, 3.0, 4.0])),
    applied("sums", Copy.repeats([1, 3, 0, 2]).T),
    applied("Gather", Gather(4, 3, [0, 2, 2, 5], [3, 0, 1, 1, 2], [1.0, 2.0, -1.0, 0.5, 4.0])),
]
FEW = sampled(CASES, 6, lambda c: c.name)


def given(case: Case) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(case.shape).astype(np.float32)


def close(got: Any, want: Any) -> None:
    assert got.shape == want.shape
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-5)


def matrix(case: Case) -> np.ndarray:
    """The operation as a matrix, by NumPy: a column for each input."""
    x = np.zeros(case.shape, np.float64)
    origin = case.f(x).copy()  # which may be a view
    columns = []
    for at in np.ndindex(case.shape):
        x[at] = 1
        columns.append((case.f(x) - origin).ravel())
        x[at] = 0
    return np.stack(columns, 1)


@pytest.mark.parametrize("case", sampled(CASES, 2, lambda c: c.name))
def test_a_gradient_is_the_transpose(case: Case) -> None:
    x = given(case)
    y, back = jax.vjp(case.f, jnp.asarray(x))
    close(y, case.f(x))
    g = np.random.default_rng(1).standard_normal(y.shape).astype(np.float32)
    close(back(jnp.asarray(g))[0], (matrix(case).T @ g.ravel()).reshape(case.shape))


@pytest.mark.parametrize("case", FEW)
def test_compiled_gradients_and_tangents(case: Case) -> None:
    x, m = given(case), matrix(case)
    weights = np.random.default_rng(1).standard_normal(case.f(x).shape).astype(np.float32)
    close(jax.jit(jax.grad(lambda x: (case.f(x) * weights).sum()))(x), (m.T @ weights.ravel()).reshape(case.shape))
    y, tangent = jax.jit(lambda x, t: jax.jvp(case.f, (x,), (t,)))(x, 2 * x)
    close(y, case.f(x))
    close(tangent, (m @ (2 * x).ravel()).reshape(y.shape))


@pytest.mark.parametrize("case", sampled(CASES, 2, lambda c: c.name))
def test_a_mapped_dim_is_a_batch(case: Case) -> None:
    x = given(case)
    several = np.stack([x, 2 * x, -x])
    want = np.stack([case.f(one) for one in several])
    close(jax.vmap(case.f)(jnp.asarray(several)), want)
    last = jax.vmap(case.f, in_axes=-1, out_axes=-1)(jnp.asarray(np.moveaxis(several, 0, -1)))
    close(last, np.moveaxis(want, 0, -1))


@pytest.mark.parametrize("case", sampled(CASES, len(CASES), lambda c: c.name))
def test_jacobians_of_both_modes(case: Case) -> None:
    x, m = jnp.asarray(given(case)), matrix(case)
    want = m.reshape(*case.f(np.asarray(x)).shape, *case.shape)
    close(jax.jacfwd(case.f)(x), want)
    close(jax.jacrev(case.f)(x), want)


@pytest.mark.parametrize(
    "mode, case",
    sampled(
        itertools.product((jax.jacfwd, jax.jacrev), CASES), 2 * len(CASES), lambda p: f"{p[0].__name__}-{p[1].name}"
    ),
)
def test_second_order(mode: Any, case: Case) -> None:
    """Of |f(x^3)|^2, by hand, f being a matrix and what it gives for zeros."""
    x, m = given(case), matrix(case)
    shift = case.f(np.zeros(case.shape)).ravel()
    at = x.astype(np.float64).ravel()
    slope = m.T @ (m @ at**3 + shift)
    want = np.diag(12 * at * slope) + 18 * (m * at**2).T @ (m * at**2)
    found = jax.jit(mode(jax.grad(lambda x: (case.f(x**3) ** 2).sum())))(x)
    np.testing.assert_allclose(found.reshape(want.shape), want, rtol=1e-3, atol=1e-3)


def test_gradients_have_no_scatter() -> None:
    """JAX's own transpose of a take is one, which on a processor adds one element after the other."""
    f = lambda x: tenter.resize(x, (7, 4), mode="cubic")
    text = jax.jit(lambda x, g: jax.vjp(f, x)[1](g)[0]).lower(jnp.ones((5, 6)), jnp.ones((7, 4))).as_text()
    assert "scatter" not in text and "gather" in text


def test_maps_are_arguments_that_compiled_code_tells_apart() -> None:
    f = jax.jit(lambda x, m: m.apply(x, 0), static_argnums=1)
    for counts in ([1, 3, 2], [3, 1, 2], [1, 3, 2]):
        assert f(jnp.arange(3), Copy.repeats(counts)).tolist() == np.repeat(np.arange(3), counts).tolist()


def test_scans_and_checkpoints() -> None:
    step = jax.checkpoint(lambda x, _: (tenter.resize(x, 6, mode="cubic") * 0.5, None))
    total = lambda x: jax.lax.scan(step, x, None, length=3)[0].sum()
    m = 0.5 * tenter.axis_map(6, 6, "cubic").dense()
    close(jax.jit(jax.grad(total))(jnp.ones(6)), np.linalg.matrix_power(m.T, 3) @ np.ones(6))
