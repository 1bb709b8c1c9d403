"""Padded images: `Fit(pad=...)`, the transform `Letterbox` and `--pad`, compared with Pillow's ImageOps.pad."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from sample_helpers import LABELS, NOISE, PHOTO, TENSOR, tv
from tenter.image import Budget, Fill, Fit, Tiles, resize
from tenter.torch.transforms import Letterbox, Patches, Resize, Thumbnail

Image = pytest.importorskip("PIL.Image")
ImageOps = pytest.importorskip("PIL.ImageOps")
FILTERS = {"linear": 2, "cubic": 3, "lanczos": 1, "box": 4, "hamming": 5}
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4}
RANDOM = np.random.default_rng(7)


def noise(*shape, dtype=np.uint8):
    return RANDOM.integers(0, 256, shape).astype(dtype)


def drawn(mode, height, width):
    return Image.frombytes(mode, (width, height), noise(height, width, CHANNELS[mode]).tobytes())


def is_rounded_as_by_pillow(height, width, size):
    """Halves and sides below 1 are not: Pillow rounds them to the even number, and to 0."""
    factor = min(Fraction(size[0], height), Fraction(size[1], width))
    return all(n * factor >= 1 and (n * factor).denominator != 2 for n in (height, width))


def test_padded_images_are_those_of_pillow_bit_for_bit():
    for k, (mode, name) in enumerate(itertools.product(CHANNELS, FILTERS)):
        for height, width, *size in RANDOM.integers(1, 60, (4, 4)).tolist():
            if not is_rounded_as_by_pillow(height, width, size):
                continue
            image, color = drawn(mode, height, width), tuple(noise(CHANNELS[mode]).tolist())
            centering = ((0.5, 0.5), (0, 0), (1, 0))[k % 3]
            gravity = ("center", "northwest", "northeast")[k % 3]
            color = color if len(color) > 1 else color[0]
            want = ImageOps.pad(image, size[::-1], FILTERS[name], color, centering)
            got = resize(image, Fit(size, enlarge=True, pad=color, gravity=gravity), mode=name)
            assert np.array_equal(np.asarray(got), np.asarray(want)), (mode, name, height, width, size)
            if mode not in ("LA", "RGBA"):
                transform = Letterbox(size, FILTERS[name], pad=color, gravity=gravity)
                assert np.array_equal(np.asarray(transform(image)), np.asarray(want)), (mode, name)


LIKE = Fit((32, 30), enlarge=True, pad=9)
X = noise(20, 41, 3)


def test_every_form_of_an_image_is_padded_alike():
    for size in (LIKE, Fit((32, 30), enlarge=True, pad=(1, 2, 3)), Fit((9, 60), pad=5, gravity="southeast")):
        want = resize(X, size)
        (top, bottom), (left, right) = size.place(20, 41).inside
        assert np.array_equal(want[top:bottom, left:right], resize(X, size.place(20, 41).resized))
        assert np.array_equal(resize(X.transpose(2, 0, 1), size, layout="CHW"), want.transpose(2, 0, 1))
        assert np.array_equal(resize(np.stack([X, X]), size, layout="NHWC"), np.stack([want, want]))
        assert np.array_equal(resize([X, X[:, ::-1].copy()], size)[0], want)
        turned = torch.from_numpy(X).permute(2, 0, 1)[None]  # channels last
        got = resize(turned, size, layout="NCHW")
        assert np.array_equal(got[0].permute(1, 2, 0).numpy(), want) and got.stride(1) == 1
        room = np.zeros_like(want)
        assert resize(X, size, out=room) is room and np.array_equal(room, want)
        assert np.array_equal(resize(X[::2, 5:], size, box=((0, 10), (0, 36))), resize(X[::2, 5:].copy(), size))


@pytest.mark.parametrize("dtype, pad", [("uint16", 300), ("int16", -5), ("float32", 0.25), ("float64", np.nan)])
def test_padding_has_its_value_in_every_dtype(dtype, pad):
    x = (X * 7).astype(dtype)
    for kind in (np.asarray, torch.from_numpy):
        y = np.asarray(resize(kind(x), Fit((32, 30), enlarge=True, pad=pad)))
        assert y.dtype == dtype and np.array_equal(y[0, 0], np.full(3, pad, dtype), equal_nan=True)
        assert np.isfinite(y[16]).all()
    assert resize(X > 99, Fit((32, 30), enlarge=True, pad=1), mode="nearest-exact")[0].all()


COLORED = Fit((32, 30), enlarge=True, pad=(1, 2, 3))


def test_a_gradient_passes_padding_by():
    for size in (LIKE, COLORED):
        x = torch.from_numpy(X).float().requires_grad_()
        y = resize(x, size)
        assert torch.equal(y.detach(), resize(x.detach(), size))
        inner = resize(x, size.place(20, 41).resized)
        assert torch.equal(*(torch.autograd.grad(each.sum(), x)[0] for each in (y, inner)))


@pytest.mark.slow
def test_arrays_of_jax_and_dask_are_padded_alike():
    jax, dask = pytest.importorskip("jax"), pytest.importorskip("dask.array")
    for size in (LIKE, COLORED):
        for f in (lambda x: resize(x, size), jax.jit(lambda x: resize(x, size))):
            assert np.array_equal(np.asarray(f(jax.numpy.asarray(X))), resize(X, size))
        assert np.array_equal(resize(dask.from_array(X, chunks=(7, 9, 3)), size), resize(X, size))


RULES = {
    "Thumbnail": Thumbnail(20),
    "Letterbox": Letterbox(20, pad=7, dtype=torch.float32, mean=(0.5,), std=(0.25,)),
    "Fill": lambda x: resize(x, Fill((9, 7)), layout="CHW"),
    "Fit": lambda x: resize(x, Fit(9), layout="CHW"),
    "Fit with pad": lambda x: resize(x, Fit(30, enlarge=True, pad=9), layout="CHW"),
    "Fit with colors": lambda x: resize(x, Fit(30, enlarge=True, pad=(7, 8, 9)), layout="CHW"),
    "Budget": lambda x: resize(x, Budget(400, multiple=4), layout="CHW"),
    "patches": lambda x: Patches(Fit((28, 28), pad=3))(x).patches,
}


@pytest.mark.slow
def test_sizes_by_a_rule_compile():
    torch._dynamo.reset()
    got = torch.compile(lambda x: [f(x) for f in RULES.values()], fullgraph=True)(TENSOR)
    for (name, f), y in zip(RULES.items(), got):
        assert torch.equal(y, f(TENSOR)), name
    torch._dynamo.reset()


@pytest.mark.slow
def test_a_letterbox_is_exported():
    transform = RULES["Letterbox"]
    graph = torch.export.export(transform, (TENSOR,)).module()
    assert torch.equal(graph(TENSOR), transform(TENSOR))


def test_a_letterbox_is_pickled():
    transform = RULES["Letterbox"]
    assert torch.equal(pickle.loads(pickle.dumps(transform))(TENSOR), transform(TENSOR))
    size = Fit(640, True, 114)
    assert pickle.loads(pickle.dumps(size)) == size and hash(size) == hash(Fit(640, True, 114))


def test_the_parts_of_a_sample_lie_in_one_place():
    sample = {
        "image": tv.Image(TENSOR),
        "mask": tv.Mask(LABELS),
        "boxes": tv.BoundingBoxes([[4.0, 8.0, 24.0, 40.0]], format="XYXY", canvas_size=(40, 52)),
        "whole": tv.BoundingBoxes([[0, 0, 52, 40]], format="XYWH", canvas_size=(40, 52)),
        "name": "x",
    }
    transform = Letterbox((26, 26), pad=114, mask_pad=9)
    made = transform(sample)
    place = transform.fit.place(40, 52)
    assert place.inside == ((3, 23), (0, 26)) and made["name"] == "x"
    assert all(type(made[k]) is type(sample[k]) for k in sample)
    assert (made["image"][:, :3] == 114).all() and (made["image"][:, 23:] == 114).all()
    assert torch.equal(made["image"][:, 3:23], Resize((20, 26))(TENSOR))
    assert (made["mask"][..., :3, :] == 9).all() and made["mask"][..., 3:23, :].max() == 1
    assert made["boxes"].tolist() == [[2.0, 7.0, 12.0, 23.0]] and made["boxes"].canvas_size == (26, 26)
    assert made["whole"].tolist() == [[0, 3, 26, 20]]
    assert np.allclose(place.to([[4, 8, 24, 40]]), made["boxes"]) and place.to(np.zeros((0, 4))).shape == (0, 4)
    assert place.back(made["boxes"].as_subclass(torch.Tensor)).tolist() == [[4.0, 8.0, 24.0, 40.0]]


def test_padding_is_normalized_with_the_image():
    mean, std = (0.4, 0.5, 0.6), (0.2, 0.25, 0.3)
    for x in (TENSOR, NOISE, PHOTO, TENSOR[None].expand(2, 3, 40, 52)):
        eight = Letterbox((60, 50), pad=(7, 8, 9))(x)
        got = Letterbox((60, 50), pad=(7, 8, 9), mean=mean, std=std)(x)
        assert torch.equal(got, Resize((60, 50), mean=mean, std=std)(eight))
        assert torch.equal(
            Letterbox((60, 50), pad=(7, 8, 9), dtype=torch.uint8)(x).flatten()[:1], torch.tensor([7], dtype=torch.uint8)
        )


def test_patches_of_a_padded_image_are_those_of_its_letterbox():
    size = Fit((42, 28), enlarge=True, pad=3)
    want = Patches((42, 28))(Letterbox((42, 28), "bicubic", pad=3)(TENSOR))
    got = Patches(size)([TENSOR, PHOTO])
    assert torch.equal(got.patches, want.patches.repeat(2, 1)) and got.grid.tolist() == [[1, 3, 2]] * 2


def test_places_go_there_and_back():
    for rule in (Fit(64, True, 0), Fit((30, 90), pad=0, gravity="east"), Fit((7, 9))):
        place = rule.place(48, 31)
        points = RANDOM.random((5, 3, 2)) * 40
        assert np.allclose(place.back(place.to(points)), points)
        floats = torch.from_numpy(points.astype(np.float32))
        assert place.back(floats).dtype == torch.float32
        corners = place.to([0, 0, 31, 48])
        (top, bottom), (left, right) = place.inside
        assert corners.tolist() == [left, top, right, bottom]


def test_tensors_without_memory_have_the_same_shapes():
    transforms = {
        "Resize": Resize((300, 300), dtype=torch.float32),
        "Letterbox": Letterbox(300, pad=7, mean=(0.5,), std=(0.25,)),
        "Patches": lambda x: Patches((256, 256), 16)([x, x]).patches,
    }
    for name, transform in transforms.items():
        shape = transform(TENSOR).shape
        with FakeTensorMode():
            assert transform(torch.zeros(3, 40, 52, dtype=torch.uint8)).shape == shape, name
        assert transform(TENSOR.to("meta")).shape == shape, name
        assert make_fx(transform)(TENSOR)(TENSOR).shape == shape, name


class Photos(torch.utils.data.Dataset):
    def __init__(self, transforms):
        self.transforms = transforms

    def __len__(self):
        return 4

    def __getitem__(self, k):
        image = Image.fromarray(NOISE[: 20 + k])
        return [t(image) for t in self.transforms]


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_workers_of_a_loader_have_the_same_images(method):
    data = Photos([Letterbox(300, pad=7, mean=(0.5,), std=(0.25,)), Patches(Tiles(200, 2), 200, overview="last")])
    loader = torch.utils.data.DataLoader(data, None, num_workers=1, multiprocessing_context=method)
    for (image, patched), (same, other) in zip(loader, (data[k] for k in range(4))):  # above the least size of the pool
        assert torch.equal(image, same) and all(map(torch.equal, patched, other))


WRONG = [
    (lambda: resize(X, Fit(30, pad=300)), ValueError, "pad: expected values of uint8, got 300"),
    (lambda: resize(X, Fit(30, pad=0.5)), ValueError, "pad: expected values of uint8, got 0.5"),
    (lambda: resize(X, Fit(30, pad=(1, 2))), ValueError, "pad: expected 1 number, or 3, as the image has 3 channels, got 2"),
    (lambda: resize(X[..., 0], Fit(30, pad=(1, 2))), ValueError, "pad: expected 1 number, or 1, as the image has 1 channel, got 2"),
    (lambda: resize(noise(3, 3, 4), Fit(9, pad=3), alpha=True), ValueError, "pad: expected 4 numbers, the last one alpha, or 0"),
    (lambda: resize(drawn("RGBA", 3, 4), Fit(9, pad=3)), ValueError, "pad: expected 4 numbers, the last one alpha, or 0"),
    (lambda: resize(Image.new("LAB", (3, 4)), Fit(9, pad=3)), ValueError, "pad: expected None for an image of mode LAB"),
    (lambda: Letterbox(9)(Image.new("LAB", (3, 4))), ValueError, "pad: expected an image of another mode than LAB"),
    (lambda: Fit(30, pad="white"), TypeError, "pad: expected a number, or one for each channel, got 'white'"),
    (lambda: Fit(30, pad=()), TypeError, "pad: expected a number"),
    (lambda: Fit(30, pad=True), TypeError, "pad: expected a number"),
    (lambda: Fit(30, pad=1, gravity="up"), ValueError, "gravity: expected one of center"),
    (lambda: Fit(30, gravity="north"), ValueError, "gravity: expected pad too"),
    (lambda: Fit(30).place(0, 4), ValueError, "height: expected a number above 0, got 0"),
    (lambda: Fit(30).place(4, 4.5), TypeError, "width: expected an int or a Fraction, in pixels, got 4.5"),
    (lambda: Fit(30).place(4, 5).back([1, 2, 3]), ValueError, "points: expected numbers (..., 2) or (..., 4)"),
    (lambda: Fit(30).place(4, 5).to(["a", "b"]), ValueError, "points: expected numbers (..., 2) or (..., 4)"),
    (lambda: Letterbox(9, pad="grey"), TypeError, "in tenter.torch.transforms.Letterbox(size=9, pad='grey'"),
    (lambda: Letterbox(9, mask_pad=0.5), TypeError, "mask_pad: expected an int"),
    (lambda: Letterbox(9, gravity=3), ValueError, "gravity: expected one of"),
    (lambda: Letterbox(9, pad=300)(X), ValueError, "pad: expected values of uint8, got 300"),
    (lambda: Letterbox(9, mask_pad=300, masks="m")({"x": X, "m": X[..., 0]}), ValueError, "mask_pad: expected values of uint8"),
    (lambda: resize(X, LIKE, out=np.zeros((3, 3, 3), np.uint8)), ValueError, "out: expected shape (32, 30, 3)"),
]  # fmt: skip


def test_wrong_padding_is_refused_by_name():
    for k, (call, kind, says) in enumerate(WRONG):
        with pytest.raises(kind) as caught:
            call()
        assert says in str(caught.value), (k, str(caught.value))
    room = np.full((32, 30, 3), 5, np.uint8)
    for size in (Fit((32, 30), True, 300), Fit((32, 31), True, 3)):
        with pytest.raises(ValueError):
            resize(X, size, out=room)
    assert (room == 5).all()  # a refused call leaves it


def test_an_out_that_overlaps_the_image_is_padded_too():
    memory = noise(40, 41, 3)
    want = resize(memory[:20].copy(), Fit((25, 41), pad=9))
    assert np.array_equal(resize(memory[:20], Fit((25, 41), pad=9), out=memory[5:30]), want)


def test_ultralytics_letterbox_is_a_call_of_ours():
    """Its steps with OpenCV: sides rounded, half of the padding above and left, rounded down."""
    cv2 = pytest.importorskip("cv2")
    for height, width in ((48, 64), (70, 33), (21, 80)):
        x = noise(height, width, 3)
        place = Fit(64, enlarge=True, pad=114).place(height, width)
        y = cv2.resize(x, place.resized[::-1], interpolation=cv2.INTER_LINEAR)
        above, left = ((64 - n) // 2 for n in place.resized)
        below, right = 64 - above - y.shape[0], 64 - left - y.shape[1]
        want = cv2.copyMakeBorder(y, above, below, left, right, cv2.BORDER_CONSTANT, value=(114,) * 3)
        got = resize(x, Fit(64, enlarge=True, pad=114), mode="linear", like="opencv")
        (top, _), (begin, _) = place.inside
        assert np.array_equal(np.roll(got, (above - top, left - begin), (0, 1)), want)


def test_padding_on_every_side_is_written():
    y = resize(X, Fit((90, 90), pad=7))
    y[35:55, 24:65] = 7
    assert (y == 7).all()
