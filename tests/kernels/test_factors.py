"""Short runs repeated by any factor: the bytes of NumPy's repeat and tile, on every instruction set."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from maps_of import planned
from tenter import _native
from tenter.maps import Copy

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 33, 64, 100, 256, 257)
TIMES = (2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 20, 21, 31, 32, 33, 42, 63, 64, 65, 100, 127, 128, 200)
MOST = 100_000  # bytes of a result


def items(n: int, size: int, at: int = 0) -> np.ndarray:
    """n values of `size` bytes, at any address."""
    return np.random.default_rng(n + size).integers(0, 256, at + n * size).astype(np.uint8)[at:].view(f"V{size}")


@pytest.mark.parametrize("size", SIZES)
def test_every_factor_repeats_every_item(size, level):
    for times in TIMES:
        for k, n in enumerate((1, 2, 50, MOST // (size * times))):
            x = items(n, size, k % 2)
            assert tenter.repeat_interleave(x, times, 0).tobytes() == np.repeat(x, times).tobytes(), (times, n)


@pytest.mark.parametrize("size", SIZES)
def test_every_number_of_copies_tiles_a_short_row(size, level):
    for times in TIMES:
        x = items(3, size).reshape(1, 3)
        assert tenter.tile(x, (times, 2)).tobytes() == np.tile(x, (times, 2)).tobytes(), times
        y = np.ascontiguousarray(np.broadcast_to(x, (40, 3)))[:, :2]  # rows that do not lie together
        assert tenter.tile(y, (1, times)).tobytes() == np.tile(y, (1, times)).tobytes(), times


@pytest.mark.parametrize("shape, step", [((30, 41), 1), ((30, 41), 2), ((7, 5, 41), 1), ((400, 2, 3), 1)])
def test_rows_that_lie_together_and_apart_are_repeated_alike(shape, step, level):
    for dtype in ("uint8", "float16", "float32", "complex128", "S3", "V6"):
        wide = items(int(np.prod(shape)) * step, np.dtype(dtype).itemsize).view(dtype)
        x = wide.reshape(*shape[:-1], -1)[..., ::step]
        for times in (2, 5, 7, 12, 100):
            for axis in range(x.ndim):
                want = np.repeat(x, times, axis)
                assert tenter.repeat_interleave(x, times, axis).tobytes() == want.tobytes(), (dtype, times, axis)
                turned = np.moveaxis(x, 0, -1)
                want = np.repeat(turned, times, axis)
                assert tenter.repeat_interleave(turned, times, axis).tobytes() == want.tobytes(), (dtype, times, axis)


@pytest.mark.parametrize("size", SIZES[::3])
@pytest.mark.parametrize("shape, order", [((3, 3, 93, 1), (2, 1, 0, 3)), ((1, 2, 105, 9), (3, 0, 2, 1)),
                                          ((9, 50, 2, 5), (0, 1, 2, 3)), ((2, 400, 3), (2, 0, 1))])  # fmt: skip
def test_short_rows_of_long_runs_are_repeated_from_any_layout(shape, order, size, level):
    x = items(int(np.prod(shape)), size).reshape(shape).transpose(order)
    for some in (x, x[1:, ..., ::-1]):
        for axis in (-1, -2):
            for r in (3, 7, 24, 40):
                assert np.array_equal(tenter.repeat_interleave(some, r, axis), np.repeat(some, r, axis)), (axis, r)


@pytest.mark.parametrize("size", SIZES[::3])
@pytest.mark.parametrize(
    "shape, order", [((300, 9, 4), (2, 1, 0)), ((517, 20), (1, 0)), ((256, 4, 3, 5), (1, 3, 2, 0))]
)
def test_columns_that_share_lines_are_copied_in_any_order(shape, order, size, level, monkeypatch):
    x = items(int(np.prod(shape)), size).reshape(shape).transpose(order)
    counts = np.arange(shape[0]) % 3
    for bytes_ in (1 << 10, 1 << 30):
        monkeypatch.setattr(_native.tuning, "task_bytes", bytes_)
        monkeypatch.setattr(_native.tuning, "parallel_bytes", bytes_)
        for some in (x, x[..., ::-1]):
            assert np.array_equal(tenter.repeat_interleave(some, counts, -1), np.repeat(some, counts, -1))
            assert np.array_equal(tenter.repeat_interleave(some, 3, -1), np.repeat(some, 3, -1))
            assert np.array_equal(tenter.tile(some, (2, 1, 2)[-x.ndim :]), np.tile(some, (2, 1, 2)[-x.ndim :]))
            assert np.array_equal(tenter.repeat_interleave(some, 2, 0), np.repeat(some, 2, 0))


def test_a_map_of_one_copy_each_copies(level):
    for size in SIZES:
        x = items(9000, size)
        assert planned(x, ((0, Copy.repeat_each(9000, 1)),)).run(x).tobytes() == x.tobytes()


@pytest.mark.parametrize("size", SIZES)
def test_factors_past_the_caches_and_in_many_tasks(size, level, monkeypatch):
    """Parts of a result begin and end within a pattern."""
    for name, value in (("staging_bytes", 600), ("task_bytes", 5000), ("parallel_bytes", 1)):
        monkeypatch.setattr(_native.tuning, name, value)
    for times in (2, 3, 5, 7, 31, 100):
        n = max(1, 30_000 // (size * times))
        x = items(n, size, 1)
        plan = planned(x, ((0, Copy.repeat_each(n, times)),))
        want = np.repeat(x, times).tobytes()
        for at in (0, size, 5 * size):
            room = np.full(len(want) + 192 + at, 0xA5, np.uint8)
            start = -room.ctypes.data % 64 + at
            plan.steps.run(x.ctypes.data, room.ctypes.data + start, True)
            assert room[start : start + len(want)].tobytes() == want, (times, at)
            assert (room[:start] == 0xA5).all() and (room[start + len(want) :] == 0xA5).all()
        assert tenter.repeat_interleave(x, times, 0).tobytes() == want


@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_counts_of_every_mean_repeat_scalars(dtype, level):
    """With a table of offsets and, of many, without."""
    for size in (1, 2, 4, 8, 3, 12):
        for n in (300, 20_000):
            for most in (1, 6, 16, 40, 70, 200) if n == 300 else (1, 16, 40):
                counts = np.random.default_rng(most).integers(0, most + 1, n).astype(dtype)
                x = items(n, size)
                assert tenter.repeat_interleave(x, counts, 0).tobytes() == np.repeat(x, counts).tobytes(), (size, most)


def some_counts(n: int, most: int) -> np.ndarray:
    """As likely each; below 0: mostly none, else up to -most."""
    rng = np.random.default_rng(abs(most))
    return rng.integers(0, abs(most) + 1, n) * (1 if most > 0 else rng.random(n) < 0.2)


@pytest.mark.parametrize("size", SIZES)
def test_counts_of_every_mean_repeat_rows_of_any_layout(size, level, monkeypatch):
    """Few copies of a row and many; of rows that lie together, apart, and as columns; in one task and in several."""
    x, y = (np.random.default_rng(size).integers(0, 256, (*n, 3, size), np.uint8) for n in ((20, 70), (2, 1500)))
    layouts = (x, x[:, :, :2], x[:, :, ::2], x[3:5, :, ::-1], x.swapaxes(0, 1), x.swapaxes(0, 2), y, y[:, :, 1:])
    for bytes_ in (1 << 10, 1 << 30):
        monkeypatch.setattr(_native.tuning, "task_bytes", bytes_)
        monkeypatch.setattr(_native.tuning, "parallel_bytes", bytes_)
        for some in layouts:
            for axis, n in enumerate(some.shape[:3]):
                for most in (1, 4, -9, 9 if n >= 20 else 50):
                    counts = some_counts(n, most)
                    found = tenter.repeat_interleave(some, counts, axis)
                    assert np.array_equal(found, np.repeat(some, counts, axis)), (axis, most)
