"""Arrays past 2^31 elements. Run with `pytest -m slow`; takes about 16 GiB."""

from __future__ import annotations

import numpy as np
import pytest

import tenter

pytestmark = pytest.mark.slow


def test_copies_past_two_to_the_31():
    x = np.arange(50_000, dtype=np.uint16)
    y = tenter.repeat_interleave(x, 45_000)
    assert y.size > 2**31
    at = np.array([0, 44_999, 45_000, 2**31 - 1, 2**31, y.size - 1])
    assert np.array_equal(y[at], (at // 45_000).astype(np.uint16))
    del y
    z = tenter.tile(np.arange(251, dtype=np.uint8), 8_600_000)
    at = at[at < z.size]
    assert z.size > 2**31 and len(at) == 5 and np.array_equal(z[at], (at % 251).astype(np.uint8))


def test_counts_past_two_to_the_31():
    counts = np.full(1000, 2_200_000)
    y = tenter.repeat_interleave(np.arange(1000).astype(np.uint8), counts)
    assert y.size > 2**31 and y[2**31] == (2**31 // 2_200_000) % 256 and y[-1] == 999 % 256


def test_images_past_two_to_the_31():
    x = np.zeros((1, 1, 100, 100), np.uint8)
    x[..., -1, -1] = 255
    for mode in ("nearest", "bilinear"):
        y = tenter.interpolate(x, (46_500, 46_500), mode=mode)
        assert y.size > 2**31 and y[0, 0, -1, -1] == 255 and y[0, 0, 0, 0] == 0 and y[0, 0, -1, 0] == 0
        back = tenter.interpolate(y, (100, 100), mode="area")
        assert back[0, 0, -1, -1] > 100 and back[0, 0, :-2].max() == 0
        del y
