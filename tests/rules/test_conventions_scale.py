"""Scales: how long an axis becomes, and whether positions follow the scale or the length, beside the libraries."""

from __future__ import annotations

from fractions import Fraction

import cv2
import numpy as np
import pytest
import skimage.transform
import torch
import torch.nn.functional as F
from PIL import Image
from scipy import ndimage

import tenter
from tenter.conventions import Convention

SCALES = [0.3, 0.5, 0.77, 1.0, 1.04, 1.1, 1.5, 2.0, 2.3]
LENGTHS = [4, 5, 7, 9, 10, 13]


def same(found, expected, off=1e-5):
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= off


@pytest.mark.parametrize("align_corners", [None, True], ids=["", "corners"])
@pytest.mark.parametrize("antialias", [False, True], ids=["", "antialias"])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "cubic", "area"])
def test_scale_factors_of_torch(mode, antialias, align_corners):
    if mode not in ("linear", "cubic") and (antialias or align_corners):
        pytest.skip("PyTorch has none")
    theirs = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    rng = np.random.default_rng(0)
    for n in LENGTHS:
        for scale in SCALES:
            for other in (0.6, 1.04, 1.7):
                x = rng.random((1, 2, n, 11))
                expected = F.interpolate(
                    torch.from_numpy(x),
                    scale_factor=(scale, other),
                    mode=theirs,
                    antialias=antialias,
                    align_corners=align_corners,
                )
                align = "align_corners" if align_corners else None
                how = {"mode": mode, "antialias": antialias, "align": align, "like": "torch"}
                found = tenter.resize(x, scale=[scale, other], axes=(2, 3), **how)
                same(found, expected.numpy())


@pytest.mark.parametrize(
    "mode, flag",
    [
        ("nearest", cv2.INTER_NEAREST),
        ("nearest-exact", cv2.INTER_NEAREST_EXACT),
        ("linear", cv2.INTER_LINEAR),
        ("cubic", cv2.INTER_CUBIC),
        ("lanczos4", cv2.INTER_LANCZOS4),
        ("area", cv2.INTER_AREA),
    ],
)
def test_fx_and_fy_of_opencv(mode, flag):
    """An image whose two sizes stay is copied, whatever the scale; area: tests/helpers/peers.py."""
    rng = np.random.default_rng(0)
    for n in LENGTHS:
        for fx in SCALES:
            for fy in (0.37, 0.5, 1.04, 1.6):
                x = rng.random((n, n + 1)).astype(np.float32)
                expected = cv2.resize(x, None, fx=fx, fy=fy, interpolation=flag)
                if expected.shape != x.shape and (mode != "area" or (fx <= 1 and fy < 1)):
                    same(tenter.resize(x, scale=[fy, fx], mode=mode, like="opencv", antialias=False), expected)


@pytest.mark.parametrize("order, mode", [(0, "nearest"), (1, "linear")])
def test_zoom_and_rescale(order, mode):
    rng = np.random.default_rng(0)
    for n in range(3, 24):
        for scale in (0.3, 0.5, 0.7, 1.5, 2.1, 2.5):
            x = rng.random(n)
            zoomed = ndimage.zoom(x, scale, order=order, mode="nearest")
            same(tenter.resize(x, scale=scale, mode=mode, like="scipy"), zoomed)
            blurs = order == 1
            rescaled = skimage.transform.rescale(x, scale, order=order, anti_aliasing=blurs)
            same(tenter.resize(x, scale=scale, mode=mode, like="skimage", antialias=blurs), rescaled)


@pytest.mark.parametrize("factor", [(2, 2), (3, 4), (5, 1)])
def test_reduce_of_pillow(factor):
    """Sizes are rounded up, and the last output is the mean of what is left."""
    rng = np.random.default_rng(0)
    for shape in [(20, 60), (21, 61), (7, 9)]:
        x = rng.random(shape).astype(np.float32)
        expected = np.asarray(Image.fromarray(x).reduce(factor[::-1]))
        scale = [Fraction(1, f) for f in factor]
        how = tenter.conventions.PRESETS["pillow"]._replace(positions_from="scale", length_rounding="ceil")
        same(tenter.resize(x, scale=scale, mode="area", like=how), expected)


@pytest.mark.parametrize("like, length", [("torch", 2), ("opencv", 2), ("onnx", 2), ("scipy", 2), ("pillow", 2)])
def test_lengths_between_two(like, length):
    """5 * 0.5 is 2 where a library rounds down or half to even; 7 * 0.5 tells them apart."""
    assert tenter.resize(np.zeros(5), scale=0.5, like=like).shape == (length,)
    assert tenter.resize(np.zeros(7), scale=0.5, like=like).shape == (4 if like in ("opencv", "scipy") else 3,)
    assert tenter.resize(np.zeros(5), scale=0.5, like=Convention.of(like, length_rounding="round")).shape == (3,)
    assert tenter.resize(np.zeros(5), scale=0.5, like=Convention.of(like, length_rounding="ceil")).shape == (3,)


def test_an_axis_that_keeps_its_length_ignores_the_scale_of_modes_that_copy_it():
    x = np.random.default_rng(0).random(9)
    for antialias in (False, True):
        for mode in ("linear", "cubic", "lanczos", "hamming", "mitchell", "bspline"):
            made = tenter.resize(x, scale=1.05, mode=mode, antialias=antialias, like="torch")
            same = tenter.resize(x, 9, mode=mode, antialias=antialias, like="torch")
            ignores = mode == "linear" or antialias
            assert np.array_equal(made, same) == ignores, (mode, antialias)
            assert np.array_equal(same, x) == (mode not in ("mitchell", "bspline")), (mode, antialias)
