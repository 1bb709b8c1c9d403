"""Write images, and animations of WebP and AVIF, by Pillow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tenter.cli.formats import CODESTREAMS, register
from tenter.cli.kept.exif import exif_block
from tenter.cli.kept.metadata import Metadata
from tenter.cli.kept.stated import with_chunks
from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.encoding import Encoding
from tenter.cli.writing.frames import Rest

if TYPE_CHECKING:
    from PIL import Image

MODES = {"gray": "L", "gray+alpha": "LA", "RGB": "RGB", "RGBA": "RGBA", "CMYK": "CMYK", "palette": "P", "plain": "L"}
DEEP_MODES = {"uint16": "I;16", "float32": "F"}
SHARED = ("L", "I;16", "RGBA", "CMYK")  # whose memory may be an array's
CHUNK = 1 << 20  # bytes that are copied at a time
TILE = 1024  # the side of a tile of JPEG 2000, which is encoded in one go: no interrupt is answered meanwhile
CLEARED = 2  # what becomes of a frame, in GIF's numbers
#: By default: as near to the image as JPEG's default, or nearer.
QUALITY = {"WEBP": 80, "AVIF": 65, "HEIF": 65}


def write(file: BinaryIO, picture: Picture, path: str, type_: str, origin: Origin, encoding: Encoding) -> None:
    """Write one image."""
    register(type_)
    image = image_of(picture)
    suffix = Path(path).suffix.lower()
    options: dict[str, Any] = {}
    if type_ == "PNG":
        options = carried_by_png(picture)
        file = with_chunks(file, picture.metadata)
    elif type_ in QUALITY:
        options = _lossy(picture, type_, origin, encoding)
    elif type_ == "JPEG2000":
        options = {
            "no_jp2": suffix in CODESTREAMS,
            "mct": int(picture.kind == "RGB"),
            "comment": picture.metadata.comment,
        }
        if picture.pixels.size > TILE * TILE:  # the encoder holds many copies of a tile
            options["tile_size"] = (TILE, TILE)
    elif type_ == "BMP":
        options = {"dpi": picture.metadata.dpi} if picture.metadata.dpi else {}
    elif type_ == "ICO":
        options = {"sizes": [image.size]}
    elif type_ == "QOI" and picture.kind == "gray":
        image = image.convert("RGB")
    image.save(file, type_, **options)


def write_frames(file: BinaryIO, pictures: Iterator[Picture], type_: str, origin: Origin, encoding: Encoding) -> None:
    """Write the frames of a WebP or AVIF, which Pillow takes one after another."""
    durations: list[int] = []
    kind = {"gray": "RGB", "gray+alpha": "RGBA"}.get(origin.kind, origin.kind)  # of gray, Pillow looks at all first

    def image(picture: Picture) -> Image.Image:
        durations.append(round(picture.duration))
        return image_of(as_kind(picture, kind) if kind else picture)

    first = next(pictures)
    options = _lossy(first, type_, origin, encoding)
    rest = Rest((image(picture) for picture in pictures), origin.frames - 1)
    options |= {"save_all": True, "append_images": [rest], "loop": origin.plays, "duration": durations}
    image(first).save(file, type_, **options)


def image_of(picture: Picture) -> Image.Image:
    """Pillow's image of the pixels."""
    from PIL import Image

    pixels = np.ascontiguousarray(picture.pixels)
    if picture.kind == "bilevel":
        return Image.fromarray(pixels.astype(bool))
    mode = DEEP_MODES.get(pixels.dtype.name, MODES[picture.kind])
    height, width = pixels.shape[:2]
    if mode in SHARED and picture.palette is None:
        return Image.frombuffer(mode, (width, height), pixels.reshape(-1).view(np.uint8), "raw", mode, 0, 1)
    image = Image.new(mode, (width, height))
    rows = max(1, CHUNK // max(pixels[:1].nbytes, 1))
    for top in range(0, height, rows):
        chunk = pixels[top : top + rows]
        image.paste(Image.frombytes(mode, (width, len(chunk)), chunk.tobytes()), (0, top))
    if picture.palette is not None:
        colors, transparency = picture.palette
        image.putpalette(colors)
        if transparency is not None:
            image.info["transparency"] = transparency
    return image


def as_kind(picture: Picture, kind: str) -> Picture:
    """An image in a kind that `common_kind` found for it and others."""
    if picture.kind == kind:
        return picture
    if picture.kind in ("palette", "bilevel"):
        mode = {"gray": "L", "gray+alpha": "LA"}.get(kind, kind)
        return replace(picture, pixels=np.asarray(image_of(picture).convert(mode)), kind=kind, palette=None)
    stack = picture.pixels if picture.pixels.ndim == 3 else picture.pixels[..., None]
    colors = stack[..., : stack.shape[-1] - picture.alpha]
    if kind.startswith("RGB") and colors.shape[-1] == 1:
        colors = colors.repeat(3, -1)
    if kind in ("gray+alpha", "RGBA"):
        full = np.iinfo(stack.dtype).max if stack.dtype.kind in "ui" else 1
        alpha = stack[..., -1:] if picture.alpha else np.full_like(stack[..., :1], full)
        colors = np.concatenate((colors, alpha), -1)
    return replace(picture, pixels=np.ascontiguousarray(colors[..., 0] if kind == "gray" else colors), kind=kind)


def carried_by_png(picture: Picture) -> dict[str, Any]:
    """The metadata that Pillow writes into a PNG."""
    from PIL.PngImagePlugin import PngInfo

    metadata, texts = picture.metadata, PngInfo()
    for key, value in metadata.text.items():
        texts.add_text(key, value)
    if metadata.comment:
        texts.add_text("Comment", _text(metadata.comment))
    if metadata.xmp:
        texts.add_itxt("XML:com.adobe.xmp", _text(metadata.xmp))
    profile = None if metadata.chunks else metadata.icc
    options = {"icc_profile": profile, "exif": exif_block(metadata, _seen(picture)), "pnginfo": texts}
    return options | ({"dpi": metadata.dpi} if metadata.dpi else {})


def _lossy(picture: Picture, type_: str, origin: Origin, encoding: Encoding) -> dict[str, Any]:
    metadata: Metadata = picture.metadata
    options: dict[str, Any] = {"icc_profile": metadata.icc, "xmp": metadata.xmp or b""}
    if block := exif_block(metadata, _seen(picture)):
        options["exif"] = block.removeprefix(b"Exif\0\0") if type_ == "WEBP" else block
    options["quality"] = encoding.quality or QUALITY[type_]
    if type_ == "WEBP":
        options["lossless"] = encoding.quality is None and origin.lossless
        options["method"] = 4
    elif encoding.subsampling and type_ == "AVIF":
        options["subsampling"] = encoding.subsampling
    return options


def _seen(picture: Picture) -> Any:
    """Pixels for a thumbnail, where a JPEG holds them."""
    if picture.metadata.thumbnail is None or picture.kind not in ("gray", "RGB", "RGBA"):
        return None
    pixels = picture.pixels[..., :3] if picture.kind == "RGBA" else picture.pixels
    return pixels if pixels.dtype in (np.uint8, np.uint16) else None


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
