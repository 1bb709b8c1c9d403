"""Pictures in other forms: layouts and batches, images of Pillow, lists of pictures of different sizes, and parts."""

from __future__ import annotations

import numpy as np
import pytest

from error_helpers import refused
from sweeps import in_one_test
from tenter.image import Fill, Fit, resize

RNG = np.random.default_rng(0)
HOW = [
    {"size": (9, 11)}, {"size": (9, 11), "linear_light": True}, {"size": Fit((10, 10))}, {"size": Fill((8, 8), "west")},
    {"size": (7, 7), "mode": "linear"}, {"size": (None, 7), "mode": "nearest-exact"}, {"scale": 0.5, "mode": "lanczos"},
]  # fmt: skip


def pixels(dtype, *shape):
    made = RNG.random(shape)
    return made.astype(dtype) if dtype == "float32" else (made * np.iinfo(dtype).max).astype(dtype)


def turned(x, before, after):
    return x.transpose([before.index(letter) for letter in after])


def same(a, b):
    """But for the last bits where sums of floats go along the axes in the order in which they are in memory."""
    most = {"float32": 1e-6, "uint16": 1}.get(np.asarray(b).dtype.name, 0)
    return np.shape(a) == np.shape(b) and np.allclose(
        np.asarray(a, float), np.asarray(b, float), rtol=1e-6 if most else 0, atol=most
    )


@in_one_test("dtype", ["uint8", "uint16", "float32"])
@in_one_test("channels", [1, 3, 4])
@in_one_test("how", HOW, ids=repr)
def test_a_layout_is_the_same_pictures_in_another_order(dtype, channels, how):
    how = {"alpha": channels == 4, **how}
    batch = pixels(dtype, 2, 20, 30, channels)
    want = np.stack([resize(picture, **how) for picture in batch])
    for layout in ("NHWC", "NCHW", "HWC", "CHW"):
        given, expected = (batch, want) if layout[0] == "N" else (batch[0], want[0])
        before = "NHWC"[-len(layout) :]
        x, y = turned(given, before, layout), turned(expected, before, layout)
        made = resize(np.ascontiguousarray(x), layout=layout, **how)
        assert made.dtype == x.dtype and made.shape == y.shape and same(made, y)
        assert same(resize(x, layout=layout, **how), y)  # a view
        out = np.empty_like(y)
        assert resize(np.ascontiguousarray(x), layout=layout, out=out, **how) is out and np.array_equal(out, made)
    gray = batch[..., 0]
    how["alpha"] = False
    assert same(resize(gray, layout="NHW", **how), np.stack([resize(picture, layout="HW", **how) for picture in gray]))


def test_tensors_keep_their_gradients_in_every_layout():
    torch = pytest.importorskip("torch")
    x = torch.rand(2, 3, 8, 9, requires_grad=True)
    resize(x, (4, 4), layout="NCHW").sum().backward()
    assert torch.allclose(x.grad.sum(), torch.tensor(2 * 3 * 16.0))
    assert resize([x[0], x[1, :, 1:]], (4, 4), layout="CHW").requires_grad
    picture = torch.from_numpy(pixels("uint8", 4, 20, 30))
    want = resize(picture.permute(1, 2, 0), (9, 9), alpha=True).permute(2, 0, 1)
    assert torch.equal(resize(picture, (9, 9), layout="CHW", alpha=True), want)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
@pytest.mark.parametrize("channels", [3, 4])
def test_pictures_of_different_sizes_make_one_batch(kind, channels):
    given = [pixels("uint8", height, width, channels) for height, width in ((20, 30), (11, 50), (40, 9))]
    how = {"alpha": channels == 4}
    want = np.stack([resize(picture, (7, 8), **how) for picture in given])
    filled = np.stack([resize(picture, Fill(8), **how) for picture in given])
    out = np.empty_like(want)
    if kind == "torch":
        torch = pytest.importorskip("torch")
        given, out = [torch.from_numpy(picture) for picture in given], torch.from_numpy(out)
    made = resize(given, (7, 8), **how)
    assert type(made) is type(given[0]) and np.array_equal(made, want)
    assert np.array_equal(resize(given, Fill(8), **how), filled)
    assert resize(given, (7, 8), out=out, **how) is out and np.array_equal(out, want)
    planes = [p.permute(2, 0, 1) if kind == "torch" else p.transpose(2, 0, 1) for p in given]
    assert np.array_equal(resize(planes, (7, 8), layout="CHW", **how), turned(want, "NHWC", "NCHW"))
    assert resize([p[..., 0] for p in given], (5, 5)).shape == (3, 5, 5)


def test_a_list_of_numbers_or_of_rows_is_one_picture():
    assert resize([[0, 2], [4, 6]], (1, 1)).tolist() == [[3]]
    assert resize([np.array([0, 2]), np.array([4, 6])], (1, 1)).tolist() == [[3]]


@pytest.mark.parametrize("form", ["L", "RGB", "RGBA", "LA", "P", "1", "F"])
def test_an_image_of_pillow_gives_an_image_of_its_mode(form):
    image = pytest.importorskip("PIL.Image")
    rgba = image.fromarray(pixels("uint8", 20, 30, 4), "RGBA")
    given = rgba if form == "RGBA" else rgba.convert("RGB").convert(form)
    made, want = resize(given, (9, 8), mode="linear"), given.resize((8, 9), 2)
    assert made.mode == form and made.size == (8, 9) and same(np.asarray(made), np.asarray(want))
    if form == "P":
        assert np.array_equal(np.asarray(made.convert("RGB")), np.asarray(want.convert("RGB")))
    assert resize(given, Fit(10)).size == (10, 7)
    assert np.array_equal(resize([given, given], (9, 8), mode="linear")[1], np.asarray(made))
    flipped = resize(given, (20, 30), box=((0, 20), (30, 0)), mode="nearest-exact")
    assert np.array_equal(np.asarray(flipped), np.asarray(given)[:, ::-1])


def test_a_part_of_fractions_of_pixels_is_pillows_box():
    image = pytest.importorskip("PIL.Image")
    given = image.fromarray(pixels("uint8", 20, 30, 3))
    for top, left, height, width in ((1.5, 2.25, 10, 12.5), (0, 0, 20, 30), (3, 4, 5, 6)):
        want = np.asarray(given.resize((7, 6), 3, box=(left, top, left + width, top + height)))
        made = resize(given, (6, 7), box=((top, top + height), (left, left + width)), mode="cubic")
        assert np.array_equal(np.asarray(made), want)
        array = resize(np.asarray(given), (6, 7), box=((top, top + height), (left + width, left)), mode="cubic")
        assert np.abs(array[:, ::-1].astype(int) - want).max() <= 1


P = pixels("uint8", 4, 4, 3)


@pytest.mark.parametrize("call, argument, error, words", [
    (lambda i: resize(P, (2, 2), layout="NCHW"), "x", ValueError, ["(N, C, H, W)", "(4, 4, 3)"]),
    (lambda i: resize(P, (2, 2), layout="WHC"), "layout", ValueError, ["HWC, CHW"]),
    (lambda i: resize([P, P[..., 0]], (2, 2)), "x", ValueError, ["3-d of 3 channels", "2-d"]),
    (lambda i: resize([P, P / 255], (2, 2)), "x", ValueError, ["uint8", "float64"]),
    (lambda i: resize([P, "photo.jpg"], (2, 2)), "x", ValueError, ["'photo.jpg'"]),
    (lambda i: resize([P], scale=2), "scale", ValueError, ["one size"]),
    (lambda i: resize([P], Fit(2)), "size", ValueError, ["or a Fill for all"]),
    (lambda i: resize([P]), "size", ValueError, ["one size"]),
    (lambda i: resize([P], (1, 2, 3)), "size", ValueError, ["(height, width)"]),
    (lambda i: resize([P], (2, 2), layout="NHWC"), "layout", ValueError, ["of one image"]),
    (lambda i: resize([P], (2, 2), out=np.empty((1, 2, 3, 3), np.uint8)), "out", ValueError, ["(1, 2, 2, 3)"]),
    (lambda i: resize([i, i.convert("L")], (2, 2)), "x", ValueError, ["one mode", "L and RGB"]),
    (lambda i: resize(i, (2, 2), layout="HWC"), "layout", TypeError, ["np.asarray(image)"]),
    (lambda i: resize(i, (2, 2), out=P), "out", TypeError, ["np.asarray(image)"]),
    (lambda i: resize(P, (2, 2), box=(0, 1, 3, 4)), "box", ValueError, ["((0, 3), (1, 4)) for (top, left, bottom, right), ((1, 4), (0, 3)) for Pillow's"]),
    (lambda i: resize(i, (2, 2), box=[(0, 2)]), "box", ValueError, ["2 pairs"]),
    (lambda i: resize(P, 2), "size", ValueError, ["(2, None) for the shorter side, Fit(2) for the longer, Fill(2)", "(2, 2) for one that is distorted"]),
    (lambda i: resize(P[:, :3], 2), "size", ValueError, ["(None, 2) for the shorter side"]),
    (lambda i: resize(i, 2), "size", ValueError, ["Fit(2)"]),
    (lambda i: resize([P], 2), "size", ValueError, ["(height, width), or a Fill"]),
])  # fmt: skip
def test_mistakes_are_refused_by_the_name_of_the_argument(call, argument, error, words):
    image = pytest.importorskip("PIL.Image").fromarray(P)
    refused(lambda: call(image), argument, error, words, r"image\.resize")


def test_channels_first_and_batches_get_the_word_of_layout():
    for x, layout in (
        (np.zeros((3, 100, 80)), "CHW"),
        (np.zeros((2, 3, 100, 80)), "NCHW"),
        (np.zeros((2, 100, 80, 3)), "NHWC"),
        ([np.zeros((3, 100, 80)), np.zeros((3, 60, 90))], "CHW"),
    ):
        with pytest.raises(ValueError, match=f'layout="{layout}"'):
            resize(x, (64, 64))
        resize(x, (64, 64), layout=layout)  # the call that is named
