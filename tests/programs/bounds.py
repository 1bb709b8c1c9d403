"""Kernels on inputs that end where a page begins that may not be touched: a read past the end ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

import tenter
from maps_of import planned, resample
from tenter import _native
from tenter._plans import reference
from tenter.maps import Copy, Window

libc = ctypes.CDLL(None, use_errno=True)
keep: list[mmap.mmap] = []
rng = np.random.default_rng(0)
counts = rng.integers(0, 5, 37)


def guarded(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """x, copied to the end of memory that is followed by a forbidden page."""
    size = -(-max(x.nbytes, 1) // 4096) * 4096
    memory = mmap.mmap(-1, size + 4096)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(start + size), 4096, 0) == 0
    keep.append(memory)
    y = np.frombuffer(memory, np.uint8, x.nbytes, size - x.nbytes).view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def run(x: np.ndarray[Any, Any], maps: Any) -> np.ndarray[Any, Any]:
    y = guarded(x)
    return planned(y, maps).run(y)


def check(x: np.ndarray[Any, Any], maps: Any, least: float = 1, share: float = 1e-3) -> None:
    got, want = run(x, maps).astype(float), reference.run(x, maps).astype(float)
    room = least + np.abs(want).max(initial=0) * share
    assert np.abs(got - want).max(initial=0) <= room, (_native.level(), x.dtype, x.shape, maps)


def noise(shape: tuple[int, ...], dtype: str, most: int = 100) -> np.ndarray[Any, Any]:
    return (rng.random(shape) * most).astype(dtype)


def maps_on_every_axis(dtype: str) -> None:
    for shape in ((37,), (5, 37), (37, 3), (2, 37, 5), (3, 37, 20), (18, 37), (17, 37, 3), (37, 5000)):
        axis = shape.index(37)
        for m in (
            Copy.repeats(counts), Copy.repeat_each(37, 3), resample("nearest", 37, 50), resample("linear", 37, 80),
            resample("cubic", 37, 11), resample("area", 37, 6), Copy.repeat_each(1, 37).T, Copy.tile(1, 37).T,
            Copy.repeats([7, 30]).T, Copy.repeats([1] * 37).T, Copy.repeats([4, 3, 0, 25, 5]).T,
        ):  # fmt: skip
            check(noise(shape, dtype), ((axis, m),), *((1, 0) if np.dtype(dtype).kind in "iu" else (0.1, 1e-3)))


def every_factor() -> None:
    """Results end in the last vector of a pattern, or in the first of the next."""
    for size in (1, 2, 3, 4, 8, 12, 16, 40):
        for times in (2, 3, 5, 6, 7, 16, 31, 40):
            for n in (1, 17, 640 // size, 1250, 1251):
                x = guarded(rng.integers(0, 256, n * size).astype(np.uint8).view(f"V{size}"))
                got = planned(x, ((0, Copy.repeat_each(n, times)),)).run(x)
                assert got.tobytes() == np.repeat(x, times).tobytes(), (_native.level(), size, times, n)
        keep.clear()


def sums_of_every_factor(dtype: str) -> None:
    """The last vector of sums ends where the inputs do, or near it."""
    for width in (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 50):
        for n, inner in ((1, 1), (3, 1), (16, 1), (17, 1), (90, 1), (1, 3), (5, 3), (33, 3), (4, 7), (30, 15)):
            x = guarded(noise((n * width, inner), dtype))
            m = Copy.repeat_each(n, width).T
            got = planned(x, ((0, m),)).run(x).astype(float)
            assert np.allclose(got, x.astype(float).reshape(n, width, inner).sum(1), rtol=1e-2), (
                _native.level(),
                dtype,
            )
    keep.clear()


def small_images(dtype: str) -> None:
    """Rows some values apart, of which nothing lies after the last one."""
    for n, pitch in ((1, 1), (3, 3), (2, 5), (5, 40), (17, 18), (60, 64), (7, 90)):
        for count in (16, 33, 40):
            flat = guarded(noise(((count - 1) * pitch + n,), dtype))
            x = np.lib.stride_tricks.as_strided(flat, (count, n), (pitch * flat.itemsize, flat.itemsize))
            for m in (resample("linear", n, 3), resample("linear", 4, n).T, resample("nearest", n, 2)):
                got, want = planned(x, ((1, m),)).run(x).astype(float), reference.run(x, ((1, m),)).astype(float)
                assert np.abs(got - want).max() <= 1, (_native.level(), dtype, n, pitch, count)
    keep.clear()


def small_antialiased_images() -> None:
    """8-bit images some values apart, the results too, of which nothing lies after the last one."""
    for shape, size in (((1, 1), (1, 3)), ((3, 2), (2, 1)), ((5, 7), (3, 9)), ((40, 3), (7, 1)), ((144, 1), (90, 2))):
        for count, gap in ((16, 0), (33, 3), (40, 1)):
            n = shape[0] * shape[1]
            flat = guarded(noise((count * (n + gap) - gap,), "uint8", 256))
            x = np.lib.stride_tricks.as_strided(flat, (count, *shape), (n + gap, shape[1], 1))
            got = tenter.resize(x, size, axes=(1, 2), like="pillow")
            for k in range(count):
                alone = tenter.resize(x[k : k + 1], size, axes=(1, 2), like="pillow")
                assert np.array_equal(got[k : k + 1], alone), (_native.level(), shape, size, count, gap)
    keep.clear()


def two_axes(dtype: str) -> None:
    x = noise((3, 37, 29), dtype)
    for ho, wo in ((11, 80), (80, 11), (6, 6), (70, 70)):
        run(x, ((1, resample("cubic", 37, ho)), (2, resample("linear", 29, wo))))


def windows_far_apart_and_near_the_end(dtype: str) -> None:
    """Loads that must begin earlier, single loads, rows that no output reads."""
    for n, n_out in ((150, 75), (150, 70), (1200, 40), (70, 35)):
        for kind in ("linear", "cubic"):
            for m in (resample(kind, n, n_out), resample(kind, n_out, n).T):
                for inner in (1, 3):
                    check(noise((16, n, inner), dtype), ((1, m),))
                    run(noise((2, n, 40, inner), dtype), ((1, m), (2, resample("linear", 40, 90))))
    for start, offset in (([0, 7], [0, 6, 6]), ([0, 9], [0, 2, 2]), ([3, 9, 9], [0, 2, 2, 2]), ([9, 9], [0, 0, 0])):
        gap = Window(9, len(start), start, offset, [1.0] * offset[-1])
        wide = resample("linear", 40, 20)
        x = noise((3, 9, 40), dtype)
        check(x, ((1, gap), (2, wide)))
        check(x.reshape(1, 3, 9, 40), ((1, resample("linear", 3, 5)), (2, gap), (3, wide)))
    # The last of a row has fewer taps than its neighbors.
    far = Window(400, 16, [*range(0, 390, 26), 399], [*range(0, 136, 9), 136], np.ones(136))
    check(noise((16, 400), dtype, 9), ((1, far),))
    nothing = Window(0, 20, [0] * 20, [0] * 21, [])
    assert not run(np.zeros((70, 0), dtype), ((1, nothing),)).any()


def ragged_sums(dtype: str) -> None:
    """The last vector of segments ends where the row does."""
    for most in (1, 2, 4, 8, 16, 40):
        for lengths in (
            rng.integers(0, most + 1, 64),
            np.r_[rng.integers(0, most + 1, 32), np.ones(32, int)],
            np.r_[np.full(63, most), 0],
        ):
            m = Copy.repeats(lengths).T
            check(noise((m.n_in,), dtype, 3), ((0, m),), 1e-3)


def pixels(dtype: str) -> None:
    """The row that ends last begins there where columns descend."""
    for n, n_out, kind in ((40, 13, "linear"), (40, 31, "cubic"), (17, 60, "linear"), (9, 4, "cubic")):
        for channels in (2, 3, 4):
            x = guarded(noise((9, n, channels), dtype))
            maps = ((0, resample("linear", 9, 4)), (1, resample(kind, n, n_out)))
            for y in (x, x[:, ::-1], x[::-1], x[:, ::-1, : channels - 1], x[:, :, 1:]):
                got, want = planned(y, maps).run(y).astype(float), reference.run(y, maps).astype(float)
                assert np.abs(got - want).max() <= 1, (_native.level(), y.dtype, y.shape, y.strides, kind)


def interpolated_bytes() -> None:
    """The last load of a row begins earlier, as it has the inputs of several outputs, or of taps that are near."""
    for n, n_out in ((40, 31), (40, 60), (90, 26), (300, 26)):
        for channels in (1, 2, 3, 4):
            x = guarded(noise((7, n, channels), "uint8", 256))
            for y in (x, x[:, ::-1], x[::-1], x[:, ::-1, : channels - 1], x[:, :, 1:]):
                for mode in ("linear", "cubic"):
                    got, want = (tenter.resize(z, (5, n_out), axes=(0, 1), mode=mode) for z in (y, y.copy()))
                    assert np.array_equal(got, want), (_native.level(), y.shape, y.strides, n_out, mode)
    keep.clear()


def narrow_byte_rows() -> None:
    """A block passes the end of a row of fewer bytes, and the end of the last row of a result."""
    for width in (*range(1, 18), 24, 31, 32):
        for n, n_out in ((1, 3), (5, 17), (40, 11), (40, 63)):
            wide = noise((n, 64), "uint8", 256)
            want = tenter.resize(wide, n_out, axes=0, mode="cubic", like="pillow")[:, :width]
            up, down = guarded(wide[:, :width]), guarded(wide[::-1, :width])[::-1]
            for x in (up, down):
                out = guarded(np.zeros((n_out, width), np.uint8))
                tenter.resize(x, n_out, axes=0, mode="cubic", like="pillow", out=out)
                assert np.array_equal(out, want), (_native.level(), width, n, n_out)
        keep.clear()


def short_rows() -> None:
    """Many rows are shuffled 16 bytes at a time, which pass the inputs and outputs of a row."""
    for dtype in ("uint8", "uint16", "S3", "uint32", "float64"):
        for rows, width in ((16, 3), (40, 5), (99, 9), (40, 16), (33, 17)):
            wide = rng.integers(0, 256, rows * width * np.dtype(dtype).itemsize, dtype=np.uint8)
            x = guarded(wide.view(dtype).reshape(rows, width))
            each = rng.integers(0, 4, width)
            for y in (x, guarded(x[::-1])[::-1]):
                assert tenter.repeat_interleave(y, each, 1).tobytes() == np.repeat(x, each, 1).tobytes()
                out = guarded(np.zeros((rows, int(each.sum())), dtype))
                tenter.repeat_interleave(y, each, 1, out=out)
                assert out.tobytes() == np.repeat(x, each, 1).tobytes(), (_native.level(), dtype, rows, width)
        keep.clear()


def counts_that_change() -> None:
    """After they were summed: values, counts and results all end where a forbidden page begins."""
    for size in (1, 2, 4, 8):
        for narrow in (np.int32, np.int64):
            said = rng.integers(0, 9, 2 * (1 << 14) + 99).astype(narrow)
            for now in (said, said + 9, said * 30, -said, np.full_like(said, np.iinfo(narrow).max), said + 128):
                for stream in (False, True):
                    each = guarded(said)
                    runs = _native.testing.Runs(each.ctypes.data, narrow is np.int32, said.size, 2)
                    each[...] = now
                    x, y = guarded(np.ones(said.size * size, np.uint8)), guarded(np.zeros(runs.total * size, np.uint8))
                    runs.copy(x.ctypes.data, y.ctypes.data, size, 2, stream)
                    keep.clear()


for level in _native.testing.levels():
    assert _native.testing.force_level(level)
    for dtype in ("uint8", "float16", "float32", "float64", "int64"):
        maps_on_every_axis(dtype)
        two_axes(dtype)
        windows_far_apart_and_near_the_end(dtype)
        ragged_sums(dtype)
        pixels(dtype)
        small_images(dtype)
        if dtype.startswith("float"):
            sums_of_every_factor(dtype)
        keep.clear()
    every_factor()
    small_antialiased_images()
    interpolated_bytes()
    narrow_byte_rows()
    short_rows()
    counts_that_change()
print("inside")
