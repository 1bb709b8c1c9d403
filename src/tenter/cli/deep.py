"""Read 16-bit color by OpenCV, and compare with Pillow, which silently reads it as 8 bits."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tenter.cli.orientation import ORIENTATION, turn_upright
from tenter.cli.refusal import Refusal, require

if TYPE_CHECKING:
    from PIL import Image

BITS, PHOTOMETRIC, SAMPLES, PLANAR, EXTRA = 258, 262, 277, 284, 338
PNG_GRAY_ALPHA, PNG_RGB = 4, 2


def has_deep_color(header: bytes, tags: dict[int, Any]) -> bool:
    """Whether the file has several channels of more than 8 bits, according to its header."""
    if tags:
        return bool(tags.get(SAMPLES, 1) > 1 and max(tags.get(BITS, (1,))) > 8)
    # The first chunk of a PNG is its header, with bit depth and color type at fixed offsets.
    return header[:4] == b"\x89PNG" and header[24] == 16 and header[25] in (2, 4, 6)


def read_deep(image: Image.Image, data: bytes, tags: dict[int, Any], orientation: int) -> tuple[npt.NDArray[Any], str]:
    """Return the stored 16-bit pixels in RGB order and the kind of picture. `image` is the 8-bit version of Pillow."""
    if tags:
        _check_tiff(tags)
        data = _without_orientation(data)
    pixels = _decode(data)
    kind = "RGBA" if pixels.shape[-1] == 4 else "RGB"
    _check_agreement(pixels, image, orientation if tags else 1)
    if tags:
        return pixels, kind
    if data[25] == PNG_GRAY_ALPHA:
        return np.ascontiguousarray(pixels[..., 2:]), "gray+alpha"
    key = image.info.get("transparency")
    if data[25] == PNG_RGB and key is not None:
        clear = np.all(pixels[..., :3] == key, axis=-1, keepdims=True)
        return np.concatenate((pixels[..., :3], np.where(clear, 0, 65535).astype(np.uint16)), axis=-1), "RGBA"
    return pixels, kind


def _decode(data: bytes) -> npt.NDArray[Any]:
    require("cv2", "cli16")
    import cv2

    # OpenCV logs unusual tags to stderr, where the command prints one line only.
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    pixels: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.dtype != np.uint16 or pixels.ndim != 3 or pixels.shape[2] not in (3, 4):
        raise Refusal("is a 16-bit color picture that OpenCV cannot read")
    return np.ascontiguousarray(pixels[..., [2, 1, 0, 3][: pixels.shape[2]]])


def _check_tiff(tags: dict[int, Any]) -> None:
    samples = tags.get(SAMPLES, 1)
    if set(tags[BITS]) != {16} or tags.get(PHOTOMETRIC) != 2 or samples not in (3, 4):
        raise Refusal("is a deep-color TIFF other than 16-bit RGB or RGBA, which is not supported")
    if tags.get(PLANAR, 1) != 1:
        raise Refusal("is a 16-bit TIFF with its channels in separate planes, which is not supported")
    if samples == 4 and tags.get(EXTRA, (2,))[0] != 2:
        raise Refusal("is a 16-bit TIFF whose fourth channel is not plain alpha, which is not supported")


def _without_orientation(data: bytes) -> bytes:
    """Set the orientation tag to upright, as OpenCV would turn the pixels by it, and the stored ones are needed."""
    order = "<" if data[:2] == b"II" else ">"
    if struct.unpack(order + "H", data[2:4])[0] != 42:
        raise Refusal("is a 16-bit color BigTIFF, which is not supported")
    patched = bytearray(data)
    start = struct.unpack(order + "L", data[4:8])[0]
    for entry in range(struct.unpack_from(order + "H", data, start)[0]):
        offset = start + 2 + 12 * entry
        if struct.unpack_from(order + "H", data, offset)[0] == ORIENTATION:
            struct.pack_into(order + "H", patched, offset + 8, 1)
    return bytes(patched)


def _check_agreement(pixels: npt.NDArray[Any], image: Image.Image, orientation: int) -> None:
    """Refuse a picture of which the two decoders give different upper 8 bits: one of them has misread the file."""
    seen = turn_upright(pixels, orientation) >> 8
    # The conversion makes Pillow decode the whole file, which detects truncation. OpenCV returns a part instead.
    other = np.asarray(image.convert("RGBA" if pixels.shape[2] == 4 and len(image.getbands()) == 4 else "RGB"))
    if other.shape[:2] != seen.shape[:2] or not np.array_equal(other, seen[..., : other.shape[2]]):
        raise Refusal("is a 16-bit color picture on which Pillow and OpenCV do not agree")
