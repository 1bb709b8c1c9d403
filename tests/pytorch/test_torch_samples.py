"""Parts of a sample are taken from one place, at the same positions; and what a transform cannot know is refused."""

from __future__ import annotations

import collections
import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from tests.fuzz import samples

from error_helpers import refused
from sample_helpers import LABELS, MADE, NOISE, PHOTO, TENSOR, Image, pixels, plain, tv
from sweeps import in_one_test, sampled
from tenter.torch import transforms

every = in_one_test("name", MADE)
with_points = pytest.mark.skipif(not hasattr(tv, "KeyPoints"), reason="torchvision has points from 0.23 on")


class Pair(NamedTuple):
    image: Any
    mask: Any


# ---- one place, the same positions


@in_one_test("seed, image, mask, mode", [
    p._replace(id=str(p.values)) for p in sampled([
        (k, image, mask, mode) for k, (image, mask, mode)
        in enumerate(itertools.product(samples.IMAGES, samples.MASKS, samples.MODES))
    ], 9)
])  # fmt: skip
def test_image_mask_box_and_points_of_a_rectangle_stay_of_one_rectangle(seed, image, mask, mode):
    floats = seed % 3 == 0 and image not in ("RGBA", "P", "I;16", "F")
    assert (samples.errors(seed, image, mask, mode, floats) <= 1).all()


@pytest.mark.slow
def test_samples_of_many_seeds_stay_of_one_thing():
    for seed in range(4000):
        drawn = samples.sample(samples.Draw(seed))
        drawn.check(eval(drawn.source.removeprefix("y = "), {"samples": samples}))


IMAGES = {
    "Image": tv.Image(TENSOR), "array": NOISE, "gray": Image.fromarray(NOISE[..., 0]), "RGB": Image.fromarray(NOISE),
    "RGBA": Image.fromarray(np.dstack([NOISE, NOISE[::-1, :, 1] | 1])),
}  # fmt: skip


@in_one_test("name, mode, kind", itertools.product(MADE, ("nearest", "nearest-exact"), IMAGES))
def test_a_mask_of_a_threshold_is_the_threshold_of_the_resized_image(name, mode, kind):
    normalized = {"mean": (0.5,), "std": (0.25,)}
    for how in ({}, {"dtype": torch.float32}, normalized):
        torch.manual_seed(1)
        image, mask = MADE[name](interpolation=mode, **how)(IMAGES[kind], tv.Mask(LABELS))
        half = 127 if not how else 0 if how is normalized else 127 / 255
        assert np.array_equal(pixels(image) > half, pixels(mask)), (mode, how)


@every
def test_the_mask_beside_an_averaged_image_takes_the_pixels_at_the_centers(name):
    for image in (tv.Image(TENSOR), Image.fromarray(NOISE)):
        torch.manual_seed(1)
        want = MADE[name](interpolation="nearest-exact")(image, tv.Mask(LABELS))[1]
        for mode in ("bilinear", "bicubic", "lanczos", "box", "hamming"):
            torch.manual_seed(1)
            assert torch.equal(plain(MADE[name](interpolation=mode)(image, tv.Mask(LABELS))[1]), plain(want))


@with_points
def test_what_is_mirrored_is_the_mirror_image():
    sample = tv.Image(TENSOR), tv.Mask(LABELS)
    corners = torch.tensor([[3, 4, 30, 37], [0, 0, 52, 40]])
    for form, dtype, mode in itertools.product(("XYXY", "XYWH", "CXCYWH"), (torch.float64, torch.int64), samples.MODES):
        box = tv.BoundingBoxes(corners.to(dtype), format=form, canvas_size=(40, 52))
        points = tv.KeyPoints(corners.to(dtype).reshape(-1, 2, 2), canvas_size=(40, 52))
        made = []
        for flip in (0.0, 1.0):
            torch.manual_seed(3)
            crop = transforms.RandomResizedCrop((20, 61), interpolation=mode, flip=flip)
            made.append([plain(x) for x in crop(*sample, box, points)])
        (image, mask, box, points), (image_2, mask_2, box_2, points_2) = made
        near = mode.startswith("nearest")
        assert (image.flip(-1).int() - image_2.int()).abs().max() <= (0 if near else 1)
        assert torch.equal(mask.flip(-1), mask_2)
        left, width = box[:, 0], box[:, 2]
        want = {"XYXY": (61 - width, 61 - left), "XYWH": (61 - left - width, width), "CXCYWH": (61 - left, width)}[form]
        assert torch.allclose(box_2[:, [0, 2]], torch.stack(want, 1)) and torch.equal(box_2[:, [1, 3]], box[:, [1, 3]])
        assert torch.allclose(points_2, torch.stack([60 - points[..., 0], points[..., 1]], -1))


@with_points
def test_points_are_moved_with_their_image_also_beside_the_part():
    points = torch.tensor([[[0.0, 0], [52, 40]], [[26, 10], [-4, 60]]])
    for dtype in (torch.float32, torch.float64, torch.float16, torch.int64):
        given = tv.KeyPoints(points.to(dtype), canvas_size=(40, 52))
        image, made = transforms.Resize((20, 39))(tv.Image(TENSOR), given)
        assert type(made) is tv.KeyPoints and made.canvas_size == (20, 39) == image.shape[1:] and made.dtype == dtype
        want = points.double() * torch.tensor([0.75, 0.5])
        assert torch.equal(plain(made).double(), want if dtype.is_floating_point else want.floor())
        made = transforms.ResizeCenterCrop(10, 20)(tv.Image(TENSOR), given)[1]  # of 20 rows and 26 columns
        assert torch.equal(plain(made).double(), points.double() / 2 - torch.tensor([8.0, 5])) and made.canvas_size == (
            10,
            10,
        )
    odd = tv.KeyPoints([[1, 39], [-1, 40]], canvas_size=(40, 52))
    assert plain(transforms.Resize((20, 26))(odd)).tolist() == [[0, 19], [-1, 20]]  # the pixel that each lies in


def test_a_box_is_cut_at_the_edges_unless_its_clamping_mode_is_none():
    corners = torch.tensor([[-8.0, 10, 26, 60]])
    for mode, want in (("soft", [0, 5, 13, 20]), ("hard", [0, 5, 13, 20]), (None, [-4, 5, 13, 30])):
        box = tv.BoundingBoxes(corners, format="XYXY", canvas_size=(40, 52))
        box.clamping_mode = mode
        made = transforms.Resize((20, 26))(box)
        assert plain(made)[0].tolist() == want and made.canvas_size == (20, 26)
        assert getattr(made, "clamping_mode", mode) == mode


def test_a_subclass_of_a_type_of_torchvision_is_treated_as_that_type_and_kept():
    for base in (tv.Image, tv.Video, tv.Mask):
        own = type("Own", (base,), {})
        made = transforms.RandomResizedCrop((9, 8), flip=1.0)(own(TENSOR[None]))
        assert type(made) is own and made.shape == (1, 3, 9, 8)


# ---- masks by a word


@in_one_test("name, mode", itertools.product(MADE, ("bilinear", "nearest")))
def test_a_part_that_masks_names_is_resized_as_a_mask_of_torchvision(name, mode):
    photo, label = Image.fromarray(NOISE), object()
    for image in (NOISE, photo, tv.Image(TENSOR), TENSOR):
        torch.manual_seed(2)
        # An array has PyTorch's rule of "nearest", and a sample with an image of Pillow has Pillow's.
        want = pixels(
            MADE[name](interpolation=mode)(
                {"image": tv.Image(TENSOR) if image is not photo else photo, "mask": tv.Mask(LABELS)}
            )["mask"]
        )

        def made(sample, masks, **how):
            torch.manual_seed(2)
            return MADE[name](interpolation=mode, masks=masks, **how)(sample)

        long, stack = torch.from_numpy(LABELS).long(), torch.from_numpy(LABELS).expand(4, -1, -1)
        for mask in (
            LABELS,
            LABELS.astype(np.int32),
            LABELS.astype(bool),
            LABELS[..., None].repeat(5, 2),
            long,
            stack,
            tv.Image(stack[:3]),
            tv.Mask(long),
        ):
            found = made({"image": image, "mask": mask, "label": label}, "mask")
            assert type(found["mask"]) is type(mask) and found["mask"].dtype == mask.dtype and found["label"] is label
            assert np.array_equal(pixels(found["mask"]), want) and found["mask"].ndim == mask.ndim
        nested = made({"a": {"image": image, "masks": [LABELS, long]}, "masks": [], "none": None}, ["masks", "none"])
        assert (nested["a"]["masks"][0] == want).all() and (nested["a"]["masks"][1].numpy() == want).all()
        assert nested["masks"] == [] and nested["none"] is None
        for pair in (made((image, LABELS), 1), made(Pair(image, LABELS), "mask"), made([image, (LABELS,)], [1])):
            found = pair[1][0] if isinstance(pair[1], tuple) else pair[1]
            assert (found == want).all()


def test_a_mask_of_pillow_keeps_its_labels_and_its_mode():
    labels, photo = LABELS * np.uint8(7), Image.fromarray(NOISE)
    want = np.asarray(Image.fromarray(labels).resize((61, 33), 0))
    for mode in ("L", "P", "1", "I", "F", "I;16"):
        mask = Image.fromarray(labels.astype({"I": np.int32, "F": np.float32, "I;16": np.uint16}.get(mode, np.uint8)))
        mask = mask.point(lambda v: v * 255).convert("1") if mode == "1" else mask
        if mode == "P":
            mask = mask.convert("P")
            mask.putpalette(list(range(48)))
        made = transforms.Resize((33, 61), masks="mask")({"image": photo, "mask": mask})["mask"]
        assert made.mode == mode == mask.mode and made.getpalette() == mask.getpalette()
        assert np.array_equal(np.asarray(made), want if mode != "1" else want > 0)
        # Where images become tensors, masks do, with their values.
        made = transforms.Resize((33, 61), mean=(0.5,), std=(0.5,), masks="mask")({"image": photo, "mask": mask})[
            "mask"
        ]
        assert made.shape == (33, 61) and made.dtype == torch.from_numpy(np.array(mask)).dtype
        assert np.array_equal(made.numpy(), want if mode != "1" else want > 0)
    stack = transforms.Resize((33, 61), dtype=torch.float32, masks=1)(NOISE, np.dstack([labels] * 5))[1]
    assert stack.shape == (5, 33, 61) and stack.dtype == torch.uint8 and (stack.numpy() == want).all()


def test_what_is_no_image_and_has_not_its_size_is_passed_through():
    rest = [
        torch.tensor(3),
        torch.rand(17, 2),
        torch.rand(5, 4),
        np.eye(3),
        torch.rand(3, 17, 2),
        torch.rand(3, 4, 4),
        "a",
        None,
        {},
        [],
    ]
    for image in (TENSOR.float(), NOISE, tv.Image(TENSOR), Image.fromarray(NOISE)):
        made = transforms.Resize((9, 8))([image, *rest])
        assert all(a is b for a, b in zip(made[1:], rest))
    other = torch.zeros(40, 52)
    assert transforms.Resize((9, 8), masks=())(NOISE, other)[1] is other  # masks=() says that it is no mask
    pair = transforms.Resize((9, 8), masks=())([Image.fromarray(NOISE), Image.fromarray(NOISE[..., 0])])
    assert np.array_equal(np.asarray(pair[1]), np.asarray(Image.fromarray(NOISE[..., 0]).resize((8, 9), 2)))


def test_dicts_of_other_types_are_kept():
    default = collections.defaultdict(list, {"image": NOISE, "label": 3})
    made = transforms.Resize((9, 8))(default)
    assert type(made) is collections.defaultdict and made.default_factory is list and made["image"].shape == (9, 8, 3)
    ordered = transforms.Resize((9, 8))(collections.OrderedDict(label=3, image=NOISE))
    assert type(ordered) is collections.OrderedDict and list(ordered) == ["label", "image"]


LONG = torch.from_numpy(LABELS).long()
GRAY = Image.fromarray(LABELS)
BOX = tv.BoundingBoxes(torch.ones(1, 4), format="XYXY", canvas_size=(4, 5))
SIZE_40 = "of the size of sample["


@in_one_test("sample, how, argument, error, words", [
    ({"image": PHOTO, "mask": LABELS}, {}, "masks", ValueError, ["masks='mask' for a mask", "sample['mask']", "uint8[40, 52]", "masks=()"]),
    ({"image": NOISE, "mask": LONG}, {}, "masks", ValueError, ["masks='mask'", "int64[40, 52]", SIZE_40 + "'image']"]),
    ({"image": tv.Image(TENSOR), "mask": LABELS[..., None]}, {}, "masks", ValueError, ["masks='mask'", "uint8[40, 52, 1]"]),
    ({"image": PHOTO, "mask": GRAY}, {}, "masks", ValueError, ["masks='mask' for a mask or masks=() for an image", "PIL.Image L[40, 52]"]),
    ({"image": GRAY, "mask": GRAY}, {}, "masks", ValueError, ["masks='mask'", "beside another image"]),
    ({"image": PHOTO, "mask": GRAY.convert("P")}, {"dtype": torch.uint8}, "masks", ValueError, ["masks='mask'", "PIL.Image P[40, 52]"]),
    ((PHOTO, LONG), {}, "masks", ValueError, ["masks=1", "sample[1]"]),
    ((PHOTO, {"target": [LONG]}), {}, "masks", ValueError, ["masks='target'", "sample[1]['target'][0]"]),
    ([[TENSOR, LONG], 3], {}, "masks", ValueError, ["tv_tensors.Mask", "sample[0][1]"]),
    ([TENSOR, torch.zeros(3, 60, 90, dtype=torch.uint8)], {}, "masks", ValueError, ["sample[1] is an array like sample[0]", "a list of images", "for each"]),
    ([TENSOR, TENSOR.clone()], {}, "masks", ValueError, ["sample[1]", "uint8[3, 40, 52]"]),
    ([NOISE, NOISE[:30]], {}, "masks", ValueError, ["sample[1]", "a list of images"]),
    ({"image": NOISE, "mask": LABELS, "depth": LABELS}, {"masks": "mask"}, "masks", ValueError, ["masks=('mask', 'depth')", "sample['depth']"]),
    ({"image": NOISE, "mask": LABELS}, {"masks": "msk"}, "masks", ValueError, ["'image', 'mask'", "did you mean 'mask'?"]),
    ((NOISE, LABELS), {"masks": 2}, "masks", ValueError, ["which has 0, 1", "got 2"]),
    ({"image": NOISE, "mask": "a.png"}, {"masks": "mask"}, "masks", TypeError, ["sample['mask']: 'a.png'"]),
    ({"image": NOISE, "mask": BOX}, {"masks": "mask"}, "masks", TypeError, ["BoundingBoxes float32[1, 4]"]),
    ({"image": NOISE, "mask": LABELS[:9]}, {"masks": "mask"}, "inputs", ValueError, ["one size", "(9, 52) of sample['mask'] and (40, 52) of sample['image']"]),
    ({"image": NOISE, "mask": LABELS[0]}, {"masks": "mask"}, "inputs", ValueError, ["shape (52,)"]),
    ({"image": NOISE, "mask": LONG[0]}, {"masks": "mask"}, "inputs", ValueError, ["(..., H, W)", "shape (52,)"]),
    ((tv.Image(TENSOR), BOX), {}, "inputs", ValueError, ["one size", "(4, 5) of sample[1]"]),
    ((tv.Image(TENSOR), torch.rand(2, 2).as_subclass(type("Ellipses", (tv.TVTensor,), {}))), {}, "inputs", TypeError, ["KeyPoints", "as_subclass", "sample[1]: Ellipses float32[2, 2]"]),
])  # fmt: skip
def test_what_a_transform_cannot_know_is_refused_by_its_key_its_shape_and_the_word(sample, how, argument, error, words):
    refused(lambda: transforms.Resize(9, **how)(sample), argument, error, words, r"tenter\.torch\.transforms\.\w+")


def test_errors_show_the_kinds_and_shapes_of_a_sample_and_none_of_its_values():
    class Values(torch.Tensor):
        def __repr__(self, **_):
            raise AssertionError("values were read")

    tensor = torch.rand(3, 4, 3, 2).as_subclass(Values)
    for sample in (
        {"a": tensor[0, 0, 0]},
        [{"a": {"b": tensor}}, {"c": PHOTO}],
        (Pair(tensor, 3), tensor),
        collections.OrderedDict(a=tensor),
        tensor[0, 0, 0],
    ):
        with pytest.raises(ValueError) as caught:
            transforms.Resize((9, 8), masks="of no sample")(sample, 3)
        text = str(caught.value)
        assert "float32[" in text and "tensor(" not in text and "<PIL" not in text, text


@pytest.mark.slow
def test_a_sample_is_compiled_in_one_graph():
    resize, sample = transforms.Resize((9, 8), masks="mask"), {"image": TENSOR, "mask": LONG, "label": 3}
    made, want = torch.compile(resize, backend="eager", fullgraph=True)(sample), resize(sample)
    assert torch.equal(made["image"], want["image"]) and torch.equal(made["mask"], want["mask"]) and made["label"] == 3
