"""Which part of an image a transform takes, and the size that it gets."""

import math
from fractions import Fraction
from typing import NamedTuple

import torch

from tenter._specs.placement import Placement


class Place(NamedTuple):
    """The part of the input that is taken, the size that it gets, and whether its columns are reversed.

    nearest: whose rule says which pixel is the nearest, "torch" or "pillow"
    inside: the rows and the columns of `size` in which the part lies; None where they are all
    """

    top: int | Fraction
    left: int | Fraction
    height: int | Fraction
    width: int | Fraction
    size: tuple[int, int]
    flip: bool = False
    nearest: str = "torch"
    inside: tuple[tuple[int, int], tuple[int, int]] | None = None


def resized_size(at: Place) -> tuple[int, int]:
    """The size of the part in the result. A function, as the compiler of PyTorch 2.6 reads no property of a tuple."""
    if at.inside is None:
        return at.size
    (top, bottom), (left, right) = at.inside
    return bottom - top, right - left


def of_image(place: Placement, height: int, width: int) -> Place:
    """The place of a whole image, or of a part that its size cuts."""
    (top, bottom), (left, right) = place.box
    inside = place.inside if place.is_padded else None
    if top == left == 0 and bottom == height and right == width:
        return Place(0, 0, height, width, place.size, inside=inside)
    # Of the resized image, so in fractions of pixels, even if they are whole.
    return Place(top, left, bottom - top, right - left, place.size, inside=inside)


def shorter_side(height: int, width: int, size: int | None, most: int | None) -> tuple[int, int]:
    """The size with that shorter side, unless the longer one becomes more than `most`; truncated, as in torchvision."""
    short, long = sorted((height, width))
    if size is None:
        assert most is not None
        sides = int(most * short / long), most
    else:
        sides = size, int(size * long / short)
        if most is not None and sides[1] > most:
            sides = int(most * sides[0] / sides[1]), most
    return sides if height <= width else (sides[1], sides[0])


def random_part(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    """Top, left, height and width of a part with a random area and ratio of sides, by torchvision's draws: the
    first of ten tries that fits is put at a random place; else the largest part in the middle with a ratio allowed."""
    logarithms = torch.log(torch.tensor(ratio))
    for _ in range(10):
        area = height * width * torch.empty(1).uniform_(*scale).item()
        sides = torch.exp(torch.empty(1).uniform_(*logarithms.tolist())).item()
        w, h = round(math.sqrt(area * sides)), round(math.sqrt(area / sides))
        if 0 < w <= width and 0 < h <= height:
            top = int(torch.randint(0, height - h + 1, size=(1,)))
            return top, int(torch.randint(0, width - w + 1, size=(1,))), h, w
    w, h = width, height
    if width / height < min(ratio):
        h = round(width / min(ratio))
    elif width / height > max(ratio):
        w = round(height * max(ratio))
    return (height - h) // 2, (width - w) // 2, h, w
