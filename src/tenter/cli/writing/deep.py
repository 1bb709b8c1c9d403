"""Write PNG, JPEG 2000 and PPM files of 16-bit colors, which Pillow has no mode for: imagecodecs encodes the pixels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tenter.cli.formats import CODESTREAMS
from tenter.cli.kept.stated import with_chunks
from tenter.cli.picture import Picture
from tenter.cli.refusal import require
from tenter.cli.writing.pillow import carried_by_png

CHUNK = 1 << 20  # bytes that are copied at a time
PIXELS = (b"IHDR", b"IDAT", b"IEND")


def write_png(file: BinaryIO, picture: Picture) -> None:
    """Write uint16 pixels: imagecodecs writes the header and the pixels, Pillow (for one pixel) the chunks between."""
    require("imagecodecs")
    require("png")
    import imagecodecs
    import png
    from PIL import Image

    encoded = bytes(imagecodecs.png_encode(np.ascontiguousarray(picture.pixels)))
    small = io.BytesIO()
    Image.new("RGB", (1, 1)).save(with_chunks(small, picture.metadata), "PNG", **carried_by_png(picture))
    carried = [chunk for chunk in png.Reader(bytes=small.getvalue()).chunks() if bytes(chunk[0]) not in PIXELS]
    header, *pixels = png.Reader(bytes=encoded).chunks()
    png.write_chunks(file, [header, *carried, *pixels])


def write_ppm(file: BinaryIO, picture: Picture) -> None:
    """Write uint16 pixels as they are, their larger byte first."""
    height, width = picture.pixels.shape[:2]
    file.write(b"P6\n%d %d\n65535\n" % (width, height))
    rows = max(1, CHUNK // picture.pixels[:1].nbytes)
    for top in range(0, height, rows):
        file.write(picture.pixels[top : top + rows].astype(">u2").tobytes())


def write_jpeg2000(file: BinaryIO, picture: Picture, path: str) -> None:
    """Write uint16 pixels without loss."""
    require("imagecodecs")
    import imagecodecs

    container = "j2k" if Path(path).suffix.lower() in CODESTREAMS else "jp2"
    pixels = np.ascontiguousarray(picture.pixels)
    file.write(imagecodecs.jpeg2k_encode(pixels, level=0, reversible=True, codecformat=container))
