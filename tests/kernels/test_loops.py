"""The loops of the kernels: large tasks, ragged segments, rounding and signs, the same bits in each of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

import tenter
from cases import INTEGERS, values
from kernel_helpers import check
from maps_of import apply_maps, resample
from sweeps import sampled
from tenter import _native
from tenter._plans import reference
from tenter.maps import Copy, Window


def test_large_copies_whose_tasks_begin_inside(level):
    rng = np.random.default_rng(0)
    x = values((1_000_000,), "float32")
    counts = rng.integers(0, 3, len(x))
    assert np.array_equal(tenter.repeat_interleave(x, counts), np.repeat(x, counts))
    assert np.array_equal(tenter.repeat_interleave(np.repeat(x, 2)[::2], counts), np.repeat(x, counts))
    odd = values((1_500_001,), "float32")
    assert np.array_equal(tenter.tile(odd, (1,)), odd)
    y = values((4, 600, 300), "float32")[:, ::2]
    assert np.array_equal(tenter.repeat_interleave(y, 5, 0), np.repeat(y, 5, 0))
    assert np.array_equal(tenter.repeat_interleave(y, [3, 0, 9, 1], 0), np.repeat(y, [3, 0, 9, 1], 0))


LARGE_WINDOWS = [
    ((700, 40), 0, 900),
    ((30, 9000), 0, 17),
    ((5, 9000), 1, 12000),
    ((12000,), 0, 9000),
    ((20, 30000), 1, 3000),
    ((3, 9000, 3), 1, 12000),
    ((2, 30000, 5), 1, 800),
]


@pytest.mark.parametrize("size, dtype", sampled(itertools.product(LARGE_WINDOWS, ["float32", "uint8", "float64"]), 4))
def test_large_windows_on_one_axis(size, dtype):
    shape, axis, n_out = size
    check(values(shape, dtype), ((axis, resample("linear", shape[axis], n_out)),))
    m = Copy.repeats(np.random.default_rng(0).multinomial(shape[axis], np.full(n_out, 1 / n_out))).T
    check(values(shape, dtype), ((axis, m),))


@pytest.mark.parametrize("shape", [(1, 6, 9000, 3), (1, 40, 9000), (1, 9, 30000, 5)])
def test_wide_images_on_two_axes(shape):
    for rows in (4, 70):
        check(
            values(shape, "float32"),
            (
                (1, resample("linear", shape[1], rows)),
                (2, resample("area", 9000 if shape[2] == 9000 else 30000, 2900)),
            ),
        )


@pytest.mark.parametrize("dtype", [*INTEGERS, "float16", "float32", "float64"])
def test_segments_of_every_length_in_one_row(dtype, level):
    m = Copy.repeats(np.arange(140) % 35).T
    x = values((m.n_in, 3), dtype)
    for laid in (x[:, 0].copy(), x[:, 0], np.asfortranarray(x), np.concatenate([x, x])[::2]):
        check(laid, ((0, m),))


SEGMENTS = {
    "0..8": lambda rng, n: rng.integers(0, 9, n),
    "0..16": lambda rng, n: rng.integers(0, 17, n),
    "0..40": lambda rng, n: rng.integers(0, 41, n),
    "mostly short": lambda rng, n: np.where(rng.random(n) < 0.01, rng.integers(0, 200, n), rng.integers(0, 5, n)),
    "short, then long": lambda rng, n: np.repeat(rng.integers(0, 40, n // 64 + 1), 64)[:n] * rng.integers(0, 2, n),
    "few": lambda rng, n: np.where(rng.random(n) < 0.1, rng.integers(0, 9, n), 0),
}


SUMMED = ["float32", "float64", "float16", "bfloat16", "int64", "uint8"]


@pytest.mark.parametrize("name, dtype", sampled(itertools.product(SEGMENTS, SUMMED), 5, "-".join))
def test_ragged_segments(name, dtype, level):
    """As the reference has them, to the last of the row, and the same bits in short rows and in long, at one and at two
    threads."""
    sizes = (40_007, 4096 + 32, 64, 15, 1)
    counts = SEGMENTS[name](np.random.default_rng(0), sizes[0])
    x = torch.from_numpy(values((counts.sum(),), "float32" if dtype == "bfloat16" else dtype))
    x = x.bfloat16() if dtype == "bfloat16" else x
    first = None
    for n in sizes:
        m = Copy.repeats(counts[:n]).T
        for n_threads in (1, 2):
            tenter.set_num_threads(n_threads)
            y = m.apply(x[: m.n_in].clone(), 0)
            bits = y.view(torch.uint8).numpy().tobytes()
            first = first or bits
            assert first.startswith(bits)
        tenter.set_num_threads(None)
        if n == sizes[0]:
            continue
        if dtype in ("int64", "uint8"):
            assert reference.run(x[: m.n_in].numpy(), ((0, m),)).tobytes() == bits
        else:
            want = reference.run(x[: m.n_in].double().numpy(), ((0, m),))
            one = {"float64": 2**-50, "float32": 2**-21, "float16": 2**-11, "bfloat16": 2**-8}[dtype]
            np.testing.assert_allclose(y.double().numpy(), want, rtol=one, atol=100 * min(one, 2**-21))


@pytest.mark.parametrize("poison", sampled([np.inf, np.nan], 2))
def test_segments_see_nothing_of_their_neighbours(poison, level):
    for lengths in SEGMENTS.values():
        counts = lengths(np.random.default_rng(1), 96)
        counts[[0, 50, 95]] = 1, 3, 0
        m = Copy.repeats(counts).T
        for dtype in ("float16", "float32", "float64"):
            for at in range(m.n_in):
                x = np.ones(m.n_in, dtype)
                x[at] = poison
                (touched,) = np.nonzero(~np.isfinite(m.apply(x, 0)))
                assert touched.tolist() == [np.searchsorted(m.offset, at, "right") - 1]


def gappy(rng, n_in, n_out, most):
    """Windows that leave gaps and overlap, some of them empty, in gaps and at the ends too."""
    start = np.sort(rng.choice([0, n_in, *rng.integers(0, n_in + 1, 9)], n_out) // 3 * 3)
    stop = np.maximum.accumulate(np.minimum(n_in, start + rng.integers(0, most + 1, n_out)))
    offset = np.concatenate([[0], np.cumsum(stop - start)])
    return Window(n_in, n_out, start, offset, rng.standard_normal(offset[-1]))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8"])
def test_rows_and_planes_with_gaps(dtype, level):
    """Rows and planes are made in the order in which outputs need them: those that are not needed, and empty outputs."""
    rng = np.random.default_rng(0)
    wide, narrow = resample("linear", 20, 50), resample("linear", 20, 17)
    for k in range(12):
        m = gappy(rng, 30, 40, [1, 2, 5, 9][k % 4])
        check(values((2, 30, 20), dtype, k), ((1, m), (2, wide)))
        check(values((30, 20, 3), dtype, k), ((0, m), (1, wide)))
        check(values((30, 6, 20), dtype, k), ((0, m), (1, resample("linear", 6, 11)), (2, wide)))
        check(values((6, 30, 20), dtype, k), ((0, resample("cubic", 6, 7)), (1, m), (2, narrow)))
        check(values((30, 6, 20), dtype, k), ((0, gappy(rng, 30, 13, 9)), (1, resample("linear", 6, 11)), (2, wide)))


@pytest.mark.parametrize("kind", ["linear", "cubic"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_more_planes_than_scratch_holds(kind, dtype, level):
    x = values((70, 20, 30), dtype)
    others = (1, resample(kind, 20, 40)), (2, resample(kind, 30, 80))
    rng = np.random.default_rng(0)
    for n_out in (140, 100, 35):
        check(x, ((0, resample(kind, 70, n_out)), *others))
    jumps = np.sort(rng.choice(17, 90)) * 4
    few = np.minimum(70 - jumps, rng.integers(0, 3, 90))
    stop = np.maximum.accumulate(jumps + few)
    offset = np.concatenate([[0], np.cumsum(stop - jumps)])
    check(x, ((0, Window(70, 90, jumps, offset, rng.standard_normal(offset[-1]))), *others))
    wide = np.sort(rng.choice(30, 90))
    check(x, ((0, Window(70, 90, wide, np.arange(91) * 40, rng.standard_normal(3600))), *others))


def test_two_planes_that_read_all_there_is():
    """Neighbours at both ends, bands so large that scratch has room for what two outputs read and no more."""
    x = values((64, 2, 4600), "float32")
    planes = Window(64, 66, np.repeat([0, 63], 33), np.arange(67), np.ones(66))
    others = (1, resample("linear", 2, 8)), (2, resample("linear", 4600, 9000))
    got = apply_maps(x, ((0, planes), *others))
    ends = apply_maps(x[[0, 63]], others)
    assert (got[:33] == ends[0]).all() and (got[33:] == ends[1]).all()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ties_go_to_even(dtype, level):
    low = 0 if dtype.startswith("u") else -40
    x = np.arange(low, low + 81).astype(dtype)
    m = Window(81, 80, np.arange(80), np.arange(81) * 2, np.full(160, 0.5))
    want = np.rint((x[:-1].astype(float) + x[1:].astype(float)) / 2).astype(dtype)
    assert np.array_equal(m.apply(x, 0), want)
    assert np.array_equal(m.apply(np.tile(x, (20, 1)), 1), np.tile(want, (20, 1)))
    assert np.array_equal(m.apply(np.tile(x[:, None], 37), 0), np.tile(want[:, None], 37))
    below = Window(81, 81, np.arange(81), np.arange(82), np.full(81, 0.75))
    assert np.array_equal(below.apply(x, 0), np.rint(x * 0.75).astype(dtype))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("w", sampled([0.3, 1.0, 2.0**-9, 1.5], 2))
def test_every_value_of_half_types(w, level):
    n = 1 << 16
    m = Window(n, n, np.arange(n), np.arange(n + 1), np.full(n, w))
    bits = np.arange(n).astype(np.uint16)
    x = bits.view(np.float16)
    want = (x.astype(np.float32) * np.float32(w)).astype(np.float16)
    for laid, back in ((x, lambda y: y), (np.tile(x, (17, 1)), lambda y: y[16])):
        y = back(m.apply(laid, laid.ndim - 1))
        assert np.array_equal(y, want, equal_nan=True)
        assert np.array_equal(np.signbit(y)[~np.isnan(y)], np.signbit(want)[~np.isnan(want)])
    t = torch.from_numpy(bits.view(np.int16).copy()).view(torch.bfloat16)
    got, want = m.apply(t, 0), (t.float() * w).bfloat16()
    assert torch.equal(got.isnan(), want.isnan()) and torch.equal(got[~got.isnan()], want[~want.isnan()])


def test_bfloat16_nan_of_low_bits_stays_nan(level):
    x = torch.full((40,), float("nan"), dtype=torch.bfloat16)
    m = Window(40, 20, np.arange(20) * 2, np.arange(21) * 2, np.full(40, 0.5))
    assert m.apply(x, 0).isnan().all() and m.apply(x * -1, 0).isnan().all()


def test_slices_of_a_temporary(monkeypatch):
    x = values((7, 6, 9, 11, 3), "float32")
    maps = (
        (1, resample("linear", 6, 4)),
        (2, resample("area", 9, 5)),
        (3, resample("cubic", 11, 20)),
    )
    want = check(x, maps)
    for room in (1, 20_000):
        monkeypatch.setattr(_native.tuning, "chunk_bytes", room)
        assert check(x, maps).tobytes() == want.tobytes()
        check(x[::-2], maps)


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64"])
def test_wide_insides_that_do_not_lie_together(dtype):
    m = resample("linear", 9, 5)
    for x, axis in (
        (values((9, 80), dtype)[:, ::2], 0),
        (values((3, 9, 5, 80), dtype)[..., ::2], 1),
        (values((9, 40), dtype)[:, ::-1], 0),
        (values((40, 3, 9), dtype).transpose(2, 0, 1), 0),
        (values((9, 1), dtype).repeat(2, 1)[:, :1] + np.zeros((9, 1), dtype), 0),
        (np.broadcast_to(values((9, 1), dtype), (9, 40)), 0),
    ):
        check(x, ((axis, m),))
