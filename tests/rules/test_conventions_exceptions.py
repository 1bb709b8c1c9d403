"""Where a library is not what its convention says, by its own rounding or fault: each with its cause, seen to be there.

A case that fails here has been put right by its library: then it goes, here and in docs/differences.md.
"""

from __future__ import annotations

import warnings

import cv2
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from scipy import ndimage

import tenter

RNG = np.random.default_rng(0)
ROW = np.arange(64, dtype=np.float32)


def planes(x):
    return torch.from_numpy(np.ascontiguousarray(x))[None, None]


def torch_nearest_exact_is_not_pillow():
    """Pillow adds step after step in float64 and comes out below a tie that PyTorch rounds up."""
    x = ROW[None, :8]
    theirs = F.interpolate(planes(x), (1, 6), mode="nearest-exact").numpy()[0, 0]
    pillow = np.asarray(Image.fromarray(x).resize((6, 1), Image.Resampling.NEAREST))
    ours = [tenter.resize(x, (1, 6), mode="nearest-exact", like=like) for like in ("torch", "pillow")]
    assert np.array_equal(ours[0], theirs) and np.array_equal(ours[1], pillow)
    return theirs, pillow


def pillow_box_at_ties():
    """A pixel just half an output away is in or out of Pillow's BOX by its rounding; tenter takes the far one."""
    x = ROW[None, :49]
    return tenter.resize(x, (1, 48), mode="box", like="pillow"), np.asarray(Image.fromarray(x).resize((48, 1), 4))


def pillow_box_of_tenths():
    """Image.resize takes its box in float32, tenter in float64: BOX may lose a pixel."""
    x = RNG.random((64, 1)).astype(np.float32)
    box = (64 * 0.1, 64 * 0.45)
    theirs = np.asarray(Image.fromarray(x).resize((1, 35), 4, box=(0, box[0], 1, box[1])))
    return tenter.resize(x, (35, 1), mode="box", like="pillow", box=[box, None]), theirs


def opencv_area_of_two_directions():
    """Where an axis grows, INTER_AREA takes two taps along both, and leaves pixels out along one that shrinks."""
    x = RNG.random((16, 4)).astype(np.float32)
    return tenter.resize(x, (4, 8), mode="area", like="opencv"), cv2.resize(x, (8, 4), interpolation=cv2.INTER_AREA)


def opencv_area_that_starts_on_an_edge():
    """Output 17 of 34 starts with pixel 3 of 6: OpenCV puts its start a rounding below and takes pixel 2 instead."""
    x = ROW[None, :6]
    ours, theirs = (
        tenter.resize(x, (1, 34), mode="area", like="opencv"),
        cv2.resize(x, (34, 1), interpolation=cv2.INTER_AREA),
    )
    assert ours[0, 17] == 3 and theirs[0, 17] == 2
    return ours, theirs


def opencv_halves_of_two_channels():
    """Half of a unit becomes even in halves of pictures of 2 channels, or more than 4; else it is rounded up."""
    x = np.zeros((2, 2, 2), np.uint8)
    x[0] = 1
    ours = tenter.resize(x, (1, 1), axes=(0, 1), like="opencv")
    np.testing.assert_array_equal(ours[..., :1], cv2.resize(x[..., :1], (1, 1)).reshape(1, 1, 1))
    return ours, cv2.resize(x, (1, 1))


def opencv_copies_images_of_the_same_size():
    """cv2.resize copies where both lengths stay, though fx and fy say that positions move."""
    x = RNG.random((3, 4)).astype(np.float32)
    return tenter.resize(x, scale=[1.04, 1.1], like="opencv"), cv2.resize(x, None, fx=1.1, fy=1.04)


def torch_antialias_one_pixel_wide():
    """Its kernel repeats the first row of outputs that are one pixel wide; Pillow agrees with tenter."""
    x = RNG.random((16, 4)).astype(np.float32)
    theirs = F.interpolate(planes(x), (8, 1), mode="bilinear", antialias=True).numpy()[0, 0]
    ours = tenter.resize(x, (8, 1), antialias=True)
    pillow = np.asarray(Image.fromarray(x).resize((1, 8), Image.Resampling.BILINEAR))
    np.testing.assert_allclose(ours, pillow, atol=1e-6)
    return ours, theirs


def torch_bicubic_of_uint8():
    """Fixed point whose overshoot wraps or is cut between the axes; tenter is right to 0.59 units."""
    x = RNG.integers(0, 256, (16, 16), np.uint8)
    theirs = F.interpolate(planes(x), (29, 29), mode="bicubic").numpy()[0, 0]
    ours = tenter.resize(x, (29, 29), mode="cubic", like="torch")
    truth = np.clip(tenter.resize(x.astype(np.float64), (29, 29), mode="cubic", like="torch"), 0, 255)
    assert np.abs(ours - truth).max() <= 0.59
    return ours, theirs


def scipy_wrap():
    """Its mode "wrap" has a period of n - 1, so that the last pixel is the first; "grid-wrap" is tenter's wrap."""
    theirs = ndimage.zoom(ROW[:5], 2, order=1, mode="wrap", grid_mode=True)
    return tenter.resize(ROW[:5], 10, like="scipy", align="half_pixel", edge="wrap"), theirs


def scipy_constant_at_the_last_pixel():
    """Where (n_out - 1) * ((n_in - 1) / (n_out - 1)) is rounded up, the last output is outside, and the constant."""
    x = 1 + ROW[:28]
    return tenter.resize(x, 14, like="scipy", edge="extrapolate"), ndimage.zoom(x, 0.5, order=1, mode="constant")


CASES = [
    torch_nearest_exact_is_not_pillow,
    pillow_box_at_ties,
    pillow_box_of_tenths,
    opencv_area_of_two_directions,
    opencv_area_that_starts_on_an_edge,
    opencv_copies_images_of_the_same_size,
    opencv_halves_of_two_channels,
    torch_antialias_one_pixel_wide,
    torch_bicubic_of_uint8,
    scipy_wrap,
    scipy_constant_at_the_last_pixel,
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_exceptions_are_there(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's advice about modes
        one, other = case()
    assert one.shape == other.shape
    assert np.abs(np.subtract(one, other, dtype=np.float64)).max() > 1e-3
