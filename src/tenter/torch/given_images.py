"""One image or video of a list that a transform is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from tenter._arrays import pillow_images
from tenter._arrays.arguments import describe
from tenter._arrays.errors import Refusal, refuse
from tenter._specs.lengths import channels_first


@contextmanager
def at(k: int, many: int) -> Iterator[None]:
    """Refusals of one image, with its position in a list."""
    try:
        yield
    except Refusal as refusal:
        kind, message = refusal.args
        name, _, rest = message.partition(": ")
        of_image = name in ("x", "images", "inputs")
        place = f"images[{k}]" if many > 1 else "images"
        raise Refusal(kind, f"{place}: {rest}" if of_image else f"{message} (of {place})") from None


def picture(x: Any) -> Any:
    """An image or video in a form that is resized: a Pillow image of mode RGB, an array (H, W) or (H, W, C), a tensor
    (C, H, W) or (T, C, H, W)."""
    if pillow_images.is_image(x):
        if x.mode.startswith(("I", "F")):
            refuse(ValueError, "images", "8-bit images", describe(x))
        return x if x.mode == "RGB" else x.convert("RGB")
    if isinstance(x, torch.Tensor):
        if x.ndim not in (3, 4) or (x.shape[-1] in (3, 4) and x.shape[-3] > 4):
            refuse(ValueError, "images", "tensors (C, H, W), or (T, C, H, W) of a video", f"shape {tuple(x.shape)}")
        return x
    if not isinstance(x, np.ndarray):
        expected = "an image: a tensor, a NumPy array or one of Pillow's; or a list of these"
        refuse(TypeError, "images", expected, describe(x))
    if x.ndim not in (2, 3, 4) or (x.ndim > 2 and channels_first(x.shape[-3:])):
        refuse(ValueError, "images", "arrays (H, W, C), or (T, H, W, C) of a video", f"shape {x.shape}")
    return x if x.ndim < 4 else torch.from_numpy(x).permute(0, 3, 1, 2)


def sides(x: Any) -> tuple[int, int]:
    if pillow_images.is_image(x):
        return x.height, x.width
    return (x.shape[-2], x.shape[-1]) if isinstance(x, torch.Tensor) else (x.shape[0], x.shape[1])


def is_video(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.ndim == 4
