"""Antialiased resizing of a real photograph against Pillow: uint8 bit for bit, float within float32's rounding."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import PIL
import pytest
import torch
from PIL import Image
from PIL.Image import Resampling

import tenter

FILTERS = {"bilinear": Resampling.BILINEAR, "bicubic": Resampling.BICUBIC, "lanczos": Resampling.LANCZOS}
# Pillow 13 sums rows first where height shrinks more than twice as many pixels as width; before, it never did.
ROWS_FIRST = [(150, 911), (250, 600)]
SIZES = [
    (37, 41),
    (300, 256),
    *(ROWS_FIRST if int(PIL.__version__.split(".")[0]) >= 13 else []),
    (601, 77),
    (606, 1024),
    (1, 33),
    (33, 1),
    (777, 1313),
]


@pytest.fixture(scope="module")
def photo() -> Image.Image:
    """matplotlib's sample photograph, 606 x 512."""
    spec = find_spec("matplotlib")
    assert spec and spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0]) / "mpl-data/sample_data/grace_hopper.jpg"
    return Image.open(path).convert("RGB")


def resized(pixels, size, **kw):
    """(H, W, C) or (H, W) pixels, as Pillow has them."""
    planes = pixels[None, None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)[None]
    y = tenter.interpolate(planes, size, **kw)[0]
    return y[0] if pixels.ndim == 2 else y.transpose(1, 2, 0)


@pytest.mark.parametrize("mode", FILTERS)
@pytest.mark.parametrize("size", SIZES)
def test_uint8_equals(photo, mode, size):
    for image in (photo, photo.convert("L"), photo.crop((13, 7, 250, 308))):
        want = np.asarray(image.resize(size[::-1], FILTERS[mode]))
        got = resized(np.asarray(image), size, mode=mode, antialias=True)
        assert got.dtype == np.uint8 and got.shape == want.shape
        assert np.array_equal(got, want)
        assert len(np.unique(got)) > 20 or min(size) == 1  # a photograph, not a constant
        tensor = torch.from_numpy(np.array(image).reshape(1, image.height, image.width, -1)).permute(0, 3, 1, 2)
        again = (
            tenter.interpolate(tensor, size, mode=mode, antialias=True)[0].permute(1, 2, 0).numpy().reshape(got.shape)
        )
        assert np.array_equal(again, got)


@pytest.mark.parametrize("mode", FILTERS)
@pytest.mark.parametrize("size", SIZES)
def test_float_equals(photo, mode, size):
    image = photo.convert("F")
    want = np.asarray(image.resize(size[::-1], FILTERS[mode]))
    np.testing.assert_allclose(resized(np.asarray(image), size, mode=mode, antialias=True), want, atol=255 * 2e-6)


@pytest.mark.parametrize("size", SIZES)
def test_nearest_exact_equals(photo, size):
    """Except where a centre falls on a pixel's edge, which PyTorch's float32, followed here, may round to the other side."""
    got, want = (
        resized(np.asarray(photo), size, mode="nearest-exact"),
        np.asarray(photo.resize(size[::-1], Resampling.NEAREST)),
    )
    clear = []
    for n_out, n_in in zip(size, (photo.height, photo.width)):
        centre = (np.arange(n_out) + 0.5) * n_in / n_out
        clear.append(np.flatnonzero(np.abs(centre - np.rint(centre)) > 1e-4))
    if size in ((37, 41), (777, 1313)):
        assert all(len(c) >= 0.9 * n for c, n in zip(clear, size))
    assert np.array_equal(got[np.ix_(*clear)], want[np.ix_(*clear)])


def test_one_pixel_wide():
    """Where PyTorch's antialias repeats the first row, Pillow and the matrix do not."""
    x = np.arange(4, dtype=np.float32).reshape(4, 1)
    want = np.asarray(Image.fromarray(x).resize((1, 2), Resampling.BILINEAR))
    np.testing.assert_allclose(resized(x, (2, 1), mode="bilinear", antialias=True), want, atol=1e-6)
    theirs = torch.nn.functional.interpolate(torch.from_numpy(x)[None, None], (2, 1), mode="bilinear", antialias=True)
    assert theirs[0, 0, 0, 0] == theirs[0, 0, 1, 0]


def test_the_pixel_itself_weighs_one_in_hamming():
    """The constants of Pillow's bell are float32 and add up to more than one."""
    x = np.array([[0, 0, 0, 0, 0, 194, 52, 240, 142, 148, 0, 0, 0, 0, 0]], np.uint8)
    want = np.asarray(Image.fromarray(x).resize((7, 1), Resampling.HAMMING))
    assert np.array_equal(tenter.resize(x, (1, 7), axes=(0, 1), mode="hamming", like="pillow"), want)


def test_boxes_of_axes_that_are_apart_repeat() -> None:
    """Each plane between the two axes is an image; the core makes the later calls, with maps that it has cropped."""
    x = np.random.default_rng(0).integers(0, 256, (1000, 3, 64), np.uint8)
    how = {"mode": "linear", "like": "pillow", "box": ((0, 1000), (8, 56))}
    wanted = np.stack([tenter.resize(x[:, k], (100, 48), **how) for k in range(3)], 1)
    for _ in range(4):
        np.testing.assert_array_equal(tenter.resize(x, (100, 48), axes=(0, 2), **how), wanted)
