"""Colors of a profile as sRGB, by littleCMS: Pillow's for 8 bits per channel, imagecodecs' for 16."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.formats import PROFILE
from tenter.cli.kept.icc import of_equal_colors, space_of
from tenter.cli.kept.metadata import in_srgb
from tenter.cli.kept.stated import OF_SRGB
from tenter.cli.picture import Picture
from tenter.cli.refusal import Refusal, require
from tenter.cli.writing.pillow import image_of

Pixels = npt.NDArray[Any]
#: What the summary says of an image whose inks are made RGB, and of colors that are not those of the input.
CONVERTED, PROFILE_CONVERTED = "CMYK (converted to sRGB)", f"{PROFILE} (converted to sRGB)"
#: The space in which a profile must be to speak of an image of this kind, and how many channels it has.
SPACES = {
    "gray": ("GRAY", 1), "gray+alpha": ("GRAY", 1), "RGB": ("RGB", 3), "RGBA": ("RGB", 3), "palette": ("RGB", 3),
    "CMYK": ("CMYK", 4),
}  # fmt: skip
#: types in whose files gray is stored as colors, as in animated AVIF
GRAY_AS_RGB = ("WEBP", "HEIF")
KINDS = {"GRAY": "gray", "RGB": "RGB", "CMYK": "CMYK"}
#: A profile that moves no color further than so many levels of 255 is sRGB, rounded in another way.
SAME = 1
#: levels of gray, or of each of red, green and blue, at which profiles are compared
GRID = np.linspace(0, 255, 18).round().astype(np.uint8)


def fitted(picture: Picture, type_: str, moves: bool) -> tuple[Picture, list[str]]:
    """The image with a profile of the numbers that a file of `type_` stores; and the name of one that no program could
    follow, as it speaks of other numbers."""
    icc = picture.metadata.icc
    space = "GRAY" if picture.kind == "bilevel" else SPACES.get(picture.kind, ("", 0))[0]
    if icc is None or not space:
        return picture, []
    if space_of(icc) != space:
        made = replace(picture, metadata=replace(picture.metadata, icc=None, chunks={}))
        return made, [f"{PROFILE} (of {space_of(icc)}, not {space})"]
    if space == "GRAY" and (type_ in GRAY_AS_RGB or (type_ == "AVIF" and moves)):
        if (made_of_it := of_equal_colors(icc, OF_SRGB)) is None:
            made, said = as_srgb(picture)
            return made, [said]
        return replace(picture, metadata=replace(picture.metadata, icc=made_of_it)), []
    return picture, []


def is_of_inks(picture: Picture) -> bool:
    """Whether a profile says what the inks of this CMYK image look like."""
    return picture.kind == "CMYK" and _speaks_of(picture.metadata.icc, "CMYK")


def as_srgb(picture: Picture) -> tuple[Picture, str]:
    """The image in sRGB and without profile, CMYK as RGB; and what the summary says of its profile, if it had one.

    A profile that is damaged, or of another space than the pixels, says nothing of them: no program follows it. Inks
    without a profile each take away one color. Numbers other than 8 and 16 bits stay as they are."""
    icc = picture.metadata.icc
    space, channels = SPACES.get(picture.kind, ("", 0))
    speaks = _speaks_of(icc, space)
    made = replace(picture, metadata=in_srgb(picture.metadata))
    if space == "CMYK" and not speaks:
        return replace(made, pixels=np.asarray(image_of(picture).convert("RGB")), kind="RGB"), CONVERTED
    if icc is None:
        return made, ""
    if not speaks or _is_srgb(icc, space):
        return made, PROFILE
    if picture.pixels.dtype not in (np.uint8, np.uint16):
        return made, f"{PROFILE} (not converted: {picture.pixels.dtype})"
    if picture.palette is not None:
        triples, transparency = picture.palette
        colors = _converted(np.frombuffer(triples, np.uint8).reshape(1, -1, 3), icc, space)
        return replace(made, palette=(colors.tobytes(), transparency)), PROFILE_CONVERTED
    stack = picture.pixels if picture.pixels.ndim == 3 else picture.pixels[..., None]
    colors = _converted(stack[..., :channels], icc, space)
    if picture.alpha:
        colors = np.concatenate((colors, stack[..., channels:]), axis=-1)
    if picture.pixels.ndim == 2:
        colors = colors[..., 0]
    if space == "CMYK":
        return replace(made, pixels=colors, kind="RGB"), CONVERTED
    return replace(made, pixels=colors), PROFILE_CONVERTED


def _converted(colors: Pixels, icc: bytes, space: str) -> Pixels:
    """Gray, RGB or CMYK pixels (H, W, C) as gray or RGB of sRGB."""
    if colors.dtype == np.uint16:
        require("imagecodecs")
        import imagecodecs

        flat = np.ascontiguousarray(colors[..., 0] if space == "GRAY" else colors)
        made = imagecodecs.cms_transform(
            flat, icc, _srgb(), colorspace=space.lower(), outcolorspace="rgb", intent=imagecodecs.CMS.INTENT.PERCEPTUAL
        )
    else:
        from PIL import ImageCms

        pixels = colors[..., 0] if space == "GRAY" else colors
        made = np.asarray(ImageCms.applyTransform(image_of(Picture(pixels, KINDS[space])), _transform(icc, space)))
    return made[..., 1:2] if space == "GRAY" else made


@lru_cache(4)
def _transform(icc: bytes, space: str) -> Any:
    from PIL import ImageCms

    mode = {"GRAY": "L"}.get(space, space)
    return ImageCms.buildTransform(ImageCms.ImageCmsProfile(io.BytesIO(icc)), _srgb_profile(), mode, "RGB")


def _speaks_of(icc: bytes | None, space: str) -> bool:
    """Whether a profile is whole, and says how numbers of this space look."""
    if icc is None or not space:
        return False
    from PIL import ImageCms

    try:
        _transform(icc, space)
    except ImportError:
        raise Refusal("colors are converted by littleCMS, which this Pillow was built without") from None
    except (ImageCms.PyCMSError, OSError):
        return False
    return True


@lru_cache(4)
def _is_srgb(icc: bytes, space: str) -> bool:
    if space == "CMYK":
        return False
    axes = (GRID,) * SPACES[KINDS[space]][1]
    colors = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(1, -1, len(axes))
    return int(np.abs(_converted(colors, icc, space).astype(int) - colors).max()) <= SAME


def _srgb_profile() -> Any:
    from PIL import ImageCms

    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def _srgb() -> bytes:
    found: bytes = _srgb_profile().tobytes()
    return found
