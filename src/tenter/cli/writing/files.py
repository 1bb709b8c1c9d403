"""Write a file of any type: which of the writers does it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from tenter.cli.formats import shown
from tenter.cli.picture import Origin, OtherKind, Picture
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.writing import apng, deep, gif, jpeg, pillow, tiff
from tenter.cli.writing.encoding import Encoding


def write_pictures(
    file: BinaryIO, pictures: Iterator[Picture], path: str, type_: str, origin: Origin, encoding: Encoding
) -> None:
    """Write images that `holding.check_format` has accepted, as many as `origin.frames` says, one after another."""
    require("PIL")
    try:
        _write(file, pictures, path, type_, origin, encoding)
    except (Refusal, MemoryError, OtherKind):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno:  # of the system: those of Pillow have no number
            raise
        raise Refusal(f"cannot write this image as {shown(type_)}: {first_line(error)}") from error


def _write(
    file: BinaryIO, pictures: Iterator[Picture], path: str, type_: str, origin: Origin, encoding: Encoding
) -> None:
    if type_ == "TIFF":
        tiff.write(file, pictures, origin)
    elif type_ == "GIF":
        gif.write(file, pictures, origin)
    elif type_ == "JPEG":
        jpeg.write(file, next(pictures), origin, encoding)
    elif origin.frames == 1:
        _write_one(file, next(pictures), path, type_, origin, encoding)
    elif type_ == "PNG":
        alike = (pillow.as_kind(picture, origin.kind) for picture in pictures)
        apng.write(file, alike, origin, partial(_write_one, path=path, type_=type_, origin=origin, encoding=encoding))
    else:
        pillow.write_frames(file, pictures, type_, origin, encoding)


def _write_one(file: BinaryIO, picture: Picture, path: str, type_: str, origin: Origin, encoding: Encoding) -> None:
    beyond_pillow = picture.pixels.dtype == np.uint16 and picture.kind != "gray"
    if type_ == "PNG" and beyond_pillow:
        deep.write_png(file, picture)
    elif type_ == "PPM" and beyond_pillow:
        deep.write_ppm(file, picture)
    elif type_ == "JPEG2000" and beyond_pillow:
        deep.write_jpeg2000(file, picture, path)
    else:
        pillow.write(file, picture, path, type_, origin, encoding)
