"""JAX arrays, in eager calls and in compiled code: results as for NumPy arrays, every dtype, counts, refusals."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify
from test_standard_arrays import exact, same

import tenter
from cases import OPS, OpCase, values
from program_helpers import prints
from sweeps import sampled

DTYPES = ["float32", "uint8", "int32", "complex64", "bool"]  # that JAX has without 64 bits
COPIED = ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int8", "uint16", "complex64", "bool"]
X = jnp.arange(6.0).reshape(3, 2)


def name(case: OpCase) -> str:
    return f"{case.op}-{case.shape}-{case.args}{case.kwargs}"


@pytest.mark.parametrize("case", sampled(OPS, 29), ids=name)
def test_eager_calls_give_what_they_give_for_numpy(case: OpCase) -> None:
    f = getattr(tenter, case.op)
    for dtype in DTYPES if exact(case) else DTYPES[:-1]:
        x = values(case.shape, dtype)
        got = f(jnp.asarray(x), *case.args, **case.kwargs)
        assert isinstance(got, jax.Array)
        same(np.asarray(got), f(x, *case.args, **case.kwargs), exact(case))


@pytest.mark.parametrize("case", sampled(OPS, 101), ids=name)
def test_compiled_code_gives_what_calls_give_for_numpy(case: OpCase) -> None:
    f = getattr(tenter, case.op)
    compiled = jax.jit(lambda x: f(x, *case.args, **case.kwargs))
    for dtype in ("float32", "uint8"):
        x = values(case.shape, dtype)
        same(np.asarray(compiled(x)), f(x, *case.args, **case.kwargs), exact(case))


@pytest.mark.parametrize(
    "antialias, dtype",
    sampled(itertools.product([False, True], ["int32", "complex64", "bfloat16", "float16", "int16"]), 4),
)
def test_sums_of_every_dtype(dtype: str, antialias: bool) -> None:
    x = np.asarray(jnp.asarray(values((3, 17, 9), "float32" if "float" in dtype else dtype), dtype))
    f = lambda x: tenter.resize(x, (5, 20), axes=(1, 2), mode="cubic", antialias=antialias)
    want, got = f(x), np.asarray(jax.jit(f)(x))
    assert got.dtype == want.dtype
    wide = complex if dtype == "complex64" else np.float64
    unit = {"bfloat16": 2**-7, "float16": 2**-10, "complex64": 1e-5}.get(dtype, 1e-5)
    error = np.abs(got.astype(wide) - want.astype(wide)).max()
    assert error <= (1 if dtype.startswith("int") else 0) + unit * np.abs(want.astype(wide)).max()


@pytest.mark.parametrize("dtype", sampled(COPIED, 3))
def test_copies_of_every_dtype_have_numpy_s_bits(dtype: str) -> None:
    x = jnp.asarray(np.array([[1, 0, 1], [0, 1, 1]]), dtype)
    for f in (
        lambda x: tenter.tile(tenter.repeat_interleave(x, [2, 1], 0), (2, 2)),
        lambda x: tenter.resize(x, (5, 5), mode="nearest-exact"),
    ):
        want = f(np.asarray(x))
        for got in (f(x), jax.jit(f)(x)):
            assert got.dtype == x.dtype
            assert np.asarray(got).tobytes() == want.tobytes()


def test_keys_of_random_numbers_are_copied() -> None:
    keys = jax.random.split(jax.random.key(0), 3)
    got = tenter.repeat_interleave(keys, 2, 0)
    assert got.dtype == keys.dtype
    assert jnp.array_equal(jax.random.key_data(got), jnp.repeat(jax.random.key_data(keys), 2, 0))


def test_pictures_have_numpy_s_bits_in_compiled_code() -> None:
    x = values((11, 13, 3), "uint8")
    f = lambda x: tenter.resize(x, (5, 20), axes=(0, 1), antialias=True, like="pillow")
    np.testing.assert_array_equal(np.asarray(jax.jit(f)(x)), f(x))
    assert isinstance(tenter.image.resize(jnp.asarray(values((5, 5, 4), "uint8")), (3, 3), alpha=True), jax.Array)


def test_infinite_parts_stay_apart() -> None:
    x = np.zeros(8, np.complex64)
    x[3], x[6] = complex(1, np.inf), complex(np.nan, 2)
    f = lambda x: tenter.resize(x, 13, mode="cubic")
    np.testing.assert_array_equal(np.isfinite(np.asarray(jax.jit(f)(x)).real), np.isfinite(f(x).real))


def test_results_lie_where_their_inputs_do() -> None:
    device = jax.devices()[0]
    assert tenter.tile(jax.device_put(X, device), 2).committed
    assert not tenter.tile(X, 2).committed


# ---- counts


def repeated(x, counts, n):
    return tenter.repeat_interleave(x, counts, 0, output_size=n)


def test_counts_that_are_known_need_no_total() -> None:
    counts = jnp.array([1, 0, 2])
    for f in (lambda x: tenter.repeat_interleave(x, counts, 0), lambda x: tenter.repeat_interleave(x, [1, 0, 2], 0)):
        for got in (f(X), jax.jit(f)(X)):
            assert got.tolist() == [[0, 1], [4, 5], [4, 5]]


@pytest.mark.parametrize(
    "dtype, shape, dim",
    [
        ("int32", (20, 4), 1),  # of which the gradient is taken the other way round
        *(pytest.param("int32", *of, marks=pytest.mark.slow) for of in (((4,), 0), ((2, 4, 3), 1), ((2, 2), None))),
        pytest.param("uint8", (4,), 0, marks=pytest.mark.slow),
    ],
)
def test_counts_that_are_traced(dtype: str, shape: tuple[int, ...], dim: int | None) -> None:
    counts, x = np.array([2, 0, 3, 1], dtype), values(shape, "float32")
    f = lambda x, c: tenter.repeat_interleave(x, c, dim, output_size=6)
    want = np.repeat(x, counts, dim)
    weights = np.arange(6.0, dtype=np.float32).reshape([-1 if d == (dim or 0) else 1 for d in range(want.ndim)])
    both = jax.jit(lambda x, c: (f(x, c), jax.grad(lambda x: (f(x, c) * weights).sum())(x)))
    got, g = both(x, counts)
    np.testing.assert_array_equal(np.asarray(got), want)
    ends = np.array([sum(range(b - c, b)) for b, c in zip(np.cumsum(counts).tolist(), counts.tolist())])
    sums = ends.reshape(2, 2) if dim is None else ends.reshape([-1 if d == dim else 1 for d in range(x.ndim)])
    np.testing.assert_array_equal(np.asarray(g), np.broadcast_to(sums, shape))


@pytest.mark.slow
def test_traced_counts_in_other_calls() -> None:
    counts = np.array([2, 0, 3, 1], np.int32)
    alone = jax.jit(lambda c: tenter.repeat_interleave(c, output_size=6))(counts)
    assert alone.tolist() == [0, 0, 2, 2, 2, 3]
    assert jax.jit(lambda x, n: tenter.repeat_interleave(x, [1, n, 0], 0, output_size=3))(X, 2).shape == (3, 2)
    each = jax.vmap(lambda x, c: repeated(x, c, 4))(jnp.arange(6).reshape(2, 3), jnp.array([[1, 1, 2], [4, 0, 0]]))
    assert each.tolist() == [[0, 1, 2, 2], [3, 3, 3, 3]]


@pytest.mark.parametrize(
    "counts, n, words",
    sampled(
        [
            ([1, 0, 2], 3, None),
            ([1, 0, 2], 4, "output_size: expected 3, the sum of the counts, got 4"),
            ([1, 0, 2], 2, "output_size: expected 3, the sum of the counts, got 2"),
            ([1, -1, 2], 2, "repeats: expected non-negative counts, got -1"),
            ([2**31 - 1, 2**31 - 1, 5], 3, "repeats: expected counts whose sum fits"),
        ],
        3,
    ),
)
def test_wrong_totals_are_reported(counts, n: int, words: str | None) -> None:
    checked = jax.jit(checkify.checkify(repeated), static_argnums=2)
    error, _ = checked(X, jnp.array(counts), n)
    if words is None:
        assert error.get() is None
        return
    assert words in error.get()
    with pytest.raises(ValueError, match=r"sum of the counts|non-negative"):
        repeated(X, jnp.array(counts), n)


def test_positions_past_the_true_total_are_zero() -> None:
    got = jax.jit(repeated, static_argnums=2)(X + 1, jnp.array([1, 0, 1]), 4)
    assert got.tolist() == [[1, 2], [5, 6], [0, 0], [0, 0]]


# ---- what is not known while JAX follows the code


# After the second line JAX may say that it has left lines out.
TWO_LINES = r"expected [^\n]*, got (a JAX tracer, [^\n]*|None)\n  in [a-z_.]+\([^\n]*\)(\n---|$)"


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x, n: tenter.repeat_interleave(x, jnp.stack([n, n, n]), 0), "output_size"),
        (lambda x, n: tenter.repeat_interleave(x, 2, n), "dim"),
        (lambda x, n: tenter.repeat_interleave(x, 2, output_size=n), "output_size"),
        (lambda x, n: tenter.repeat(x, n, 1), "sizes"),
        (lambda x, n: tenter.tile(x, (n, 1)), "dims"),
        (lambda x, n: tenter.expand(x, n, -1, -1), "sizes"),
        (lambda x, n: tenter.resize(x, n), "size"),
        (lambda x, n: tenter.resize(x, jnp.stack([n, n])), "size"),
        (lambda x, n: tenter.resize(x, scale=n * 1.0), "scale"),
        (lambda x, n: tenter.resize(x, (3, 3), axes=n), "axes"),
        (lambda x, n: tenter.resize(x, (3, 3), box=[(n, 2), None]), "box"),
        (lambda x, n: tenter.resize(x, (3, 3), edge="constant", value=n), "value"),
        (lambda x, n: tenter.interpolate(x[None, None], scale_factor=n * 1.0), "scale_factor"),
        (lambda x, n: tenter.image.resize(jnp.ones((3, 3, 4)) * n, (5, 5), alpha=True), "x"),
        (lambda x, n: tenter.repeat_interleave(np.ones(3), jnp.stack([n, n, n])), "repeats"),
    ],
)
def test_tracers_where_a_value_is_needed_are_refused_in_two_lines(call, argument: str) -> None:
    with pytest.raises(TypeError, match=rf"^{argument}: {TWO_LINES}"):
        jax.jit(call)(X, 2)


def test_arrays_that_are_gone_are_refused() -> None:
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(TypeError, match="deleted or donated"):
        tenter.repeat_interleave(x, 2)


# ---- many devices


@pytest.mark.slow
def test_sharded_arrays() -> None:
    assert prints("jax_shards.py", XLA_FLAGS="--xla_force_host_platform_device_count=4") == "ok\n"


@pytest.mark.parametrize(
    "call, argument",
    [
        (lambda x, n: tenter.numpy.repeat(np.ones(3), jnp.stack([n, n, n])), "repeats"),
        (lambda x, n: tenter.numpy.repeat(np.ones(3), [1, n, 2]), "repeats"),
        (lambda x, n: tenter.numpy.repeat(np.ones(3), 2, n), "axis"),
        (lambda x, n: tenter.numpy.tile(x, 2), "A"),
        (lambda x, n: tenter.numpy.tile(np.ones(3), (n, 2)), "reps"),
    ],
)
def test_numpy_s_dialect_refuses_tracers_in_two_lines(call, argument: str) -> None:
    with pytest.raises(TypeError, match=rf"^{argument}: {TWO_LINES}"):
        jax.jit(call)(X, 2)
