"""What JAX compiles of a call for processors: no more than of its own function's, where both mean the same, and no loops
that are known to be slow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tenter

Function = Callable[..., jax.Array]
X = jnp.arange(12.0).reshape(3, 4)


def instructions(f: Function, *given: Any) -> Counter[tuple[str, str]]:
    """The kinds of the compiled instructions and their results' shapes."""
    text = jax.jit(f).lower(*given).compile().as_text()
    return Counter(re.findall(r" = (\S+) ([a-z-]+)\(", text))


def gradient(f: Function) -> Function:
    return lambda g, x, *rest: jax.vjp(lambda x: f(x, *rest), x)[1](g)[0]


@pytest.mark.parametrize(
    "ours, theirs",
    [
        (lambda x: tenter.repeat_interleave(x, 2, 1), lambda x: jnp.repeat(x, 2, 1)),
        (lambda x: tenter.repeat_interleave(x, 3, 0), lambda x: jnp.repeat(x, 3, 0)),
        (lambda x: tenter.repeat_interleave(x, 3), lambda x: jnp.repeat(x, 3)),
        (lambda x: tenter.tile(x, (2, 3)), lambda x: jnp.tile(x, (2, 3))),
    ],
)
def test_copies_that_a_broadcast_makes_are_jax_s(ours: Function, theirs: Function) -> None:
    assert instructions(ours, X) == instructions(theirs, X)
    ours, theirs = (instructions(gradient(f), ours(X), X) for f in (ours, theirs))
    assert "reduce" in str(theirs) and "reduce" not in str(ours), "a slow loop, where slices are added"


@pytest.mark.parametrize("dim", [0, 1])
def test_traced_counts_take_no_instruction_that_jax_s_have_not(dim: int) -> None:
    counts = jnp.array([1, 0, 2, 3][: X.shape[dim]])
    total = int(counts.sum())
    ours = partial(tenter.repeat_interleave, dim=dim, output_size=total)
    theirs = partial(jnp.repeat, axis=dim, total_repeat_length=total)
    kinds = [Counter(kind for _, kind in instructions(f, X, counts).elements()) for f in (ours, theirs)]
    assert not kinds[0] - kinds[1]


@pytest.mark.parametrize(
    "dtype, each", [("bfloat16", 4), ("bfloat16", 40), pytest.param("float16", 4, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("traced", [False, True])
def test_gradients_of_copies_are_summed_in_float32(dtype: str, each: int, traced: bool) -> None:
    g = jnp.asarray(np.random.default_rng(0).standard_normal((20, 3 * each), np.float32), dtype)
    f = lambda x, c: tenter.repeat_interleave(x, c if traced else each, 1, output_size=3 * each)
    got = jax.jit(gradient(f))(g, jnp.zeros((20, 3), dtype), jnp.full(3, each))
    want = np.asarray(g, np.float64).reshape(20, 3, each).sum(2)
    np.testing.assert_allclose(np.asarray(got, np.float64), want, rtol=float(jnp.finfo(dtype).eps) * 0.51, atol=1e-5)


def passes(text: str) -> int:
    return text.count("conditional(")


def test_sums_that_many_taps_read_are_stored() -> None:
    """Which pays where an axis is enlarged with four taps and more."""
    compiled = lambda f, *given: jax.jit(f).lower(*given).compile().as_text()
    cubic, linear = (
        lambda x, mode=mode: tenter.resize(x, (7, 9), mode=mode, antialias=False) for mode in ("cubic", "linear")
    )
    assert (passes(compiled(cubic, X)), passes(compiled(linear, X))) == (1, 0)
    assert passes(compiled(gradient(cubic), jnp.zeros((7, 9)), X)) == 0
    np.testing.assert_allclose(jax.jit(cubic)(X), cubic(X), rtol=1e-5, atol=1e-5)
