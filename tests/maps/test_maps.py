"""Laws of axis maps as values: the transpose, the matrix, what a slice reads, and immutability."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from cases import MAPS, PAIRS
from maps_of import resample
from sweeps import in_one_test
from tenter.maps import Copy, Gather, Window

maps = in_one_test("m", [c.map for c in MAPS], [c.name for c in MAPS])


@maps
def test_transpose_is_the_transposed_matrix(m):
    assert m.T.dense().shape == (m.n_in, m.n_out)
    assert np.array_equal(m.T.dense(), m.dense().T)


@maps
def test_transpose_twice_is_the_map(m):
    assert m == m.T.T
    assert type(m.T.T) is type(m) or np.array_equal(m.T.T.dense(), m.dense())


@maps
def test_transpose_of_a_window_is_no_gather(m):
    assert isinstance(m, Gather) or not isinstance(m.T, Gather)


@maps
def test_apply_is_the_matrix_product(m):
    x = np.random.default_rng(1).standard_normal((3, m.n_in, 2))
    want = np.einsum("oi,aib->aob", m.dense(), x)
    np.testing.assert_allclose(m.apply(x, 1), want, rtol=0, atol=1e-13 * max(1, np.abs(want).max(initial=0)))


@maps
def test_dot_test(m):
    """<A x, g> == <x, A' g>, the law that makes the transpose the gradient."""
    rng = np.random.default_rng(2)
    x, g = rng.standard_normal(m.n_in), rng.standard_normal(m.n_out)
    assert m.apply(x, 0) @ g == pytest.approx(x @ m.T.apply(g, 0), abs=1e-12)


@maps
def test_reads_covers_exactly_what_outputs_read(m):
    dense = m.dense()
    for lo in range(0, m.n_out, max(1, m.n_out // 7)):
        for hi in {lo, lo + 1, min(lo + 3, m.n_out), m.n_out}:
            used = np.flatnonzero(np.any(dense[lo:hi] != 0, axis=0))
            got = m.reads(lo, hi)
            assert 0 <= got.start <= got.stop <= m.n_in
            if used.size:
                assert got.start <= used[0] and used[-1] < got.stop
            outside = dense[lo:hi].copy()
            outside[:, got] = 0
            assert not outside.any()
    assert m.reads(0, 0) == slice(0, 0)


def test_reads_is_tight():
    assert Copy.repeats([1, 3, 2]).reads(1, 4) == slice(1, 2)
    assert resample("linear", 4, 8).reads(3, 5) == slice(1, 3)
    assert Copy.tile(5, 3).reads(6, 8) == slice(1, 3)
    assert Copy.tile(5, 3).reads(3, 8) == slice(0, 5)


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_a_corner_that_is_kept_is_read_alone(kind):
    for n_in, n_out in PAIRS:
        m = resample(kind, n_in, n_out, None, True)
        assert m.reads(0, 1) == slice(0, 1)
        if n_out > 1:
            assert m.reads(n_out - 1, n_out) == slice(n_in - 1, n_in)


def test_windows_of_every_filter_are_windows():
    """Starts and stops never descend, so transposes are windows: the invariant, over every size to 48."""
    for kind, corners, antialias in (
        [("linear", c, a) for c in (0, 1) for a in (0, 1)]
        + [("cubic", c, a) for c in (0, 1) for a in (0, 1)]
        + [("lanczos", 0, 1), ("area", 0, 0)]
    ):
        for n_in in range(1, 49, 2):
            for n_out in range(1, 49, 3 if n_in % 3 else 5):
                m = resample(kind, n_in, n_out, None, bool(corners), bool(antialias))
                if isinstance(m, Copy):
                    assert n_in == n_out and np.array_equal(m.dense(), np.eye(n_in))
                    continue
                Window(m.n_in, m.n_out, m.start, m.offset, m.weight)
                t = m.T
                Window(t.n_in, t.n_out, t.start, t.offset, t.weight)
                rows = np.add.reduceat(m.weight, m.offset[:-1])
                assert np.allclose(rows, 1, atol=1e-12)


@pytest.mark.parametrize("n_in, n_out", PAIRS)
def test_mean_of_area_is_exact(n_in, n_out):
    m = resample("area", n_in, n_out)
    assert m.apply(np.ones(n_in), 0) == pytest.approx(np.ones(n_out))


@pytest.mark.parametrize(
    "broken",
    [
        lambda: Copy(2, 3, offsets=[0, 2, 4]),
        lambda: Copy(2, 3, offsets=[0, 4, 3]),
        lambda: Copy(2, 3, offsets=[1, 2, 3]),
        lambda: Copy(2, 5, repeat=2),
        lambda: Copy(2, 4),
        lambda: Copy(3, 6, repeat=2, block=2),
        lambda: Copy.from_index([1, 0], 2),
        lambda: Copy.from_index([0, 2], 2),
        lambda: Copy.repeats([2, -1]),
        lambda: Copy.repeats([1.5, 2.5]),
        lambda: Copy.repeats([True, False]),
        lambda: Copy.repeats([[1, 2], [3, 4]]),
        lambda: Copy.repeats([2**62, 2**62]),
        lambda: Copy.from_index([0.9, 1.9], 3),
        lambda: Copy.repeat_each(-2, 3),
        lambda: Copy.repeat_each(2, "a"),
        lambda: Copy.repeat_each(2**40, 2**40),
        lambda: Copy.tile(3, -1),
        lambda: Copy(2, 5, repeat=2.5),
        lambda: Copy.repeat_each(2, 3).reads(-3, 2),
        lambda: Copy.repeat_each(2, 3).reads(0, 100),
        lambda: Window(5, 2, [0.7, 1.7], [0, 1, 2]),
        lambda: Window(3, 2, [0, 2], [0, 2, 4], [1.0] * 4),
        lambda: Window(3, 2, [1, 0], [0, 1, 2], [1.0] * 2),
        lambda: Window(3, 2, [0, -1], [0, 1, 2], [1.0] * 2),
        lambda: Window(3, 2, [0, 1], [0, 1, 2], [1.0] * 3),
        lambda: Window(3, 2, [0, 1], [0, 2, 1]),
        lambda: Window(3, 2, width=2),
        lambda: Gather(3, 1, [0, 1], [3], [1.0]),
        lambda: Gather(3, 1, [0, 2], [1], [1.0]),
        lambda: Copy(5, 9, repeat=2, block=2),
        lambda: Copy(2, 3, offsets=[0, 1, 2, 3]),
        lambda: Window(3, 2, [-1, 0], [0, 1, 2], [1.0] * 2),
        lambda: Window(4, 2, [0, 1], [0, 3, 4], [1.0] * 4),
        lambda: Window(4, 2, [1, 0], [0, 1, 4], [1.0] * 4),
        lambda: Window(3, 1, [0], [1, 2], [1.0] * 2),
        lambda: Gather(3, 1, [0, 1], [-1], [1.0]),
        lambda: Gather(3, 2, [0, 2, 1], [1], [1.0]),
    ],
)
def test_a_map_that_would_read_out_of_bounds_cannot_be_made(broken):
    with pytest.raises(ValueError, match="axis map: expected"):
        broken()


def test_repr_tells():
    assert repr(Copy.repeats([1, 3, 2])) == "Copy(3 -> 6: counts [1, 3, 2])"
    assert repr(Copy.repeat_each(3, 2)) == "Copy(3 -> 6: o // 2)"
    assert repr(Copy.tile(3, 2)) == "Copy(3 -> 6: o % 3)"
    assert repr(Copy.tile(3, 2).T) == "Window(6 -> 3: sums of 2, in blocks of 3)"
    assert repr(resample("linear", 4, 8)) == "Window(4 -> 8: weights of 1..2)"


def test_apply_out():
    m = Copy.repeat_each(3, 2)
    x = np.arange(6.0).reshape(2, 3)
    out = np.full((2, 12), -1.0)
    assert m.apply(x, 1, out=out[:, ::2]) is not None
    assert out[:, ::2].tolist() == m.apply(x, 1).tolist() and (out[:, 1::2] == -1).all()
    flip = Copy.repeat_each(4, 1)
    y = np.arange(4.0)
    assert flip.apply(y[::-1], 0, out=y).tolist() == [3, 2, 1, 0]
    for bad in (np.zeros((2, 5)), np.zeros((2, 6), np.float32), [[0.0] * 6] * 2):
        with pytest.raises((TypeError, ValueError)):
            m.apply(x, 1, out=bad)
    frozen = np.zeros((2, 6))
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        m.apply(x, 1, out=frozen)
    assert not frozen.any()


def test_equality_sees_the_matrix():
    assert Copy.repeats([1, 2]) != Copy.repeats([2, 1])
    assert Copy.repeat_each(4, 2) != Copy.tile(4, 2)
    assert Window(2, 1, [0], [0, 2], [1.0, 2.0]) != Window(2, 1, [0], [0, 2], [2.0, 1.0])
    a, b = Gather(2, 1, [0, 2], [0, 1], [1.0, 2.0]), Gather(2, 1, [0, 2], [1, 0], [2.0, 1.0])
    assert a == b and a != Gather(2, 1, [0, 2], [1, 0], [1.0, 2.0])


def test_an_axis_that_keeps_its_length_is_copied():
    for kind, antialias in [("linear", False), ("cubic", False), ("area", False), ("linear", True), ("cubic", True)]:
        assert resample(kind, 9, 9, None, False, antialias) == Copy.repeat_each(9, 1)
    big = np.full((1, 1, 9), 2**62 + 1)
    assert (tenter.interpolate(big, 9, mode="linear") == big).all()


def test_nearest_of_many_never_leaves_the_input():
    m = resample("nearest-exact", 3, 8388610)
    assert m.n_out == 8388610


def test_transposed_gathers_keep_the_order_of_rows():
    m = Gather(2, 200, np.arange(201), np.arange(200) % 2, np.ones(200))
    assert m.T.index.tolist() == [*range(0, 200, 2), *range(1, 200, 2)]


def test_a_gather_of_single_inputs_takes_any_dtype():
    m = Gather(3, 2, offset=[0, 1, 2], index=[2, 0], weight=[1, 1])
    assert m.apply(np.array(["a", "b", "c"]), 0).tolist() == ["c", "a"]
    assert m.apply(np.array([True, False, False]), 0).tolist() == [False, True]


def test_out_may_have_the_other_byte_order():
    out = np.zeros(4)
    assert Copy.repeat_each(2, 2).apply(np.array([1.0, 2.0], ">f8"), 0, out=out) is out
    assert out.tolist() == [1, 1, 2, 2]


def test_swapped_bytes_are_summed_as_others_are():
    """By the same kernels, so with the same bits; a gather of ones is exact in integers."""
    m = Gather(3, 2, offset=[0, 3, 5], index=[2, 0, 1, 0, 0], weight=[1, 1, 1, 1, 1])
    x = np.array([2**62 + 1, 2**62 + 3, -5])
    want = m.apply(x, 0)
    assert m.apply(x.astype(">i8"), 0).tolist() == want.tolist() == [2**63 - 1, -(2**63) + 2]
    image = np.random.default_rng(0).standard_normal((40, 30)).astype(np.float32)
    got = tenter.resize(image.astype(">f4"), (17, 70), mode="cubic")
    assert got.dtype == ">f4" and np.array_equal(got, tenter.resize(image, (17, 70), mode="cubic"))
