"""Patches of images for vision-language models, compared with resizing and reordering in NumPy."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode

import tenter
from tenter._arrays import torch_tensors
from tenter.image import Budget, Fill, Fit
from tenter.torch.transforms import Patches, Resize

Image = pytest.importorskip("PIL.Image")
MEAN, STD = (0.48, 0.45, 0.4), (0.26, 0.25, 0.28)
# Sizes of images: smaller than a patch, of odd sides, wide, tall, of the very size.
SIDES = ((3, 5), (30, 47), (20, 150), (150, 20), (56, 84))
MAKERS = {
    "array": lambda h, w, r: r.integers(0, 256, (h, w, 3), np.uint8),
    "array of floats": lambda h, w, r: r.random((h, w, 3), np.float32),
    "view of an array": lambda h, w, r: r.integers(0, 256, (w, h, 4), np.uint8).transpose(1, 0, 2)[::-1, :, :3],
    "tensor": lambda h, w, r: torch.from_numpy(r.integers(0, 256, (3, h, w), np.uint8)),
    "channels-last tensor": lambda h, w, r: torch.from_numpy(r.integers(0, 256, (h, w, 3), np.uint8)).permute(2, 0, 1),
    "Pillow": lambda h, w, r: Image.fromarray(r.integers(0, 256, (h, w, 3), np.uint8)),
}
# What to make, and the size that an image of (height, width) gets.
CASES = [
    ((28, 42), {"patch": 14}, lambda h, w: (28, 42)),
    ((24, 36), {"patch": (4, 6), "merge": 3, "channels_last": True}, lambda h, w: (24, 36)),
    (Budget(80 * 80, multiple=16, enlarge=True), {"patch": 16, "channels_last": True, "interpolation": "bilinear"}, None),
    (Budget(90 * 90, 40 * 40, 20), {"patch": 10, "merge": 2, "frames": 2, "mean": MEAN, "std": STD}, None),
    (Fill((32, 48)), {"patch": 8, "frames": 3, "dtype": torch.float16}, lambda h, w: (32, 48)),
]  # fmt: skip


def video(x):
    """Frames of a video, each a little other."""
    frames = [np.asarray(x if not isinstance(x, torch.Tensor) else x.permute(1, 2, 0))] * 5
    return np.stack([np.roll(f, k, 0) for k, f in enumerate(frames)])


def by_hand(frames, patch, merge=1, repeated=1, channels_last=False):
    """Patches of frames (T, C, H, W), in plain loops over squares, patches and groups of frames."""
    (p, q), found = patch if isinstance(patch, tuple) else (patch, patch), []
    frames = np.repeat(frames, repeated, 0) if len(frames) == 1 else frames
    while len(frames) % repeated:
        frames = np.concatenate([frames, frames[-1:]])
    for t in range(0, len(frames), repeated):
        for top in range(0, frames.shape[2], p * merge):
            for left in range(0, frames.shape[3], q * merge):
                for i in range(merge):
                    for j in range(merge):
                        y, x = top + i * p, left + j * q
                        one = frames[t : t + repeated, :, y : y + p, x : x + q]
                        found.append(one.transpose((0, 2, 3, 1) if channels_last else (1, 0, 2, 3)).ravel())
    return np.stack(found)


def resized(x, size, sides, how):
    """The image in its size, as a transform that makes no patches gives it."""
    rest = {k: v for k, v in how.items() if k not in ("patch", "merge", "frames", "channels_last")}
    rest = {"interpolation": "bicubic", "dtype": torch.float32, **rest}
    if isinstance(size, Fill):
        f = max(Fraction(a, b) for a, b in zip(size.size, sides))
        box = tuple(((n - s / f) / 2, (n + s / f) / 2) for n, s in zip(sides, size.size))
        pixels = np.asarray(x) if not isinstance(x, torch.Tensor) else x.permute(1, 2, 0).numpy()
        y = tenter.resize(pixels, size.size, axes=(0, 1), box=box, mode="cubic", antialias=True)
        return Resize(size.size, dtype=rest["dtype"])(y)
    return Resize(size, **rest)(x)


@pytest.mark.parametrize("kind", MAKERS)
def test_patches_are_those_of_the_resized_images_in_the_order_of_the_model(kind):
    random = np.random.default_rng(3)
    for size, how, to in CASES:
        transform = Patches(size, **how)
        images = [MAKERS[kind](h, w, random) for h, w in SIDES]
        if how.get("frames") == 2:
            images[1] = video(images[1])
        got = transform(images)
        wanted, grids = [], []
        for x, sides in zip(images, SIDES):
            sides = x.shape[1:3] if isinstance(x, np.ndarray) and x.ndim == 4 else sides
            side = to(*sides) if to else tenter.image.Budget.sides(size, *sides)
            frames = list(x) if isinstance(x, np.ndarray) and x.ndim == 4 else [x]
            goal = size if isinstance(size, Fill) else side
            y = np.stack([resized(f, goal, sides, how).numpy() for f in frames])
            patch, repeated = how["patch"], how.get("frames", 1)
            wanted.append(by_hand(y, patch, how.get("merge", 1), repeated, how.get("channels_last", False)))
            p, q = patch if isinstance(patch, tuple) else (patch, patch)
            grids.append([-(-len(frames) // repeated) if len(frames) > 1 else 1, side[0] // p, side[1] // q])
        assert np.array_equal(got.patches.numpy(), np.concatenate(wanted)), (kind, size, how)
        assert got.patches.is_contiguous() and got.patches.dtype == how.get("dtype", torch.float32)
        assert got.grid.tolist() == grids and got.grid.dtype == torch.int64
        ends = np.cumsum([0, *(n for t, h, w in grids for n in [h * w] * t)])
        assert got.cu_seqlens.tolist() == ends.tolist() and got.cu_seqlens.dtype == torch.int32
        alone = [transform(x).patches for x in images]
        assert torch.equal(torch.cat(alone), got.patches)


def test_sides_of_a_budget_are_multiples_within_it():
    random = np.random.default_rng(5)
    for _ in range(400):
        each, h, w = (int(n) for n in random.integers(1, (40, 2000, 2000)))
        if max(h, w) > 200 * min(h, w):
            continue
        most = int(random.integers(each * each, 4 * 10**6))
        least = int(random.integers(0, most // 4 + 1))
        for rule in (Budget(most, least, each), Budget(most, multiple=each, enlarge=True)):
            rows, columns = rule.sides(h, w)
            assert rows % each == columns % each == 0 and rows and columns
            thin = each in (rows, columns)  # a side of one multiple cannot shrink
            assert rows * columns <= most or thin, (rule, h, w)
            if not thin:
                assert abs(np.log(rows / columns * w / h)) <= -np.log((1 - each / rows) * (1 - each / columns))
    assert Budget(10**6).sides(480, 640) == (480, 640)
    assert Budget(10**6, multiple=14).sides(480, 640) == (476, 644)
    assert Budget(10**6, multiple=14, enlarge=True).sides(48, 64) == (868, 1148)
    assert Budget(100**2, multiple=10).sides(1000, 1000) == (100, 100)
    assert Budget(10**6, 100**2, 10).sides(50, 50) == (100, 100)


def test_a_budget_is_a_size_of_an_image():
    x = np.random.default_rng(0).integers(0, 256, (120, 170, 3), np.uint8)
    rule = Budget(64 * 64, multiple=8)
    size = rule.sides(120, 170)
    assert np.array_equal(tenter.image.resize(x, rule), tenter.image.resize(x, size))
    assert tenter.image.resize(Image.fromarray(x), rule).size == size[::-1]
    half = tenter.image.resize(x, rule, box=((0, 60), (0, 170)))
    assert half.shape[:2] == rule.sides(60, 170)


def test_images_of_pillow_are_read_as_colors():
    x = Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16))
    transform = Patches((8, 8), 4)
    for mode in ("L", "P", "LA", "RGBA", "CMYK", "1"):
        image = x.convert(mode)
        assert torch.equal(transform(image).patches, transform(image.convert("RGB")).patches), mode


TRANSFORM = Patches(Budget(48 * 48, multiple=8), 4, merge=2, frames=2, mean=MEAN, std=STD)


def both():
    torch.manual_seed(0)
    return torch.rand(3, 50, 70), torch.randint(0, 256, (3, 31, 40), dtype=torch.uint8)


def test_a_tracers_tensors_stay_what_they_are():
    with FunctionalTensorMode():
        x = FunctionalTensor.to_functional(torch.ones(2))
        assert torch_tensors.plain(x) is x


@pytest.mark.slow
def test_a_transform_with_floats_is_exported_as_pytorch_exports_by_default():
    one, _ = both()
    exported = torch.export.export(TRANSFORM, (one,)).module()
    assert torch.equal(exported(one).patches, TRANSFORM(one).patches)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_graphs_have_the_same_patches(backend):
    got = torch.compile(TRANSFORM, backend=backend, fullgraph=True)(list(both()))
    for y, want in zip(got, TRANSFORM(list(both()))):
        torch.testing.assert_close(y, want, rtol=1e-5, atol=1e-6)


def test_gradients_and_pickles_have_the_same_patches():
    transform, (one, other) = TRANSFORM, both()
    want = transform([one, other])
    x = one.clone().requires_grad_()
    found = transform([x, other])
    assert torch.equal(found.patches, want.patches)
    (g,) = torch.autograd.grad(found.patches.square().sum(), x)
    y = Resize(transform.size.sides(50, 70), "bicubic", mean=MEAN, std=STD)(x)
    (h,) = torch.autograd.grad(2 * y.square().sum(), x)  # each value is in two frames
    torch.testing.assert_close(g, h)
    again = pickle.loads(pickle.dumps(transform))
    assert torch.equal(again([one, other]).patches, want.patches) and "merge=2" in repr(again)


GRAY, SMALL = np.zeros((20, 20), np.uint8), torch.zeros(3, 20, 20)
WRONG = [
    (lambda: Patches(), TypeError, "size: expected"),
    (lambda: Patches(28), ValueError, "size: expected (height, width), or a Budget, Tiles, Fit or Fill, got 28"),
    (lambda: Patches((28, 30)), ValueError, "size: expected a height and a width that are multiples of 14 and 14"),
    (lambda: Patches((28, 28), merge=3), ValueError, "multiples of 42 and 42, as patch and merge say, got 28 x 28"),
    (lambda: Patches((28, 28), 0), ValueError, "patch: expected"),
    (lambda: Patches((28, 28), frames=0), ValueError, "frames: expected"),
    (lambda: Patches((28, 28), mrege=2), TypeError, "did you mean merge=2?"),
    (lambda: Patches((28, 28), dtype=None), TypeError, "dtype: expected a dtype of PyTorch"),
    (lambda: Patches((28, 28), channels_last=1), TypeError, "channels_last: expected a bool"),
    (lambda: Patches((28, 28))([]), ValueError, "images: expected at least one image"),
    (lambda: Patches((28, 28))([SMALL, "x.jpg"]), TypeError, "images[1]: expected an image"),
    (lambda: Patches((28, 28))([SMALL, SMALL[0]]), ValueError, "images[1]: expected tensors (C, H, W)"),
    (lambda: Patches((28, 28))([SMALL, SMALL.permute(1, 2, 0)]), ValueError, "images[1]: expected tensors (C, H, W)"),
    (lambda: Patches((28, 28))(SMALL.numpy()), ValueError, "images: expected arrays (H, W, C)"),
    (lambda: Patches((28, 28))([SMALL, SMALL[:1]]), ValueError, "images[1]: expected images of one number of channels"),
    (lambda: Patches((28, 28), mean=MEAN, std=STD)([SMALL, GRAY]), ValueError, "got 3 (of images[1])"),
    (lambda: Patches((28, 28))([SMALL, SMALL[:, :0]]), ValueError, "images[1]: expected images of at least one pixel"),
    (lambda: Patches((28, 28), frames=2)([SMALL, SMALL[None][:0]]), ValueError, "images[1]: expected images of at least one pixel"),
    (lambda: Patches((28, 28))(SMALL[:0]), ValueError, "images: expected images of at least one pixel"),
    (lambda: Patches(Budget(784, multiple=14))([SMALL, torch.zeros(3, 1, 201)]), ValueError, "images[1]: expected an image whose sides"),
    (lambda: Patches(Fit(31))(torch.zeros(3, 62, 31)), ValueError, "images: expected a height and a width that are multiples"),
    (lambda: Patches((28, 28))(Image.new("I;16", (9, 9))), ValueError, "images: expected 8-bit images"),
    (lambda: Patches((28, 28), dtype=torch.uint8)(SMALL), TypeError, "dtype: expected"),
    (lambda: Budget(100, multiple=28), ValueError, "most: expected at least multiple * multiple, 784 pixels, got 100"),
    (lambda: Budget(100, 200), ValueError, "least: expected at most `most`, 100, got 200"),
    (lambda: Budget(100, 20, enlarge=True), ValueError, "least: expected 0 with enlarge=True"),
    (lambda: Budget(1e6), TypeError, "most: expected"),
]  # fmt: skip


def test_wrong_calls_name_the_argument_or_the_image():
    for k, (call, kind, says) in enumerate(WRONG):
        with pytest.raises(kind) as caught:
            call()
        assert says in str(caught.value), (k, str(caught.value))
