"""`resize(like="jax")` beside `jax.image.resize` and `jax.image.scale_and_translate`."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tenter
from sweeps import sampled

METHODS = {"nearest": "nearest", "linear": "linear", "cubic": "cubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5"}
LENGTHS = (1, 2, 7, 16, 33)
# Each pair is code for JAX to compile.
PAIRS = sampled(itertools.product(LENGTHS, LENGTHS), 100, always=lambda p: p == (16, 7))
BOXES = [(0, 1), (0.1, 0.9), (0.25, 0.625), (-0.25, 0.75), (0.5, 1.5), (-0.5, 1.25)]  # of the whole


def image(*shape: int) -> jax.Array:
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape, np.float32))


@pytest.mark.parametrize("n, m", PAIRS)
@pytest.mark.parametrize(
    "mode, antialias", sampled([("nearest", False), *itertools.product(list(METHODS)[1:], (True, False))], 4)
)
def test_resize(n: int, m: int, mode: str, antialias: bool) -> None:
    for dtype, tolerance in (("float32", 2e-5), ("bfloat16", 1e-1))[: 2 if (n, m) == (16, 7) else 1]:
        x = image(3, n).astype(dtype)
        theirs = jax.image.resize(x, (3, m), METHODS[mode], antialias=antialias)
        ours = tenter.resize(x, m, axes=1, mode=mode, like="jax", antialias=antialias)
        assert ours.dtype == theirs.dtype
        if mode == "nearest":
            assert jnp.array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(*(np.asarray(y, np.float64) for y in (ours, theirs)), rtol=0, atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("mode", METHODS)
def test_resize_of_two_axes(mode: str, compiled: bool) -> None:
    for (h, w), size in itertools.product(((7, 12), (16, 5)), ((1, 7), (12, 2), (24, 31))):
        x = image(h, w, 3)
        theirs = jax.image.resize(x, (*size, 3), METHODS[mode])
        f = lambda x, size=size: tenter.resize(x, size, axes=(0, 1), mode=mode, like="jax")
        np.testing.assert_allclose((jax.jit(f) if compiled else f)(x), theirs, rtol=0, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos3", "lanczos5"])
def test_scale_and_translate(mode: str, antialias: bool) -> None:
    """A box is a scale and a translation. Outputs whose centers lie outside are 0 in JAX; tenter has no rule for these
    that leaves the others as they are in JAX."""
    for n, m, (low, high) in itertools.product((5, 32), (1, 9, 47), BOXES):
        begin, end = low * n, high * n
        scale = m / (end - begin)
        x = image(n)
        given = (jnp.array([scale], jnp.float32), jnp.array([-begin * scale], jnp.float32))
        theirs = jax.image.scale_and_translate(x, (m,), (0,), *given, mode, antialias=antialias)
        ours = tenter.resize(x, m, mode=mode, like="jax", antialias=antialias, box=[(begin, end)])
        centers = begin + (np.arange(m) + 0.5) / scale
        inside = (centers > 1e-4) & (centers < n - 1e-4)
        # Positions in float32 differ from exact ones by their rounding.
        np.testing.assert_allclose(np.asarray(ours)[inside], np.asarray(theirs)[inside], rtol=0, atol=1e-3)
