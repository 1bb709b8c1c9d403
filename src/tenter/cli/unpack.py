"""Get the pixels out of an opened picture at their full depth, as stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.deep import has_deep_colour, read_deep
from tenter.cli.orientation import turn_back
from tenter.cli.refusal import Refusal

if TYPE_CHECKING:
    from PIL import Image

BITS, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 258, 262, 277, 339
HEADER = 26  # bytes up to a PNG's bit depth and colour type
KINDS = {"L": "grey", "LA": "grey+alpha", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK", "I": "grey", "F": "grey"}


def unpack(image: Image.Image, file: BinaryIO, orientation: int) -> tuple[npt.NDArray[Any], str]:
    """Return the stored pixels and the kind of picture; `file` is what Pillow reads it from."""
    from PIL.TiffImagePlugin import TiffImageFile

    tags: dict[int, Any] = dict(image.tag_v2) if isinstance(image, TiffImageFile) else {}
    place = file.tell()
    file.seek(0)
    header = file.read(HEADER)
    if has_deep_colour(header, tags):
        data = header + file.read()
        file.seek(place)
        return read_deep(image, data, tags, orientation)
    file.seek(place)
    image.load()
    if tags and tags.get(SAMPLES, 1) != len(image.getbands()):
        raise Refusal(f"has {tags[SAMPLES]} samples per pixel, of which only {len(image.getbands())} could be read")
    # a PNG says its bit depth at a fixed place
    pixels, kind = _shallow(image, 8 if tags else header[24], tags)
    # Pillow turns TIFF pixels upright on loading, and no others
    return (turn_back(pixels, orientation) if tags else pixels), kind


def _shallow(image: Image.Image, depth: int, tags: dict[int, Any]) -> tuple[npt.NDArray[Any], str]:
    """Return what Pillow reads without loss: 8 bits per channel, or one channel of any depth."""
    key = image.info.get("transparency")
    if image.mode in ("P", "PA"):
        clear = image.mode == "PA" or key is not None
        image = image.convert("RGBA" if clear else "RGB")
        return np.asarray(image), image.mode
    if image.mode == "1":
        return _keyed(np.asarray(image.convert("L")), key, 1), "grey" if key is None else "grey+alpha"
    # older Pillow reads a 16-bit PNG as mode I
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        pixels = np.asarray(image).astype(np.uint16)
        # Pillow inverts white-is-zero pictures of 8 bits but not of 16
        pixels = ~pixels if tags.get(PHOTOMETRIC) == 0 else pixels
        return _keyed(pixels, key, 1), "grey" if key is None else "grey+alpha"
    if image.mode not in KINDS:
        raise Refusal(f"is a picture of mode {image.mode}, which is not supported; convert it to RGB or grey first")
    pixels = np.asarray(image)
    if image.mode == "I":
        pixels = _whole_numbers(pixels, tags)
    if key is None:
        return pixels, KINDS[image.mode]
    # the key counts in the file's own depth, the pixels have been spread to 8 bits
    spread = {2: 85, 4: 17}.get(depth, 1)
    return _keyed(pixels, key, spread), "RGBA" if image.mode == "RGB" else "grey+alpha"


def _whole_numbers(pixels: npt.NDArray[Any], tags: dict[int, Any]) -> npt.NDArray[Any]:
    """Give Pillow's one 32-bit mode the type that the file has: it reads unsigned numbers as signed."""
    bits = tags.get(BITS, (32,))[0]
    if tags.get(SAMPLE_FORMAT, (1,))[0] == 2:
        return pixels.astype(np.int16) if bits == 16 else pixels
    return pixels.view(np.uint32) if bits == 32 else pixels


def _keyed(pixels: npt.NDArray[Any], key: Any, spread: int) -> npt.NDArray[Any]:
    """Turn PNG's "this colour is transparent" into an alpha channel."""
    if key is None:
        return pixels
    stack = pixels[..., None] if pixels.ndim == 2 else pixels
    full = np.iinfo(pixels.dtype).max
    clear = np.all(stack == np.asarray(key) * spread, axis=-1, keepdims=True)
    return np.concatenate((stack, np.where(clear, 0, full).astype(pixels.dtype)), axis=-1)
