"""Direct calls keep the types of torchvision's tensors."""

from __future__ import annotations

import pytest
import torch

import tenter
from tenter.maps import Copy
from torchvision_stand_in import tv_tensors

tv = tv_tensors()
IMAGE = tv.Image(torch.arange(3 * 8 * 9, dtype=torch.uint8).reshape(1, 3, 8, 9))
MASK = tv.Mask(torch.arange(72).reshape(8, 9))
CALLS = [
    lambda x: tenter.interpolate(x, (4, 4), mode="bilinear"),
    lambda x: tenter.resize(x, (4, 4), axes=(-2, -1), antialias=True),
    lambda x: tenter.resize(x, (4, 4), axes=(-2, -1), box=[(8, 0), (0, 9)]),  # of which an axis is reversed
    lambda x: tenter.repeat(x, 2, 1, 1, 2, 1),
    lambda x: tenter.repeat_interleave(x, torch.tensor([1, 0, 2]), dim=1),
    lambda x: tenter.tile(x, 2),
    lambda x: tenter.expand(x, 5, 3, 8, 9),
    lambda x: Copy.repeat_each(8, 2).apply(x, 2),
]


@pytest.mark.parametrize("call", CALLS)
def test_results_have_the_type_of_x(call):
    made, plain = call(IMAGE), call(IMAGE.as_subclass(torch.Tensor))
    assert type(made) is tv.Image and type(plain) is torch.Tensor
    assert torch.equal(made.as_subclass(torch.Tensor), plain)


def test_masks_and_boxes_are_kept_with_their_fields():
    assert type(tenter.resize(MASK, (4, 4), mode="nearest-exact")) is tv.Mask
    boxes = tv.BoundingBoxes(torch.tensor([[1, 2, 3, 4], [0, 0, 5, 5]]), format="XYXY", canvas_size=(8, 9))
    twice = tenter.repeat_interleave(boxes, 2, dim=0)
    assert type(twice) is tv.BoundingBoxes and twice.shape == (4, 4)
    assert twice.canvas_size == (8, 9) and twice.format == boxes.format


def test_a_parameter_and_other_subclasses_are_as_before():
    class Own(torch.Tensor):
        pass

    assert type(tenter.tile(torch.nn.Parameter(torch.ones(3)), 2)) is torch.Tensor
    assert type(tenter.tile(torch.ones(3).as_subclass(Own), 2)) is Own
