"""Write a file of any type: which of the writers does it."""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from tenter.cli.formats import shown
from tenter.cli.picture import Origin, Picture
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.writing import deep, gif, jpeg, pillow, tiff
from tenter.cli.writing.encoding import Encoding


def write_pictures(
    file: BinaryIO, pictures: list[Picture], path: str, type_: str, origin: Origin, encoding: Encoding
) -> None:
    """Write images that `holding.check_format` has accepted."""
    require("PIL")
    try:
        _write(file, pictures, path, type_, origin, encoding)
    except (Refusal, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:  # of the system: those of Pillow have no number
            raise
        raise Refusal(f"cannot write this image as {shown(type_)}: {first_line(error)}") from error


def _write(file: BinaryIO, pictures: list[Picture], path: str, type_: str, origin: Origin, encoding: Encoding) -> None:
    first = pictures[0]
    beyond_pillow = first.pixels.dtype == np.uint16 and first.kind != "gray"
    if type_ == "TIFF":
        tiff.write(file, pictures, origin)
    elif type_ == "GIF":
        gif.write(file, pictures, origin)
    elif type_ == "JPEG":
        jpeg.write(file, first, origin, encoding)
    elif type_ == "PNG" and beyond_pillow:
        deep.write_png(file, first)
    elif type_ == "PPM" and beyond_pillow:
        deep.write_ppm(file, first)
    elif type_ == "JPEG2000" and beyond_pillow:
        deep.write_jpeg2000(file, first, path)
    else:
        pillow.write(file, pictures, path, type_, origin, encoding)
