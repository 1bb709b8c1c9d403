"""Samples of tenter.torch.transforms: image, mask, boxes and points of one thing, a rectangle, stay of one thing."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tenter.torch import transforms

from ..helpers.torchvision_stand_in import tv_tensors
from .call import Call, text
from .draw import Draw
from .oracle import Wrong

MODES = ("bilinear", "bicubic", "lanczos", "box", "hamming", "nearest", "nearest-exact")
IMAGES = ("tensor", "Image", "numpy", "gray", "RGB", "RGBA", "P", "1", "I;16", "F")
MASKS = ("Mask", "tensor", "numpy", "Pillow")
FIELDS = ("pixels of the mask", "edges of the mask", "points", "edges of the image")


def errors(seed: int, image: str, mask: str, mode: str, floats: bool) -> np.ndarray:
    """How far the parts of a random sample are apart after a random transform, in units of what they may be."""
    r, tv = Draw(seed), tv_tensors()
    torch.manual_seed(seed)
    h, w = r.int(5, 70), r.int(5, 70)
    (top, bottom), (left, right) = (sorted(r.some(range(n + 1), 2)) for n in (h, w))
    inside = np.zeros((h, w), bool)
    inside[top:bottom, left:right] = True
    corners = torch.tensor([[left, top], [right, bottom]], dtype=torch.float64)
    form = r.pick(("XYXY", "XYWH", "CXCYWH"))
    sample = {
        "image": _image(inside, image, tv),
        "label": 7,
        "mask": _mask(inside, mask, tv),
        "boxes": tv.BoundingBoxes(_written(corners, form)[None], format=form, canvas_size=(h, w)),
        "points": tv.KeyPoints(corners, canvas_size=(h, w)) if hasattr(tv, "KeyPoints") else corners,
    }
    transform, flip = _transform(r, {"interpolation": mode, "antialias": r.chance(0.7), "masks": "mask"}, floats, image)
    made = transform(sample)
    pixels, kept = _rows(made["image"]), _rows(made["mask"]) == 7
    size = kept.shape
    if not (pixels.shape == size == tuple(made["boxes"].canvas_size) and made["label"] == 7):
        raise Wrong("shape", f"image {pixels.shape}, mask {size}, boxes {made['boxes'].canvas_size}")
    if not set(np.unique(_rows(made["mask"]))) <= {0, 7}:
        raise Wrong("values", f"labels {np.unique(_rows(made['mask']))}")
    near = mode.startswith("nearest") or image in ("P", "1")
    of_mask = float((kept != (pixels > _half(made["image"]))).any()) * 2 if near else 0.0
    box = _corners(made["boxes"].as_subclass(torch.Tensor)[0], form).numpy()
    # A pixel is inside where its center is; by PyTorch's "nearest" where its corner is.
    of_edges = _apart(kept, box) / (1.001 if mode == "nearest" else 0.501)
    points = made["points"].as_subclass(torch.Tensor).numpy().copy()
    of_points = 0.0
    if hasattr(tv, "KeyPoints"):
        if flip:  # a point is a pixel, whose mirror image is one less than an edge's
            points[:, 0] = points[::-1, 0] + 1
        of_points = float(np.abs(np.clip(points, 0, size[::-1]) - box).max()) / 1e-9
    sides = box[1] - box[0]
    scale = min(a / b for a, b in zip(size, _part(transform, h, w)))
    wide = min(sides) > 8 * max(1.0, scale) if not near else False
    of_image = _apart(pixels > _half(made["image"]), box) / 1.01 if wide else 0.0
    return np.array([of_mask, of_edges, of_points, of_image])


def _part(transform: Any, h: int, w: int) -> tuple[float, float]:
    """The least part that the transform can have taken."""
    least = 0.3 if isinstance(transform, transforms.RandomResizedCrop) else 1.0
    if isinstance(transform, transforms.ResizeCenterCrop):
        least = min(transform.crop_size) / transform.resize_size
    return h * least, w * least


def _transform(r: Draw, given: dict[str, Any], floats: bool, image: str) -> tuple[Any, bool]:
    if floats:
        given |= r.pick(({"dtype": torch.float32}, {"mean": (0.5,), "std": (0.25,)}))
    size, kind = (r.int(1, 90), r.int(1, 90)), r.pick(("Resize", "RandomResizedCrop", "ResizeCenterCrop", "Thumbnail"))
    if r.chance(0.2):
        return transforms.Letterbox(
            size, gravity=r.pick(("center", "northeast")), enlarge=r.chance(0.7), **given
        ), False
    if kind == "RandomResizedCrop":
        flip = r.chance(0.5)
        return transforms.RandomResizedCrop(size, (0.3, 1.0), flip=float(flip), **given), flip
    if kind == "ResizeCenterCrop":
        return transforms.ResizeCenterCrop(size, r.int(max(size), 120), **given), False
    return getattr(transforms, kind)(size, **given), False


def _image(inside: np.ndarray, kind: str, tv: Any) -> Any:
    from PIL import Image

    gray = inside.astype(np.uint8) * np.uint8(255)
    if kind in ("tensor", "Image"):
        x = torch.from_numpy(gray)[None].expand(3, -1, -1)
        return x if kind == "tensor" else tv.Image(x)
    if kind == "numpy":
        return gray[..., None].repeat(3, 2)
    if kind in ("I;16", "F"):
        return Image.fromarray(gray.astype(np.uint16) * np.uint16(257) if kind == "I;16" else inside.astype(np.float32))
    if kind == "P":
        indexed = Image.fromarray(inside.astype(np.uint8)).convert("P")
        indexed.putpalette([0, 0, 0, 255, 255, 255])
        return indexed
    return Image.fromarray(gray).convert({"gray": "L"}.get(kind, kind))


def _mask(inside: np.ndarray, kind: str, tv: Any) -> Any:
    from PIL import Image

    labels = inside.astype(np.uint8) * np.uint8(7)
    if kind == "numpy":
        return labels.astype(np.int32)
    if kind == "Pillow":
        return Image.fromarray(labels)
    return torch.from_numpy(labels).long() if kind == "tensor" else tv.Mask(torch.from_numpy(labels)[None])


def _rows(x: Any) -> np.ndarray:
    """One channel of an image or mask."""
    if isinstance(x, torch.Tensor):
        x = x.as_subclass(torch.Tensor).numpy()
        return x.reshape(-1, *x.shape[-2:])[0]
    x = np.asarray(x)
    return x[..., 0] if x.ndim == 3 else x


def _half(image: Any) -> float:
    """The middle between the two colors."""
    if isinstance(image, torch.Tensor) and image.is_floating_point():
        return 0.0 if bool((image.as_subclass(torch.Tensor) < -1).any()) else 0.5
    return {"P": 0.5, "1": 0.5, "F": 0.5, "I;16": 32768.0}.get(getattr(image, "mode", ""), 127.5)


def _written(corners: torch.Tensor, form: str) -> torch.Tensor:
    first, second = corners
    if form == "XYXY":
        return torch.cat([first, second])
    return torch.cat([first if form == "XYWH" else (first + second) / 2, second - first])


def _corners(box: torch.Tensor, form: str) -> torch.Tensor:
    first, second = box[:2], box[2:]
    if form == "XYXY":
        return torch.stack([first, second])
    first = first - second / 2 if form == "CXCYWH" else first
    return torch.stack([first, first + second])


def _apart(inside: np.ndarray, box: np.ndarray) -> float:
    """The largest distance between an edge of the pixels that are inside, and of the box; 0 if no pixel is, as of a box
    that is narrower than one."""
    if not inside.any():
        return 0.0 if min(box[1] - box[0]) <= 1.0 + 1e-6 else 1e9
    found = []
    for axis in (1, 0):
        hit = np.flatnonzero(inside.any(1 - axis))
        found.append([hit[0], hit[-1] + 1])
    return float(np.abs(np.array(found).T - box).max())


def sample(r: Draw) -> Call:
    given = [r.int(0, 2**31), r.pick(IMAGES), r.pick(MASKS), r.pick(MODES), r.chance(0.4)]
    if given[1] in ("RGBA", "P", "I;16", "F"):
        given[4] = False  # of which floats have another half, or more channels than mean

    def verify(y: Any) -> None:
        if not (y <= 1).all():
            raise Wrong("values", "; ".join(f"{name}: {v:.3f}" for name, v in zip(FIELDS, y)))

    return Call("", f"y = samples.errors({', '.join(map(text, given))})", {}, verify)


KINDS = {"transforms": (sample, 0.4)}
