"""Transforms beside torchvision's own, where it is installed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from sample_helpers import LABELS, MADE, NOISE, PHOTO, TENSOR, Image, pixels, plain, tv
from tenter.torch import transforms
from torchvision_stand_in import real_transforms, tv_tensors

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@pytest.mark.parametrize("name", ["uneven", "cut", "mirrored", "center"])
def test_boxes_and_points_of_each_format_and_clamping_mode_are_those_of_torchvision(name):
    v2 = real_transforms()
    theirs = {
        "uneven": v2.Resize((17, 77)), "cut": v2.RandomResizedCrop((25, 30)),
        "mirrored": v2.Compose([v2.RandomResizedCrop((20, 61)), v2.RandomHorizontalFlip(1.0)]),
        "center": v2.Compose([v2.Resize(33), v2.CenterCrop((24, 31))]),
    }  # fmt: skip
    new = hasattr(v2.functional, "clamp_keypoints")
    for seed, form in enumerate(("XYXY", "XYWH", "CXCYWH", *(("XYWHR", "CXCYWHR", "XYXYXYXY") if new else ()))):
        for mode in ("soft", "hard", None) if new else ("soft",):
            torch.manual_seed(seed)
            first = torch.rand(50, 2) * torch.tensor([52, 40])
            second = first + torch.rand(50, 2) * (torch.tensor([52, 40]) - first)
            values, start = torch.cat([first, second], 1), "XYXY"
            if "R" in form or len(form) == 8:
                values, start = (
                    torch.cat([(first + second) / 2, (second - first) / 3, torch.rand(50, 1) * 360], 1),
                    "CXCYWHR",
                )
            rule = {"clamping_mode": mode} if new else {}
            boxes = tv.BoundingBoxes(values, format=start, canvas_size=(40, 52), **rule)
            sample = [tv.Image(TENSOR), v2.functional.convert_bounding_box_format(boxes, new_format=form)]
            sample += [tv.KeyPoints(x, canvas_size=(40, 52)) for x in (first, first.long()) if new]
            torch.manual_seed(seed)
            want = theirs[name](sample)
            torch.manual_seed(seed)
            made = MADE[name]()(sample)
            for a, b in zip(made[1:], want[1:]):
                assert type(a) is type(b) and a.dtype == b.dtype and vars(a) == vars(b)
                room = 1e-3 if a.is_floating_point() else 1  # torchvision cuts products of a float32 factor
                assert torch.allclose(plain(a).double(), plain(b).double(), atol=room), (form, mode)


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest_pixels_of_images_are_those_of_torchvision_and_masks_have_the_same(mode):
    v2 = real_transforms()
    how = v2.InterpolationMode(mode)
    pairs = {
        "uneven": v2.Resize((17, 77), how), "cut": v2.RandomResizedCrop((25, 30), interpolation=how),
        "mirrored": v2.Compose([v2.RandomResizedCrop((20, 61), interpolation=how), v2.RandomHorizontalFlip(1.0)]),
    }  # fmt: skip
    for (name, theirs), image in itertools.product(pairs.items(), (tv.Image(TENSOR), PHOTO)):
        torch.manual_seed(5)
        want = pixels(theirs(image))
        torch.manual_seed(5)
        made, mask = MADE[name](interpolation=mode)(image, tv.Mask(LABELS))
        assert np.array_equal(pixels(made), want) and np.array_equal(pixels(mask), want > 127)


def test_a_torchvision_that_cannot_be_imported_is_one_that_is_missing(tmp_path, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    broken = tmp_path / "torchvision"
    broken.mkdir()
    (broken / "__init__.py").write_text("raise RuntimeError('operator torchvision::nms does not exist')")
    monkeypatch.syspath_prepend(tmp_path)
    found = tv_tensors()
    monkeypatch.delitem(sys.modules, "torchvision.tv_tensors")
    assert issubclass(found.KeyPoints, torch.Tensor) and found is not tv
    with pytest.raises(pytest.skip.Exception, match="nms"):
        real_transforms()


@pytest.mark.parametrize("seed", range(4))
def test_a_pipeline_of_torchvision_gives_the_same_batch(seed):
    v2 = real_transforms()
    theirs = v2.Compose([
        v2.RandomResizedCrop(32), v2.RandomHorizontalFlip(0.5), v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD),
    ])  # fmt: skip
    ours = transforms.RandomResizedCrop(32, flip=0.5, mean=MEAN, std=STD)
    torch.manual_seed(seed)
    want = theirs(Image.fromarray(NOISE))
    torch.manual_seed(seed)
    assert torch.allclose(ours(Image.fromarray(NOISE)), want.as_subclass(torch.Tensor), atol=0.02)
