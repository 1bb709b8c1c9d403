"""The compiled kernels against the reference: every dtype and layout, every instruction set, any number of threads."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tenter
from cases import COMPLEX, FLOATS, INTEGERS, MAPS, values
from kernel_helpers import check
from maps_of import apply_maps, resample
from sweeps import in_one_test, sampled
from tenter._plans import reference
from tenter.maps import Copy, Gather, Window

CORE = [c for c in MAPS if not isinstance(c.map, Gather)]
COPIES = [c for c in CORE if isinstance(c.map, Copy)]
WINDOWS = [c for c in CORE if isinstance(c.map, Window)]
# Every sixteenth window of the table, and all of the hand-made ones, for tests that multiply by dtypes and layouts.
SOME = [c for k, c in enumerate(WINDOWS) if k % 9 == 0 or c.name.startswith("window")]


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """The same values laid out in every way that NumPy has."""
    wide = np.zeros((*x.shape[:-1], x.shape[-1] * 2), x.dtype)
    wide[..., ::2] = x
    raw = np.zeros(x.nbytes + 1, np.uint8)[1:]
    misaligned = raw.view(x.dtype).reshape(x.shape) if x.nbytes else x
    misaligned[...] = x
    readonly = x.copy()
    readonly.flags.writeable = False
    overlapping = np.lib.stride_tricks.as_strided(x.ravel()[:1].copy(), x.shape, (0,) * x.ndim) if x.size else x
    return {
        "contiguous": x.copy(), "strided": wide[..., ::2], "fortran": np.asfortranarray(x), "readonly": readonly,
        "negative": x[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1], "misaligned": misaligned,
        "broadcast": overlapping, "transposed": np.ascontiguousarray(x.transpose(1, 2, 0)).transpose(2, 0, 1),
    }  # fmt: skip


@in_one_test("case", COPIES, ids=lambda c: c.name)
def test_copies_bit_for_bit(case):
    for dtype in ("uint8", "int16", "float32", "int64", "complex128", "S3", "V6", "S24"):
        for shape in ((case.map.n_in,), (3, case.map.n_in, 2), (2, case.map.n_in, 33)):
            x = values((*shape, np.dtype(dtype).itemsize), "uint8").view(dtype)[..., 0]
            axis = min(1, len(shape) - 1)
            got = apply_maps(x, ((axis, case.map),))
            want = reference.run(x, ((axis, case.map),))
            assert got.dtype == x.dtype and got.tobytes() == want.tobytes(), (dtype, shape)


@pytest.mark.parametrize("case", sampled(WINDOWS, 3, lambda c: c.name))
def test_windows_on_every_axis(case, level):
    n = case.map.n_in
    for shape, axis in [
        ((n,), 0),
        ((n, 3), 0),
        ((n, 40), 0),
        ((20, n), 1),
        ((2, 3, n), 2),
        ((2, n, 19), 1),
        ((5, n, 3), 1),
    ]:
        x = values(shape, "float64")
        check(x, ((axis, case.map),))


@pytest.mark.parametrize("case", SOME, ids=lambda c: c.name)
def test_windows_of_every_dtype(case):
    n = case.map.n_in
    for dtype in INTEGERS + FLOATS + COMPLEX:
        for shape, axis in [((2, n, 35), 1), ((18, n), 1), ((n,), 0), ((2, n, 3), 1)]:
            check(values(shape, dtype), ((axis, case.map),), f"{dtype}{shape}")


TWO_AXES = itertools.product(
    [(7, 20, 9, 33), (40, 13, 21, 6), (5, 17, 30, 8), (16, 3, 4, 11)],
    ["linear", "cubic", "area"],
    ["uint8", "float16", "float32", "float64", "int32", "int64"],
)


@pytest.mark.parametrize("sizes, kind, dtype", sampled(TWO_AXES, 5))
def test_two_axes_at_once(sizes, kind, dtype, level):
    h, ho, w, wo = sizes
    maps = resample(kind, h, ho), resample(kind, w, wo)
    for inner in ((), (3,), (20,)):
        check(values((2, h, w, *inner), dtype), ((1, maps[0]), (2, maps[1])))
        check(values((2, ho, wo, *inner), dtype), ((1, maps[0].T), (2, maps[1].T)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_are_exact(dtype):
    m = Copy.repeats([3, 0, 20, 1, 1]).T
    for shape in ((25,), (2, 25, 3), (25, 30)):
        x = values(shape, dtype)
        axis = shape.index(25)
        assert np.array_equal(m.apply(x, axis), reference.run(x, ((axis, m),)))
    ones = np.full(25, np.iinfo(dtype).max, dtype)
    if np.dtype(dtype).itemsize < 8:
        assert m.apply(ones, 0)[2] == np.iinfo(dtype).max


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "int64", "complex64"])
def test_layouts(dtype):
    x = values((4, 9, 11), dtype)
    maps = [
        ((1, Copy.repeats([2, 0, 1] * 3)),),
        ((2, Copy.repeat_each(11, 3)), (0, Copy.tile(4, 2))),
        ((0, resample("nearest", 4, 7)), (2, resample("nearest", 11, 5))),
        ((1, resample("linear", 9, 5)),),
        ((2, resample("cubic", 11, 23)),),
        ((1, resample("linear", 9, 20)), (2, resample("linear", 11, 4))),
        ((0, Copy.repeats([3, 1]).T), (2, resample("area", 11, 4))),
        ((0, resample("cubic", 4, 3)), (1, resample("linear", 9, 12)), (2, resample("area", 11, 6))),
    ]
    for which in maps:
        for name, laid in layouts(x).items():
            before = laid.tobytes()
            got = check(laid, which, name)
            assert got.flags.c_contiguous and got.flags.writeable and not np.shares_memory(got, laid)
            assert laid.tobytes() == before


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "bool"])
def test_same_bits_for_any_number_of_threads(dtype):
    kinds = ["nearest"] if dtype == "bool" else ["nearest", "linear", "cubic", "area"]
    x = values((3, 5, 150, 170), dtype)
    for kind in kinds:
        maps = tuple((d, resample(kind, x.shape[d], n)) for d, n in ((2, 403), (3, 99)))
        results = []
        for n in (1, 2, 3, 7):
            tenter.set_num_threads(n)
            results.append(apply_maps(x, maps).tobytes())
        tenter.set_num_threads(None)
        assert len(set(results)) == 1


def test_large_copies_in_parallel(level):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, 200_000)
    for dtype in ("uint8", "int16", "float32", "float64", "S3"):
        x = values((200_000, np.dtype(dtype).itemsize), "uint8").view(dtype)[:, 0]
        assert tenter.repeat_interleave(x, counts).tobytes() == np.repeat(x, counts).tobytes()
    for shape, sizes in [
        ((300, 500), (3, 7)),
        ((2, 700, 40), (5, 1, 9)),
        ((1_500_000,), (1,)),
        ((7, 1, 90), (3, 400, 2)),
    ]:
        x = values(shape, "float32")
        assert np.array_equal(tenter.tile(x, sizes), np.tile(x, sizes))
        for axis in range(len(shape)):
            for r in (2, 3, 5, 33):
                assert np.array_equal(tenter.repeat_interleave(x, r, axis), np.repeat(x, r, axis))


def taps(m):
    """Outputs, inputs and weights of all taps."""
    if isinstance(m, Copy):
        row, column = np.nonzero(m.dense())
        return row, column, np.ones(len(row))
    if isinstance(m, Gather):
        return np.repeat(np.arange(m.n_out), np.diff(m.offset)), m.index, m.weight
    row, column, weight = map(np.asarray, m.taps())
    inside = np.arange(m.block)
    blocks = [(t[:, None] * m.block + inside).ravel() for t in (row, column)]
    return *blocks, np.repeat(weight, m.block)


def both_ways():
    """Every map of the table and its transpose, but those of nothing."""
    found = [(f"{c.name}{t}", m) for c in MAPS for t, m in (("", c.map), (".T", c.map.T))]
    return [(name, m) for name, m in found if m.n_in and m.n_out]


@in_one_test("name, m", sampled(both_ways(), 3, lambda p: p[0]))
def test_infinities_and_nans_stay_with_their_taps(name, m):
    """No padding: an output sees the inputs of its own taps and no others."""
    row, column, _ = taps(m)
    for poison in (np.inf, np.nan):
        for at in {0, min(7, m.n_in - 1), m.n_in // 2, m.n_in - 1}:
            x = np.ones((18, m.n_in), np.float32)
            x[:, at] = poison
            touched = np.isin(np.arange(m.n_out), row[column == at])
            assert np.array_equal(~np.isfinite(m.apply(x, 1)[3]), touched), at


@pytest.mark.parametrize("name, m", sampled(both_ways(), 8, lambda p: p[0]))
def test_the_same_bits_in_every_loop(name, m, level):
    """One row, many rows, few columns and many, strided ones: the same sums, fused or not."""
    for dtype in ("float32", "float64", "float16"):
        for x in (values((m.n_in, 100), dtype), np.full((m.n_in, 100), -0.0, dtype)):
            want = m.apply(x, 0)
            for k in (1, 3):
                assert m.apply(x[:, :k].copy(), 0).tobytes() == want[:, :k].tobytes()
            assert m.apply(np.ascontiguousarray(x.T), 1).T.tobytes() == want.tobytes()
            assert m.apply(x[:, 0].copy(), 0).tobytes() == m.apply(x[:, 0], 0).tobytes() == want[:, 0].tobytes()
            assert m.apply(x[:, ::2], 0).tobytes() == want[:, ::2].tobytes()


@pytest.mark.parametrize("name, m", sampled(both_ways(), 8, lambda p: p[0]))
def test_a_sum_of_negative_zeros_is_one(name, m, level):
    """Where nothing is added to them: an output without taps is a positive zero, and so is a product with a negative."""
    row, _, weight = taps(m)
    some = np.bincount(row, minlength=m.n_out) > 0
    negative = some & (np.bincount(row, np.asarray(weight) < 0, m.n_out) == 0)
    for dtype in ("float32", "float64", "float16"):
        assert np.array_equal(np.signbit(m.apply(np.full(m.n_in, -0.0, dtype), 0)), negative)


@pytest.mark.parametrize("dtype", ["longdouble", "clongdouble", "object", ">f4", ">i2", ">c8"])
def test_dtypes_without_a_native_kernel(dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    y = tenter.repeat_interleave(x, [1, 0, 2], 0)
    assert y.dtype == x.dtype and np.array_equal(y, np.repeat(x, [1, 0, 2], 0))
    if dtype != "object":
        y = tenter.interpolate(x.reshape(1, 3, 4), 8, mode="linear")
        want = tenter.interpolate(x.reshape(1, 3, 4).astype(complex), 8, mode="linear")
        assert y.dtype == x.dtype
        np.testing.assert_allclose(y.astype(complex), np.rint(want.real) if dtype == ">i2" else want, atol=1e-6)


def test_windows_as_wide_as_the_input_take_no_scratch():
    x = np.ones((3, 200_000), np.uint8)
    assert Window(200_000, 1, width=200_000).apply(x, 1).tolist() == [[255]] * 3
    assert tenter.interpolate(x[:, None], 1, mode="area").tolist() == [[[1]]] * 3


def test_results_of_object_and_empty_dtypes_are_fresh():
    x = np.array([1, None], object)
    for y in (tenter.tile(x, 1), tenter.repeat(x, 1), tenter.repeat_interleave(x, 1)):
        assert not np.shares_memory(x, y) and y.tolist() == x.tolist()
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # NumPy 1 reads a byte of an element that has none
        empty = np.zeros(3, [("a", "S0"), ("b", "i4")])["a"]
        assert tenter.repeat_interleave(empty, 2).tolist() == [b""] * 6


def test_maps_of_long_axes_are_not_kept():
    assert resample("linear", 9, 20) is resample("linear", 9, 20)
    assert resample("linear", 90_000, 20) is not resample("linear", 90_000, 20)


def test_half_precision_column_sums():
    """16384 weights that sum to one column, kept in float32: an accumulator of half precision would stall at 2048."""
    m = resample("cubic", 1, 16384)
    g = np.ones((2, 16384), np.float16)
    assert m.T.apply(g, 1).tolist() == [[16384.0]] * 2
