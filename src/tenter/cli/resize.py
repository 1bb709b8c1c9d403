"""Resize one file."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy.typing as npt

import tenter
from tenter.cli.arrays import read_npy, write_npy
from tenter.cli.flatten import flattened
from tenter.cli.metadata import with_size
from tenter.cli.options import Options
from tenter.cli.orientation import turn_upright
from tenter.cli.output import check_output, write_beside
from tenter.cli.pictures import FORMATS, Picture, check_format, from_array, is_npy, read_picture, write_picture
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import check_fits, scaled
from tenter.cli.target import Target, check_box, find_target, reduction

Pixels = npt.NDArray[Any]
#: Takes a function that writes the contents of a file, and lets it write one.
Place = Callable[[Callable[[BinaryIO], None]], None]
#: A last axis that is longer is not taken for channels.
CHANNELS = 4


class Sizes(NamedTuple):
    """The lengths of the input and of the result: height and width of the upright picture, or those along --axes."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def resize_file(
    source: Path, output: str, options: Options, name: str | None = None, place: Place | None = None
) -> Sizes:
    """Read one file, resize it and write the result.

    name: what the input is called, if `source` is a temporary file. place: takes the result if `output` is only a name.
    """
    from_npy, to_npy = is_npy(name or str(source)), is_npy(output)
    if place is None:
        place = partial(write_beside, check_output(output, source, options.force, options.follow_links), options.force)
    if options.axes is not None:
        if not (from_npy and to_npy):
            raise Refusal(f"--axes: is for .npy files, from and to, got {source} and {output}")
        result, sizes = _resize_array(read_npy(source), options)
        place(lambda file: write_npy(file, result))
        return sizes
    if from_npy and to_npy and options.background is not None:
        raise Refusal("--background: is for pictures; from .npy to .npy, no channel is alpha")
    # The picture is not kept while the result is encoded: both would take memory.
    done, sizes = _resize_picture(_read(source, from_npy, to_npy, options), output, options)
    if to_npy:
        place(lambda file: write_npy(file, done.pixels))
    else:
        format_ = FORMATS[Path(output).suffix.lower()]
        place(lambda file: write_picture(file, done, format_, options.quality))
    return sizes


def _read(source: Path, from_npy: bool, to_npy: bool, options: Options) -> Picture:
    if from_npy:
        array = _array_of_pixels(source, to_npy)
        # An array says nothing about its channels, so from .npy to .npy none is alpha.
        picture = Picture(array, "plain") if to_npy else from_array(array, str(source))
    else:
        picture = read_picture(source, options.max_pixels, partial(reduction, options=options))
    return picture if options.background is None else flattened(picture, options.background)


def _resize_picture(picture: Picture, output: str, options: Options) -> tuple[Picture, Sizes]:
    """The picture that is written to `output`: upright if that is an array, as it has no orientation tag."""
    if options.linear_light and picture.kind == "CMYK":
        raise Refusal("--linear-light: expected gray or RGB (sRGB is assumed), this picture is CMYK")
    metadata = picture.metadata
    target = find_target(picture.size, metadata.orientation, options)
    if not is_npy(output):
        check_format(picture, output, target.size)
    channels = 1 if picture.pixels.ndim == 2 else picture.pixels.shape[2]
    _check_result((*target.size, channels), picture.pixels)
    pixels = _resize_pixels(picture, target, options)
    if is_npy(output):
        pixels = turn_upright(pixels, metadata.orientation)
    return Picture(pixels, picture.kind, with_size(metadata, *target.size)), Sizes(target.before, target.after)


def _resize_pixels(picture: Picture, target: Target, options: Options) -> Pixels:
    box = target.box
    if box is None and picture.reduced > 1:
        box = (0, 0, *picture.size)  # which may end within the last of the reduced pixels
    if box is not None:
        top, left, bottom, right = (edge / picture.reduced for edge in box)
    pixels: Pixels = tenter.image.resize(
        picture.pixels,
        target.size,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((top, bottom), (left, right)),
        alpha=picture.alpha,
        premultiply=options.premultiply,
        linear_light=options.linear_light,
    )
    return pixels


def _resize_array(array: Pixels, options: Options) -> tuple[Pixels, Sizes]:
    assert options.axes is not None
    # The library refuses an axis that does not exist.
    lengths = tuple(array.shape[axis] if -array.ndim <= axis < array.ndim else 1 for axis in options.axes)
    size = array_size(lengths, options)
    shape = list(array.shape)
    for axis, length in zip(options.axes, size, strict=True):
        if -array.ndim <= axis < array.ndim:
            shape[axis] = length
    _check_result(shape, array)
    box = options.box
    resized: Pixels = tenter.resize(
        array,
        size,
        axes=options.axes,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((box[0], box[2]), (box[1], box[3])),
    )
    return resized, Sizes(lengths, size)


def array_size(lengths: tuple[int, ...], options: Options) -> tuple[int, ...]:
    """The new lengths of the axes of an array that --axes names."""
    box = options.box
    if box is not None:
        check_box(box, lengths)
    if options.size is not None:
        return options.size
    assert options.scale is not None
    return scaled(lengths if box is None else (box[2] - box[0], box[3] - box[1]), options.scale)


def _check_result(shape: Any, array: Pixels) -> None:
    what = " x ".join(map(str, shape[:2] if len(shape) == 3 else shape))
    check_fits(math.prod(shape) * array.itemsize, f"a result of {what}")


def _array_of_pixels(source: Path, to_npy: bool) -> Pixels:
    array = read_npy(source)
    check_shape(source, array.shape, to_npy)
    return array


def check_shape(source: Path, shape: tuple[int, ...], to_npy: bool) -> None:
    """Refuse an array that is not of a picture's shape. One of three long axes is a volume, not many channels."""
    if len(shape) not in (2, 3):
        what = "expected an array (H, W) or (H, W, C)"
        raise Refusal(f"{source}: {what}, got shape {shape}; --axes says which to resize")
    if to_npy and len(shape) == 3 and shape[2] > CHANNELS:
        what = f"expected a size for each axis of an array of shape {shape}, or at most {CHANNELS} channels"
        raise Refusal(f"{source}: {what}; --axes 0 1 resizes its first two axes")
    if 0 in shape:
        raise Refusal(f"{source}: expected an array with at least one pixel, got shape {shape}")
