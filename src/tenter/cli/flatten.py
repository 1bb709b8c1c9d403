"""--background: draw an image with transparency over a color, and the color of padding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.picture import Picture
from tenter.cli.refusal import Refusal, require

Color = tuple[int, int, int]
#: pixels laid on the background at a time
CHUNK = 1 << 18


def parse_color(text: str) -> Color:
    """Parse a color of CSS: a name, #rgb, #rrggbb, rgb(...)."""
    require("PIL")
    from PIL import ImageColor

    try:
        color = ImageColor.getrgb(text)
        if len(color) == 3:
            return color
    except ValueError:
        pass
    raise Refusal(f"--background: expected an opaque color, such as white or #ffcc00, got {text!r}")


def flattened(picture: Picture, color: Color) -> Picture:
    """The image as it is seen on a background, mixed in sRGB values as browsers do; as it is if it has no alpha."""
    if not picture.alpha:
        return picture
    stack = picture.pixels
    gray = picture.kind == "gray+alpha"
    if gray and len(set(color)) > 1:
        stack, gray = stack[..., [0, 0, 0, 1]], False
    kind = "gray" if gray else "RGB"
    return replace(picture, pixels=_laid_on(stack, np.array(color[:1] if gray else color)), kind=kind)


def padding(picture: Picture, color: Color | None) -> tuple[Picture, Any]:
    """The image in colors that padding of a color needs, and the value of the padding, as `image.Fit` takes it; without
    a color it is transparent, black or 0."""
    if color is None:
        return picture, 0
    if picture.alpha or picture.kind not in ("gray", "RGB"):
        known = "is a color of gray and RGB images, and --pad without it pads with 0"
        raise Refusal(f"--background: {known}; this image is {picture.kind}")
    if picture.kind == "gray" and len(set(color)) > 1:
        picture = replace(picture, pixels=np.stack([picture.pixels] * 3, -1), kind="RGB")
    each = tuple((np.array(color[: 1 if picture.kind == "gray" else 3]) * _white(picture.pixels.dtype)).tolist())
    return picture, each


def _white(dtype: np.dtype[Any]) -> float:
    """What 255 of 8 bits are, by 255."""
    return np.iinfo(dtype).max // 255 if dtype.kind in "ui" else 1 / 255


def _laid_on(stack: npt.NDArray[Any], color: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Opaque pixels. Whole numbers are rounded to the nearest, halves up."""
    dtype, channels = stack.dtype, stack.shape[2] - 1
    whole = dtype.kind in "ui"
    full = np.iinfo(dtype).max if whole else 1
    real: Any = np.float64 if dtype.itemsize > 2 else np.uint32 if whole else np.float32
    behind = (color * _white(dtype)).astype(real)
    flat = np.empty((*stack.shape[:2], channels), dtype)
    rows = max(1, CHUNK // stack.shape[1])
    for top in range(0, len(stack), rows):
        part = stack[top : top + rows].astype(real)
        alpha = part[..., -1:]
        mixed = part[..., :-1] * alpha + behind * (full - alpha)
        flat[top : top + rows] = (mixed + full // 2) // full if whole else mixed / full
    return flat[..., 0] if channels == 1 else flat
