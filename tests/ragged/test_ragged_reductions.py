"""Sums, means, extremes and softmax of rows are those of loops in plain Python."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import ragged_cases as plain
from ragged_cases import HOW, KINDS, LENGTHS, given_as, segment
from tenter import ragged

RNG = np.random.default_rng(0)
DTYPES = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "uint16", "uint32", "uint64"]


def reductions(dtype):
    return HOW if dtype.startswith("float") else ["sum", "max", "min"]


@settings(max_examples=40, deadline=None)
@given(LENGTHS, KINDS, st.sampled_from(DTYPES), st.sampled_from([(), (1,), (5,), (3, 20)]), st.integers(0, 2))
def test_reductions_are_loops_over_rows(lengths, kind, dtype, inner, dim):
    x = np.random.default_rng(sum(lengths)).standard_normal((sum(lengths), *inner)) * 9
    x = (abs(x) if dtype.startswith("u") else x).astype(dtype)
    dim = min(dim, len(inner))
    moved = np.moveaxis(x, 0, dim)  # of any strides
    info = None if dtype.startswith("float") else np.iinfo(dtype)
    slack = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-14}.get(dtype, 0)
    for how in reductions(dtype):
        want = plain.reduced(how, x, lengths)
        if info is not None:
            want = np.clip(want, info.min, info.max)
        want = np.moveaxis(want, 0, dim)
        for values in (moved, torch.from_numpy(moved)):
            got = segment[how](values, given_as(kind, lengths), dim)
            assert type(got) is type(values) and str(got.dtype).endswith(dtype) and tuple(got.shape) == want.shape
            got = np.asarray(got)
            if info is not None or how in ("max", "min"):
                assert np.array_equal(got.astype(want.dtype), want)
            else:
                np.testing.assert_allclose(got.astype(np.float64), want, slack, slack * 60)


def test_integers_too_large_are_cut_and_half_types_summed_in_float32():
    assert ragged.segment_sum(np.full(3, 200, np.uint8), [3]).tolist() == [255]
    assert ragged.segment_sum(np.full(4, -(2**31), np.int32), [4]).tolist() == [-(2**31)]
    ones = np.ones(5000, np.float16)
    assert ragged.segment_sum(ones, [5000]).tolist() == [5000] and ragged.segment_mean(ones * 60, [5000]).tolist() == [
        60
    ]
    assert ragged.segment_mean(torch.full((70000,), 2, dtype=torch.bfloat16), [70000]).tolist() == [2]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_nan_and_signed_zeros_and_infinities(dtype, level):
    nan, inf = np.nan, np.inf
    x = torch.tensor([1, nan, 2, -inf, -inf, inf, 3, -0.0, 0.0, nan, nan], dtype=dtype)
    lengths = [3, 2, 2, 2, 0, 2]
    for wide in (False, True):
        y = x[:, None].repeat(1, 37) if wide else x
        most, least = ragged.segment_max(y, lengths), ragged.segment_min(y, lengths)
        if wide:
            assert (most.view(-1, 37)[:, :1].isnan() == most.isnan()).all()
            most, least = most[:, 5], least[:, 5]
        assert most.isnan().tolist() == least.isnan().tolist() == [True, False, False, False, False, True]
        assert most[1:5].tolist() == [-inf, inf, 0, -inf] and least[1:5].tolist() == [-inf, 3, 0, inf]
        assert torch.signbit(most[3]).item() is False and torch.signbit(least[3]).item() is True
        leaf = y.detach().clone().requires_grad_()
        for f, at in ((ragged.segment_max, [1, 3, 5, 8, 9]), (ragged.segment_min, [1, 3, 6, 7, 9])):
            (g,) = torch.autograd.grad(f(leaf, lengths).nan_to_num(0, 0, 0).sum() + f(leaf, lengths).sum(), leaf)
            g = g[:, 3] if wide else g
            assert g.nonzero()[:, 0].tolist() == at


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_at_every_level(dtype, level):
    lengths = RNG.integers(0, 40, 300)
    x = (RNG.standard_normal((int(lengths.sum()), 300)) * 1000).astype(dtype)
    for columns in (1, 16, 300):
        for how in ("max", "min"):
            values = np.ascontiguousarray(x[:, :columns])
            got = segment[how](values, lengths)
            f = np.maximum if how == "max" else np.minimum
            begins = (np.cumsum(lengths) - lengths)[lengths > 0]
            assert np.array_equal(got[lengths > 0], f.reduceat(values, begins))
            assert (got[lengths == 0] == plain.none(how, values.dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_extreme_of_a_long_row_is_found_wherever_it_lies(dtype, level):
    """Of any length, which blocks of vectors do not divide; between rows that hold larger values, and the last row."""
    low, high, beyond = (1, 5, 9) if dtype.startswith(("u", "i")) else (-1.5, 2.5, 7.5)
    for n in (15, 63, 1023, 1025, 1087, 1300, 2049):
        for place in {0, 1, n // 2, n - 70, n - 2, n - 1} & set(range(n)):
            x = np.full(n + 1, low, dtype)
            x[0], x[1 + place] = beyond, high
            for values, lengths, row in ((x, [1, n], 1), (np.append(x[1:], x[:1]), [n, 1], 0)):
                assert ragged.segment_max(values, lengths)[row] == high
                upside_down = (10 - values).astype(dtype)
                assert ragged.segment_min(upside_down, lengths)[row] == np.dtype(dtype).type(10 - high)
            if dtype.startswith("float"):
                leaf = torch.from_numpy(x).requires_grad_()
                (g,) = torch.autograd.grad(ragged.segment_max(leaf, [1, n])[1], leaf)
                assert g.nonzero().tolist() == [[1 + place]]


def test_the_gradient_of_a_long_row_s_extreme_is_at_the_first_of_equals():
    x = torch.zeros(3000, requires_grad=True)
    for first in (0, 63, 64, 127, 2047):
        with torch.no_grad():
            x.zero_()
            x[first::200] = 1
            x[first + 1] = 1
        (g,) = torch.autograd.grad(ragged.segment_max(x, [3000]).sum(), x)
        assert g.nonzero().tolist() == [[first]]
