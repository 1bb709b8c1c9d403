"""Gradients of repeats: each sum adds its copies in ascending order, on every instruction set and for any layout."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
from maps_of import planned, resample
from tenter import _native
from tenter.maps import Copy

WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 100)
INNERS = (1, 2, 3, 7, 8, 15, 16, 20)
FLOATS = ("float32", "float64", "float16")


def added(x: np.ndarray, width: int) -> np.ndarray:
    """x (..., n * width, inner), with numbers narrower than float32 added in float32."""
    parts = x.reshape(*x.shape[:-2], -1, width, x.shape[-1]).astype(np.promote_types(x.dtype, np.float32))
    total = parts[..., 0, :].copy()
    for k in range(1, width):
        total = total + parts[..., k, :]
    return total.astype(x.dtype)


def noise(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Sums of which show their order; some are of nothing but -0, some not finite."""
    x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
    x[np.random.default_rng(1).random(shape) < 0.005] = np.inf
    x[..., : shape[-2] // 6, :] = -0.0
    return x


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", INNERS)
def test_sums_of_every_width_add_in_order(inner, dtype, level):
    for width in WIDTHS:
        for n in (1, 5, 16, 37):
            x = noise((n * width, inner), dtype)
            with np.errstate(all="ignore"):
                want = added(x, width)
            got = planned(x, ((0, Copy.repeat_each(n, width).T),)).run(x)
            assert got.tobytes() == want.tobytes(), (width, n)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_together_and_apart_have_the_same_sums(dtype, level):
    for width, inner in ((2, 1), (3, 1), (16, 1), (18, 1), (5, 3), (40, 2)):
        wide = noise((3, 4, 9 * width + 2, inner), dtype)
        for x in (wide[:, :, 2:], wide[::2, :, : 9 * width], wide[:, ::-1, 2:].copy()[:, ::-1], wide[:, :, 2:].copy()):
            with np.errstate(all="ignore"):
                want = added(x, width)
            got = planned(x, ((2, Copy.repeat_each(9, width).T),)).run(x)
            assert got.tobytes() == want.tobytes(), (width, inner, x.strides)


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_past_the_caches_and_in_many_tasks(dtype, level, monkeypatch):
    for name, value in (("task_bytes", 3000), ("widened_values", 100), ("parallel_bytes", 1)):
        monkeypatch.setattr(_native.tuning, name, value)
    for width, inner in ((2, 1), (3, 1), (7, 1), (24, 1), (3, 5), (30, 3)):
        x = noise((700 * width, inner), dtype)
        with np.errstate(all="ignore"):
            want = added(x, width)
        plan = planned(x, ((0, Copy.repeat_each(700, width).T),))
        assert plan.run(x).tobytes() == want.tobytes(), (width, inner)
        for at in (0, 4 * x.itemsize):
            room = np.full(want.nbytes + 192, 0xA5, np.uint8)
            start = -room.ctypes.data % 64 + at
            plan.steps.run(x.ctypes.data, room.ctypes.data + start, True)
            assert room[start : start + want.nbytes].tobytes() == want.tobytes(), (width, inner, at)
            assert (room[:start] == 0xA5).all() and (room[start + want.nbytes :] == 0xA5).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_gradients_of_repeats_and_tiles_are_these_sums(dtype):
    for times in (2, 5, 8, 18, 64):
        x = torch.arange(24.0).reshape(4, 6).to(getattr(torch, dtype)).requires_grad_()
        for y, blocks in (
            (tenter.repeat_interleave(x, times, 1), lambda g, k: g.reshape(4, 6, k).movedim(2, 0)),
            (tenter.repeat_interleave(x, times, 0), lambda g, k: g.reshape(4, k, 6).movedim(1, 0)),
            (tenter.tile(x, (1, times)), lambda g, k: g.reshape(4, k, 6).movedim(1, 0)),
        ):
            g = torch.rand(y.shape).to(x.dtype)
            parts = blocks(g, times).to(torch.promote_types(x.dtype, torch.float32))
            total = parts[0].clone()
            for part in parts[1:]:
                total += part
            assert torch.equal(torch.autograd.grad(y, x, g)[0], total.to(x.dtype)), times


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_of_unlike_lengths_add_in_order_too(dtype, level):
    for most in (3, 8, 16, 17, 40, 200):
        counts = np.random.default_rng(most).integers(0, most + 1, 70)
        ends = np.cumsum(counts)
        x = noise((int(ends[-1]), 1), dtype)
        with np.errstate(all="ignore"):
            want = np.zeros((70, 1), dtype)
            for k, (end, count) in enumerate(zip(ends, counts)):
                if count:
                    want[k] = added(x[end - count : end], count)
        got = planned(x[:, 0], ((0, Copy.repeats(counts).T),)).run(x[:, 0].copy())
        assert got.tobytes() == want.tobytes(), most


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize("a, b", [(2, 3), (5, 2), (12, 2), (3, 17)])
def test_wide_columns_have_the_sums_of_narrow_ones(a, b, dtype, level, monkeypatch):
    """Of a whole plane, in chunks of a column that are tasks."""
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 1)
    monkeypatch.setattr(_native.tuning, "stream_bytes", 1 << 12)
    wide = np.random.default_rng(a).normal(0, 1000, (4, a, b, 5003)).astype(dtype)
    for x in (wide, wide[:, :, :, 1:4098], wide[::2, ::-1], wide[..., :256], wide[:, :, ::-1, 3:300]):
        for maps in (
            ((1, Copy.repeat_each(1, a).T), (2, Copy.repeat_each(1, b).T)),
            ((1, resample("linear", a, 1)), (2, resample("area", b, 1))),
        ):
            got = planned(x, maps).run(x)
            for k in range(0, x.shape[3], 200):
                some = x[..., k : k + 200].copy()
                assert got[..., k : k + 200].tobytes() == planned(some, maps).run(some).tobytes(), (x.strides, maps, k)
