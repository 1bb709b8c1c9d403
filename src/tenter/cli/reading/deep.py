"""Read colors of more than 8 bits per channel, which Pillow silently reads as 8 bits, and deep gray, which it holds
twice: imagecodecs decodes PNG, JPEG 2000 and AVIF, tifffile reads TIFF."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.picture import KINDS
from tenter.cli.reading import pnm, tiff
from tenter.cli.reading.tiff import full_range
from tenter.cli.refusal import Refusal, require

if TYPE_CHECKING:
    from PIL import Image

BITS, COMPRESSION, SAMPLES, SAMPLE_FORMAT, EXTRA = 258, 259, 277, 339, 338
SIGNED, DEPTH_OF_VOLUME = 2, 32997
#: compressions that tifffile reads by itself: none and deflate
BY_TIFFFILE = (1, 8, 32946)
#: compressions that builds of Pillow may lack: LERC, LZMA, Zstandard, WebP, JPEG XL
BY_IMAGECODECS = (34887, 34925, 50000, 50001, 50002, 52546)
#: enough for the headers of every type but TIFF, whose tags Pillow reads
HEAD = 1 << 16


def head_of(file: BinaryIO) -> bytes:
    """The first bytes of a file; its position stays."""
    position = file.tell()
    file.seek(0)
    head = file.read(HEAD)
    file.seek(position)
    return head


def read(image: Image.Image, head: bytes, file: BinaryIO, narrow: bool = False) -> tuple[npt.NDArray[Any], str] | None:
    """The stored pixels and their kind if they are deeper than Pillow reads them, else None. narrow: whether 8 bits
    are accepted although the file has more."""
    tags: dict[int, Any] = dict(getattr(image, "tag_v2", {}))
    if tags:
        return tiff.read_page(file, image.tell()) if _is_deep(tags, image) else None
    if image.format == "PNG" and head[24] == 16 and head[25] in (2, 4, 6):  # fixed places of bit depth and color type
        require("imagecodecs")
        import imagecodecs

        return _of(imagecodecs.png_decode(_all(file)))
    if image.format == "PPM":
        return None if narrow and image.mode == "RGB" else pnm.read(image, file)
    if image.format == "AVIF" and not (narrow or less_deep(image, head)) and (bits := avif_bits(head)) > 8:
        import imagecodecs

        return _of(full_range(imagecodecs.avif_decode(_all(file)), bits))
    if image.format == "JPEG2000" and image.mode not in ("L", "I;16") and (bits := jpeg2000_bits(head)) > 8:
        require("imagecodecs")
        import imagecodecs

        pixels = imagecodecs.jpeg2k_decode(_all(file))
        if pixels.dtype != np.uint16:
            raise Refusal(f"is a JPEG 2000 image of {bits} bits per channel, which is not supported")
        return _of(full_range(pixels, bits))
    return None


def less_deep(image: Image.Image, head: bytes, narrow: bool = False) -> bool:
    """Whether fewer bits are read than the file has: as 8 are enough, or nothing here reads them all."""
    if image.format == "AVIF":
        some = getattr(image, "n_frames", 1) > 1 or not _has_imagecodecs()
        return (narrow or some) and avif_bits(head) > 8
    if image.format == "SGI":
        return head[3] == 2  # bytes per channel
    if image.format == "PPM" and image.mode == "RGB":
        decoder, _, _, args = pnm.tile(image)
        return isinstance(args, tuple) and int(args[1]) > 255 and (narrow or decoder != "ppm")
    return False


def avif_bits(head: bytes) -> int:
    """Bits per channel, by two flags in the codec's configuration."""
    found = re.search(rb"av1C..(.)", head, re.DOTALL)
    flags = found[1][0] if found else 0
    return 8 if not flags & 0x40 else 12 if flags & 0x20 else 10


def jpeg2000_bits(head: bytes) -> int:
    """Bits per channel, of the first component in the marker SIZ, which follows the start of the codestream."""
    start = head.find(b"\xff\x4f\xff\x51")
    return (head[start + 42] & 0x7F) + 1 if 0 <= start < len(head) - 42 else 8


def _is_deep(tags: dict[int, Any], image: Image.Image) -> bool:
    samples = tags.get(SAMPLES, 1)
    if samples > 1 and max(tags.get(BITS, (1,))) > 8:
        return True
    # Pillow reads the colors alone of an image whose fourth channel is of unknown meaning.
    if image.mode == "La" or tags.get(DEPTH_OF_VOLUME, 1) > 1:
        return True
    if tags.get(COMPRESSION, 1) in BY_IMAGECODECS and _has_imagecodecs():
        return True
    if SIGNED in tags.get(SAMPLE_FORMAT, ()) and max(tags.get(BITS, (1,))) <= 8:  # which Pillow reads as unsigned
        return True
    if samples > len(image.getbands()) or (samples > 3 and 0 in tags.get(EXTRA, ())):
        return True
    return image.mode in ("I", "F") and (tags.get(COMPRESSION, 1) in BY_TIFFFILE or _has_imagecodecs())


def _has_imagecodecs() -> bool:
    return importlib.util.find_spec("imagecodecs") is not None


def _all(file: BinaryIO) -> bytes:
    position = file.tell()
    file.seek(0)
    data = file.read()
    file.seek(position)
    return data


def _of(pixels: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], str]:
    return np.ascontiguousarray(pixels), KINDS[1 if pixels.ndim == 2 else pixels.shape[2]]
