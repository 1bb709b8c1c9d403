"""Bytes that are interpolated along two axes without antialias: in fixed point, OpenCV's bit for bit where `like` names it."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

import tenter
from sweeps import sampled
from tenter import _native

Pixels = np.ndarray[Any, Any]
# From the exact sum: a half by rounding, 2 * 255 * 3 / 2**15 by weights of 14 bits, and 1 / 128 by sums along columns, both
# times 1.5, the largest sum of magnitudes of the other axis (of the slope -1).
LEAST = 0.59


def draw(rng: np.random.Generator) -> tuple[Pixels, tuple[int, int]]:
    """(H, W, C) in some layout, and a size: any, a side alone, halves, narrow and long ones."""
    sides = rng.integers(1, 120, 4)
    if (long := int(rng.integers(6))) < 4:
        sides[long] = rng.integers(1, 2500)
        sides[3 - long] = rng.integers(1, 16)
    h, w, high, wide = map(int, sides)
    kind = int(rng.integers(8))
    if kind == 0:
        h, w = 2 * high, 2 * wide
    if kind in (1, 2):
        high, wide = (h, wide) if kind == 1 else (high, w)
    c = int(rng.integers(1, 7))
    x = rng.integers(0, 256, (h + 1, 2 * w + 1, c + 1), np.uint8)
    if rng.random() < 0.2:
        x = ((x > 127) * 255).astype(np.uint8)
    views = (
        lambda: np.ascontiguousarray(x[:h, :w, :c]),
        lambda: x[1:, 1 : w + 1, :c],
        lambda: x[:h, w : 2 * w, :c][:, ::-1],
        lambda: x[:h, : 2 * w : 2, 1:][::-1],
        lambda: np.ascontiguousarray(x[:h, :w, :c].transpose(2, 0, 1)).transpose(1, 2, 0),
    )
    return views[int(rng.integers(len(views)))](), (high, wide)


def in_steps(x: Pixels, size: tuple[int, int]) -> Pixels:
    """OpenCV's fixed point, in NumPy."""

    def taps(n_in: int, n_out: int) -> tuple[Any, Any, Any]:
        at = ((np.arange(n_out) + 0.5) * (1 / (n_out / n_in)) - 0.5).astype(np.float32)
        whole = np.floor(at)
        second = np.rint((at - whole) * np.float32(2048)).astype(np.int64)
        first = whole.astype(np.int64)
        return first.clip(0, n_in - 1), (first + 1).clip(0, n_in - 1), second

    low, high, weight = taps(x.shape[1], size[1])
    wide = x.astype(np.int64)
    sums = wide[:, low] * (2048 - weight[:, None]) + wide[:, high] * weight[:, None] >> 4
    low, high, weight = taps(x.shape[0], size[0])
    weight = weight[:, None, None]
    rows = (sums[low] * (2048 - weight) >> 16) + (sums[high] * weight >> 16)
    return (rows + 2 >> 2).astype(np.uint8)


def resized(x: Pixels, size: tuple[int, int], mode: str = "linear", **how: Any) -> Pixels:
    return tenter.resize(x, size, axes=(0, 1), mode=mode, **{"antialias": False, **how})


@pytest.mark.parametrize("seed", sampled(range(24), 8))
def test_linear_bytes_like_opencv_have_its_fixed_point(seed, level):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        x, size = draw(rng)
        np.testing.assert_array_equal(resized(x, size, like="opencv"), in_steps(x, size), f"{x.shape} {size}")


# Its wheels for Arm have other kernels for some numbers of channels.
on_x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="OpenCV has other kernels there")


@on_x86
@pytest.mark.parametrize("seed", sampled(range(24), 8))
def test_linear_bytes_like_opencv_are_opencvs(seed, level):
    cv2 = pytest.importorskip("cv2")
    if not cv2.__version__.startswith(("4.", "5.")):
        pytest.skip("another version")
    rng = np.random.default_rng(seed)
    for _ in range(30):
        x, size = draw(rng)
        if x.shape[2] not in (1, 3, 4) and x.shape[:2] == (2 * size[0], 2 * size[1]):
            continue  # opencv_halves_of_two_channels (test_conventions_exceptions.py)
        theirs = cv2.resize(np.ascontiguousarray(x), size[::-1], interpolation=cv2.INTER_LINEAR)
        np.testing.assert_array_equal(resized(x, size, like="opencv"), theirs.reshape(*size, -1), f"{x.shape} {size}")


@on_x86
@pytest.mark.parametrize("seed", range(4))
def test_scales_of_opencv_have_its_positions(seed, level):
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(seed)
    for _ in range(10):
        x = rng.integers(0, 256, (*rng.integers(8, 90, 2), 3), np.uint8)
        fy, fx = map(float, rng.uniform(0.2, 3, 2))
        theirs = cv2.resize(x, None, fx=fx, fy=fy, interpolation=cv2.INTER_LINEAR)
        if theirs.shape != x.shape:  # which it copies
            found = tenter.resize(x, scale=(fy, fx), axes=(0, 1), like="opencv")
            np.testing.assert_array_equal(found, theirs, f"{x.shape} {fy} {fx}")


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("seed", sampled(range(24), 8))
def test_others_are_near_the_exact_sums(seed, mode, level):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        x, size = draw(rng)
        for how in ({}, {"like": None, "antialias": False}):
            exact = np.clip(resized(x.astype(np.float64), size, mode, **how), 0, 255)
            assert np.abs(resized(x, size, mode, **how) - exact).max() <= LEAST, (x.shape, size, how)


@pytest.mark.parametrize("seed", range(3))
def test_cubic_bytes_like_opencv_are_near_opencvs(seed, level):
    """In fixed point, so they are exact sums within 0.59: the other's are within 0.77."""
    cv2 = pytest.importorskip("cv2")
    rng = np.random.default_rng(seed)
    for _ in range(20):
        x, size = draw(rng)
        found = resized(x, size, "cubic", like="opencv")
        exact = np.clip(resized(x.astype(np.float64), size, "cubic", like="opencv"), 0, 255)
        theirs = cv2.resize(np.ascontiguousarray(x), size[::-1], interpolation=cv2.INTER_CUBIC).reshape(found.shape)
        assert np.abs(found - exact).max() <= LEAST, (x.shape, size)
        assert np.abs(found.astype(int) - theirs).max() <= 1, (x.shape, size)


@pytest.mark.parametrize("how", [{}, {"mode": "cubic"}, {"like": "opencv"}], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_bits_of_every_layout_and_level(seed, how):
    rng = np.random.default_rng(seed)
    try:
        for _ in range(30):
            x, size = draw(rng)
            found = set()
            for level in _native.testing.levels():
                _native.testing.force_level(level)
                found |= {resized(y, size, **how).tobytes() for y in (x, np.ascontiguousarray(x))}
            in_floats = 1 in (x.shape[0] == size[0], x.shape[1] == size[1]) or (size[1] < 24 and not how.get("like"))
            assert len(found) == 1 or in_floats, (x.shape, size)
    finally:
        _native.testing.force_level("")


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_equal_rows_of_large_images_are_those_of_small_ones(mode, level):
    """Rows of images of more than 16 MiB are prefetched; here they are one row in memory."""
    for channels in (1, 3, 4):
        row = np.random.default_rng(channels).integers(0, 256, (1, 3000, channels), np.uint8)
        large, small = (np.broadcast_to(row, (n, 3000, channels)) for n in (6000, 8))
        found, want = resized(large, (30, 800), mode), resized(small, (3, 800), mode)
        np.testing.assert_array_equal(found, np.broadcast_to(want[:1], found.shape))


@pytest.mark.parametrize("like", ["torch", "opencv"])
def test_equal_pixels_are_kept(like, level):
    for value in (1, 127, 255):
        x = np.full((37, 53, 3), value, np.uint8)
        for size in ((20, 31), (61, 100), (37, 90), (5, 300)):
            assert (resized(x, size, like=like) == value).all()
            assert (resized(x, size, "cubic") == value).all()


def test_halves_of_units_become_even(level):
    x = np.random.default_rng(0).integers(0, 256, (40, 200, 4), np.uint8)
    for y in (x, x[..., 0], np.ascontiguousarray(x[..., 0]), x[..., :3]):
        for size in ((80, 400), (20, 100)):
            exact = resized(y.astype(np.float64), size)
            assert ((exact % 1) == 0.5).any()
            np.testing.assert_array_equal(resized(y, size), np.rint(exact).astype(np.uint8))


@pytest.mark.parametrize(
    "how", [{}, {"mode": "cubic"}, {"like": "opencv"}, {"like": "opencv", "mode": "cubic"}], ids=str
)
def test_chunks_have_the_bits_of_the_whole(how):
    da = pytest.importorskip("dask.array")
    rng = np.random.default_rng(1)
    for size in ((23, 31), (61, 250), (400, 9), (3, 4)):
        x = rng.integers(0, 256, (41, 57, 3), np.uint8)
        for chunks in ((7, 11, 3), (41, 5, 3)):
            found = resized(da.from_array(x, chunks=chunks), size, **how).compute()
            np.testing.assert_array_equal(found, resized(x, size, **how))


@pytest.mark.parametrize("threads", [1, 3])
def test_bits_of_any_number_of_threads_and_of_streaming(threads, monkeypatch):
    x = np.random.default_rng(2).integers(0, 256, (90, 140, 3), np.uint8)
    calls = [{}, {"mode": "cubic"}, {"like": "opencv"}]
    sizes = [(200, 333), (45, 70), (31, 40)]
    want = [resized(x, size, **how) for how in calls for size in sizes]
    before = tenter.get_num_threads()
    tenter.set_num_threads(threads)
    try:
        for name in ("parallel_bytes", "stream_bytes", "small_bytes", "byte_chunk_bytes"):
            monkeypatch.setattr(_native.tuning, name, 1)
        found = [resized(x, size, **how) for how in calls for size in sizes for _ in range(2)]
    finally:
        tenter.set_num_threads(before)
    for k, y in enumerate(found):
        np.testing.assert_array_equal(y, want[k // 2])
