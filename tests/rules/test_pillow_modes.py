"""Every mode of Pillow's images: `image.resize` and the transforms have the values of Pillow's own resize."""

from __future__ import annotations

import numpy as np
import pytest

from sweeps import in_one_test
from tenter._arrays import pillow_images
from tenter._arrays.oldest_versions import older
from tenter.image import resize

PIL = pytest.importorskip("PIL")
Image = pytest.importorskip("PIL.Image")
MODES = (
    "1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "LA", "PA", "RGBX", "RGBa", "La",
    "I;16", "I;16B", "I;16L", "I;16N",
)  # fmt: skip
FILTERS = {"nearest-exact": 0, "linear": 2, "cubic": 3, "lanczos": 1, "box": 4, "hamming": 5}
SIZE = (30, 7)
ANOTHER_ORDER = (5, 40)  # here Pillow before 13 resamples the other axis first


def random(mode):
    rng = np.random.default_rng(0)
    if mode == "1":
        return Image.fromarray(rng.random((13, 17)) < 0.5)
    like = np.asarray(Image.new(mode, (17, 13)))
    scale, dtype = (256, np.uint8) if like.itemsize == 1 else (60_000, like.dtype)
    made = Image.frombytes(mode, (17, 13), (rng.random(like.shape) * scale).astype(dtype).tobytes())
    if mode in ("P", "PA"):
        made.putpalette(rng.integers(0, 256, 768, np.uint8).tobytes())
    return made


def pillows(given, number, size=SIZE):
    """Pillow's values. Those of another mode or filter where Pillow's are wrong, and how far from them sums may be."""
    if given.mode in ("I;16B", "I;16N") and number:  # Pillow swaps their bytes
        given = Image.frombytes("I;16", given.size, np.asarray(given).astype("<u2").tobytes())
    if given.mode == "PA":  # Pillow averages the numbers of colors
        number = 0
    values = np.asarray(given.resize(size[::-1], number))
    if number == 0 or values.itemsize == 1:
        return values, 0
    return values, 0.01 if given.mode == "F" else 1  # tenter does not round between the axes


def off_by(made, values):
    return np.abs(np.asarray(made, np.float64) - np.asarray(values, np.float64)).max()


@in_one_test("mode", MODES)
def test_an_image_of_every_mode_has_pillows_values(mode):
    given = random(mode)
    for name, number in FILTERS.items():
        for size in (SIZE,) if older(PIL.__version__, (13,)) else (SIZE, ANOTHER_ORDER):
            made, (values, most) = resize(given, size, mode=name), pillows(given, number, size)
            assert made.mode == mode and made.size == size[::-1], name
            assert np.asarray(made).dtype == np.asarray(given).dtype and off_by(made, values) <= most, name
            assert mode not in ("P", "PA") or made.getpalette() == given.getpalette()


@in_one_test("mode", MODES)
def test_a_list_of_images_makes_the_array_of_their_results(mode):
    given = random(mode)
    want = np.asarray(resize(given, SIZE))
    out = np.empty((2, *want.shape), want.dtype.newbyteorder("="))
    assert np.array_equal(resize([given, given], SIZE), [want] * 2)
    assert resize([given, given], SIZE, out=out) is out and np.array_equal(out, [want] * 2)


@in_one_test("mode", MODES)
def test_transforms_of_every_mode_have_pillows_values(mode):
    torch = pytest.importorskip("torch")
    from tenter.torch import transforms

    given = random(mode)
    for name, number in (("nearest-exact", 0), ("bilinear", 2), ("lanczos", 1)):
        made, (values, most) = transforms.Resize(SIZE, name)(given), pillows(given, number)
        assert made.mode == mode and off_by(made, values) <= most, name
        full = 1 if values.dtype.kind in "fb" else np.iinfo(values.dtype).max
        floats = transforms.Resize(SIZE, name, dtype=torch.float32)(given)
        planes = values[None] if values.ndim == 2 else values.transpose(2, 0, 1)
        assert off_by(floats, planes / full) <= 1.1 * most / full + 1e-6, name
    nearest = np.asarray(transforms.Resize(SIZE, "nearest-exact")(given))
    for dtype in (None, torch.float32):
        both = transforms.Resize(SIZE, masks="mask", dtype=dtype)({"image": given, "mask": given})
        kept = np.asarray(both["mask"])
        assert np.array_equal(kept.transpose(1, 2, 0) if dtype and kept.ndim == 3 else kept, nearest)


@in_one_test("mode", MODES)
def test_large_images_are_copied_a_band_at_a_time(mode):
    given = random(mode)
    want = pillow_images.array_of(given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pillow_images, "LARGE", 0)
        for band in (1, 60, 1 << 20):
            patch.setattr(pillow_images, "BAND", band)
            made = pillow_images.array_of(given)
            assert (made.dtype, made.shape) == (want.dtype, want.shape) and np.array_equal(made, want), band
