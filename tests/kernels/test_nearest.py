"""Nearest kinds of one axis: which input each output takes, computed a band of outputs at a time, and the sums of runs
that are its transpose."""

from __future__ import annotations

import random
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

import tenter
from sweeps import sampled
from tenter import _native
from tenter._rules.axis_rule import AxisRule
from tenter._rules.geometry import Geometry
from tenter._rules.rounding import ONCE
from tenter._specs.axis_maps import axis_map as axis_map_of, settled
from tenter._specs.resize import Interpolate, interpolation_rules
from tenter.maps import Copy, Gather, Window

SCALES = (0.013, 0.3, 0.5, 0.7, 0.92, 1.0, 1.05, 1.7, 2.0, 2.5, 3.0, 5.3, 9.0, 40.0)


@pytest.fixture(autouse=True)
def untuned():
    yield
    _native.tuning.reset()


def lower(rng: random.Random) -> None:
    """Thresholds at which short axes take the ways of long ones."""
    _native.tuning.reset()
    for name, values in {
        "long_axis": (0, 1 << 16), "index_outputs": (1, 20, 300, 2048), "task_bytes": (1, 100, 4 << 20),
        "parallel_bytes": (0, 1 << 20), "staging_bytes": (64, 8 << 10), "stream_bytes": (0, 32 << 20),
    }.items():  # fmt: skip
        setattr(_native.tuning, name, rng.choice(values))


def sizes(rng: random.Random) -> tuple[int, int]:
    n_in = rng.choice([rng.randint(1, 3), rng.randint(1, 70), rng.randint(100, 3000), rng.randint(100, 3000)])
    scaled = max(1, round(n_in * rng.choice([*SCALES, rng.uniform(0.2, 8)])))
    return n_in, min(rng.choice([1, rng.randint(1, 70), scaled, scaled, scaled]), 20_000)


def nearest(n_in: int, n_out: int, rng: random.Random) -> Copy | Window:
    mode = rng.choice(["nearest", "nearest-exact"])
    like = rng.choice(["torch", "pillow", "opencv", "onnx", "jax", "scipy"])
    edge = rng.choice(["replicate", "replicate", "constant", "extrapolate"])
    box = None
    if rng.random() < 0.3:
        low = rng.uniform(-0.5 * n_in, 0.8 * n_in)
        box = [(low, low + rng.uniform(0.1, 1.5 * n_in))]
    made = tenter.axis_map(n_in, n_out, mode=mode, like=like, edge=edge, box=box)
    return nearest(n_in, n_out, rng) if isinstance(made, Gather) else made  # corners of a box below one pixel descend


@pytest.mark.parametrize("seed", sampled(range(40), 10))
def test_inputs_are_pytorchs(seed):
    torch = pytest.importorskip("torch")
    rng = random.Random(seed)
    for _ in range(60):
        n_in = rng.choice([rng.randint(1, 300), rng.randint(1, 30_000)])
        scale = rng.choice([None, rng.uniform(0.2, 5)])
        n_out = floor(n_in * scale) if scale else rng.choice([rng.randint(1, 300), rng.randint(1, 30_000)])
        if not n_out:
            continue
        lower(rng)
        dtype = rng.choice([torch.float32, torch.float64, torch.uint8])
        x = (torch.arange(n_in) % 256 if dtype is torch.uint8 else torch.arange(n_in)).to(dtype)
        how = {"mode": rng.choice(["nearest", "nearest-exact"]), "scale_factor": scale}
        if scale:
            how["recompute_scale_factor"] = rng.choice([None, False, True])
        else:
            how["size"] = n_out
        want = torch.nn.functional.interpolate(x.reshape(1, 1, -1), **how)
        assert torch.equal(tenter.interpolate(x.reshape(1, 1, -1), **how), want), (n_in, n_out, dtype, how)


@pytest.mark.slow
@pytest.mark.parametrize("n_in, n_out", [(17 << 20, 40_000_001), (40_000_003, 17 << 20), (1 << 24, 3 << 24)])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_inputs_are_pytorchs_where_its_positions_are_coarse(n_in, n_out, mode):
    torch = pytest.importorskip("torch")
    x = torch.randint(0, 256, (1, 1, n_in), dtype=torch.uint8)
    for dtype in (torch.uint8, torch.float32):
        given = x.to(dtype)
        want = torch.nn.functional.interpolate(given, size=n_out, mode=mode)
        assert torch.equal(tenter.interpolate(given, size=n_out, mode=mode), want)


@pytest.mark.parametrize("like", ["opencv", "scipy", "jax", "pillow"])
def test_roundings_are_those_of_numpy(like):
    """Formulas of float32 and float64, one operation after the other, and of sums step after step."""
    rng = random.Random(0)
    for _ in range(60):
        n_in, n_out = sizes(rng)
        o = np.arange(n_out)
        if like == "opencv":
            at = o * (1.0 / (n_out / n_in))
        elif like == "scipy":
            at = ((o + 0.5) * (n_in / n_out) - 0.5) + 0.5
        elif like == "jax":
            at = (o.astype(np.float32) + np.float32(0.5)) * np.float32(n_in) / np.float32(n_out)
        else:
            at = np.add.accumulate(np.append(n_in / n_out * 0.5, np.full(n_out - 1, n_in / n_out)))
        mode = "nearest" if like == "opencv" else "nearest-exact"
        made = tenter.axis_map(n_in, n_out, mode=mode, like=like)
        assert made.index().tolist() == np.minimum(np.floor(at), n_in - 1).tolist(), (n_in, n_out)


@pytest.mark.parametrize("seed", sampled(range(20), 10))
def test_sums_are_those_step_after_step(seed):
    rng, far = random.Random(seed), 1 << 60
    for _ in range(100):
        n = rng.choice([1, 2, 3, 1000, 20_000])
        first = rng.choice([0.0, rng.uniform(-10, 10), 2.0 ** rng.randint(-20, 20), -(2.0 ** rng.randint(-20, 10))])
        step = rng.choice([rng.uniform(0, 3), 1 / 3, 2.0 ** -rng.randint(0, 60), rng.randint(1, 2**53) * 2.0**-50])
        unit = 2.0 ** rng.choice([0, rng.randint(0, 30)])
        made = _native.SourceIndex(far, n, "accumulated", first * unit, step * unit, "wrap")
        want = np.floor(np.add.accumulate(np.append(first * unit, np.full(n - 1, step * unit))))
        assert made.index(0, n).tolist() == [int(i) % far for i in want], (first, step, unit)


TIES = {
    "floor": floor, "ceil": ceil, "prefer_floor": lambda p: ceil(p - Fraction(1, 2)),
    "prefer_ceil": lambda p: floor(p + Fraction(1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("align", ["half_pixel", "align_corners", "asymmetric"])
def test_long_lines_are_those_of_fractions(tie, align):
    rng = random.Random(0)
    for n_in, n_out, scale in [
        (10**7, 14_999_999, None), (14_700_000, 10**7, None), (3 * 10**9, 10**7 + 1, None), (10**7, 3 * 10**9, None),
        (10**8, 10**8 // 3, 1 / 3), (10**8, 170_000_000, 1.7), (10**7, 10**7, 0.1 + 2**-40), (10**12, 10**7, None),
    ]:  # fmt: skip
        scaled = Fraction(scale) if scale else None
        first, step = Geometry(n_in, n_out, align, scaled).line()
        rule = AxisRule("nearest", align, scale and str(scaled), None, tie, "exact", "replicate", False, -0.5)
        made = axis_map_of(rule, n_in, n_out)
        for o in [0, n_out - 1, *(rng.randrange(n_out) for _ in range(200)), *(k * n_out // 97 for k in range(97))]:
            want = min(max(TIES[tie](first + o * step), 0), n_in - 1)
            assert made.reads(o, o + 1) == slice(want, want + 1), (n_in, n_out, scale, o)


@pytest.mark.parametrize("seed", sampled(range(60), 10))
def test_bands_take_the_inputs_of_the_whole(seed):
    """Any itemsize, strides, order in memory and thresholds: the inputs that the map's index has."""
    rng = random.Random(seed)
    for _ in range(60):
        n_in, n_out = sizes(rng)
        made = nearest(n_in, n_out, rng)
        index = np.full(n_out, -1)
        row, column, _ = made.taps() if isinstance(made, Window) else (np.arange(n_out), made.index(), None)
        index[row] = column
        axis, shape = 0, [n_in]
        if rng.random() < 0.6:
            shape, axis = [rng.choice([1, 2, 5, 33]), *shape], 1
        if rng.random() < 0.4:
            shape = [*shape, rng.choice([1, 2, 3, 5, 17])]
        dtype = rng.choice([np.uint8, np.float16, np.float32, np.float64, np.complex128, np.int16])
        x = np.random.default_rng(0).integers(1, 100, [3 * n for n in shape]).astype(dtype)
        x = x[tuple(slice(None, None, s) if (s := rng.choice([1, 2, -1, -3])) else s for _ in shape)]
        x = x[tuple(slice(0, n) for n in shape)]
        if rng.random() < 0.5:
            x = np.ascontiguousarray(x)
        want = np.take(x, np.maximum(index, 0), axis)
        want[(slice(None),) * axis + (index < 0,)] = 0
        lower(rng)
        again = nearest_of(made)
        assert np.array_equal(again.apply(x, axis), want), (made, shape, axis, dtype, x.strides)


def nearest_of(made: Copy | Window) -> Copy | Window:
    """The map by its rule under the thresholds as they are."""
    rule = made._core.source_index if isinstance(made, Window) else made._core
    if rule is None:
        return made
    from tenter.maps._computed import copied

    return copied(rule)


@pytest.mark.parametrize("seed", sampled(range(60), 10))
def test_adjoints_are_sums_of_runs(seed):
    rng = random.Random(seed)
    for _ in range(60):
        n_in, n_out = sizes(rng)
        made = nearest(n_in, n_out, rng)
        lower(rng)
        made = nearest_of(made)
        outer = rng.choice([(), (1,), (2,), (5,), (40,)])
        inner = rng.choice([(), (), (), (2,), (20,)])
        dtype = rng.choice([np.float32, np.float64, np.float16, np.int32, np.uint8])
        g = np.random.default_rng(0).integers(0, 4, (*outer, n_out, *inner)).astype(dtype)
        if rng.random() < 0.2:
            g = np.flip(np.flip(g, -1).copy(), -1)
        axis = len(outer)
        row, column, _ = made.taps() if isinstance(made, Window) else (np.arange(n_out), made.index(), None)
        want = np.zeros((*outer, n_in, *inner), np.int64)
        np.add.at(want, (slice(None),) * axis + (column,), np.take(g, row, axis).astype(np.int64))
        limit = np.iinfo(dtype).max if np.issubdtype(dtype, np.integer) else 2048
        if want.max(initial=0) <= limit:
            assert np.array_equal(made.T.apply(g, axis), want.astype(dtype)), (made, g.shape, axis, dtype)


def test_adjoints_of_axes_that_shrink_a_little(level):
    """Runs of outputs that go to adjacent inputs, at both ends of bands and rows."""
    rng = np.random.default_rng(0)
    for n_in in (2, 15, 17, 40, 333, 2500):
        for n_out in {max(1, int(n_in * ratio)) for ratio in (0.81, 0.9, 0.96, 0.999)}:
            _native.tuning.long_axis, _native.tuning.index_outputs = 0, int(rng.choice([20, 300, 2048]))
            _native.tuning.stream_bytes = int(rng.choice([0, 32 << 20]))
            made = nearest_of(tenter.axis_map(n_in, n_out, mode=str(rng.choice(["nearest", "nearest-exact"]))))
            for dtype in (np.float32, np.float64, np.float16):
                g = rng.standard_normal((3, n_out)).astype(dtype)
                want = np.zeros((3, n_in), dtype)
                want[:, made.index()] = g
                assert np.array_equal(made.T.apply(g, 1), want), (n_in, n_out, dtype)


def test_adjoints_keep_signs_of_zeros_and_leave_nan_where_it_is():
    for n_out in (40, 90, 170, 233):
        made = tenter.axis_map(100, n_out, mode="nearest")
        g = np.full(n_out, -0.0, np.float32)
        g[n_out // 2] = np.nan
        got, read = made.T.apply(g, 0), np.bincount(made.index(), minlength=100) > 0
        assert np.flatnonzero(np.isnan(got)).tolist() == [made.index()[n_out // 2]]
        assert np.signbit(got[read & ~np.isnan(got)]).all() and not np.signbit(got[~read]).any()


def test_maps_make_tables_when_these_are_asked_for():
    made = tenter.axis_map(300_000, 510_000, mode="nearest")
    has_tables = lambda: "offsets" in vars(made) or "_block_index" in vars(made)
    assert isinstance(made, Copy) and not has_tables() and "counts [2, 2, 2" in repr(made)
    assert made.T.T._core is made._core
    made.apply(np.zeros(300_000, np.float32), 0)
    made.T.apply(np.zeros(510_000, np.float32), 0)
    assert not has_tables()
    whole = Copy.from_index(made.index(), 300_000)
    assert has_tables() and made == whole and made.T == whole.T and np.array_equal(made.offsets, whole.offsets)
    assert made.reads(7, 1000) == whole.reads(7, 1000)


def test_plans_of_long_axes_have_no_tables():
    torch = pytest.importorskip("torch")
    from tenter._plans.plan import plan

    of = Interpolate((700_000,), None, "nearest", False, False, False)
    assert plan(torch.zeros(1, 1, 1_000_000), of).positions == 0


def test_factors_are_plain_repeats():
    for n_in, n_out in [(10, 30), (1000, 2000), (1 << 20, 1 << 21), (7, 7), (5, 35)]:
        made = tenter.axis_map(n_in, n_out, mode="nearest")
        assert isinstance(made, Copy) and made.repeat == n_out // n_in
    rules = interpolation_rules(1, None, "nearest", False, False, False)
    (rule,) = settled(rules, (3 << 23,), (3 << 24,), "float32", False, ONCE)
    assert axis_map_of(rule, 3 << 23, 3 << 24).repeat is None  # as float32 has no odd numbers there
