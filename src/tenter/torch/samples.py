"""What transforms do with a sample: which of its parts are images, masks and boxes, and how each is resized."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from tenter import image as pictures, resampling
from tenter._arrays import arguments, pillow_images, torch_tensors
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.types import Array
from tenter._specs.lengths import channels_first
from tenter.torch import normalized
from tenter.torch.parts import Place

# torchvision's words for modes and ours, and Pillow's numbers for torchvision's words.
MODES = {
    "bilinear": "linear", "bicubic": "cubic", "nearest": "nearest", "nearest-exact": "nearest-exact",
    "lanczos": "lanczos", "box": "box", "hamming": "hamming",
}  # fmt: skip
OF_PILLOW = {0: "nearest-exact", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


class Made(NamedTuple):
    """How images are resized and converted. mean, std: of each channel, after scaling to 0..1."""

    mode: str
    antialias: bool
    dtype: torch.dtype | None
    mean: tuple[float, ...] | None
    std: tuple[float, ...] | None

    def of_channels(self, channels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """mean and std of every channel: 0 and 1 if they are not given."""
        mean, std = self.mean or (0.0,), self.std or (1.0,)
        if len(mean) not in (1, channels):
            refuse(ValueError, "mean", f"{channels} numbers, one for each channel", str(len(mean)))
        return mean * (channels // len(mean)), std * (channels // len(std))

    def __str__(self) -> str:
        given = f"interpolation={self.mode}, antialias={self.antialias}"
        rest = {"dtype": self.dtype, "mean": self.mean, "std": self.std}
        return ", ".join([given, *(f"{name}={value}" for name, value in rest.items() if value is not None)])


# ---- arguments


@contextmanager
def checked(transform: torch.nn.Module, **shown: Any) -> Iterator[None]:
    """Refusals of a transform's arguments, with its call."""
    try:
        yield
    except Refusal as refusal:
        raise error(refusal, f"torch.transforms.{type(transform).__name__}", **shown) from None


def made(interpolation: Any, antialias: Any, dtype: Any, mean: Any, std: Any) -> Made:
    mode = getattr(interpolation, "value", interpolation)
    if type(mode) is int:
        mode = OF_PILLOW.get(mode, mode)
    arguments.one_of("interpolation", mode, tuple(MODES))
    arguments.flag("antialias", antialias, optional=True)
    if dtype is not None and not isinstance(dtype, torch.dtype):
        refuse(TypeError, "dtype", "a dtype of PyTorch, such as torch.float32", describe(dtype))
    if (mean is None) != (std is None):
        refuse(ValueError, "std" if std is None else "mean", "both mean and std, or neither", "one of them")
    if mean is None:
        return Made(mode, antialias is not False, dtype, None, None)
    if dtype is not None and not dtype.is_floating_point:
        refuse(ValueError, "dtype", "a float one with mean and std", describe(dtype))
    means, stds = _numbers("mean", mean), _numbers("std", std)
    if len(means) != len(stds):
        refuse(ValueError, "std", f"{len(means)} numbers, as mean has", str(len(stds)))
    if not all(s > 0 for s in stds):
        refuse(ValueError, "std", "numbers above 0", describe(std))
    return Made(mode, antialias is not False, dtype or torch.float32, means, stds)


def pair(name: str, size: Any) -> tuple[int, int]:
    found = arguments.sizes(name, [size], least=1)
    if len(found) not in (1, 2):
        refuse(ValueError, name, "(height, width), or one number for both", describe(size))
    return found[0], found[-1]


def span(name: str, given: Any) -> tuple[float, float]:
    found = _numbers(name, given)
    if len(found) != 2 or not 0 < found[0] <= found[1]:
        refuse(ValueError, name, "(least, greatest), both above 0", describe(given))
    return found[0], found[1]


def probability(name: str, given: Any) -> float:
    (found,) = _numbers(name, [given])
    if not 0 <= found <= 1:
        refuse(ValueError, name, "a number from 0 to 1", describe(given))
    return found


def _numbers(name: str, given: Any) -> tuple[float, ...]:
    try:
        found = tuple(map(float, given))
    except (TypeError, ValueError):
        refuse(TypeError, name, "numbers", describe(given))
    if not found or not all(map(math.isfinite, found)):
        refuse(ValueError, name, "finite numbers", describe(given))
    return found


# ---- samples


def transformed(inputs: tuple[Any, ...], place: Callable[[int, int], Place], how: Made) -> Any:
    """The inputs of a call, their images, masks and boxes taken from one place; the rest as it is."""
    sample = inputs[0] if len(inputs) == 1 else inputs
    parts = list(_parts(sample))
    plain = [x for x in parts if _kind(x) == "plain"][:1] if not any(_kind(x) == "image" for x in parts) else []
    chosen = [x for x in parts if _kind(x) in ("image", "mask", "boxes") or any(x is p for p in plain)]
    if not chosen:
        refuse(TypeError, "inputs", "an image: a tensor, a NumPy array or one of Pillow's", describe(sample))
    sizes = {_size(x) for x in chosen}
    if len(sizes) > 1:
        refuse(ValueError, "inputs", "images, masks and boxes of one size", " and ".join(map(str, sorted(sizes))))
    where, ids = place(*sizes.pop()), {id(x) for x in chosen}

    def one(x: Any) -> Any:
        return _one(x, where, how) if id(x) in ids else x

    return _mapped(one, sample)


def _parts(sample: Any) -> Iterator[Any]:
    if isinstance(sample, dict):
        sample = list(sample.values())
    if isinstance(sample, (list, tuple)):
        for part in sample:
            yield from _parts(part)
    else:
        yield sample


def _mapped(function: Callable[[Any], Any], sample: Any) -> Any:
    if isinstance(sample, dict):
        made = {key: _mapped(function, part) for key, part in sample.items()}
        return made if type(sample) is dict else type(sample)(made)
    if isinstance(sample, (list, tuple)):
        parts = [_mapped(function, part) for part in sample]
        return type(sample)(*parts) if hasattr(sample, "_fields") else type(sample)(parts)
    return function(sample)


def _kind(x: Any) -> str | None:
    """image, mask, boxes, plain, or None for what is passed through."""
    if isinstance(x, torch.Tensor):
        tv: Any = sys.modules.get("torchvision.tv_tensors")
        if tv is None or type(x) is torch.Tensor:
            return "plain"
        if isinstance(x, (tv.Image, tv.Video)):
            return "image"
        if isinstance(x, tv.Mask):
            return "mask"
        return "boxes" if isinstance(x, tv.BoundingBoxes) else "plain"
    if pillow_images.is_image(x):
        return "image"
    return "plain" if isinstance(x, np.ndarray) else None


def _size(x: Any) -> tuple[int, int]:
    if pillow_images.is_image(x):
        return x.height, x.width
    if _kind(x) == "boxes":
        return tuple(x.canvas_size)
    if isinstance(x, np.ndarray):
        if x.ndim not in (2, 3) or (x.ndim == 3 and channels_first(x.shape)):
            hint = "; a tensor may be (C, H, W)" if x.ndim == 3 else ""
            refuse(ValueError, "inputs", f"arrays (H, W) or (H, W, C){hint}", f"shape {x.shape}")
        return x.shape[0], x.shape[1]
    least = 2 if _kind(x) == "mask" else 3
    if x.ndim < least or (x.ndim == 3 and x.shape[-1] in (3, 4) and x.shape[0] > 4 and _kind(x) == "plain"):
        hint = "; x.permute(2, 0, 1), as only a NumPy array may be (H, W, C)" if x.ndim == 3 else ""
        refuse(ValueError, "inputs", f"tensors (..., C, H, W){hint}", f"shape {tuple(x.shape)}")
    return x.shape[-2], x.shape[-1]


def _one(x: Any, at: Place, how: Made) -> Any:
    kind = _kind(x)
    if kind == "boxes":
        return _boxes(x, at)
    if isinstance(x, torch.Tensor):
        if kind == "mask":
            y = _resized(x, at, _rule(x, (-2, -1), at, "nearest-exact", False))
        elif how.dtype is None:
            y = _resized(x, at, _rule(x, (-2, -1), at, how.mode, how.antialias))
        else:
            y = _tensor(x.as_subclass(torch.Tensor), (-2, -1), at, how, how.mode, how.antialias)
        return torch_tensors.of_type(x, y)  # which a slice has not
    if isinstance(x, np.ndarray):
        if how.dtype is None:
            return _resized(x, at, _rule(x, (0, 1), at, how.mode, how.antialias))
        return _tensor(x, (0, 1), at, how, how.mode, how.antialias)
    pixels = pillow_images.array_of(x)
    mode = "nearest-exact" if x.mode in pillow_images.LABELS or how.mode == "nearest" else how.mode  # like Pillow
    if x.mode in pillow_images.ALPHA:
        rule = _rule(pixels, (0, 1), at, mode, True)
        weighed: dict[str, Any] = {"mode": rule.mode, "antialias": rule.antialias, "box": rule.box, "alpha": True}
        y = pictures.resize(rule.part, at.size, **weighed)
    elif how.dtype is None or x.mode == "1":
        y = _resized(pixels, at, _rule(pixels, (0, 1), at, mode, True, "pillow"))
    else:
        return _tensor(pixels, (0, 1), at, how, mode, True, "pillow")
    if how.dtype is None:
        return pillow_images.image_of(y, x)
    return _floats(y.astype(np.uint8) * np.uint8(255) if y.dtype == bool else y, how)


class Rule(NamedTuple):
    """The part of an image that a call of `resize` reads, and its arguments."""

    part: Any
    axes: tuple[int, int]
    mode: str
    antialias: bool
    like: str
    box: list[tuple[Any, Any]] | None


def _rule(x: Any, axes: tuple[int, int], at: Place, mode: str, antialias: bool, like: str = "torch") -> Rule:
    """A part of whole pixels is cut first, as torchvision does. One of fractions of pixels reads the pixels around it,
    as a crop of the resized image does."""
    top, left, height, width = at[:4]
    if all(type(n) is int for n in at[:4]):
        rows, columns = slice(top, top + height), slice(left, left + width)
        x = x[rows, columns] if axes[0] == 0 else x[..., rows, columns]
        top = left = 0
    turned = (left + width, left) if at.flip else (left, left + width)
    whole = not at.flip and (0, 0, *_lengths(x, axes)) == (top, left, height, width)
    box = None if whole else [(top, top + height), turned]
    if mode in ("nearest", "nearest-exact"):
        antialias = False
    return Rule(x, axes, MODES[mode], antialias, like, box)


def _resized(x: Any, at: Place, rule: Rule) -> Any:
    part, axes, mode, antialias, like, box = rule
    return resampling.resize(part, at.size, axes=axes, mode=mode, antialias=antialias, like=like, box=box)  # type: ignore[call-overload]


def _tensor(
    x: Any, axes: tuple[int, int], at: Place, how: Made, mode: str, antialias: bool, like: str = "torch"
) -> torch.Tensor:
    """A tensor (..., C, H, W) of the dtype asked for, normalized where its rows are stored if the core can."""
    rule = _rule(x, axes, at, mode, antialias, like)
    channels = x.shape[-3] if isinstance(x, torch.Tensor) else x.shape[2] if x.ndim == 3 else 1
    if normalized.applies(x, how.dtype, how.mean):
        each = normalized.native(*how.of_channels(channels))
        made = normalized.resized(rule.part, at.size, rule.axes, each, rule.mode, rule.antialias, rule.like, rule.box)
        if made is not None:
            return made if how.dtype is torch.float32 else made.to(how.dtype)
    return _floats(_resized(x, at, rule), how)


def _lengths(x: Any, axes: tuple[int, int]) -> tuple[int, int]:
    return x.shape[axes[0]], x.shape[axes[1]]


def _channels_first(pixels: Array) -> torch.Tensor:
    """A view (C, H, W)."""
    x = torch.from_numpy(pixels)
    return x[None] if x.ndim == 2 else x.permute(2, 0, 1)


def _floats(y: Any, how: Made) -> torch.Tensor:
    """Resized pixels as a tensor (..., C, H, W) of the dtype asked for, scaled and normalized."""
    dtype = how.dtype
    assert dtype is not None
    pixels = y if isinstance(y, torch.Tensor) else _channels_first(y)
    many = pixels.shape[-3]
    if (pixels.dtype == dtype and how.mean is None) or not dtype.is_floating_point:
        if pixels.dtype != dtype:
            refuse(TypeError, "dtype", f"None, a float dtype, or {pixels.dtype}, which the image has", str(dtype))
        return pixels.contiguous()
    means, stds = how.of_channels(many)
    if normalized.applies(pixels, dtype, how.mean):
        made = normalized.of_pixels(y, normalized.native(means, stds))
        if made is not None:
            return made.to(dtype)
    wide = torch.float64 if torch.float64 in (dtype, pixels.dtype) else torch.float32
    floats = pixels.to(wide, memory_format=torch.contiguous_format, copy=True)
    if not pixels.dtype.is_floating_point:
        floats.div_(torch.iinfo(pixels.dtype).max)
    if how.mean is not None:
        for c, (m, s) in enumerate(zip(means, stds)):  # each channel while it is in the cache
            floats.select(-3, c).sub_(m).div_(torch.tensor(s, dtype=wide, device=floats.device))
    return floats.to(dtype)


def _boxes(x: Any, at: Place) -> Any:
    """Bounding boxes in the part, cut at its edges."""
    form = getattr(x.format, "value", x.format)
    if form not in ("XYXY", "XYWH", "CXCYWH"):
        refuse(ValueError, "inputs", "bounding boxes XYXY, XYWH or CXCYWH", str(form))
    height, width = at.size
    values = x.as_subclass(torch.Tensor).double()
    first, second = values[..., :2], values[..., 2:]
    if form != "XYXY":
        first = first - second / 2 if form == "CXCYWH" else first
        second = first + second
    offset = torch.tensor([float(at.left), float(at.top)], dtype=torch.float64)
    factor = torch.tensor([width / at.width, height / at.height], dtype=torch.float64)
    most = torch.tensor([float(width), float(height)], dtype=torch.float64)
    first, second = (
        ((corner - offset) * factor).clamp(torch.zeros(2, dtype=torch.float64), most) for corner in (first, second)
    )
    if at.flip:
        mirror = first.new_tensor([-1.0, 1.0])
        left, right = (corner * mirror + first.new_tensor([width, 0.0]) for corner in (first, second))
        first, second = torch.stack([right[..., 0], left[..., 1]], -1), torch.stack([left[..., 0], right[..., 1]], -1)
    if form != "XYXY":
        second = second - first
        first = first + second / 2 if form == "CXCYWH" else first
    found = torch.cat([first, second], -1).to(x.dtype)
    return sys.modules["torchvision.tv_tensors"].wrap(found, like=x, canvas_size=at.size)
