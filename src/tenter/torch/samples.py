"""What transforms do with a sample: which of its parts are images, masks and boxes, and how each is resized."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch

from tenter import image as pictures, resampling
from tenter._arrays import arguments, pillow_images, torch_tensors
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.types import Array
from tenter._specs.lengths import channels_first

# torchvision's words for modes and ours, and Pillow's numbers for torchvision's words.
MODES = {
    "bilinear": "linear", "bicubic": "cubic", "nearest": "nearest", "nearest-exact": "nearest-exact",
    "lanczos": "lanczos", "box": "box", "hamming": "hamming",
}  # fmt: skip
OF_PILLOW = {0: "nearest-exact", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


class Place(NamedTuple):
    """The part of the input that is taken, the size that it gets, and whether its columns are reversed."""

    top: int | Fraction
    left: int | Fraction
    height: int | Fraction
    width: int | Fraction
    size: tuple[int, int]
    flip: bool = False


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


# ---- parts of images


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
        if x.ndim not in (2, 3) or channels_first(x.shape):
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
            y = _resized(x, (-2, -1), at, "nearest-exact", False)
        else:
            y = _resized(x, (-2, -1), at, how.mode, how.antialias)
            y = y if how.dtype is None else _floats(y.as_subclass(torch.Tensor), how)
        return torch_tensors.of_type(x, y)  # which a slice has not
    if isinstance(x, np.ndarray):
        y = _resized(x, (0, 1), at, how.mode, how.antialias)
        return y if how.dtype is None else _floats(_channels_first(y), how)
    pixels = pillow_images.array_of(x)
    mode = "nearest-exact" if x.mode in pillow_images.LABELS or how.mode == "nearest" else how.mode  # like Pillow
    y = _resized(pixels, (0, 1), at, mode, True, "pillow", x.mode in pillow_images.ALPHA)
    if how.dtype is None:
        return pillow_images.image_of(y, x)
    return _floats(_channels_first(y.astype(np.uint8) * np.uint8(255) if y.dtype == bool else y), how)


def _resized(
    x: Any, axes: tuple[int, int], at: Place, mode: str, antialias: bool, like: str = "torch", alpha: bool = False
) -> Any:
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
    how: dict[str, Any] = {"mode": MODES[mode], "antialias": antialias, "box": box}
    if alpha:
        return pictures.resize(x, at.size, alpha=True, **how)
    return resampling.resize(x, at.size, axes=axes, **how, like=like)  # type: ignore[call-overload]


def _lengths(x: Any, axes: tuple[int, int]) -> tuple[int, int]:
    return x.shape[axes[0]], x.shape[axes[1]]


def _channels_first(pixels: Array) -> torch.Tensor:
    """A view (C, H, W)."""
    x = torch.from_numpy(pixels)
    return x[None] if x.ndim == 2 else x.permute(2, 0, 1)


def _floats(x: torch.Tensor, how: Made) -> torch.Tensor:
    """The dtype asked for, scaled and normalized by one product and one sum for each channel."""
    dtype = how.dtype
    if dtype is None or (x.dtype == dtype and how.mean is None):
        return x.contiguous()
    if not dtype.is_floating_point:
        if x.dtype != dtype:
            refuse(TypeError, "dtype", f"None, a float dtype, or {x.dtype}, which the image has", str(dtype))
        return x.contiguous()
    full = 1.0 if x.dtype.is_floating_point else float(torch.iinfo(x.dtype).max)
    y = x.to(dtype, memory_format=torch.contiguous_format, copy=True)
    if how.mean is None or how.std is None:
        return y.mul_(1 / full)
    if len(how.mean) not in (1, x.shape[-3]):
        refuse(ValueError, "mean", f"{x.shape[-3]} numbers, one for each channel", str(len(how.mean)))
    many = x.shape[-3]
    for c, (m, s) in enumerate(zip(how.mean * (many // len(how.mean)), how.std * (many // len(how.std)))):
        y.select(-3, c).mul_(1 / (full * s)).add_(-m / s)  # each channel while it is in the cache
    return y


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
