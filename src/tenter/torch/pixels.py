"""How one image or mask of a sample is resized, and becomes a tensor of floats where these are asked for."""

from fractions import Fraction
from typing import Any

import numpy as np
import torch

from tenter import image as pictures, resampling
from tenter._arrays import pillow_images, torch_tensors
from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._arrays.types import Array
from tenter._rules.axis_rule import NEAREST
from tenter._specs.modes import AFTER_DECODERS
from tenter.image import _padded as padded
from tenter.torch import normalized
from tenter.torch.normalized import Call
from tenter.torch.parts import Place, resized_size
from tenter.torch.transform_arguments import MODES, Made


def image(x: Any, at: Place, how: Made) -> Any:
    mode, antialias = how.mode, how.antialias
    of_pillow = pillow_images.is_image(x)
    labels = of_pillow and x.mode in pillow_images.LABELS
    if at.flip and (labels or mode == "box" or mode in NEAREST):
        return _mirrored(image(x, at._replace(flip=False), how))
    mode = _nearest(how) if labels else mode
    if isinstance(x, torch.Tensor):
        if how.dtype is None:
            return _of_type(x, _resized(_call(x, (-2, -1), at, mode, antialias), at, how.pad))
        return _of_type(x, _tensor(_call(torch_tensors.plain(x), (-2, -1), at, mode, antialias), at, how))
    if not of_pillow:
        call = _call(x, (0, 1), at, mode, antialias)
        return _resized(call, at, how.pad) if how.dtype is None else _tensor(call, at, how)
    return _of_pillow(x, at, how._replace(mode=mode), labels)


def _of_pillow(x: Any, at: Place, how: Made, labels: bool) -> Any:
    """labels: whether the image has a palette or one bit, whose padding is a mask's."""
    mode, antialias = how.mode, how.antialias
    if at.inside is not None and x.mode in pillow_images.SIGNED:
        refuse(ValueError, "pad", f"an image of another mode than {x.mode}", describe(x))
    if how.draft and antialias and MODES[mode] in AFTER_DECODERS:
        x, at = _drafted(x, at)
    of = _call(pillow_images.array_of(x), (0, 1), at, mode, antialias)
    if x.mode in pillow_images.ALPHA:
        y = _resized(of, at, how.mask_pad if labels else how.pad, has_alpha=True)
    elif how.dtype is None or x.mode == "1" or x.mode in pillow_images.SIGNED:
        y = _resized(of, at, how.mask_pad if labels else how.pad)
    else:
        return _tensor(of, at, how)
    if how.dtype is None:
        return pillow_images.image_of(y, x)
    y = pillow_images.shown(y, x)
    return _floats(y.astype(np.uint8) * np.uint8(255) if y.dtype == bool else y, how)


def _drafted(x: Any, at: Place) -> tuple[Any, Place]:
    """A JPEG decoded smaller, and where the whole image is there: its last pixels may stand for fewer than others."""
    x, by = pillow_images.drafted(x, min(at.height / resized_size(at)[0], at.width / resized_size(at)[1]))
    height, width = (n // by if n % by == 0 else Fraction(n, by) for n in (at.height, at.width))
    return x, at if by == 1 else at._replace(height=height, width=width)


def mask(x: Any, at: Place, how: Made) -> Any:
    """A mask, whose values are kept. Where images become tensors, it becomes one too."""
    if at.flip:
        return _mirrored(mask(x, at._replace(flip=False), how))
    mode = _nearest(how)
    if isinstance(x, torch.Tensor):
        return _of_type(x, _resized(_call(x, (-2, -1), at, mode, False), at, how.mask_pad, "mask_pad"))
    of_pillow = pillow_images.is_image(x)
    call = _call(pillow_images.array_of(x) if of_pillow else x, (0, 1), at, mode, False)
    y = _resized(call, at, how.mask_pad, "mask_pad")
    if how.dtype is None:
        return pillow_images.image_of(y, x) if of_pillow else y
    y = pillow_images.shown(y, x) if of_pillow else y
    return torch.from_numpy(y) if y.ndim == 2 else _channels_first(y).contiguous()


def _nearest(how: Made) -> str:
    """The nearest mode of a mask, and of an image whose values are labels. Filters are centered on pixels."""
    return how.mode if how.mode in NEAREST else "nearest-exact"


def _mirrored(y: Any) -> Any:
    """Reversed columns. Where two pixels are equally near, or at the end of a box filter, a box of `resize` that runs
    backwards takes the other one."""
    if isinstance(y, torch.Tensor):
        return _of_type(y, y.as_subclass(torch.Tensor).flip(-1))
    if isinstance(y, np.ndarray):
        return np.ascontiguousarray(y[:, ::-1])
    return y.transpose(0)  # Pillow's FLIP_LEFT_RIGHT


def _of_type(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return y if type(y) is type(x) else torch_tensors.of_type(x, y)  # which a slice has not


def _call(x: Any, axes: tuple[int, int], at: Place, mode: str, antialias: bool) -> Call:
    """The call of `resize` that makes a place of an image. A part of whole pixels is cut first, as torchvision does.
    One of fractions of pixels reads the pixels around it, as a crop of the resized image does."""
    top, left, height, width, _, flip, nearest, _ = at
    size = resized_size(at)
    shape = x.shape
    rows, columns = shape[axes[0]], shape[axes[1]]
    if type(top) is type(left) is type(height) is type(width) is int and (height, width) != (rows, columns):
        part = slice(top, top + height), slice(left, left + width)
        x = x[part] if axes[0] == 0 else x[..., part[0], part[1]]
        top, left, rows, columns = 0, 0, height, width
    box = None
    if flip or (top, left, height, width) != (0, 0, rows, columns):
        box = [(top, top + height), (left + width, left) if flip else (left, left + width)]
    if mode in NEAREST:  # PyTorch's "nearest" takes the pixel at the corner, Pillow's the one at the center
        return Call(x, size, None, axes, MODES[mode], False, nearest, box)
    return Call(x, size, None, axes, MODES[mode], antialias, None, box)


def _resized(of: Call, at: Place, pad: Any, name: str = "pad", has_alpha: bool = False) -> Any:
    """pad: the value beside the image, by an argument of this name."""
    x, size, _, axes, mode, antialias, like, box = of
    rule: dict[str, Any] = {"mode": mode, "antialias": antialias, "like": like, "box": box}

    def made(room: Any) -> Any:
        if has_alpha:
            return pictures.resize(x, size, alpha=True, out=room, **rule)
        return resampling.resize(x, size, axes=axes, out=room, **rule)

    if at.inside is None:
        return made(None)
    if isinstance(x, torch.Tensor):
        x = torch_tensors.plain(x)
        axes = (x.ndim - 2, x.ndim - 1)
    channel = axes[0] - 1 if axes[0] else 2
    value = padded.check(name, pad, x, channel if 0 <= channel < x.ndim else None, has_alpha)
    return padded.around(x, at.size, at.inside, axes, channel, value, made)


def _tensor(of: Call, at: Place, how: Made) -> torch.Tensor:
    """A tensor (..., C, H, W) of the dtype asked for, normalized where its rows are stored if the core can. Padding is
    normalized like the image."""
    if at.inside is None and normalized.applies(of.x, how.dtype, how.mean):
        y = normalized.resized(of, how.mean, how.std)
        if y is not None:
            return y if how.dtype is torch.float32 else y.to(how.dtype)
    return _floats(_resized(of, at, how.pad), how)


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
