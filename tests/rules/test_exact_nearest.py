"""Nearest modes of `resize` by default: positions in fractions, for arrays of every kind. PyTorch's, which are rounded to
float32, are those of `interpolate` and of like="torch"."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tenter
from sweeps import in_one_test, sampled
from tenter.conventions import Convention

# Whole factors at which float32 positions are wrong somewhere, and others.
FACTORS = [
    (2, 41),
    (2, 47),
    (3, 109),
    (7, 300),
    (1000, 331),
    (1237, 107),
    (4097, 49),
    (16000, 3),
    (3, 100_003),
    (1, 9999),
]


def kinds(x):
    """x as an array of each library, in shapes and layouts that take different kernels of PyTorch, each with its axis."""
    import dask.array
    import jax.numpy as jnp

    n = len(x)
    t = torch.from_numpy(x)
    yield "numpy", x, 0
    yield "strided", np.stack([x, x], 1)[:, 0], 0
    yield "float64", x.astype(np.float64), 0
    yield "signal", t.view(1, 1, n), 2
    yield "float64 tensor", t.double().view(1, 1, n), 2
    yield "image", t.view(1, 1, 1, n), 3
    yield "channels last", t.view(1, 1, n, 1).expand(1, 4, n, 3).contiguous(memory_format=torch.channels_last), 2
    yield "volume", t.view(1, 1, 1, 1, n).expand(1, 1, 2, 1, n), 4
    yield "jax", jnp.asarray(x), 0
    yield "dask", dask.array.from_array(x, chunks=max(1, n // 3)), 0
    yield "lazy", x, None


def resized(x, axis, **how):
    if axis is None:
        return np.asarray(tenter.lazy.resize(x, **how))
    y = np.moveaxis(np.asarray(tenter.resize(x, axes=axis, **how)), axis, 0)
    y = y.reshape(len(y), -1)
    assert (y == y[:, :1]).all()
    return y[:, 0]


@pytest.mark.parametrize("n, factor", sampled(FACTORS, 5))
@in_one_test("mode", ["nearest", "nearest-exact"])
def test_whole_factors_repeat(n, factor, mode):
    x = (np.arange(n) % 2**20).astype(np.int32)
    want = np.repeat(x, factor)
    for name, a, axis in kinds(x):
        for how in ({"scale": factor}, {"size": n * factor}):
            assert np.array_equal(resized(a, axis, mode=mode, **how), want), (name, how)
            assert np.array_equal(resized(a, axis, mode=mode, like=Convention.of(None), **how), want), (name, how)


@in_one_test("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("n, factor", sampled([(2**24 + 6, 2), (2**24 + 7, 3), (2**25 + 1, 2)], 3))
def test_whole_factors_of_long_axes_repeat(n, factor, mode):
    x = np.arange(n, dtype=np.uint32).astype(np.uint8) ^ (np.arange(n, dtype=np.uint32) >> 8).astype(np.uint8)
    want = np.repeat(x, factor)
    assert np.array_equal(tenter.resize(x, scale=factor, mode=mode), want)
    assert np.array_equal(tenter.resize(torch.from_numpy(x), n * factor, mode=mode).numpy(), want)
    if mode == "nearest-exact":
        assert np.array_equal(tenter.resize(x, scale=factor, mode=mode, like="pillow"), want)


@in_one_test("mode", ["nearest", "nearest-exact"])
@pytest.mark.parametrize("seed", sampled(range(40), 10))
def test_outputs_take_the_input_at_their_exact_position(seed, mode):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        n = int(rng.integers(1, 3000))
        scale = Fraction(int(rng.integers(1, 400)), int(rng.integers(1, 200)))
        size = floor(n * scale) if rng.random() < 0.5 else int(rng.integers(1, 6000))
        by_scale = size == floor(n * scale) and 0 < size < 20_000
        if not 0 < size < 20_000:
            continue
        step = 1 / scale if by_scale else Fraction(n, size)
        at = Fraction(1, 2) if mode == "nearest-exact" else 0
        index = [min(floor((o + at) * step), n - 1) for o in range(size)]
        x = rng.permutation(n).astype(np.int32)
        for name, a, axis in kinds(x):
            how = {"scale": scale} if by_scale else {"size": size}
            assert np.array_equal(resized(a, axis, mode=mode, **how), x[index]), (name, n, how)


@pytest.mark.parametrize("seed", sampled(range(20), 10))
@in_one_test("mode", ["nearest", "nearest-exact"])
def test_like_torch_takes_pytorchs_inputs_and_they_differ(seed, mode):
    rng = np.random.default_rng(seed)
    differ = 0
    for n, size in [(2, 82), (480, 224), (16384, 16383), *rng.integers(1000, 16384, (20, 2)).tolist()]:
        x = torch.arange(n, dtype=torch.float32)
        want = F.interpolate(x[None, None], size, mode=mode)[0, 0]
        assert torch.equal(tenter.interpolate(x[None, None], size, mode=mode)[0, 0], want)
        assert torch.equal(tenter.resize(x, size, mode=mode, like="torch"), want)
        assert np.array_equal(tenter.resize(x.numpy(), size, mode=mode, like="torch"), want.numpy())
        differ += not torch.equal(tenter.resize(x, size, mode=mode), want)
    assert differ > 3
