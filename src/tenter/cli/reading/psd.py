"""Photoshop documents, of which Pillow reads the flattened image: what else their file says."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from tenter.cli.picture import Picture
from tenter.cli.refusal import Refusal

LAYERS, CHANNELS = "layers", "further channels"
#: numbers of resources: the resolution, whether there is a flattened image, EXIF, XMP
RESOLUTION, VERSION, EXIF, XMP = 1005, 1057, 1058, 1060
#: grays, palettes, RGB, CMYK and duotones, which are grays to any other program
MODES = {1: "grayscale", 2: "palette", 3: "RGB", 4: "CMYK", 8: "duotone"}
HEAD = 26


def check_head(file: BinaryIO) -> None:
    """Refuse what Pillow does not read, or not as Photoshop shows it."""
    _, bits, mode = _head(file)
    if bits != 8 or mode not in MODES:
        raise Refusal(f"is a Photoshop document of {bits} bits per channel and mode {mode}, which is not read")


def prepare(image: Any) -> None:
    """Enter the metadata where Pillow has that of other types. Refuse a document without a flattened image."""
    resources = {number: data for number, _, data in image.resources}
    if resources.get(VERSION, b"\0\0\0\0\1")[4:5] == b"\0":
        raise Refusal("is a Photoshop document without a flattened image; save it with maximized compatibility")
    if EXIF in resources:
        image.info["exif"] = b"Exif\0\0" + resources[EXIF]
    if XMP in resources:
        image.info["xmp"] = resources[XMP]
    image.info["photoshop"] = resources
    if RESOLUTION in resources:
        across, _, _, down = struct.unpack_from(">LHHL", resources[RESOLUTION])
        image.info["dpi"] = (across / 65536, down / 65536)


def unread(image: Any, file: BinaryIO) -> list[str]:
    """The parts of the document that are not read."""
    channels, _, _ = _head(file)
    found = [LAYERS] if abs(_layers(file)) > 1 else []
    selection = image.mode == "RGBA" and not is_clear(file)
    return [*found, CHANNELS] if selection or channels > len(image.getbands()) else found


def without_white(picture: Picture, file: BinaryIO) -> Picture:
    """The flattened image without the white that Photoshop lays under colors that are partly clear; without the fourth
    channel if that is a selection."""
    colors = picture.pixels[..., :3]
    if not is_clear(file):
        return replace(picture, pixels=np.ascontiguousarray(colors), kind="RGB")
    alpha = picture.pixels[..., 3:].astype(np.int32)
    seen = (colors.astype(np.int32) + alpha - 255) * 255 // np.maximum(alpha, 1)
    return replace(picture, pixels=np.concatenate((seen.clip(0, 255).astype(np.uint8), picture.pixels[..., 3:]), -1))


def is_clear(file: BinaryIO) -> bool:
    """Whether the fourth channel of the flattened image is its transparency, and not a saved selection: then the number
    of layers is negative."""
    return _layers(file) < 0


def _layers(file: BinaryIO) -> int:
    position = file.tell()
    file.seek(HEAD)
    for _ in range(2):  # the palette and the resources
        file.seek(_number(file), 1)
    there = _number(file) > 4 and _number(file) > 1
    count: int = struct.unpack(">h", file.read(2))[0] if there else 0
    file.seek(position)
    return count


def _number(file: BinaryIO) -> int:
    found: int = struct.unpack(">L", file.read(4))[0]
    return found


def _head(file: BinaryIO) -> tuple[int, int, int]:
    """The number of channels, bits per channel, and the mode."""
    position = file.tell()
    file.seek(0)
    channels, _, _, bits, mode = struct.unpack(">12xHLLHH", file.read(HEAD))
    file.seek(position)
    return channels, bits, mode
