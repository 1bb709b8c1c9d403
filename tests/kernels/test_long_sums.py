"""Long sums are made in parts, in one order, however a call goes; so their errors stay small."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.caches import forget_plans

import tenter
from tenter import _native
from tenter.maps import Window

tuning = _native.tuning
PART = 1024  # taps
# Lengths of sums, short and long in turns, and long ones beside each other.
COUNTS = [0, 1, 1023, 1024, 1025, 7, 2048, 2049, 3001, 0, 0, 1026, 5, 9, 5000, 1]


pytestmark = pytest.mark.usefixtures("usual_thresholds")


def by_definition(x: np.ndarray) -> Any:
    """The sum of x: of at most PART values in order, of more as the sum of the sums of equal parts, longer ones first."""
    if not len(x):
        return x.dtype.type(0)
    if len(x) > PART:
        n = -(-len(x) // PART)
        bounds = np.cumsum([0] + [len(x) // n + (k < len(x) % n) for k in range(n)])
        x = np.array([by_definition(x[lo:hi]) for lo, hi in itertools.pairwise(bounds)])
        return by_definition(x)
    return np.add.accumulate(x)[-1]


def sums(x: np.ndarray, starts: list[int], counts: list[int]) -> np.ndarray:
    """Sums along the last axis."""
    flat = x.reshape(-1, x.shape[-1])
    found = [[by_definition(row[s : s + n]) for s, n in zip(starts, counts, strict=True)] for row in flat]
    return np.array(found).reshape(*x.shape[:-1], len(counts))


def layouts(x: np.ndarray) -> dict[str, tuple[np.ndarray, int]]:
    """(array, axis), all with the values of x, whose axis of sums is the last one."""
    return {
        "rows": (x, x.ndim - 1),
        "columns": (np.moveaxis(x, -1, 0).copy(), 0),
        "strided": (np.repeat(x, 2, -1)[..., ::2], x.ndim - 1),
        "reversed": (x[..., ::-1].copy()[..., ::-1], x.ndim - 1),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("rows", [(), (3,), (9,), (2, 9), (40,)])
def test_sums_of_ones_are_those_of_the_definition(dtype, rows):
    rng = np.random.default_rng(len(rows))
    starts = np.cumsum([0, *COUNTS])
    x = rng.standard_normal((*rows, int(starts[-1]))).astype(dtype)
    want = sums(x.astype(np.promote_types(dtype, np.float32)), list(starts[:-1]), COUNTS).astype(dtype)
    m = Window(x.shape[-1], len(COUNTS), starts[:-1].copy(), starts, None)
    for name, (given, axis) in layouts(x).items():
        assert np.array_equal(np.moveaxis(m.apply(given, axis), axis, -1), want), name


@pytest.mark.parametrize("width", [1025, 2048, 5000])
def test_equal_sums_are_those_of_the_definition(width):
    rng = np.random.default_rng(width)
    for inner in (1, 3, 8, 20):
        x = torch.ones(5, inner, requires_grad=True)
        g = torch.from_numpy(rng.standard_normal((5 * width, inner)).astype(np.float32))
        want = np.stack([sums(g[width * k : width * (k + 1)].numpy().T, [0], [width])[:, 0] for k in range(5)])
        (got,) = torch.autograd.grad(tenter.repeat_interleave(x, width, 0), x, g)
        assert np.array_equal(got.numpy(), want)
        x = torch.ones(inner, requires_grad=True)
        want = sums(g[:width].numpy().T, [0], [width])[:, 0]
        (got,) = torch.autograd.grad(tenter.repeat(x, width), x, g[:width].reshape(-1))
        assert np.array_equal(got.numpy(), want)


def test_gradients_of_counts_and_ragged_sums_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    starts = [int(s) for s in np.cumsum([0, *COUNTS])]
    counts = torch.tensor(COUNTS)
    for shape in ((), (3,), (20,)):
        g = rng.standard_normal((starts[-1], *shape)).astype(np.float32)
        want = np.moveaxis(sums(np.moveaxis(g, 0, -1), starts[:-1], COUNTS), -1, 0)
        x = torch.ones(len(COUNTS), *shape, requires_grad=True)
        (got,) = torch.autograd.grad(tenter.repeat_interleave(x, counts, 0), x, torch.from_numpy(g))
        assert np.array_equal(got.numpy(), want)
        assert np.array_equal(tenter.ragged.segment_sum(g, np.array(COUNTS), 0), want)


@pytest.mark.parametrize("long_axis", [0, 1 << 40])
def test_gradients_of_nearest_are_those_of_the_definition(long_axis):
    rng = np.random.default_rng(1)
    for n, made in ((3, 7001), (2, 2048), (1, 1500)):
        tuning.long_axis = long_axis
        forget_plans()
        x = torch.ones(2, 3, n, requires_grad=True)
        y = tenter.interpolate(x, size=made)
        g = torch.from_numpy(rng.standard_normal(tuple(y.shape)).astype(np.float32))
        index = tenter.axis_map(n, made, "nearest").dense().argmax(1)
        starts = [int(s) for s in np.searchsorted(index, np.arange(n))]
        want = sums(g.numpy(), starts, [int(c) for c in np.diff([*starts, made])])
        (got,) = torch.autograd.grad(y, x, g)
        assert np.array_equal(got.numpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16", "uint8", "int32"])
@pytest.mark.parametrize("mode", ["linear", "lanczos3", "area"])
def test_weighted_sums_have_the_same_bits_in_every_layout(mode, dtype):
    rng = np.random.default_rng(2)
    for n_in, n_out in ((2500, 1), (4001, 2), (9000, 7), (3100, 3)):
        x = (rng.random((2, 5, n_in)) * 200).astype(dtype)
        how = {} if mode == "area" else {"antialias": True}
        m = tenter.axis_map(n_in, n_out, mode, **how)
        want = m.apply(x, 2)
        exact = np.einsum("oi,bci->bco", m.dense(), x.astype(np.promote_types(dtype, np.float64)))
        rounding = (
            {"rtol": 2e-3} if dtype == "float16" else {"rtol": 1e-6, "atol": 2 if dtype in ("uint8", "int32") else 0}
        )
        np.testing.assert_allclose(want, exact, **rounding)
        for name, (given, axis) in layouts(x).items():
            assert np.array_equal(np.moveaxis(m.apply(given, axis), axis, -1), want), (name, n_in, n_out)
        assert np.array_equal(np.stack([[m.apply(row, 0) for row in rows] for rows in x]), want)
        for long_axis in (0, 1 << 40):
            tuning.long_axis = long_axis
            assert np.array_equal(tenter.axis_map(n_in, n_out, mode, **how).apply(x, 2), want), long_axis
        tuning.reset()


@pytest.mark.parametrize("mode", ["area", "bilinear"])
def test_images_with_long_axes_have_the_same_bits_in_every_layout(mode):
    rng = np.random.default_rng(3)
    how = {} if mode == "area" else {"antialias": True}
    for rows, columns, size in ((1500, 2100, (1, 2)), (3, 2100, (2, 1)), (2100, 40, (1, 13)), (1100, 5, (1, 9))):
        x = torch.from_numpy(rng.random((2, 3, rows, columns)).astype(np.float32)).requires_grad_()
        want = tenter.interpolate(x, size=size, mode=mode, **how)
        g = torch.from_numpy(rng.random(tuple(want.shape)).astype(np.float32))
        (gradient,) = torch.autograd.grad(want, x, g)
        for like in (x.contiguous(memory_format=torch.channels_last), x.mT.contiguous().mT, x.flip(2).clone().flip(2)):
            other = like.detach().requires_grad_()
            got = tenter.interpolate(other, size=size, mode=mode, **how)
            assert torch.equal(got, want)
            assert torch.equal(torch.autograd.grad(got, other, g)[0], gradient)
        for threads in (1, 2):
            before = torch.get_num_threads()
            torch.set_num_threads(threads)
            try:
                assert torch.equal(tenter.interpolate(x, size=size, mode=mode, **how), want)
            finally:
                torch.set_num_threads(before)


@pytest.mark.parametrize("edge", ["wrap", "reflect"])
def test_long_sums_that_gather_are_those_of_the_matrix(edge):
    rng = np.random.default_rng(5)
    for shape, size in (
        ((4000, 60), (3, 40)),
        ((50, 3000), (7, 1)),
        ((2100, 2300), (1, 2)),
        ((5, 2100, 30), (3, 2, 8)),
    ):
        x = rng.random(shape).astype(np.float32)
        axes = tuple(range(len(shape)))
        want = x.astype(np.float64)
        for axis, (n, made) in enumerate(zip(shape, size, strict=True)):
            m = tenter.axis_map(n, made, "linear", antialias=True, edge=edge)
            want = np.moveaxis(np.tensordot(m.dense(), want, ([1], [axis])), 0, axis)
        got = tenter.resize(x, size, axes=axes, mode="linear", antialias=True, edge=edge)
        np.testing.assert_allclose(got, want, rtol=1e-5)
        for other in (x[::-1].copy()[::-1], np.repeat(x, 2, -1)[..., ::2]):
            assert np.array_equal(tenter.resize(other, size, axes=axes, mode="linear", antialias=True, edge=edge), got)


def test_short_and_long_sums_in_turns_are_those_of_the_definition():
    rng = np.random.default_rng(6)
    counts = [int(c) for c in rng.integers(900, 1200, 60)]
    starts = [int(s) for s in np.cumsum([0, *counts])]
    for shape in ((), (3,), (20,)):
        x = rng.standard_normal((starts[-1], *shape)).astype(np.float32)
        want = np.moveaxis(sums(np.moveaxis(x, 0, -1), starts[:-1], counts), -1, 0)
        assert np.array_equal(tenter.ragged.segment_sum(x, np.array(counts), 0), want)


def test_parts_of_very_long_sums_are_added_up_in_parts_too():
    x = np.random.default_rng(4).standard_normal(PART * PART + 77_777).astype(np.float32)
    (got,) = tenter.ragged.segment_sum(x, np.array([len(x)]), 0)
    assert got == by_definition(x)


def test_a_sum_of_more_ones_than_float32_counts_is_their_number():
    n = (1 << 24) + 3000  # adding 1 to 2**24 in float32 gives 2**24
    x = torch.ones(1, requires_grad=True)
    tenter.repeat_interleave(x, n).sum().backward()
    assert x.grad is not None and abs(x.grad.item() - n) <= 4
    tenth = np.full((1, n), 0.1, np.float32)
    assert abs(tenter.resize(tenth, 1, axes=1, mode="area").item() - 0.1) < 1e-5
