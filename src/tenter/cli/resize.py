"""The `tenter resize` command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy.typing as npt

from tenter.cli.arrays import read_npy, write_npy
from tenter.cli.metadata import with_size
from tenter.cli.orientation import SIDEWAYS, turn_upright
from tenter.cli.output import check_input, check_output, write_beside
from tenter.cli.pictures import FORMATS, Picture, check_format, from_array, read_picture, write_picture
from tenter.cli.refusal import Refusal
from tenter.cli.resample import ANTIALIASED, resample
from tenter.cli.sizes import check_fits, parse_scale, parse_size, scaled


def resize_command(args: argparse.Namespace) -> None:
    """Carry out `tenter resize`."""
    size = parse_size(args.size) if args.size is not None else None
    scale = parse_scale(args.scale) if args.scale is not None else None
    antialias = _antialias(args.mode, args.antialias)
    quality = _quality(args.quality)
    source = check_input(args.input)
    from_npy, to_npy = _is_npy(args.input), _is_npy(args.output)
    target = check_output(args.output, source, args.force)

    if from_npy:
        array = _array_of_pixels(source)
        # without a file type that says so, four channels are just four channels
        picture = Picture(array, "plain") if to_npy else from_array(array, args.input)
    else:
        picture = read_picture(source)
    stored = _stored_size(picture, size, scale)
    if not to_npy:
        check_format(picture, args.output, stored)
    channels = 1 if picture.pixels.ndim == 2 else picture.pixels.shape[2]
    nbytes = stored[0] * stored[1] * channels * picture.pixels.itemsize
    check_fits(nbytes, f"a result of {stored[0]} x {stored[1]}")

    pixels = resample(picture.pixels, stored, args.mode, antialias, picture.alpha)
    if to_npy:
        upright = turn_upright(pixels, picture.metadata.orientation)
        write_beside(target, args.force, lambda file: write_npy(file, upright))
        return
    result = Picture(pixels, picture.kind, with_size(picture.metadata, *stored))
    format_ = FORMATS[Path(args.output).suffix.lower()]
    write_beside(target, args.force, lambda file: write_picture(file, result, format_, quality))


def _stored_size(picture: Picture, size: tuple[int, int] | None, scale: float | None) -> tuple[int, int]:
    """Give the new size of the stored pixels; what a person types means the picture as it is seen."""
    if size is None:
        assert scale is not None
        return scaled(picture.pixels.shape[:2], scale)
    return (size[1], size[0]) if picture.metadata.orientation in SIDEWAYS else size


def _array_of_pixels(source: Path) -> npt.NDArray[Any]:
    array = read_npy(source)
    if array.ndim not in (2, 3):
        raise Refusal(f"{source}: expected an array (H, W) or (H, W, C), got shape {array.shape}")
    if array.size == 0:
        raise Refusal(f"{source}: expected an array with at least one pixel, got shape {array.shape}")
    return array


def _antialias(mode: str, asked: bool | None) -> bool:
    if asked and mode not in ANTIALIASED:
        raise Refusal(f"--antialias: mode {mode} has none; it goes with {', '.join(ANTIALIASED)}")
    if asked is False and mode == "lanczos":
        raise Refusal("--no-antialias: mode lanczos is always antialiased")
    return mode in ANTIALIASED if asked is None else asked


def _quality(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise Refusal(f"--quality: expected a whole number from 1 to 100, got {text!r}")
    return int(text)


def _is_npy(path: str) -> bool:
    suffix = Path(path).suffix.lower()
    if suffix != ".npy" and suffix not in FORMATS:
        raise Refusal(f"{path}: unknown file type {suffix or '(none)'!r}; known are .npy {' '.join(FORMATS)}")
    return suffix == ".npy"
