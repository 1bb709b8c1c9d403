"""What transforms do with a sample: which of its parts are images, masks, boxes and points. All are taken from one
place, at the same positions. What may be one of them and is not known to be is refused."""

import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch

from tenter._arrays import arguments, pillow_images
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._specs.lengths import channels_first
from tenter.torch import coordinates, pixels
from tenter.torch.parts import Place
from tenter.torch.transform_arguments import Made, called

Keys: TypeAlias = tuple[Any, ...]
Size: TypeAlias = tuple[int, int]


class Part(NamedTuple):
    """A part of a sample, the keys and positions that lead to it, and what it is.

    kind: image, mask, boxes, points; plain for an array that may be the image; None for what is passed through
    """

    keys: Keys
    x: Any
    kind: str | None

    def __str__(self) -> str:
        shown = describe(self.x)
        if isinstance(self.x, torch.Tensor) and type(self.x) is not torch.Tensor:
            shown = f"{type(self.x).__name__} {shown}"
        return f"{_written(self.keys)}: {shown}"


def transformed(transform: Any, inputs: tuple[Any, ...]) -> Any:
    """The inputs of a call, their images, masks, boxes and points taken from one place; the rest as it is."""
    try:
        sample = inputs[0] if len(inputs) == 1 else inputs
        kind = _kind(sample)
        if kind and kind != "unknown":  # one image; the others of this function take time
            at = _placed(transform, _size(sample, kind), pillow_images.is_image(sample))
            return _one(sample, kind, at, transform.made)
        return _transformed_parts(transform, sample)
    except Refusal as refusal:
        raise error(refusal, called(transform), inputs=inputs) from None


def _transformed_parts(transform: Any, sample: Any) -> Any:
    how = transform.made
    found = [Part(keys, x, _role(keys, x, how.masks or ())) for keys, x in _leaves(sample)]
    _check_names(how.masks or (), found)
    if not any(p.kind == "image" for p in found):
        first = next((k for k, p in enumerate(found) if p.kind == "plain"), None)
        if first is not None:
            found[first] = found[first]._replace(kind="image")
    chosen = [p for p in found if p.kind not in (None, "plain")]
    if not chosen:
        hint = "; PIL.Image.open reads a file" if isinstance(sample, (str, Path)) else ""
        refuse(TypeError, "inputs", f"an image: a tensor, a NumPy array or one of Pillow's{hint}", describe(sample))
    sizes = {_size(p.x, str(p.kind)): p for p in reversed(chosen)}
    if len(sizes) > 1:
        each = " and ".join(f"{size} of {_written(sizes[size].keys)}" for size in sorted(sizes))
        refuse(ValueError, "inputs", "images, masks, boxes and points of one size", each)
    size = next(iter(sizes))
    _check_rest(found, size, how)
    at = _placed(transform, size, any(pillow_images.is_image(p.x) for p in chosen))
    made = (_one(p.x, p.kind, at, how) if p.kind not in (None, "plain") else p.x for p in found)
    return _rebuilt(sample, made)


def _placed(transform: Any, size: Size, of_pillow: bool) -> Place:
    if not (size[0] and size[1]):
        refuse(ValueError, "inputs", "images of at least one pixel", f"{size[0]} rows of {size[1]}")
    found: Place = transform._place(*size)
    return found._replace(nearest="pillow") if of_pillow else found


def _one(x: Any, kind: str | None, at: Place, how: Made) -> Any:
    if kind == "mask":
        return pixels.mask(x, at, how)
    if kind == "boxes":
        return coordinates.boxes(x, at)
    return coordinates.points(x, at) if kind == "points" else pixels.image(x, at, how)


# ---- the parts


def _leaves(sample: Any, keys: Keys = ()) -> Iterator[tuple[Keys, Any]]:
    if isinstance(sample, dict) and sample:
        for key, part in sample.items():
            yield from _leaves(part, (*keys, key))
    elif isinstance(sample, (list, tuple)) and sample:
        for key, part in zip(getattr(sample, "_fields", range(len(sample))), sample):
            yield from _leaves(part, (*keys, key))
    else:
        yield keys, sample


def _rebuilt(sample: Any, made: Iterator[Any]) -> Any:
    """The sample with other leaves, in the order of _leaves."""
    if isinstance(sample, dict) and sample:
        again = {} if type(sample) is dict else copy.copy(sample)
        again.update({key: _rebuilt(part, made) for key, part in sample.items()})
        return again
    if isinstance(sample, (list, tuple)) and sample:
        parts = [_rebuilt(part, made) for part in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else type(sample)(parts)
    return next(made)


def _kind(x: Any) -> str | None:
    if type(x) is torch.Tensor or isinstance(x, np.ndarray):
        return "plain"
    if not isinstance(x, torch.Tensor):
        return "image" if pillow_images.is_image(x) else None
    tv: Any = sys.modules.get("torchvision.tv_tensors")
    if tv is None or not isinstance(x, tv.TVTensor):
        return "plain"
    if isinstance(x, (tv.Image, tv.Video)):
        return "image"
    if isinstance(x, tv.Mask):
        return "mask"
    if isinstance(x, tv.BoundingBoxes):
        return "boxes"
    return "points" if isinstance(x, getattr(tv, "KeyPoints", ())) else "unknown"


def _role(keys: Keys, x: Any, masks: Keys) -> str | None:
    kind = _kind(x)
    if any(_leads_to(name, keys) for name in masks):
        if kind in ("boxes", "points") or (kind is None and not (x is None or isinstance(x, (dict, list, tuple)))):
            refuse(TypeError, "masks", "tensors, NumPy arrays and Pillow images", str(Part(keys, x, kind)))
        return kind and "mask"
    if kind == "unknown":
        known = "torchvision's Image, Video, Mask, BoundingBoxes or KeyPoints"
        hint = "; x.as_subclass(torch.Tensor) is passed through"
        refuse(TypeError, "inputs", known + hint, str(Part(keys, x, kind)))
    return kind


def _leads_to(name: str | int, keys: Keys) -> bool:
    """Keys are found in nested parts too, positions in the sample alone."""
    return keys[:1] == (name,) if isinstance(name, int) else name in keys


def _written(keys: Keys) -> str:
    return "sample" + "".join(f"[{key!r}]" for key in keys)


def _size(x: Any, kind: str) -> Size:
    if kind in ("boxes", "points"):
        return tuple(x.canvas_size)
    if isinstance(x, torch.Tensor):
        shape = x.shape
        least = 2 if kind == "mask" else 3
        plain = type(x) is torch.Tensor and kind != "mask"
        if len(shape) < least or (len(shape) == 3 and shape[-1] in (3, 4) and shape[0] > 4 and plain):
            hints = {
                2: "; x[None], or its key in masks",
                3: "; x.permute(2, 0, 1), as only a NumPy array may be (H, W, C)",
            }
            form = "(..., H, W)" if kind == "mask" else "(..., C, H, W)"
            refuse(ValueError, "inputs", f"tensors {form}{hints.get(len(shape), '')}", f"shape {tuple(shape)}")
        return shape[-2], shape[-1]
    if isinstance(x, np.ndarray):
        if x.ndim not in (2, 3) or (x.ndim == 3 and kind != "mask" and channels_first(x.shape)):
            hint = "; a tensor may be (C, H, W)" if x.ndim == 3 else ""
            refuse(ValueError, "inputs", f"arrays (H, W) or (H, W, C){hint}", f"shape {x.shape}")
        return x.shape[0], x.shape[1]
    return x.height, x.width


# ---- what must be said


def _check_names(masks: Keys, found: list[Part]) -> None:
    for name in masks:
        if not any(_leads_to(name, p.keys) for p in found):
            has = list(dict.fromkeys(key for p in found for key in p.keys if isinstance(key, type(name))))
            hint = arguments.did_you_mean(name, has) if isinstance(name, str) else ""
            expected = f"keys and positions of the sample, which has {', '.join(map(repr, has)) or 'none'}"
            refuse(ValueError, "masks", expected, f"{name!r}{hint}")


def _check_rest(found: list[Part], size: Size, how: Made) -> None:
    """Refuses arrays that would be passed through though they may be masks or images of this size, and Pillow images
    that would be averaged though they may be masks. masks=() says that there are no masks."""
    if how.masks == ():
        return
    images = [p for p in found if p.kind == "image"]
    for p in found:
        if p.kind == "plain" and (p_is := _like_a_part(p.x, images, size)):
            _refuse_unsaid(p, how, f"is {p_is}", "to pass it through as it is")
    if how.masks is None and len(images) > 1:
        for p in reversed(images):
            labels = how.dtype is None and pillow_images.is_image(p.x) and p.x.mode in pillow_images.LABELS
            if pillow_images.is_image(p.x) and len(p.x.getbands()) == 1 and not labels:
                _refuse_unsaid(p, how, "has one channel and is beside another image", "for an image")


def _like_a_part(x: Any, images: list[Part], size: Size) -> str | None:
    shape = tuple(x.shape)
    if len(shape) > 1 and (shape[-2:] == size or (isinstance(x, np.ndarray) and shape[:2] == size)):
        return f"of the size of {_written(images[0].keys)}"
    if len(shape) > 1 and sorted(shape)[-2] > 4 and any(_form(x) == _form(p.x) for p in images):
        return f"an array like {_written(images[0].keys)} (a list of images: call the transform for each)"
    return None


def _form(x: Any) -> Any:
    """What the images of a list have in common."""
    if not isinstance(x, (torch.Tensor, np.ndarray)):
        return None
    channels = x.shape[-3:-2] if isinstance(x, torch.Tensor) else x.shape[2:]
    return type(x), x.dtype, len(x.shape), channels


def _refuse_unsaid(p: Part, how: Made, p_is: str, otherwise: str) -> None:
    names = [key for key in p.keys if isinstance(key, str)][-1:] or list(p.keys if len(p.keys) == 1 else ())
    given = (*(how.masks or ()), *names)
    word = f"masks={(given if len(given) > 1 else given[0])!r}" if names else "torchvision's tv_tensors.Mask"
    expected = f"{word} for a mask or masks=() {otherwise}, as {_written(p.keys)} {p_is}"
    refuse(ValueError, "masks", expected, describe(p.x))
