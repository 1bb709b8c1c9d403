"""Decode the stored pixels of an opened picture at their full depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.deep import has_deep_color, read_deep
from tenter.cli.orientation import turn_back
from tenter.cli.refusal import Refusal

if TYPE_CHECKING:
    from PIL import Image

BITS, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 258, 262, 277, 339
BAND = 1 << 22  # bytes copied at a time
HEADER = 26  # bytes, up to and including bit depth and color type of a PNG
KINDS = {"L": "gray", "LA": "gray+alpha", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK", "I": "gray", "F": "gray"}


def unpack(image: Image.Image, file: BinaryIO, orientation: int) -> tuple[npt.NDArray[Any], str]:
    """Return the stored pixels and the kind of picture. `file` is the file that Pillow has opened."""
    from PIL.TiffImagePlugin import TiffImageFile

    tags: dict[int, Any] = dict(image.tag_v2) if isinstance(image, TiffImageFile) else {}
    position = file.tell()
    file.seek(0)
    header = file.read(HEADER)
    if has_deep_color(header, tags):
        data = header + file.read()
        file.seek(position)
        return read_deep(image, data, tags, orientation)
    file.seek(position)
    image.load()
    if tags and tags.get(SAMPLES, 1) != len(image.getbands()):
        raise Refusal(f"has {tags[SAMPLES]} samples per pixel, of which only {len(image.getbands())} could be read")
    pixels, kind = _shallow(image, 8 if tags else header[24], tags)
    # Pillow turns the pixels of a TIFF upright when it loads them; those of other files stay as stored.
    return (turn_back(pixels, orientation) if tags else pixels), kind


def _shallow(image: Image.Image, depth: int, tags: dict[int, Any]) -> tuple[npt.NDArray[Any], str]:
    """Return pixels that Pillow reads without loss: 8 bits per channel, or one channel of any depth.

    depth: the bit depth of a PNG.
    """
    key = image.info.get("transparency")
    if image.mode in ("P", "PA"):
        clear = image.mode == "PA" or key is not None
        image = image.convert("RGBA" if clear else "RGB")
        return _copied(image), image.mode
    if image.mode == "1":
        return _keyed(_copied(image.convert("L")), key, 1), "gray" if key is None else "gray+alpha"
    # Older versions of Pillow read a 16-bit PNG as mode I.
    if image.mode.startswith("I;16") or (image.mode == "I" and image.format == "PNG"):
        pixels = _copied(image).astype(np.uint16, copy=False)
        # Pillow inverts 8-bit pictures whose zero is white, but not 16-bit ones.
        pixels = ~pixels if tags.get(PHOTOMETRIC) == 0 else pixels
        return _keyed(pixels, key, 1), "gray" if key is None else "gray+alpha"
    if image.mode not in KINDS:
        raise Refusal(f"is a picture of mode {image.mode}, which is not supported; convert it to RGB or gray first")
    pixels = _copied(image)
    if image.mode == "I":
        pixels = _typed(pixels, tags)
    if key is None:
        return pixels, KINDS[image.mode]
    # The transparent color is given at the file's depth, but Pillow has scaled the pixels to 8 bits.
    scale = {2: 85, 4: 17}.get(depth, 1)
    return _keyed(pixels, key, scale), "RGBA" if image.mode == "RGB" else "gray+alpha"


def _copied(image: Image.Image) -> npt.NDArray[Any]:
    """The pixels as an array, a band at a time: np.asarray(image) takes their memory three times over."""
    first = np.asarray(image.crop((0, 0, image.width, 1)))
    pixels = np.empty((image.height, *first.shape[1:]), first.dtype)
    rows = max(1, BAND // first.nbytes)
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        pixels[top:bottom] = np.asarray(image.crop((0, top, image.width, bottom)))
    return pixels


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
