"""Decode the stored pixels of an opened image at their full depth, by Pillow where it keeps every bit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter._arrays import pillow_images
from tenter.cli.formats import CLEAR_PALETTE
from tenter.cli.kept.metadata import Metadata
from tenter.cli.kept.orientation import turn_back
from tenter.cli.picture import Picture
from tenter.cli.reading import deep, tiff
from tenter.cli.refusal import Refusal

if TYPE_CHECKING:
    from PIL import Image

BITS, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 258, 262, 277, 339
KINDS = {"L": "gray", "LA": "gray+alpha", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK", "I": "gray", "F": "gray"}


def read(
    image: Image.Image, file: BinaryIO, metadata: Metadata, keep: frozenset[str], narrow: bool, reduced: int
) -> Picture:
    """Read the only image of a file, or a page of a TIFF. `file` is the one that Pillow has opened. keep: which of
    the kinds palette and bilevel are not to be made colors and gray. narrow: whether colors of AVIF and PNM are wanted
    as 8 bits. reduced: by how much a JPEG's decoder shrinks."""
    tags: dict[int, Any] = dict(getattr(image, "tag_v2", {}))
    head = deep.head_of(file)
    size = (image.height, image.width)
    if found := deep.read(image, head, file, narrow):
        return Picture(*found, metadata)
    if reduced > 1:
        image.draft(None, (image.width // reduced, image.height // reduced))
    image.load()
    if tags and tags.get(SAMPLES, len(image.getbands())) != len(image.getbands()):
        raise Refusal(f"has {tags[SAMPLES]} samples per pixel, but only {len(image.getbands())} could be read")
    kept = _picked(image, keep)
    pixels, kind = kept or _shallow(image, 8 if image.format != "PNG" else head[24], tags)
    # Pillow turns the pixels of a TIFF upright when it loads them; those of other files stay as stored.
    pixels = turn_back(pixels, metadata.orientation) if tags else pixels
    palette = (bytes(image.getpalette() or ()), image.info.get("transparency")) if kind == "palette" else None
    return Picture(pixels, kind, metadata, palette, size=size, reduced=reduced)


def read_frame(image: Image.Image, file: BinaryIO, metadata: Metadata) -> Picture:
    """Read the frame of an animation at which `image` stands, as it is seen: over those before it."""
    image.load()
    if image.format == "PNG" and deep.head_of(file)[24] == 16:
        raise Refusal("is an animation of 16 bits per channel, which is not supported")
    disposal = getattr(image, "disposal_method", None)
    if disposal is None:  # APNG's numbers are one less than GIF's
        disposal = int(image.info.get("disposal", 0)) + 1
    pixels = np.asarray(image.convert("RGBA"))
    return Picture(pixels, "RGBA", metadata, None, float(image.info.get("duration") or 0), disposal)


def without_full_alpha(picture: Picture) -> Picture:
    """A frame that is taken alone: where all of it is opaque, its colors."""
    if not bool((picture.pixels[..., 3] == 255).all()):
        return picture
    return replace(picture, pixels=np.ascontiguousarray(picture.pixels[..., :3]), kind="RGB")


def _picked(image: Image.Image, keep: frozenset[str]) -> tuple[npt.NDArray[Any], str] | None:
    """Pixels that stay what they are, where they are not mixed."""
    kind = {"P": "palette", "1": "bilevel"}.get(image.mode)
    clear = image.has_transparency_data or "transparency" in image.info
    if kind not in keep or (clear and (kind == "bilevel" or CLEAR_PALETTE not in keep)):
        return None
    return np.asarray(image), str(kind)


def _shallow(image: Image.Image, depth: int, tags: dict[int, Any]) -> tuple[npt.NDArray[Any], str]:
    """Return pixels that Pillow reads without loss: 8 bits per channel, or one channel of any depth.

    depth: the bit depth of a PNG.
    """
    key = image.info.get("transparency")
    if image.mode in ("P", "PA"):
        clear = image.mode == "PA" or key is not None or image.has_transparency_data
        image = image.convert("RGBA" if clear else "RGB")
        return _copied(image), image.mode
    if image.mode == "1":
        return _keyed(_copied(image.convert("L")), key, 1), "gray" if key is None else "gray+alpha"
    # Older versions of Pillow read a 16-bit PNG as mode I.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format in ("PNG", "PPM")):
        pixels = _copied(image, np.uint16)
        # Pillow inverts 8-bit images whose zero is white, but not 16-bit ones.
        pixels = tiff.full_range(pixels, tags[BITS][0]) if BITS in tags else pixels
        pixels = np.invert(pixels, out=pixels) if tags.get(PHOTOMETRIC) == 0 else pixels
        return _keyed(pixels, key, 1), "gray" if key is None else "gray+alpha"
    if image.mode == "RGBX":
        return _copied(image)[..., :3], "RGB"
    if image.mode not in KINDS:
        raise Refusal(f"is an image of mode {image.mode}, which is not supported; convert it to RGB or gray first")
    pixels = _copied(image)
    if image.mode == "I":
        pixels = _typed(pixels, tags)
    if key is None:
        return pixels, KINDS[image.mode]
    # The transparent color is given at the file's depth, but Pillow has scaled the pixels to 8 bits.
    scale = {2: 85, 4: 17}.get(depth, 1)
    return _keyed(pixels, key, scale), "RGBA" if image.mode == "RGB" else "gray+alpha"


def _copied(image: Image.Image, dtype: Any = None) -> npt.NDArray[Any]:
    return pillow_images.copied(image, np.empty, dtype)


def _typed(pixels: npt.NDArray[Any], tags: dict[int, Any]) -> npt.NDArray[Any]:
    """Convert pixels of Pillow's mode I, which is int32, to the integer type of the file."""
    bits = tags.get(BITS, (32,))[0]
    if tags.get(SAMPLE_FORMAT, (1,))[0] == 2:
        return pixels.astype(np.int16) if bits == 16 else pixels
    return pixels.view(np.uint32) if bits == 32 else pixels


def _keyed(pixels: npt.NDArray[Any], key: Any, scale: int) -> npt.NDArray[Any]:
    """Add an alpha channel for PNG's transparent color, `key`."""
    if key is None:
        return pixels
    stack = pixels[..., None] if pixels.ndim == 2 else pixels
    full = np.iinfo(pixels.dtype).max
    clear = np.all(stack == np.asarray(key) * scale, axis=-1, keepdims=True)
    return np.concatenate((stack, np.where(clear, 0, full).astype(pixels.dtype)), axis=-1)
