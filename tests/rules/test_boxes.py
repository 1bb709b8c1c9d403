"""Boxes read nothing around what they need, and a reversed axis is read from its end: the values of a slice's call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenter
from tenter.resampling import axis_map

MODES = ("linear", "cubic", "lanczos3", "area")


def resized_by_maps(x: Any, size: Any, axes: Any, box: Any, **how: Any) -> Any:
    """By the maps' dense matrices, of the inputs that they read alone."""
    for axis, n, edges in zip(axes, size, box):
        m = axis_map(x.shape[axis], n, box=[edges], **how)
        read = m.reads(0, n)
        some = np.moveaxis(x, axis, -1)[..., read.start : read.stop]
        x = np.moveaxis(some @ m.dense()[:, read.start : read.stop].T, -1, axis)
    return x


@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 3), (0, 1, 2), (2,)])
@pytest.mark.parametrize("mode", MODES)
def test_what_a_box_leaves_out_counts_for_nothing(axes, mode):
    rng = np.random.default_rng(len(axes))
    shape, box = (31, 40, 37, 33), tuple((9.5, 19.25) for _ in axes)
    for size in ((5, 6, 7)[: len(axes)], (20, 23, 25)[: len(axes)]):
        x = rng.standard_normal(shape)
        for axis in axes:  # beyond the support of any of these filters
            np.moveaxis(x, axis, 0)[:3] = np.moveaxis(x, axis, 0)[28:] = np.nan
        for antialias in (False, mode != "area"):
            found = tenter.resize(x, size, axes=axes, mode=mode, antialias=antialias, box=box)
            wanted = resized_by_maps(x, size, axes, box, mode=mode, antialias=antialias)
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32", "float64", "float16"])
@pytest.mark.parametrize("antialias", [False, True])
def test_flipped_pictures_have_the_bits_of_their_copies(dtype, antialias):
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5, 8, 11, 16, 17, 33, 64, 130):
        for channels in (1, 2, 3, 4, 5):
            x = rng.integers(0, 255, (23, n, channels)).astype(dtype)
            for size in ((9, 5), (9, 2 * n + 1), (60, 5), (60, 2 * n + 1)):  # rows are summed first, or columns
                how = {"axes": (0, 1), "mode": "cubic", "antialias": antialias}
                for flipped in (x[:, ::-1], x[::-1, ::-1], x[::-1]):
                    found = tenter.resize(flipped, size, **how)
                    np.testing.assert_array_equal(found, tenter.resize(flipped.copy(), size, **how))


def test_a_reversed_box_is_a_box_of_the_reversed_axis():
    x = np.random.default_rng(4).integers(0, 255, (50, 60, 3), np.uint8)
    for k in range(4):  # the last ones planned by the core
        for antialias in (False, True):
            how = {"axes": (0, 1), "mode": "cubic", "antialias": antialias}
            found = tenter.resize(x, (21 + k, 22), box=((4, 40 - k), (50.5 + k, 8)), **how)
            wanted = tenter.resize(x[:, ::-1].copy(), (21 + k, 22), box=((4, 40 - k), (9.5 - k, 52)), **how)
            np.testing.assert_array_equal(found, wanted)


def test_boxes_that_are_none_are_refused_when_the_core_knows_the_family_too():
    x = np.zeros((40, 50, 3), np.float32)
    for k in range(3):
        tenter.resize(x, (20 + k, 21), axes=(0, 1), box=((1.5, 30 + k), (2, 40)))
    bad = [(3, 3), (np.nan, 4.0), (0, np.inf), (-np.inf, 0.0), (2**60, 0), (1e300, 2e300), (True, 4), ("1", 2), (1,), 5]
    for edges in bad:
        for box in ((edges, (2, 40)), ((2, 40), edges), (edges, edges)):
            with pytest.raises((ValueError, TypeError), match=r"^box: "):
                tenter.resize(x, (20, 21), axes=(0, 1), box=box)
    for edges in [(2**52, 2**52 + 3), (-1e9, 1e9), (5e-324, 3.0), (0.1, 0.1 + 1e-16), (-7, -3), (60, 70.5)]:
        found = tenter.resize(x, (20, 21), axes=(0, 1), box=(edges, (2, 40)))
        assert found.shape == (20, 21, 3)
