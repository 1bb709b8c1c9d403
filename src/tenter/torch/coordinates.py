"""Bounding boxes and points of torchvision, moved with the image that they lie in."""

import importlib
import sys
from fractions import Fraction
from typing import Any

import torch

from tenter.torch.parts import Place, resized_size


def boxes(x: Any, at: Place) -> Any:
    """Bounding boxes in the part, cut at its edges unless their clamping mode is None."""
    form = getattr(x.format, "value", x.format)
    if form not in ("XYXY", "XYWH", "CXCYWH"):
        return _rotated(x, at)
    values = x.as_subclass(torch.Tensor).double()
    first, second = values[..., :2], values[..., 2:]
    if form != "XYXY":
        first = first - second / 2 if form == "CXCYWH" else first
        second = first + second
    first, second = _moved(first, at), _moved(second, at)
    if getattr(x, "clamping_mode", "soft") is not None:
        most = first.new_tensor(at.size[::-1])
        first, second = (corner.clamp(torch.zeros_like(most), most) for corner in (first, second))
    if form != "XYXY":
        second = second - first
        first = first + second / 2 if form == "CXCYWH" else first
    first, second = _stored(first, x), _stored(second, x)
    if at.flip:
        width, left = at.size[1], first[..., 0].clone()
        if form == "XYXY":
            first[..., 0], second[..., 0] = width - second[..., 0], width - left
        else:
            first[..., 0] = width - left - (second[..., 0] if form == "XYWH" else 0)
    return _wrapped(torch.cat([first, second], -1), x, at)


def points(x: Any, at: Place) -> Any:
    """Points in the part, or beside it. To torchvision a point is a pixel, so its mirror image is that pixel's: columns
    0 and width - 1 change places, and for boxes the edges 0 and width do."""
    moved = _stored(_moved(x.as_subclass(torch.Tensor).double(), at), x)
    if at.flip:
        moved[..., 0] = at.size[1] - 1 - moved[..., 0]
    return _wrapped(moved, x, at)


def _moved(corner: torch.Tensor, at: Place) -> torch.Tensor:
    """Points (..., 2) in the resized part. What is an integer there is exact."""
    found = []
    begins = (0, 0) if at.inside is None else (at.inside[1][0], at.inside[0][0])
    for k, (start, length, out) in enumerate(zip((at.left, at.top), (at.width, at.height), resized_size(at)[::-1])):
        scale = Fraction(out) / Fraction(length)
        moved = (corner[..., k] * scale.numerator - float(start * scale.numerator)) / scale.denominator
        found.append(moved + begins[k] if begins[k] else moved)
    return torch.stack(found, -1)


def _stored(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """In the dtype of `like`. An integer is the pixel that a coordinate lies in, also beside the image."""
    return values.to(like.dtype) if like.dtype.is_floating_point else values.floor().to(like.dtype)


def _wrapped(values: torch.Tensor, like: Any, at: Place) -> Any:
    return sys.modules["torchvision.tv_tensors"].wrap(values, like=like, canvas_size=at.size)


def _rotated(x: Any, at: Place) -> Any:
    """Rotated boxes, by torchvision's functions in torchvision's order: how they are clamped, and which rectangle is
    drawn around one that is stretched unevenly, is a rule of its own."""
    functional = importlib.import_module("torchvision.transforms.v2.functional")
    size, canvas = list(at.size), tuple(x.canvas_size)
    if isinstance(at.top, Fraction):  # a crop of the resized image
        scales = [Fraction(out) / Fraction(length) for out, length in zip(size, (at.height, at.width))]
        whole = [int(n * scale) for n, scale in zip(canvas, scales)]
        top, left = (int(start * scale) for start, scale in zip((at.top, at.left), scales))
        made = functional.crop(functional.resize(x, whole), top, left, *size)
    elif (at.top, at.left, at.height, at.width) == (0, 0, *canvas):
        made = functional.resize(x, list(resized_size(at)))
        if at.inside is not None:
            (top, bottom), (left, right) = at.inside
            made = functional.pad(made, [left, top, size[1] - right, size[0] - bottom])
    else:
        made = functional.resized_crop(x, at.top, at.left, at.height, at.width, size)
    return functional.horizontal_flip(made) if at.flip else made
