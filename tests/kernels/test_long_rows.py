"""Rows of very many taps, few inputs stretched far, and inputs past the edges of long axes: the same results as by tables
and as their definition says."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from fuzz.caches import forget, forget_plans

import tenter
from maps_of import planned, resample
from sweeps import sampled
from tenter import _native
from tenter._rules.axis_rule import EDGES, PERIODIC
from tenter._specs import axis_maps
from tenter.maps import Gather, Window

tuning = _native.tuning
FILTERS = ("linear", "cubic", "catmull-rom", "mitchell", "lanczos3", "lanczos5", "box", "hamming", "area")


pytestmark = pytest.mark.usefixtures("usual_thresholds")


def by_tables(m: Any, x: np.ndarray) -> np.ndarray:
    """m applied to x by kernels with a table of all rows."""
    tuning.long_axis = 1 << 40
    if isinstance(m, Gather):
        m = Gather(m.n_in, m.n_out, m.offset, m.index, m.weight)
    elif isinstance(m, Window):
        m = Window(m.n_in, m.n_out, m.start, m.offset, m.weight)
    return m.apply(x, x.ndim - 1)


# ---- few inputs stretched far


@pytest.mark.parametrize(
    "mode, dtype", sampled(itertools.product(FILTERS[:6], ["float32", "float64", "uint8", "float16"]), 5)
)
def test_few_inputs_stretched_far_are_those_of_tables(mode, dtype):
    rng = np.random.default_rng(len(mode))
    for n_in in (1, 2, 3, 7, 40, 200):
        for edge in EDGES:
            for align in ("half_pixel", "align_corners", "asymmetric"):
                n_out = int(rng.integers(66 * n_in + 1000, 90 * n_in + 3000))
                x = (rng.random((int(rng.choice([1, 3])), n_in)) * 250).astype(dtype)
                tuning.long_axis = 100
                m = tenter.axis_map(n_in, n_out, mode, edge=edge, align=align)
                got = m.apply(x, 1)
                assert np.array_equal(got, by_tables(m, x)), (n_in, n_out, edge, align)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_what_is_stretched_far_stays_where_it_counts(mode):
    n_in, n_out = 7, 3001
    m = tenter.axis_map(n_in, n_out, mode)
    counts, reads = m.dense() != 0, [m.reads(o, o + 1) for o in range(n_out)]
    for i in range(n_in):
        x = np.zeros(n_in, np.float32)
        x[i] = np.inf
        tuning.long_axis = 0
        got = tenter.axis_map(n_in, n_out, mode).apply(x, 0)
        held = np.array([r.start <= i < r.stop for r in reads])
        spread = ~np.isfinite(got)
        assert np.all(spread[counts[:, i]]) and not np.any(spread & ~held)


# ---- rows of very many taps


@pytest.mark.parametrize("mode", sampled(FILTERS, 3))
def test_rows_of_very_many_taps_are_those_of_the_definition(mode):
    rng = np.random.default_rng(0)
    n_in = 70_011
    how = {} if mode == "area" else {"antialias": True}
    for n_out in (1, 3):
        for edge in ("replicate", "constant", "renormalize", "extrapolate", "reflect"):
            m = tenter.axis_map(n_in, n_out, mode, edge=edge, **how)
            x = rng.random(n_in)
            np.testing.assert_allclose(m.apply(x, 0), m.dense() @ x, rtol=1e-10)
            if edge != "constant" and n_out == 1:
                np.testing.assert_allclose(m.apply(np.ones(n_in), 0), 1, rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "uint8", "float16", "int32"])
def test_rows_of_very_many_taps_have_the_same_bits_alone_and_beside_others(dtype):
    rng = np.random.default_rng(1)
    n_in = 150_000
    many = (rng.random((9, n_in)) * 200).astype(dtype)
    for mode in ("linear", "lanczos5"):
        for n_out in (1, 4):
            m = tenter.axis_map(n_in, n_out, mode, antialias=True)
            together = m.apply(many, 1)
            assert np.array_equal(together, np.stack([m.apply(x, 0) for x in many]))
            assert np.array_equal(together, by_tables(m, many))
            assert np.array_equal(together[:2], m.apply(many[:2], 1))
            apart = np.repeat(many[0], 2)[::2]
            assert np.array_equal(m.apply(apart, 0), together[0])


@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos3", "hamming", "box", "area"])
def test_weights_of_zero_at_the_ends_of_long_rows_are_left_out(mode):
    rng = np.random.default_rng(1)
    how = {} if mode == "area" else {"antialias": True}
    for n_in, n_out in ((4 * 75_001, 4), (2 * 75_001, 2), (3 * 70_000, 3), (75_001, 1)):
        many = rng.random((9, n_in)).astype(np.float32)
        m = tenter.axis_map(n_in, n_out, mode, **how)
        tuning.reset()
        alone = np.stack([m.apply(x, 0) for x in many])
        assert np.array_equal(m.apply(many, 1), alone)
        assert np.array_equal(by_tables(m, many), alone)


# ---- past the edges of long axes


@pytest.mark.parametrize("edge", PERIODIC)
@pytest.mark.parametrize("mode", ["linear", "cubic", "lanczos3", "nearest-exact"])
def test_no_tables_are_made_where_a_long_axis_goes_on(mode, edge):
    m = tenter.axis_map(150_001, None, mode, edge=edge, scale=0.74)
    assert "weight" not in m.__dict__ and "index" not in m.__dict__
    x = np.random.default_rng(0).random(150_001, np.float32)
    made = tenter.resize(x, axes=0, mode=mode, edge=edge, scale=0.74)
    assert np.array_equal(made, m.apply(x, 0)) and np.array_equal(made, by_tables(m, x))


@pytest.mark.parametrize("edge", PERIODIC)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_inputs_past_the_edges_are_those_of_the_definition(mode, edge):
    rng = np.random.default_rng(2)
    for dtype in ("uint8", "int16", "float32", "complex64", "complex128"):
        for n, scale, box in ((50, 1.37, None), (50, 3.1, None), (40, None, (-70.3, 95.2)), (3, None, (-9.5, 14.0))):
            how = {"scale": scale} if scale else {"size": 2 * n + 1, "box": [box]}
            without_size = {k: v for k, v in how.items() if k != "size"}
            x = (rng.random((2, n, 3)) * 100).astype(dtype)
            tuning.long_axis = 1 << 40
            axis_maps.cached_axis_map.cache_clear()
            want = x[:, tenter.axis_map(n, how.get("size"), mode, edge=edge, **without_size).dense().argmax(1)]
            for long_axis in (0, 1 << 40):
                tuning.long_axis = long_axis
                axis_maps.cached_axis_map.cache_clear()
                for stream in (1, 32 << 20):
                    tuning.stream_bytes = stream
                    for _ in range(3):
                        got = tenter.resize(x, axes=1, mode=mode, edge=edge, **how)
                        assert np.array_equal(got, want), (dtype, n, how, long_axis)


@pytest.mark.parametrize("edge", sampled(PERIODIC, 2))
def test_gradients_past_the_edges_are_those_of_the_transposed_matrix(edge):
    rng = np.random.default_rng(3)
    for long_axis in (0, 1 << 40):
        tuning.long_axis = long_axis
        for n, n_out in ((200, 300), (300, 130), (9, 1000), (1000, 9)):
            for mode in ("linear", "cubic", "lanczos3"):
                for shape in ((n,), (3, n), (2, n, 5), (2, n, 20)):
                    axis_maps.cached_axis_map.cache_clear()
                    axis = shape.index(n)
                    how = {"mode": mode, "edge": edge, "antialias": True}
                    x = torch.from_numpy(rng.random(shape)).requires_grad_()
                    matrix = torch.from_numpy(tenter.axis_map(n, n_out, **how).dense())
                    for _ in range(2):
                        y = tenter.resize(x, n_out, axes=axis, **how)
                        g = torch.from_numpy(rng.random(tuple(y.shape)))
                        (got,) = torch.autograd.grad(y, x, g)
                        want = torch.movedim(torch.tensordot(matrix.T, g, ([1], [axis])), 0, axis)
                        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(
    "rows, columns",
    [
        ((5, 2), (300, 401)), ((2, 7), (300, 401)), ((5, 2), (401, 130)), ((9, 40), (300, 401)), ((8, 3), (401, 390)),
        ((300, 401), (2, 5)), ((401, 130), (5, 2)), ((5, 5), (401, 130)),
    ],
)  # fmt: skip
def test_few_rows_of_a_long_axis_have_the_bits_of_tables(mode, rows, columns):
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.random((2, 3, rows[0], columns[0]), np.float32)).requires_grad_()
    g = torch.from_numpy(rng.random((2, 3, rows[1], columns[1]), np.float32))

    def made():
        forget_plans()
        found = []
        for _ in range(10):
            y = tenter.interpolate(x, size=(rows[1], columns[1]), mode=mode)
            found.append(torch.cat([y.detach().ravel(), torch.autograd.grad(y, x, g)[0].ravel()]))
        return found

    wanted = made()[0]
    tuning.long_axis = 20
    for found in made():
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_rows_of_a_transpose_made_by_parts_have_the_bits_of_tables(mode):
    rng = np.random.default_rng(len(mode))
    question = 1 << _native.WORDS["choice"].index("long_rows")
    for n, outputs, align in itertools.product((1, 2, 9), (3000, 5000), (False, True)):
        x = rng.standard_normal((2, outputs)).astype(str(rng.choice(["float32", "float64", "float16"])))
        x[0, outputs // 3] = -0.0
        made = []
        for answer in ("taken", "left"):
            tuning.reset()
            tuning.long_axis = tuning.signal_axis = 0
            setattr(tuning, answer, question)
            forget()
            plan = planned(x, ((1, resample(mode, n, outputs, align_corners=align).T),))
            made.append((plan.run(x).tobytes(), [kernel for kernel, *_ in plan.steps.steps]))
        (by_parts, kernels), (tables, others) = made
        assert "long_rows" in kernels and "long_rows" not in others
        assert by_parts == tables, (n, outputs, align, x.dtype)


def test_gradients_of_far_stretches_need_no_tables():
    for n, outputs in ((3, 300_000), (10, 1_000_000)):
        plan = planned(np.ones(outputs, np.float32), ((0, resample("linear", n, outputs).T),))
        assert [kernel for kernel, *_ in plan.steps.steps] == ["long_rows"]
