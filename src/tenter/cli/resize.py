"""Resize one file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy.typing as npt

import tenter
from tenter.cli.arrays import read_npy, write_npy
from tenter.cli.metadata import with_size
from tenter.cli.options import Options
from tenter.cli.orientation import SIDEWAYS, stored_box, turn_upright
from tenter.cli.output import check_output, write_beside
from tenter.cli.pictures import FORMATS, Picture, check_format, from_array, is_npy, read_picture, write_picture
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import check_fits, scaled

Pixels = npt.NDArray[Any]
Box = tuple[float, float, float, float]


def resize_file(source: Path, output: str, options: Options) -> None:
    """Read one file, resize it and write the result."""
    from_npy, to_npy = is_npy(str(source)), is_npy(output)
    target = check_output(output, source, options.force)
    if options.axes is not None:
        if not (from_npy and to_npy):
            raise Refusal(f"--axes: is for .npy files, from and to, got {source} and {output}")
        result = _resize_array(read_npy(source), options)
        write_beside(target, options.force, lambda file: write_npy(file, result))
        return
    if from_npy:
        array = _array_of_pixels(source)
        # An array says nothing about its channels, so from .npy to .npy none is alpha.
        picture = Picture(array, "plain") if to_npy else from_array(array, str(source))
    else:
        picture = read_picture(source)
    box = _stored_box(picture, options.box)
    stored = _stored_size(picture, box, options)
    if not to_npy:
        check_format(picture, output, stored)
    pixels = _resize_picture(picture, stored, box, options)
    if to_npy:
        upright = turn_upright(pixels, picture.metadata.orientation)
        write_beside(target, options.force, lambda file: write_npy(file, upright))
        return
    done = Picture(pixels, picture.kind, with_size(picture.metadata, *stored))
    format_ = FORMATS[Path(output).suffix.lower()]
    write_beside(target, options.force, lambda file: write_picture(file, done, format_, options.quality))


def _resize_picture(picture: Picture, size: tuple[int, int], box: Box | None, options: Options) -> Pixels:
    if options.linear_light and picture.kind == "CMYK":
        raise Refusal("--linear-light: expected gray or RGB (sRGB is assumed), this picture is CMYK")
    channels = 1 if picture.pixels.ndim == 2 else picture.pixels.shape[2]
    _check_result((*size, channels), picture.pixels)
    pixels: Pixels = tenter.image.resize(
        picture.pixels,
        size,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((box[0], box[2]), (box[1], box[3])),
        alpha=picture.alpha,
        premultiply=options.premultiply,
        linear_light=options.linear_light,
    )
    return pixels


def _resize_array(array: Pixels, options: Options) -> Pixels:
    assert options.axes is not None
    # The library refuses an axis that does not exist.
    lengths = [array.shape[axis] if -array.ndim <= axis < array.ndim else 1 for axis in options.axes]
    box = options.box
    if box is not None:
        _check_box(box, lengths)
        extents = [box[2] - box[0], box[3] - box[1]]
    size = options.size
    if size is None:
        assert options.scale is not None
        size = scaled(lengths if box is None else extents, options.scale)
    shape = list(array.shape)
    for axis, length in zip(options.axes, size, strict=True):
        if -array.ndim <= axis < array.ndim:
            shape[axis] = length
    _check_result(shape, array)
    resized: Pixels = tenter.resize(
        array,
        size,
        axes=options.axes,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((box[0], box[2]), (box[1], box[3])),
    )
    return resized


def _check_result(shape: Any, array: Pixels) -> None:
    what = " x ".join(map(str, shape[:2] if len(shape) == 3 else shape))
    check_fits(math.prod(shape) * array.itemsize, f"a result of {what}")


def _check_box(box: Box, size: Any) -> None:
    if box[2] > size[0] or box[3] > size[1]:
        raise Refusal(f"--box: reaches {box[2]:g} down and {box[3]:g} across, beyond {size[0]} x {size[1]}")


def _stored_box(picture: Picture, box: Box | None) -> Box | None:
    """The box in stored pixels. The option means the upright picture."""
    if box is None:
        return None
    height, width = picture.pixels.shape[:2]
    sideways = picture.metadata.orientation in SIDEWAYS
    _check_box(box, (width, height) if sideways else (height, width))
    return stored_box(box, (height, width), picture.metadata.orientation)


def _stored_size(picture: Picture, box: Box | None, options: Options) -> tuple[int, int]:
    """The new size of the stored pixels. The option means the upright picture."""
    if options.size is None:
        assert options.scale is not None
        extents = picture.pixels.shape[:2] if box is None else (box[2] - box[0], box[3] - box[1])
        height, width = scaled(extents, options.scale)
        return height, width
    height, width = options.size
    return (width, height) if picture.metadata.orientation in SIDEWAYS else (height, width)


def _array_of_pixels(source: Path) -> Pixels:
    array = read_npy(source)
    if array.ndim not in (2, 3):
        raise Refusal(
            f"{source}: expected an array (H, W) or (H, W, C), got shape {array.shape}; --axes says which to resize"
        )
    if array.size == 0:
        raise Refusal(f"{source}: expected an array with at least one pixel, got shape {array.shape}")
    return array
