"""What transforms do with a sample: which of its parts are images, masks and boxes, and how each is resized."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
import torch

from tenter import image as pictures, resampling
from tenter._arrays import arguments, pillow_images, torch_tensors
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.names import as_written, take_other_names
from tenter._arrays.types import Array
from tenter._specs.lengths import channels_first
from tenter.torch import normalized
from tenter.torch.normalized import Call
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

    def __str__(self) -> str:
        given = f"interpolation={self.mode}, antialias={self.antialias}"
        rest = {"dtype": self.dtype, "mean": self.mean, "std": self.std}
        return ", ".join([given, *(f"{name}={value}" for name, value in rest.items() if value is not None)])


# ---- arguments


@contextmanager
def checked(
    transform: torch.nn.Module, too_many: tuple[Any, ...], other: dict[str, Any], **given: Any
) -> Iterator[None]:
    """Refusals of a transform's arguments, with its call.

    too_many: arguments by position after those that may be
    other: arguments by names that it does not have
    """
    try:
        if other or too_many:
            take_other_names(type(transform).__init__, other, *too_many[:1])
        yield
    except Refusal as refusal:
        raise error(refusal, called(transform), **as_written(type(transform).__init__, given), **other) from None


def called(transform: torch.nn.Module) -> str:
    return f"tenter.torch.transforms.{type(transform).__name__}"


def made(interpolation: Any, antialias: Any, dtype: Any, mean: Any, std: Any) -> Made:
    mode = getattr(interpolation, "value", interpolation)
    if type(mode) is int:
        if mode not in OF_PILLOW:
            hint = " (did you mean size=(height, width)?)"
            refuse(TypeError, "interpolation", f"one of {', '.join(MODES)}", describe(mode) + hint)
        mode = OF_PILLOW[mode]
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


def span(name: str, given: Any, most: float = math.inf) -> tuple[float, float]:
    """Two numbers. most: what the smaller one may be."""
    expected = "(least, greatest), both above 0" + (f", the least up to {most}" if most < math.inf else "")
    if type(given) is int and name == "scale":
        refuse(TypeError, name, expected, f"{given} (did you mean size=(height, width)?)")
    found = _numbers(name, given, expected)
    if len(found) != 2 or not 0 < found[0] <= min(found[1], most):
        refuse(ValueError, name, expected, describe(given))
    return found[0], found[1]


def probability(name: str, given: Any) -> float:
    if isinstance(given, (bool, str)) or not isinstance(given, SupportsFloat):
        refuse(TypeError, name, "a probability, from 0 to 1", describe(given))
    if not 0 <= float(given) <= 1:
        refuse(ValueError, name, "a probability, from 0 to 1", describe(given))
    return float(given)


def _numbers(name: str, given: Any, expected: str = "numbers, one for each channel") -> tuple[float, ...]:
    try:
        found = tuple(map(float, given))
    except (TypeError, ValueError):
        refuse(TypeError, name, expected, describe(given))
    if not found or not all(map(math.isfinite, found)):
        refuse(ValueError, name, "finite numbers", describe(given))
    return found


# ---- samples


def transformed(transform: Any, inputs: tuple[Any, ...]) -> Any:
    """The inputs of a call, their images, masks and boxes taken from one place; the rest as it is."""
    try:
        sample = inputs[0] if len(inputs) == 1 else inputs
        if kind := _kind(sample):  # one image; the others of this function take time
            return _one(sample, kind, _placed(transform, _size(sample, kind)), transform.made)
        return _transformed_parts(transform, sample)
    except Refusal as refusal:
        raise error(refusal, called(transform), inputs=inputs) from None


def _transformed_parts(transform: Any, sample: Any) -> Any:
    kinds = [(x, kind) for x in _parts(sample) if (kind := _kind(x))]
    if any(kind == "image" for _, kind in kinds):
        chosen = [(x, kind) for x, kind in kinds if kind != "plain"]
    else:
        first = next((x for x, kind in kinds if kind == "plain"), None)
        chosen = [(x, kind) for x, kind in kinds if kind != "plain" or x is first]
    if not chosen:
        hint = "; PIL.Image.open reads a file" if isinstance(sample, (str, Path)) else ""
        refuse(TypeError, "inputs", f"an image: a tensor, a NumPy array or one of Pillow's{hint}", describe(sample))
    sizes = {_size(x, kind) for x, kind in chosen}
    if len(sizes) > 1:
        refuse(ValueError, "inputs", "images, masks and boxes of one size", " and ".join(map(str, sorted(sizes))))
    where, kind_of = _placed(transform, sizes.pop()), {id(x): kind for x, kind in chosen}

    def one(x: Any) -> Any:
        kind = kind_of.get(id(x))
        return _one(x, kind, where, transform.made) if kind else x

    return _mapped(one, sample)


def _placed(transform: Any, size: tuple[int, int]) -> Place:
    if not (size[0] and size[1]):
        refuse(ValueError, "inputs", "images of at least one pixel", f"{size[0]} rows of {size[1]}")
    found: Place = transform._place(*size)
    return found


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
    if type(x) is torch.Tensor or isinstance(x, np.ndarray):
        return "plain"
    if isinstance(x, torch.Tensor):
        tv: Any = sys.modules.get("torchvision.tv_tensors")
        if tv is None:
            return "plain"
        if isinstance(x, (tv.Image, tv.Video)):
            return "image"
        if isinstance(x, tv.Mask):
            return "mask"
        return "boxes" if isinstance(x, tv.BoundingBoxes) else "plain"
    return "image" if pillow_images.is_image(x) else None


def _size(x: Any, kind: str) -> tuple[int, int]:
    if kind == "boxes":
        return tuple(x.canvas_size)
    if isinstance(x, torch.Tensor):
        shape = x.shape
        least = 2 if kind == "mask" else 3
        if len(shape) < least or (len(shape) == 3 and shape[-1] in (3, 4) and shape[0] > 4 and kind == "plain"):
            hints = {2: "; x[None]", 3: "; x.permute(2, 0, 1), as only a NumPy array may be (H, W, C)"}
            refuse(ValueError, "inputs", f"tensors (..., C, H, W){hints.get(len(shape), '')}", f"shape {tuple(shape)}")
        return shape[-2], shape[-1]
    if isinstance(x, np.ndarray):
        if x.ndim not in (2, 3) or (x.ndim == 3 and channels_first(x.shape)):
            hint = "; a tensor may be (C, H, W)" if x.ndim == 3 else ""
            refuse(ValueError, "inputs", f"arrays (H, W) or (H, W, C){hint}", f"shape {x.shape}")
        return x.shape[0], x.shape[1]
    return x.height, x.width


def _one(x: Any, kind: str, at: Place, how: Made) -> Any:
    mode, antialias = how.mode, how.antialias
    if kind == "boxes":
        return _boxes(x, at)
    if isinstance(x, torch.Tensor):
        if kind == "mask":
            y = _resized(_call(x, (-2, -1), at, "nearest-exact", False))
        elif how.dtype is None:
            y = _resized(_call(x, (-2, -1), at, mode, antialias))
        else:
            plain = x if type(x) is torch.Tensor else x.as_subclass(torch.Tensor)
            y = _tensor(_call(plain, (-2, -1), at, mode, antialias), how)
        return y if type(y) is type(x) else torch_tensors.of_type(x, y)  # which a slice has not
    if isinstance(x, np.ndarray):
        call = _call(x, (0, 1), at, mode, antialias)
        return _resized(call) if how.dtype is None else _tensor(call, how)
    pixels = pillow_images.array_of(x)
    if x.mode in pillow_images.LABELS or mode == "nearest":  # like Pillow
        mode = "nearest-exact"
    if x.mode in pillow_images.ALPHA:
        of = _call(pixels, (0, 1), at, mode, True)
        rule: dict[str, Any] = {"mode": of.mode, "antialias": of.antialias, "box": of.box, "alpha": True}
        y = pictures.resize(of.x, of.size, **rule)
    elif how.dtype is None or x.mode == "1":
        y = _resized(_call(pixels, (0, 1), at, mode, True, "pillow"))
    else:
        return _tensor(_call(pixels, (0, 1), at, mode, True, "pillow"), how)
    if how.dtype is None:
        return pillow_images.image_of(y, x)
    return _floats(y.astype(np.uint8) * np.uint8(255) if y.dtype == bool else y, how)


def _call(x: Any, axes: tuple[int, int], at: Place, mode: str, antialias: bool, like: str = "torch") -> Call:
    """The call of `resize` that makes a place of an image. A part of whole pixels is cut first, as torchvision does.
    One of fractions of pixels reads the pixels around it, as a crop of the resized image does."""
    top, left, height, width, size, flip = at
    shape = x.shape
    rows, columns = shape[axes[0]], shape[axes[1]]
    if type(top) is type(left) is type(height) is type(width) is int and (height, width) != (rows, columns):
        part = slice(top, top + height), slice(left, left + width)
        x = x[part] if axes[0] == 0 else x[..., part[0], part[1]]
        top, left, rows, columns = 0, 0, height, width
    box = None
    if flip or (top, left, height, width) != (0, 0, rows, columns):
        box = [(top, top + height), (left + width, left) if flip else (left, left + width)]
    return Call(x, size, None, axes, MODES[mode], antialias and mode not in ("nearest", "nearest-exact"), like, box)


def _resized(of: Call) -> Any:
    x, size, _, axes, mode, antialias, like, box = of
    return resampling.resize(x, size, axes=axes, mode=mode, antialias=antialias, like=like, box=box)  # type: ignore[call-overload]


def _tensor(of: Call, how: Made) -> torch.Tensor:
    """A tensor (..., C, H, W) of the dtype asked for, normalized where its rows are stored if the core can."""
    if normalized.applies(of.x, how.dtype, how.mean):
        y = normalized.resized(of, how.mean, how.std)
        if y is not None:
            return y if how.dtype is torch.float32 else y.to(how.dtype)
    return _floats(_resized(of), how)


def _channels_first(pixels: Array) -> torch.Tensor:
    """A view (C, H, W)."""
    x = torch.from_numpy(pixels)
    return x[None] if x.ndim == 2 else x.permute(2, 0, 1)


def _floats(y: Any, how: Made) -> torch.Tensor:
    """Resized pixels as a tensor (..., C, H, W) of the dtype asked for, scaled and normalized."""
    dtype = how.dtype
    assert dtype is not None
    pixels = y if isinstance(y, torch.Tensor) else _channels_first(y)
    if (pixels.dtype == dtype and how.mean is None) or not dtype.is_floating_point:
        if pixels.dtype != dtype:
            refuse(TypeError, "dtype", f"None, a float dtype, or {pixels.dtype}, which the image has", str(dtype))
        return pixels.contiguous()
    if normalized.applies(pixels, dtype, how.mean):
        made = normalized.of_pixels(y, how.mean, how.std)
        if made is None and not pixels.is_contiguous():  # rows that are columns in memory
            made = normalized.of_pixels(pixels.contiguous(), how.mean, how.std)
        if made is not None:
            return made.to(dtype)
    means, stds = normalized.of_channels(how.mean, how.std, pixels.shape[-3])
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
