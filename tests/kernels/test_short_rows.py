"""Short rows and small blocks that do not lie together: repeated, picked and summed as NumPy does, at every level."""

from __future__ import annotations

import numpy as np
import pytest

import tenter
from maps_of import planned, resample
from tenter import _native

DTYPES = ("uint8", "int16", "float32", "complex64", "complex128", "S3", "V6", "V40")
SMALL_TASKS = (("task_bytes", 1000), ("parallel_bytes", 1), ("copied_block_bytes", 64), ("stream_bytes", 1 << 12))


def some(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    n = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.random.default_rng(n).integers(0, 256, n).astype(np.uint8).view(dtype).reshape(shape)


def apart(shape: tuple[int, ...], dtype: str) -> dict[str, np.ndarray]:
    """Arrays of a shape whose rows do not lie together."""
    wide = tuple(n + 2 for n in shape)
    return {
        "every other": some((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2],
        "part": some(wide, dtype)[tuple(slice(1, -1) for _ in shape)],
        "transposed": some(shape[::-1], dtype).T,
        "rows from the end": some(shape, dtype)[..., ::-1],
    }


@pytest.fixture(params=[False, True], ids=["one task", "small tasks"])
def tasks(request, monkeypatch):
    monkeypatch.setattr(_native.tuning, "guard_blocks", True)
    for name, value in SMALL_TASKS if request.param else ():
        monkeypatch.setattr(_native.tuning, name, value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_repeats_of_blocks_are_those_of_numpy(dtype, level, tasks):
    for shape in ((7, 2), (300, 3), (2100, 1, 2), (5, 130, 2), (3, 4, 2, 5), (40, 70)):
        for name, x in apart(shape, dtype).items():
            for axis in range(len(shape)):
                for times in (2, 3, 19):
                    want = np.repeat(x, times, axis)
                    assert tenter.numpy.repeat(x, times, axis).tobytes() == want.tobytes(), (shape, name, axis, times)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tiles_of_blocks_are_those_of_numpy(dtype, level, tasks):
    for shape in ((300, 3), (3, 3, 1, 1, 2), (4, 4, 1, 2, 4), (2, 4, 8, 3, 3), (29, 70, 2)):
        for name, x in apart(shape, dtype).items():
            for reps in ((2, 3), (2, 2, 1, 2), (1, 2, 2, 1, 2), (2, 1, 1, 3, 1), (3, 1, 1)):
                assert tenter.numpy.tile(x, reps).tobytes() == np.tile(x, reps).tobytes(), (shape, name, reps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_in_short_rows_takes_the_inputs_of_each_axis(mode, dtype, level, tasks):
    for shape, size in (
        ((60, 4), (33, 2)),
        ((9, 3), (200, 5)),
        ((700, 2), (450, 3)),
        ((20, 70), (50, 66)),
        ((3, 2), (5, 1)),
    ):
        rows, columns = (tenter.resize(np.arange(n), m, mode=mode) for n, m in zip(shape, size))
        for name, x in {**apart((6, *shape), dtype), "contiguous": some((6, *shape), dtype)}.items():
            maps = tuple((k + 1, resample(mode, n, m)) for k, (n, m) in enumerate(zip(shape, size)))
            got = planned(x, maps).run(x)
            assert got.tobytes() == np.ascontiguousarray(x[:, rows][:, :, columns]).tobytes(), (shape, size, name)


@pytest.mark.parametrize("dtype", ["complex128", "float64", "float32", "int16", "uint8"])
def test_few_and_many_outputs_of_a_count(dtype, level, tasks):
    rng = np.random.default_rng(0)
    for n, most in ((1, 1), (9, 1), (700, 1), (700, 4), (300, 20)):
        counts = rng.integers(0, most + 1, n)
        for x in (some((n,), dtype), some((3, n), dtype)):
            assert tenter.repeat_interleave(x, counts, -1).tobytes() == np.repeat(x, counts, -1).tobytes(), (n, most)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_rows_with_gaps_between_runs_of_them(dtype, level):
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 200, (5, 43, 9)).astype(dtype)
    for x in (whole[1:-1, 1:-1, 2:4], whole[:, 3:, :5], whole[::2, :37, 4:], whole[::-1, 5:38, 6:], whole[:, 1:33, 7:]):
        for kind, size in (("linear", 1), ("area", 3), ("cubic", 4)):
            maps = ((2, resample(kind, x.shape[2], size)),)
            plain = x.copy()
            assert planned(x, maps).run(x).tobytes() == planned(plain, maps).run(plain).tobytes(), (x.strides, kind)
