"""Copies of permuted arrays are those of contiguous ones: planes are transposed in registers, in blocks
(native/levels/transposed-inl.hpp)."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import tenter
from maps_of import planned
from tenter import _native
from tenter.maps import Copy

RNG = np.random.default_rng(35)
# Fewer and more elements than a vector has, a line has and a block has; rests of each; one; few columns of many rows.
SHAPES = [
    (3, 70),
    (9, 33),
    (8, 64),
    (65, 17),
    (1, 40),
    (130, 5),
    (2, 300),
    (300, 2),
    (7, 5, 66),
    (40, 2, 9),
    (2, 3, 4, 37),
]


def array(shape, dtype):
    size = np.dtype(dtype).itemsize * int(np.prod(shape))
    return RNG.integers(0, 256, size, dtype=np.uint8).view(dtype).reshape(shape)


def views(shape, dtype):
    """All permutations of an array, and some of its parts."""
    x = array(shape, dtype)
    for order in permutations(range(x.ndim)):
        yield x.transpose(order)
    y = x.T
    yield y[::-1]
    yield y[..., ::-1]
    yield y[1:, 1:]
    yield np.repeat(x, 2, -1)[..., ::2].T
    yield np.broadcast_to(y[..., None, :], (*y.shape[:-1], 3, y.shape[-1]))


def same(got, want, note):
    assert got.shape == want.shape and got.tobytes() == want.tobytes(), note


def check(x, axis):
    n = x.shape[axis]
    for times in (1, 2, 3, 40):
        same(tenter.repeat_interleave(x, times, axis), np.repeat(x, times, axis), (x.shape, x.strides, axis, times))
    for counts in (RNG.integers(0, 4, n), (np.arange(n) % 5 == 0) * 1, np.full(n, 2)):
        note = (x.shape, x.strides, axis, counts)
        same(tenter.repeat_interleave(x, counts, axis), np.repeat(x, counts, axis), note)
    tiles = [2 if d == axis % x.ndim else 1 for d in range(x.ndim)]
    same(tenter.tile(x, *tiles), np.tile(x, tiles), (x.shape, x.strides, tiles))


def each_nearest(x, axis):
    """Sizes up and down: the source indices of `resize`, applied by NumPy."""
    for size in (2 * x.shape[axis] + 3, x.shape[axis] // 2 + 1):
        index = tenter.resize(np.arange(x.shape[axis]), size, axes=0, mode="nearest")
        got = tenter.resize(x, size, axes=axis, mode="nearest")
        same(got, np.take(x, index, axis), (x.shape, x.strides, axis, size))


@pytest.mark.parametrize("how", ["one task", "many tasks", "streaming"])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128", "S3"])
def test_copies_of_permuted_arrays_are_those_of_contiguous_ones(dtype, how, level, monkeypatch):
    if how != "one task":
        monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
        monkeypatch.setattr(_native.tuning, "task_bytes", 512)
    if how == "streaming":
        monkeypatch.setattr(_native.tuning, "stream_bytes", 0)
    for shape in SHAPES:
        for x in views(shape, dtype):
            for axis in {0, x.ndim - 1}:
                check(x, axis)
                if x.size and dtype not in ("S3", "complex128"):
                    each_nearest(x, axis)


def test_both_axes_of_a_plane_are_repeated(level):
    for shape in SHAPES[:8]:
        x = array(shape, "float32").T
        n, m = x.shape
        for a, b in (
            (np.full(n, 3), np.full(m, 2)),
            (np.full(n, 2), RNG.integers(0, 4, m)),
            (RNG.integers(0, 3, n), np.full(m, 9)),
        ):
            got = planned(x, ((0, Copy.repeats(a)), (1, Copy.repeats(b)))).run(x)
            same(got, np.repeat(np.repeat(x, a, 0), b, 1), (shape, a, b))
