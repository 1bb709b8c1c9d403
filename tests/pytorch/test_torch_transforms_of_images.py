"""Transforms of images do what torchvision's do, in one step: compared with Pillow, PyTorch and, where it is installed,
torchvision."""

from __future__ import annotations

import pickle
import re
from typing import NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from error_helpers import refused
from sweeps import in_one_test, sampled
from tenter.torch import parts, transforms
from torchvision_stand_in import tv_tensors

Image = pytest.importorskip("PIL.Image")
tv = tv_tensors()
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PHOTO = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8).repeat(2, 0).repeat(2, 1)
TENSOR = torch.from_numpy(PHOTO).permute(2, 0, 1).contiguous()
ALL = [
    transforms.Resize((30, 40), dtype=torch.float32),
    transforms.RandomResizedCrop(32, flip=0.5, mean=MEAN, std=STD),
    transforms.ResizeCenterCrop(24, 28),
    transforms.Thumbnail(50, "bicubic"),
]
every = pytest.mark.parametrize("transform", ALL, ids=repr)


def off_by(a, b):
    """The largest difference, in steps of 8 bits."""
    return int(np.abs(np.asarray(a).astype(int) - np.asarray(b)).max())


# ---- values


@in_one_test(
    "mode, number", [("bilinear", 2), ("bicubic", 3), ("lanczos", 1), ("box", 4), ("hamming", 5), ("nearest", 0)]
)
@in_one_test("form", ["L", "RGB", "RGBA", "LA", "P", "1", "CMYK", "YCbCr"])
def test_an_image_of_pillow_has_the_pixels_and_the_mode_of_pillow(mode, number, form):
    image = Image.fromarray(PHOTO).convert(form)
    if form in ("RGBA", "LA"):
        image.putalpha(Image.fromarray(PHOTO[..., 0]))
    for given in (mode, number):
        made = transforms.Resize((33, 47), given)(image)
        want = image.resize((47, 33), number)
        assert made.mode == form and made.size == (47, 33)
        assert np.array_equal(np.asarray(made.convert("RGBA")), np.asarray(want.convert("RGBA")))
        part = transforms.Resize(20, given)(image.crop((3, 5, 60, 50)))
        assert part.size == (25, 20)


@pytest.mark.parametrize("size, most, found", [
    (30, None, (30, 40)), ((20, 70), None, (20, 70)), ([50], None, (50, 66)), (60, 70, (52, 70)), (None, 90, (67, 90)), (7, 400, (7, 9)),
])  # fmt: skip
def test_sizes_are_torchvisions(size, most, found):
    assert transforms.Resize(size, max_size=most)(TENSOR).shape == (3, *found)
    turned = transforms.Resize(size, max_size=most)(TENSOR.transpose(1, 2)).shape[1:]
    assert turned == (found[::-1] if not isinstance(size, tuple) else found)


def test_tensors_are_resized_along_their_last_dims():
    video = torch.rand(2, 4, 3, 40, 50)
    want = F.interpolate(video.flatten(0, 1), (17, 19), mode="bilinear", antialias=True).unflatten(0, (2, 4))
    assert torch.allclose(transforms.Resize((17, 19))(video), want, atol=1e-5)
    plain = F.interpolate(video.flatten(0, 1), (17, 19), mode="bilinear").unflatten(0, (2, 4))
    assert torch.allclose(transforms.Resize((17, 19), antialias=False)(video), plain, atol=1e-5)


def test_arrays_tensors_and_images_have_the_same_pixels():
    for transform in (transforms.Resize((33, 47)), transforms.ResizeCenterCrop(24, 28), transforms.Thumbnail((50, 50))):
        array = transform(PHOTO)
        assert array.dtype == np.uint8 and np.array_equal(array, np.asarray(transform(Image.fromarray(PHOTO))))
        assert np.array_equal(array, transform(TENSOR).permute(1, 2, 0).numpy())


def test_one_step_is_resize_then_center_crop():
    for size, before, mode in ((24, 28, 2), ((20, 31), 40, 3), (28, 28, 2), (17, 120, 1)):
        rows, columns = (size, size) if isinstance(size, int) else size
        made = np.asarray(transforms.ResizeCenterCrop(size, before, mode)(Image.fromarray(PHOTO)))
        height, width = before, int(before * 160 / 120)
        whole = np.asarray(Image.fromarray(PHOTO).resize((width, height), mode))
        top, left = round((height - rows) / 2), round((width - columns) / 2)
        assert off_by(made, whole[top : top + rows, left : left + columns]) <= 1


def test_a_thumbnail_lies_within_its_size_and_never_grows():
    assert transforms.Thumbnail(50)(Image.fromarray(PHOTO)).size == (50, 38)
    assert transforms.Thumbnail((20, 999))(PHOTO).shape == (20, 27, 3)
    assert np.array_equal(transforms.Thumbnail(999)(PHOTO), PHOTO)


# ---- random parts

# Seed, height and width; torchvision 0.28's part of them (top, left, height, width), and the number drawn after it.
DRAWN: list[tuple[int, tuple[int, int], tuple[int, int, int, int], float]] = [
    (0, (300, 400), (23, 47, 235, 274), 0.30742281675338745),
    (1, (300, 400), (31, 1, 217, 249), 0.3971373438835144),
    (2, (375, 500), (13, 54, 360, 336), 0.7135938405990601),
    (3, (20, 500), (0, 236, 20, 27), 0.6483104228973389),
    (4, (500, 20), (236, 0, 27, 20), 0.5220290422439575),
    (5, (7, 7), (0, 1, 7, 6), 0.9201034307479858),
    (6, (1, 30), (0, 14, 1, 1), 0.16420388221740723),
    (7, (64, 64), (1, 8, 53, 44), 0.23276156187057495),
    (141, (20, 20), (0, 3, 20, 17), 0.01646822690963745),
    (142, (20, 20), (0, 1, 20, 19), 0.9320838451385498),
    (144, (20, 20), (0, 2, 20, 18), 0.044031500816345215),
    (147, (20, 20), (0, 1, 20, 17), 0.8927019834518433),
]


@pytest.mark.parametrize("seed, size, part, after", DRAWN)
def test_equal_seeds_take_the_parts_that_torchvision_takes(seed, size, part, after):
    torch.manual_seed(seed)
    assert parts.random_part(*size, (0.08, 1.0), (3 / 4, 4 / 3)) == part and torch.rand(1).item() == after


@pytest.mark.parametrize("seed", range(6))
def test_a_random_part_is_cut_then_resized_then_reversed(seed):
    torch.manual_seed(seed)
    top, left, height, width = parts.random_part(120, 160, (0.08, 1.0), (3 / 4, 4 / 3))
    flip = bool(torch.rand(1) < 0.5)
    want = np.asarray(Image.fromarray(PHOTO[top : top + height, left : left + width]).resize((32, 32), 2))
    want = want[:, ::-1] if flip else want
    for sample in (PHOTO, TENSOR, Image.fromarray(PHOTO)):
        torch.manual_seed(seed)
        made = transforms.RandomResizedCrop(32, flip=0.5)(sample)
        made = made.permute(1, 2, 0).numpy() if isinstance(made, torch.Tensor) else np.asarray(made)
        assert off_by(made, want) <= (1 if flip else 0)
        torch.manual_seed(seed)
        floats = transforms.RandomResizedCrop(32, flip=0.5, mean=MEAN, std=STD)(sample)
        assert floats.dtype == torch.float32 and floats.shape == (3, 32, 32) and floats.is_contiguous()
        expected = (made.transpose(2, 0, 1) / 255 - np.array(MEAN)[:, None, None]) / np.array(STD)[:, None, None]
        assert np.allclose(floats, expected, atol=3e-6)


def test_a_dtype_asked_for_gives_a_tensor():
    for sample in (PHOTO, TENSOR, Image.fromarray(PHOTO), tv.Image(TENSOR)):
        same = transforms.Resize((30, 40), dtype=torch.uint8)(sample)
        assert same.dtype == torch.uint8 and same.shape == (3, 30, 40)
        scaled = transforms.Resize((30, 40), dtype=torch.float64)(sample)
        assert torch.allclose(torch.as_tensor(scaled), same.double() / 255, atol=1e-12)
    assert transforms.Resize(30, dtype=torch.uint8)(Image.fromarray(PHOTO).convert("1")).unique().tolist() == [0, 255]
    assert torch.allclose(
        transforms.Resize((9, 9), mean=[0.5], std=[0.5])(torch.full((2, 20, 30), 0.75)), torch.tensor(0.5)
    )


# ---- samples


class Pair(NamedTuple):
    image: object
    other: object


def test_what_is_no_image_is_passed_through_and_containers_are_kept():
    label, kept = torch.tensor(3), object()
    sample = {"image": TENSOR, "more": [label, (PHOTO[:50], "name")], "pair": Pair(kept, None)}
    made = transforms.Resize((9, 8))(sample)
    assert made["image"].shape == (3, 9, 8) and made["more"][0] is label
    assert made["more"][1] == (sample["more"][1][0], "name")
    assert made["pair"] == Pair(kept, None) and isinstance(made["pair"], Pair) and sample["image"] is TENSOR
    one, two = transforms.Resize((9, 8))(PHOTO, 5)
    assert one.shape == (9, 8, 3) and two == 5
    both = transforms.Resize((9, 8), masks=())([Image.fromarray(PHOTO), TENSOR])
    assert both[0].size == (8, 9) and both[1] is TENSOR


@every
def test_masks_boxes_and_images_of_torchvision_are_taken_from_one_place(transform):
    rows, columns = torch.meshgrid(torch.arange(120), torch.arange(160), indexing="ij")
    mask = tv.Mask(rows * 160 + columns)
    boxes = tv.BoundingBoxes(torch.tensor([[40.0, 30.0, 120.0, 90.0]]), format="XYXY", canvas_size=(120, 160))
    torch.manual_seed(1)
    made = transform({"image": tv.Image(TENSOR), "mask": mask, "boxes": boxes, "video": tv.Video(TENSOR[None])})
    size = made["image"].shape[-2:]
    assert [type(made[k]) for k in ("image", "mask", "boxes", "video")] == [
        tv.Image,
        tv.Mask,
        tv.BoundingBoxes,
        tv.Video,
    ]
    assert made["mask"].shape == size == made["video"].shape[-2:] and tuple(made["boxes"].canvas_size) == tuple(size)
    # The pixels that the mask kept say where the box is.
    kept = made["mask"].as_subclass(torch.Tensor)
    y, x = kept // 160, kept % 160
    inside = (x >= 40) & (x < 120) & (y >= 30) & (y < 90)
    left, top, right, bottom = made["boxes"].as_subclass(torch.Tensor)[0].tolist()
    at = inside.nonzero()
    assert abs(at[:, 0].min() - top) <= 1 and abs(at[:, 0].max() + 1 - bottom) <= 1
    assert abs(at[:, 1].min() - left) <= 1 and abs(at[:, 1].max() + 1 - right) <= 1


def test_formats_of_boxes_say_the_same():
    corners = torch.tensor([[10.0, 20, 150, 100], [100, 50, 110, 60]])
    wide = torch.cat([corners[:, :2], corners[:, 2:] - corners[:, :2]], 1)
    centers = torch.cat([(corners[:, :2] + corners[:, 2:]) / 2, wide[:, 2:]], 1)
    found = []
    for values, form in ((corners, "XYXY"), (wide, "XYWH"), (centers, "CXCYWH")):
        torch.manual_seed(5)
        boxes = tv.BoundingBoxes(values, format=form, canvas_size=(120, 160))
        found.append(transforms.RandomResizedCrop(64, flip=1.0)(tv.Image(TENSOR), boxes)[1].as_subclass(torch.Tensor))
    made, wide, centers = found
    assert torch.allclose(torch.cat([wide[:, :2], wide[:, :2] + wide[:, 2:]], 1), made, atol=1e-4)
    assert torch.allclose(
        torch.cat([centers[:, :2] - centers[:, 2:] / 2, centers[:, :2] + centers[:, 2:] / 2], 1), made, atol=1e-4
    )


# ---- where transforms run


@every
def test_a_transform_is_pickled_and_has_no_state(transform):
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform) and not again.state_dict()
    torch.manual_seed(2)
    first = transform(TENSOR)
    torch.manual_seed(2)
    assert torch.equal(first, again(TENSOR))


@pytest.mark.parametrize("transform", sampled(ALL, len(ALL), repr))
def test_a_transform_is_compiled(transform):
    torch.manual_seed(2)
    want = transform(TENSOR)
    torch.manual_seed(2)
    assert torch.equal(torch.compile(transform, backend="eager")(TENSOR), want)


class Photos(torch.utils.data.Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 6

    def __getitem__(self, k):
        return self.transform(Image.fromarray(PHOTO)), k


@pytest.mark.parametrize("method", sampled(["fork", "spawn"], 2))
def test_workers_of_a_loader_draw_as_torch_seeds_them(method):
    data = Photos(transforms.RandomResizedCrop(16, flip=0.5, mean=MEAN, std=STD))

    def batches():
        order = torch.Generator().manual_seed(7)
        loader = torch.utils.data.DataLoader(data, 3, num_workers=2, multiprocessing_context=method, generator=order)
        return torch.cat([images for images, _ in loader])

    made = batches()
    assert made.shape == (6, 3, 16, 16) and len({float(image.sum()) for image in made}) > 4
    assert method == "spawn" or torch.equal(made, batches())


# ---- mistakes


@in_one_test("make, argument, error, words", [
    (lambda: transforms.Resize("224"), "size", TypeError, ["ints"]),
    (lambda: transforms.Resize(None), "size", ValueError, ["neither"]),
    (lambda: transforms.RandomResizedCrop(), "size", TypeError, ["ints", "none"]),
    (lambda: transforms.ResizeCenterCrop(size=9), "size", TypeError, ["did you mean crop_size=9?"]),
    (lambda: transforms.Resize(9, 9), "interpolation", TypeError, ["did you mean size=(height, width)?"]),
    (lambda: transforms.RandomResizedCrop(9, 9), "scale", TypeError, ["did you mean size=(height, width)?"]),
    (lambda: transforms.Resize((1, 2, 3)), "size", ValueError, ["(height, width)"]),
    (lambda: transforms.Resize((3, 4), max_size=9), "max_size", ValueError, ["None where size is (height, width)"]),
    (lambda: transforms.Resize(9, max_size=9), "max_size", ValueError, ["above size, which is 9"]),
    (lambda: transforms.Resize(9, "bilinar"), "interpolation", ValueError, ["did you mean 'bilinear'?"]),
    (lambda: transforms.Resize(9, dtype="float32"), "dtype", TypeError, ["torch.float32"]),
    (lambda: transforms.RandomResizedCrop(0), "size", ValueError, [">= 1"]),
    (lambda: transforms.RandomResizedCrop(9, 0.5), "scale", TypeError, ["(least, greatest)"]),
    (lambda: transforms.RandomResizedCrop(9, (8, 100)), "scale", ValueError, ["up to 1"]),
    (lambda: transforms.RandomResizedCrop(9, ratio=(4 / 3, 3 / 4)), "ratio", ValueError, ["(least, greatest)"]),
    (lambda: transforms.RandomResizedCrop(9, flip=True), "flip", TypeError, ["a probability", "True"]),
    (lambda: transforms.RandomResizedCrop(9, p=0.5), "p", TypeError, ["did you mean flip=0.5?"]),
    (lambda: transforms.Resize(9, "bilinear", None, True, torch.float32), "dtype", TypeError, ["by its name, dtype=torch.float32"]),
    (lambda: transforms.Thumbnail(9, "bilinear", True, MEAN), "mean", TypeError, ["by its name, mean="]),
    (lambda: transforms.Thumbnail(9, "bilinear", True, "mask"), "masks", TypeError, ["by its name, masks='mask'"]),
    (lambda: transforms.Resize(9, mask="mask"), "mask", TypeError, ["did you mean masks='mask'?"]),
    (lambda: transforms.Resize(9, masks=True), "masks", TypeError, ["keys or positions", "True"]),
    (lambda: transforms.Resize(9, masks=["mask", 1.5]), "masks", TypeError, ["keys or positions", "1.5"]),
    (lambda: transforms.Resize(9, masks=-1), "masks", ValueError, ["from 0 on"]),
    (lambda: transforms.RandomResizedCrop(9, flip=3), "flip", ValueError, ["\n  in tenter.torch.transforms.RandomResizedCrop(size=9, flip=3)"]),
    (lambda: transforms.Resize(9, flip=0.5), "flip", TypeError, ["no argument of this name"]),
    (lambda: transforms.Resize(9, resample="bilinear"), "resample", TypeError, ["did you mean interpolation='bilinear'?"]),
    (lambda: transforms.Resize(9, mean=0.5, std=0.5), "mean", TypeError, ["one for each channel"]),
    (lambda: transforms.ResizeCenterCrop(9, resize=12), "resize", TypeError, ["did you mean resize_size=12?"]),
    (lambda: transforms.ResizeCenterCrop(9, (12, 12)), "resize_size", TypeError, ["the shorter side"]),
    (lambda: transforms.Thumbnail((9, None)), "size", TypeError, ["ints"]),
    (lambda: transforms.Thumbnail(9, mode="cubic"), "mode", TypeError, ["did you mean interpolation='cubic'?"]),
    (lambda: transforms.RandomResizedCrop(9, (1.0, 0.5)), "scale", ValueError, ["(least, greatest)"]),
    (lambda: transforms.RandomResizedCrop(9, flip=2), "flip", ValueError, ["a probability, from 0 to 1"]),
    (lambda: transforms.RandomResizedCrop(9, mean=MEAN), "std", ValueError, ["both mean and std"]),
    (lambda: transforms.RandomResizedCrop(9, mean=MEAN, std=(1, 1, 0)), "std", ValueError, ["above 0"]),
    (lambda: transforms.RandomResizedCrop(9, mean=MEAN, std=(1, 1)), "std", ValueError, ["3 numbers"]),
    (lambda: transforms.Resize(9, mean=MEAN, std=STD, dtype=torch.uint8), "dtype", ValueError, ["a float one"]),
    (lambda: transforms.ResizeCenterCrop(256, 224), "resize_size", ValueError, ["crop_size, 256"]),
    (lambda: transforms.Thumbnail((1, 2, 3)), "size", ValueError, ["one number for both"]),
    (lambda: transforms.Resize(9)("photo.jpg"), "inputs", TypeError, ["an image", "PIL.Image.open", "'photo.jpg'"]),
    (lambda: transforms.Resize(9)(TENSOR.permute(1, 2, 0)), "inputs", ValueError, ["x.permute(2, 0, 1)", "(120, 160, 3)"]),
    (lambda: transforms.Resize(9)(PHOTO.transpose(2, 0, 1)), "inputs", ValueError, ["(H, W, C)", "(3, 120, 160)"]),
    (lambda: transforms.Resize(9)(TENSOR[0]), "inputs", ValueError, ["(..., C, H, W)", "x[None]"]),
    (lambda: transforms.Resize(9)(TENSOR[:, :0]), "inputs", ValueError, ["at least one pixel", "0 rows of 160"]),
    (lambda: transforms.Resize(9)({"label": 3}), "inputs", TypeError, ["an image", "'label'"]),
    (lambda: transforms.Resize(9)(tv.Image(TENSOR), tv.Mask(TENSOR[0, :9])), "inputs", ValueError, ["one size", "(9, 160) of sample[1] and (120, 160) of sample[0]"]),
    (lambda: transforms.Resize(9, mean=MEAN, std=STD)(TENSOR[:2]), "mean", ValueError, ["2 numbers"]),
    (lambda: ALL[1](Image.fromarray(PHOTO[..., 0])), "mean", ValueError, ["1 channel", 'convert("RGB")']),
    (lambda: transforms.Resize(9, dtype=torch.int16)(TENSOR), "dtype", TypeError, ["torch.uint8"]),
])  # fmt: skip
def test_mistakes_are_refused_by_the_name_of_the_argument(make, argument, error, words):
    refused(make, argument, error, words, r"tenter\.torch\.transforms\.\w+")


@pytest.mark.parametrize("name, hint", [
    ("Normalize", "mean and std"), ("ToTensor", "dtype"), ("RandomHorizontalFlip", "flip"), ("CenterCrop", "ResizeCenterCrop"),
    ("Compose", "torch.nn.Sequential"), ("ColorJitter", "in its Compose"), ("resize", "did you mean 'Resize'?"),
])  # fmt: skip
def test_a_name_of_torchvision_says_what_does_it_here(name, hint):
    with pytest.raises(AttributeError, match=re.escape(name)) as found:
        getattr(transforms, name)
    assert hint in str(found.value) and not hasattr(transforms, name)
    with pytest.raises(ImportError, match=re.escape(name)) as found:
        exec(f"from tenter.torch.transforms import {name}")
    assert hint in str(found.value)


def test_transforms_are_steps_among_others():
    torch.manual_seed(0)
    steps = torch.nn.Sequential(
        transforms.Resize((9, 8)), torch.nn.ReLU(), transforms.Resize((5, 4), mean=MEAN, std=STD)
    )
    assert torch.equal(steps(TENSOR), transforms.Resize((5, 4), mean=MEAN, std=STD)(transforms.Resize((9, 8))(TENSOR)))
