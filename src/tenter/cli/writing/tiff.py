"""Write TIFF files by tifffile: pages of any depth and kind with their metadata."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.kept import iptc
from tenter.cli.kept.metadata import EXIF_IFD, GPS_IFD, IPTC_TAG, XMP_TAG, Metadata
from tenter.cli.picture import ByteOrder, Origin, Picture
from tenter.cli.refusal import require

PHOTOMETRIC = {"RGB": "rgb", "RGBA": "rgb", "CMYK": "separated", "palette": "palette"}
BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 1, 2, 3, 4, 5, 7
CLASSIC_LIMIT = 2**32 - 2**25
STRIP = 1 << 20  # bytes
HORIZONTAL = 2
#: Tags of a file's layout, which EXIF of a camera may repeat.
LAYOUT = {
    *range(254, 270), 273, *range(275, 282), *range(284, 296), 317, *range(320, 333), *range(338, 348),
    *range(512, 533),
}  # fmt: skip


def write(file: BinaryIO, pictures: Iterator[Picture], origin: Origin) -> None:
    """Write pages without loss: compressed by deflate, unless the source was a TIFF that was not compressed."""
    require("tifffile")
    import tifffile

    # tifffile writes no EXIF directories, and reads what it has written: in memory, compressed.
    whole, metadata = io.BytesIO(), []
    first = next(pictures)
    large = first.pixels.nbytes * origin.frames > CLASSIC_LIMIT
    with tifffile.TiffWriter(whole, byteorder=origin.byteorder, bigtiff=large) as writer:
        for picture in chain([first], pictures):
            options = {**layout(picture, origin.compressed), **carried(picture.metadata)}
            if origin.compressed or picture.kind == "bilevel":  # whose bits tifffile packs
                writer.write(picture.pixels, **options)
            else:
                _write_strips(writer, picture.pixels, origin.byteorder, options)
            metadata.append(picture.metadata)
    add_directories(whole, metadata)
    file.write(whole.getbuffer())


def _write_strips(writer: Any, pixels: npt.NDArray[Any], byteorder: ByteOrder, options: dict[str, Any]) -> None:
    """Write pixels as they are, some rows at a time: tifffile copies all of them once or twice."""
    dtype = pixels.dtype.newbyteorder(byteorder)
    rows = max(1, STRIP // max(1, pixels[:1].nbytes))
    strips = (pixels[top : top + rows].astype(dtype).tobytes() for top in range(0, len(pixels), rows))
    writer.write(strips, shape=pixels.shape, dtype=dtype, rowsperstrip=rows, **options)


def layout(picture: Picture, compressed: bool) -> dict[str, Any]:
    """How tifffile stores the pixels."""
    pixels, kind = picture.pixels, picture.kind
    options: dict[str, Any] = {"photometric": PHOTOMETRIC.get(kind, "minisblack"), "metadata": None, "software": False}
    options |= {"maxworkers": 1, "contiguous": False, "compression": "zlib" if compressed else None}
    if compressed and pixels.dtype.kind in "ui" and kind not in ("bilevel", "palette"):
        options["predictor"] = HORIZONTAL
    if pixels.ndim == 3:
        options["planarconfig"] = "contig"
    if picture.alpha:
        options["extrasamples"] = ["unassalpha"]
    elif kind == "channels":
        options["extrasamples"] = ["unspecified"] * (pixels.shape[2] - 1)
    if kind == "palette" and picture.palette is not None:
        colors = np.frombuffer(picture.palette[0].ljust(768, b"\0"), np.uint8).reshape(256, 3)
        options["colormap"] = colors.T.astype(np.uint16) * 257
    return options


def carried(metadata: Metadata) -> dict[str, Any]:
    """The metadata that tifffile writes. For each nested directory it leaves a place, under a number one lower."""
    tags: list[tuple[int, int, int | None, Any, bool]] = []
    for number, value in metadata.tags.items():
        if number in LAYOUT:
            continue
        if number in (EXIF_IFD, GPS_IFD):
            tags.append((number - 1, LONG, 1, 0, False))
        elif (typed := _typed(number, value)) is not None:
            tags.append((number, *typed, False))
    if metadata.xmp:
        tags.append((XMP_TAG, 1, len(metadata.xmp), metadata.xmp, False))
    if words := metadata.iptc.get(iptc.IPTC):
        tags.append((IPTC_TAG, UNDEFINED, len(words), words, False))
    options: dict[str, Any] = {"iccprofile": metadata.icc, "extratags": tags}
    if metadata.dpi:
        options |= {"resolution": metadata.dpi, "resolutionunit": 2}
    return options


def add_directories(file: io.BytesIO, all_metadata: list[Metadata]) -> None:
    """Write the EXIF and GPS directories of pages after them, by Pillow, and enter them in their places."""
    nested = [{n: m.tags[n] for n in (EXIF_IFD, GPS_IFD) if n in m.tags} for m in all_metadata]
    if not any(nested):
        return
    import tifffile
    from PIL.TiffImagePlugin import ImageFileDirectory_v2

    head = file.getvalue()[:8]
    order, large = "<" if head[:2] == b"II" else ">", head[2 if head[:2] == b"II" else 3] == 43
    file.seek(0)
    with tifffile.TiffFile(file) as read:
        places = [{n: page.tags[n - 1].offset for n in of} for page, of in zip(read.pages, nested)]
    for of, at in zip(nested, places):
        for number, content in of.items():
            end = file.seek(0, io.SEEK_END)
            end += file.write(b"\0" * (end % 2))
            directory = ImageFileDirectory_v2(ifh=b"II*\0\0\0\0\0" if order == "<" else b"MM\0*\0\0\0\0")
            for tag, value in content.items():
                directory[tag] = value
            file.write(directory.tobytes(end))
            file.seek(at[number])
            file.write(struct.pack(order + "H", number))
            file.seek(at[number] + (12 if large else 8))
            file.write(struct.pack(order + ("Q" if large else "L"), end))


def _typed(number: int, value: Any) -> tuple[int, int | None, Any] | None:
    """The type, count and value of a tag as tifffile takes them; None for a value that no TIFF holds."""
    from PIL.TiffTags import lookup

    if isinstance(value, str):
        return ASCII, None, value.encode()
    if isinstance(value, bytes):
        return BYTE if lookup(number).type == BYTE else UNDEFINED, len(value), value
    values = value if isinstance(value, tuple) else (value,)
    if not values:
        return None
    if all(isinstance(v, int) for v in values):
        return SHORT if min(values) >= 0 and max(values) < 1 << 16 else LONG, len(values), values
    pairs = [(getattr(v, "numerator", None), getattr(v, "denominator", None)) for v in values]
    if all(type(n) is int and type(d) is int and 0 <= n < 1 << 32 and 0 < d < 1 << 32 for n, d in pairs):
        return RATIONAL, len(pairs), tuple(part for pair in pairs for part in pair)
    return None
