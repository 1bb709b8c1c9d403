"""Signals, whose weights are computed while they are summed: the same bits as from tables."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tenter
from sweeps import sampled
from tenter import _native
from tenter._specs import axis_maps
from tenter.maps import Window

tuning = _native.tuning
DTYPES = ("float32", "float64", "float16", "uint8", "int16", "int32", "int64")
FILTERS = ("cubic", "mitchell", "lanczos3", "lanczos5")
NEVER = 1 << 40


@pytest.fixture(autouse=True)
def usual_thresholds() -> Iterator[None]:
    axis_maps.cached_axis_map.cache_clear()
    yield
    tuning.reset()
    axis_maps.cached_axis_map.cache_clear()
    tenter.set_num_threads(None)


def with_tables(m: Window) -> Window:
    return Window(m.n_in, m.n_out, m.start, m.offset, m.weight)


def rules(rng: np.random.Generator) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Lengths and rules, drawn so that steps are short and long, and units small, large and too large to be exact."""
    for _ in range(12):
        n_in = int(rng.choice([2, 7, rng.integers(1, 60), rng.integers(60, 3000)]))
        near = max(1, int(n_in * rng.uniform(0.3, 3)))
        n_out = int(rng.choice([near, near, n_in // int(rng.integers(2, 60)) + 1, rng.integers(1, 3000)]))
        how: dict[str, Any] = {"mode": str(rng.choice(["linear", "area", *FILTERS]))}
        if how["mode"] != "area":
            how["antialias"] = bool(rng.random() < 0.6) and (how["mode"] != "linear" or bool(rng.random() < 0.5))
            how["align"] = str(rng.choice(["half_pixel", "align_corners", "asymmetric"]))
            how["edge"] = str(
                rng.choice(["replicate", "constant", "renormalize", "extrapolate"], p=[0.5, 0.2, 0.1, 0.2])
            )
            if rng.random() < 0.4:
                begin, size = rng.uniform(-0.3, 0.8) * n_in, rng.uniform(0.1, 1) * n_in
                if rng.random() < 0.5:  # a unit of about 2**50: such weights are rounded twice
                    begin, size = round(begin), n_out * float(np.float32(size / n_out + 1e-3))
                how["box"] = [(begin, begin + size)]
        yield n_in, n_out, how


def values(rng: np.random.Generator, rows: int, n: int) -> Any:
    """Rows that lie together or apart, at times with inf, NaN and zeros of both signs."""
    dtype = np.dtype(rng.choice(DTYPES))
    wide = (rng.standard_normal((rows, n + 3)) * 50 + 100).astype(dtype)
    if dtype.kind == "f" and rng.random() < 0.4:
        for value in (np.inf, -np.inf, np.nan, -0.0):
            wide[rng.integers(0, rows, 4), rng.integers(0, n + 3, 4)] = value
        if rng.random() < 0.3:
            wide = np.copysign(np.zeros_like(wide), wide)
    held = wide[:, 1 : n + 1] if rng.random() < 0.5 else np.ascontiguousarray(wide[:, :n])
    return held if rng.random() < 0.9 else np.repeat(held, 2, axis=1)[:, ::2]


def bits(y: Any) -> bytes:
    return bytes(np.where(y == y, y, y.dtype.type(0)).tobytes() + (y == y).tobytes())  # a NaN's own do not count


def check(m: Window, x: Any, note: object) -> None:
    got = m.apply(x, 1)  # first, as tables that exist may be used
    long_axis, signal_axis, tuning.long_axis, tuning.signal_axis = tuning.long_axis, tuning.signal_axis, NEVER, NEVER
    want = with_tables(m).apply(x, 1)
    tuning.long_axis, tuning.signal_axis = long_axis, signal_axis
    assert bits(got) == bits(want), (note, x.shape, x.dtype, np.argwhere(~((got == want) | (got != got)))[:4])


@pytest.mark.parametrize("seed", sampled(range(60), 10))
def test_signals_have_the_bits_of_tables(seed, level):
    rng, tried = np.random.default_rng(seed), 0
    tuning.signal_axis = 0
    for n_in, n_out, how in rules(rng):
        axis_maps.cached_axis_map.cache_clear()
        tuning.long_axis = int(rng.choice([0, NEVER]))
        tuning.stream_bytes, tuning.parallel_bytes = int(rng.choice([0, NEVER])), int(rng.choice([0, NEVER]))
        tuning.column_step = int(rng.choice([16, 100, 4096]))
        tenter.set_num_threads(int(rng.integers(1, 4)))
        forward = tenter.axis_map(n_in, n_out, **how)
        for m in (forward, forward.T):
            if isinstance(m, Window) and m.width is None:
                check(m, values(rng, int(rng.choice([1, 2, 9, 70])), m.n_in), (n_in, n_out, how, m is forward))
                tried += 1
    assert tried > 8


@pytest.mark.parametrize(
    "n_in, n_out", [(30011, 27583), (20011, 34017), (30011, 3019), (30011, 113), (60013, 23), (997, 30011)]
)
@pytest.mark.parametrize("mode", ["linear", "area", "cubic", "linear, antialias", "lanczos3, antialias"])
def test_long_signals_have_the_bits_of_tables(n_in, n_out, mode, level):
    rng = np.random.default_rng(n_in)
    kind, _, antialias = mode.partition(", ")
    how = {"mode": mode} if mode == "area" else {"mode": kind, "antialias": bool(antialias)}
    tuning.long_axis = 0
    forward = tenter.axis_map(n_in, n_out, **how)
    for m in (forward, forward.T):
        check(m, rng.standard_normal((2, m.n_in)).astype(np.float32), m is forward)


def test_an_output_on_an_input_reads_no_other(level):
    """Also amid a vector of others, which read two."""
    tuning.signal_axis = 0
    n_in, n_out = 1 + 4 * 101, 1 + 7 * 101  # every seventh output lies on an input
    m = tenter.axis_map(n_in, n_out, "linear", antialias=False, align="align_corners")
    for i in range(0, n_in, 4):
        x = np.zeros((1, n_in), np.float32)
        x[0, max(i - 1, 0)] = x[0, min(i + 1, n_in - 1)] = np.inf
        x[0, i] = 1
        assert m.apply(x, 1)[0, i // 4 * 7] == 1


@pytest.mark.parametrize("mode", ["cubic", "lanczos3"])
@pytest.mark.parametrize("n_in, n_out", [(1 + 9 * 300, 1 + 9 * 401), (1 + 5 * 601, 1 + 5 * 401)])
def test_rows_with_weights_of_zero_are_those_of_tables(mode, n_in, n_out, level):
    """Of outputs on inputs, whose rows hold zeros where their neighbors' taps make them: they spread inf as NaN."""
    rng = np.random.default_rng(0)
    for apart in (3, 7, 11):
        axis_maps.cached_axis_map.cache_clear()
        forward = tenter.axis_map(n_in, n_out, mode, align="align_corners")
        for m in (forward, forward.T):
            x = rng.standard_normal((2, m.n_in)).astype(np.float32)
            x[:, ::apart] = np.inf
            check(m, x, m is forward)


@pytest.mark.parametrize("mode", ["cubic", "lanczos3"])
@pytest.mark.parametrize("align", ["half_pixel", "align_corners"])
def test_rows_that_lie_apart_are_those_of_tables_across_blocks(mode, align, level):
    """Of gradients, whose inputs are read by one output or none; corners: outputs on inputs have weights of zero."""
    rng = np.random.default_rng(0)
    tuning.signal_axis = 0
    for n_in, n_out in ((1 + 6 * 237, 1 + 6 * 50), (3000, 301), (997, 167), (2500, 45)):
        for step in (16, 100):
            tuning.column_step = step
            m = tenter.axis_map(n_in, n_out, mode, antialias=False, align=align).T
            x = rng.standard_normal((3, n_out)).astype(np.float32)
            x[1, ::7] = x[2, ::50] = np.inf
            check(m, x, step)


def test_an_axis_of_one_that_keeps_its_length_is_copied():
    """Whatever its step is: a sum of 64-bit integers in float64 would round them."""
    tuning.signal_axis = 0
    x = np.array([[2**64 - 2, 2**63 - 1, 0]], np.uint64)
    y = tenter.resize(x, scale=Fraction(4, 3), axes=0, mode="lanczos", like="onnx", antialias=False)
    assert y.shape == x.shape and np.array_equal(y, x)


@pytest.mark.parametrize("mode", ["linear", "area"])
def test_tables_are_made_once_they_are_asked_for(mode):
    """By whatever asks for them: many rows, columns, two axes, and the map's own attributes."""
    rng = np.random.default_rng(0)
    tuning.signal_axis = 0
    for n_in, n_out in ((230, 171), (171, 230), (500, 37)):
        x = rng.standard_normal((n_in, 40)).astype(np.float32)
        m = tenter.axis_map(n_in, n_out, mode)
        alone = m.apply(np.ascontiguousarray(x[:, 0]), 0)
        rows = m.apply(np.ascontiguousarray(x.T), 1).T
        columns = m.apply(x, 0)
        both = tenter.resize(x, (n_out, 40), axes=(0, 1), mode=mode, antialias=False if mode == "linear" else None)
        want = m.dense().astype(np.float64) @ x
        for _ in range(20):
            assert np.array_equal(m.apply(np.ascontiguousarray(x.T), 1).T, rows)
        for got in (rows, columns, m.apply(np.ascontiguousarray(x.T), 1).T):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-5)
            assert np.array_equal(got[:, 0], alone) and np.array_equal(got, rows)
        assert both.shape == rows.shape
        gradient = m.T.apply(np.ascontiguousarray(x[:n_out, 0]) if n_out <= n_in else alone, 0)
        assert np.array_equal(gradient, with_tables(m.T).apply(x[:n_out, 0] if n_out <= n_in else alone, 0))
