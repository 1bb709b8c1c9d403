"""Pictures of 2 to 4 channels whose outputs read a few pixels each: the bits of each channel by itself, in every layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenter
from sweeps import sampled
from tenter import _native

Pixels = np.ndarray[Any, Any]


def picture(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Pixels:
    """Noise; integers may be black and white, which overshoots, and floats have infinities, NaN and zeros of both signs."""
    if dtype != "float32":
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = rng.integers(least, most, shape, dtype=dtype, endpoint=True)
        return x if rng.random() < 0.7 else np.where(x > (least + most) // 2, most, least).astype(dtype)
    y = rng.standard_normal(shape).astype(np.float32)
    if rng.random() < 0.5:
        for value in (np.inf, -np.inf, np.nan, -0.0, 0.0):
            y[rng.random(shape) < 0.02] = value
    return y


def a_view(rng: np.random.Generator, dtype: str) -> Pixels:
    """(..., H, W, C), perhaps a part of more channels, flipped, or of a batch."""
    h, w, c = int(rng.integers(1, 60)), int(rng.integers(1, 90)), int(rng.integers(2, 5))
    batch = () if rng.random() < 0.8 else (2,)
    x = picture(rng, (*batch, h, w, int(rng.integers(c, 6))), dtype)[..., :c]
    for axis, share in ((-2, 0.5), (-3, 0.2)):
        if rng.random() < share:
            x = np.flip(x, axis)
    return x if rng.random() < 0.9 else x[..., ::2, :]


def bits(x: Pixels) -> bytes:
    return (x if x.dtype.kind != "f" else np.where(np.isnan(x), np.float32(np.nan), x)).tobytes()


DTYPES = ("uint8", "uint16", "int16", "float32")


def shrunk(x: Pixels, size: tuple[int, int], mode: str) -> Pixels:
    return tenter.resize(x, size, axes=(x.ndim - 3, x.ndim - 2), mode=mode, antialias=False)


def each_channel(x: Pixels, size: tuple[int, int], mode: str) -> Pixels:
    """Every channel by itself, in memory of its own."""
    planes = [np.ascontiguousarray(x[..., c]) for c in range(x.shape[-1])]
    axes = (x.ndim - 3, x.ndim - 2)
    return np.stack([tenter.resize(p, size, axes=axes, mode=mode, antialias=False) for p in planes], -1)


@pytest.mark.parametrize("seed", sampled(range(24), 8))
def test_bits_of_each_channel_by_itself(seed, level):
    rng = np.random.default_rng(seed)
    for _ in range(40):
        x = a_view(rng, DTYPES[int(rng.integers(4))])
        size = int(rng.integers(1, 40)), int(rng.integers(1, 60))
        mode = ("linear", "cubic")[int(rng.integers(2))]
        got, want = shrunk(x, size, mode), each_channel(x, size, mode)
        assert bits(got) == bits(want), (x.shape, x.strides, x.dtype, size, mode)


@pytest.mark.parametrize("past_the_caches", [False, True])
def test_bits_of_any_number_of_threads_and_kind_of_stores(past_the_caches, level, monkeypatch):
    """Results end where a page begins that may not be touched."""
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    monkeypatch.setattr(_native.tuning, "guard_blocks", True)
    if past_the_caches:
        monkeypatch.setattr(_native.tuning, "stream_bytes", 0)
    before = tenter.get_num_threads()
    rng = np.random.default_rng(0)
    try:
        for dtype in DTYPES:
            for channels in (2, 3, 4):
                x = picture(rng, (130, 150, channels), dtype)
                for mode, y in (("linear", x), ("cubic", x[:, ::-1])):
                    want = bits(each_channel(y, (66, 61), mode))
                    for threads in (1, 3):
                        tenter.set_num_threads(threads)
                        assert bits(shrunk(y, (66, 61), mode)) == want, (dtype, channels, mode, threads)
    finally:
        tenter.set_num_threads(before)
