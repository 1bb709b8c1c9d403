"""Long axes, whose rows the core makes while they are used: the same rows, and the same bits, as from whole tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenter
from resize_oracle import EDGES
from sweeps import sampled
from tenter import _native
from tenter._specs import axis_maps
from tenter.maps import Gather, Window

tuning = _native.tuning
MODES = ("linear", "cubic", "catmull-rom", "mitchell", "lanczos3", "area", "box", "hamming")
DTYPES = ("float32", "float64", "float16", "uint8", "int16", "int32", "complex64")


pytestmark = pytest.mark.usefixtures("usual_thresholds")


def hows(seed: int) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Lengths and rules, drawn so that periods, edges and bands of one output occur."""
    rng = np.random.default_rng(seed)
    for _ in range(12):
        n_in = int(rng.choice([1, 2, 5, rng.integers(1, 40), rng.integers(40, 2000)]))
        n_out = int(rng.choice([1, n_in, 2 * n_in, n_in * 3 // 2 + 1, rng.integers(1, 40), rng.integers(40, 2000)]))
        how: dict[str, Any] = {"mode": str(rng.choice(MODES))}
        if how["mode"] != "area":
            how["antialias"] = bool(rng.integers(2))
        if rng.random() < 0.5:
            how["edge"] = str(rng.choice(EDGES))
        if rng.random() < 0.4:
            how["align"] = str(rng.choice(["half_pixel", "align_corners", "asymmetric"]))
        if rng.random() < 0.3:
            begin = float(rng.uniform(-0.3 * n_in, 0.8 * n_in))
            how["box"] = [(begin, begin + float(rng.uniform(0.1, n_in)))]
        axis_maps.cached_axis_map.cache_clear()
        tuning.long_axis = 0
        tuning.tap_outputs = int(rng.choice([1, 3, 64, 1024]))
        tuning.tap_block = int(rng.choice([1, 16, 1 << 14]))
        yield n_in, n_out, how


def with_tables(m: Gather | Window) -> Gather | Window:
    if isinstance(m, Gather):
        return Gather(m.n_in, m.n_out, m.offset, m.index, m.weight)
    tuning.long_axis = 1 << 40
    made = Window(m.n_in, m.n_out, m.start, m.offset, m.weight)
    tuning.long_axis = 0
    return made


@pytest.mark.parametrize("seed", sampled(range(60), 6))
def test_bands_are_the_whole(seed):
    rng, tried = np.random.default_rng(seed), 0
    for n_in, n_out, how in hows(seed):
        forward = tenter.axis_map(n_in, n_out, **how)
        if not isinstance(forward, (Gather, Window)) or not forward._is_computed:  # the identity, rows that descend
            continue
        tried += 1
        for m in (forward, forward.T):
            whole = with_tables(m)
            before, after = [((), (5,), (2, 19))[i] for i in rng.integers(0, 3, 2)]
            x = (rng.standard_normal((*before, m.n_in, *after)) * 50 + 100).astype(rng.choice(DTYPES))
            if rng.random() < 0.3:
                x = x[..., ::-1] if rng.random() < 0.5 else np.repeat(x, 2, -1)[..., ::2]
            got, want = m.apply(x, len(before)), whole.apply(x, len(before))
            assert np.array_equal(got, want), (n_in, n_out, how, x.shape, x.dtype, m is forward)
    assert tried > 4


@pytest.mark.parametrize("seed", sampled(range(60, 90), 6))
def test_rows_of_any_range_are_those_of_the_whole(seed):
    """Windows are trimmed by their neighbors, in the range or not; the transpose is the transpose."""
    rng = np.random.default_rng(seed)
    for n_in, n_out, how in hows(seed):
        m = tenter.axis_map(n_in, n_out, **how)
        if not isinstance(m, Window) or not m._is_computed:  # as above
            continue
        matrix = m.dense()
        assert np.array_equal(m.T.dense(), matrix.T), (n_in, n_out, how)
        for _ in range(4):
            lo, hi = np.sort(rng.integers(0, n_out + 1, 2)).tolist()
            start, offset, weight = m._core.tables(lo, hi)
            assert np.array_equal(start, m.start[lo:hi]) and np.array_equal(
                offset, m.offset[lo : hi + 1] - m.offset[lo]
            )
            assert np.array_equal(weight, m.weight[m.offset[lo] : m.offset[hi]])
            if lo < hi:
                read = [(int(m.start[o]), int(m.start[o] + m.offset[o + 1] - m.offset[o])) for o in (lo, hi - 1)]
                reads = m.reads(lo, hi)
                assert (reads.start, reads.stop) == (read[0][0], read[1][1]) or read[0][0] >= read[1][1]


@pytest.mark.parametrize("edge", EDGES)
def test_rows_that_repeat_are_those_of_few(edge):
    tuning.long_axis, tried = 0, 0
    for n_in, n_out in ((300, 600), (300, 200), (441, 320), (90, 1000)):
        for mode, antialias in (("linear", False), ("cubic", False), ("lanczos3", True)):
            m = tenter.axis_map(n_in, n_out, mode=mode, antialias=antialias, edge=edge)
            if not isinstance(m, Window):
                continue
            tried += 1
            start, offset, weight = m._core.tables(0, n_out)
            for lo in range(0, n_out, 50):
                few = m._core.tables(lo, lo + min(50, n_out - lo))
                hi = lo + few[0].size
                assert np.array_equal(few[0], start[lo:hi]) and np.array_equal(
                    few[1], offset[lo : hi + 1] - offset[lo]
                ), (n_in, n_out, mode, edge)
                assert np.array_equal(few[2], weight[offset[lo] : offset[hi]])
    assert tried or edge in ("reflect", "symmetric", "wrap")  # whose rows gather


@pytest.mark.parametrize("mode, antialias", [("linear", False), ("linear", True), ("cubic", False), ("area", False)])
def test_inf_stays_where_it_counts(mode, antialias):
    for n_in, n_out in ((50, 100), (60, 45), (64, 48), (49, 97)):
        tuning.long_axis, tuning.tap_outputs = 0, 16
        m = tenter.axis_map(n_in, n_out, mode, **({} if mode == "area" else {"antialias": antialias}))
        for i in (0, 1, n_in // 2, n_in - 1):
            x = np.zeros(n_in, np.float32)
            x[i] = np.inf
            held = [m.reads(o, o + 1).start <= i < m.reads(o, o + 1).stop for o in range(n_out)]
            got = m.apply(x, 0)
            assert np.array_equal(~np.isfinite(got), held)


@pytest.mark.parametrize("n_out", [9_200_000, 9_999_991, 20_000_000, 1_000_003])
def test_positions_of_ten_million_samples_are_exact(n_out):
    n_in = 10_000_000
    m = tenter.axis_map(n_in, n_out, antialias=False)
    assert m._is_computed
    rng = np.random.default_rng(0)
    for o in [0, 1, n_out - 1, *rng.integers(0, n_out, 60).tolist()]:
        at = (Fraction(2 * o + 1, 2)) * Fraction(n_in, n_out) - Fraction(1, 2)
        at = min(max(at, Fraction(0)), Fraction(n_in - 1))
        first = int(at)
        start, _, weight = m._core.tables(o, o + 1)
        found = {int(start[0]) + k: w for k, w in enumerate(weight)}
        wanted = {first: float(1 - (at - first)), first + 1: float(at - first)}
        for i in found.keys() | {j for j, w in wanted.items() if w}:
            assert abs(found.get(i, 0.0) - wanted.get(i, 0.0)) <= 2.0**-52, (o, found, wanted)


def test_a_long_axis_takes_little_memory():
    x = np.zeros(3_000_000, np.float32)
    m = tenter.axis_map(len(x), 2_900_001)
    m.apply(x, 0)
    assert "start" not in m.__dict__ and not m._core.tables(0, 1)[0].any()
    assert "about 2 weights" in repr(m)


def test_axes_beside_a_long_one():
    """Two axes are summed together, by tables, where the other is long too; else one after the other."""
    rng = np.random.default_rng(0)
    tuning.long_axis = 100
    for shape, size in (
        ((300, 200), (150, 260)),
        ((500, 7), (300, 9)),
        ((7, 500), (9, 300)),
        ((6, 700, 5), (4, 650, 7)),
    ):
        x = rng.standard_normal(shape)
        got = tenter.resize(x, size, axes=tuple(range(len(shape))), mode="cubic")
        want = x
        for axis, n in enumerate(size):
            want = np.moveaxis(np.tensordot(tenter.axis_map(shape[axis], n, "cubic").dense(), want, (1, axis)), 0, axis)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)
