"""Resize an array or a TIFF stack along named axes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

import tenter
from tenter.cli.arrays import read_npy
from tenter.cli.formats import FORMATS
from tenter.cli.options import Options, of_samples
from tenter.cli.reading.stack import Stack, positions, read_stack, voxel_of, with_voxel
from tenter.cli.refusal import Refusal, named
from tenter.cli.sizes import Sizes, check_result, scaled
from tenter.cli.target import check_box, find_target
from tenter.cli.volumes import gaps
from tenter.cli.volumes.sources import open_source
from tenter.cli.voxels import along, given, spaced
from tenter.cli.writing.stack import resized

Samples = npt.NDArray[Any]
Distances = Sequence[float | None]


def resize_stack(source: Path, name: str, from_: str, output: str, options: Options) -> tuple[Stack, Sizes, list[str]]:
    """Resize an array or a TIFF stack along named axes, or a stack of ImageJ or OME along y and x."""
    options = of_samples(options)
    if options.encoding.depth or options.encoding.srgb:
        raise Refusal("--depth and --profile: are for images, this is a stack")
    if {from_, FORMATS.get(Path(output).suffix.lower(), "")} - {"", "TIFF"}:
        raise Refusal(f"--axes: is for .npy files and TIFF stacks, from and to, got {name} and {output}")
    stack = read_stack(source) if from_ else Stack(read_npy(source), "")
    axes = positions(options.axes or ("y", "x"), stack.axes, source)
    lengths = tuple(stack.array.shape[axis] if -stack.array.ndim <= axis < stack.array.ndim else 1 for axis in axes)
    if options.axes is None:
        refuse_padding(options)
        target = find_target((lengths[0], lengths[1]), 1, options)
        options = options._replace(size=target.size, scale=None, box=target.box)
    n = len(stack.axes)
    letters = [stack.axes[axis].lower() if -n <= axis < n else "" for axis in axes]
    distances: Distances = options.voxel_size or along(voxel_of(stack), letters)
    if options.voxel_size is not None and from_:
        said = (axis if isinstance(axis, str) else stack.axes[axis].lower() for axis in options.axes or ())
        sizes_of = dict(zip(said, options.voxel_size))
        stack = with_voxel(stack, given(sizes_of, options.unit))
    try:
        array, sizes = _resize_array(stack.array, axes, lengths, options, distances)
    except (TypeError, ValueError) as error:
        raise Refusal(named(error, name)) from error
    made, lost = resized(stack, array)
    return made, sizes, lost


def refuse_padding(options: Options) -> None:
    if options.wanted is not None and options.wanted.padded is not None:
        raise Refusal("--pad: is for images, this is a stack")


def _resize_array(
    array: Samples, axes: tuple[int, ...], lengths: tuple[int, ...], options: Options, distances: Distances
) -> tuple[Samples, Sizes]:
    """lengths: the axes' lengths. The library raises the error for an axis that does not exist."""
    size = array_size(lengths, options, distances)
    shape = list(array.shape)
    for axis, length in zip(axes, size, strict=True):
        if -array.ndim <= axis < array.ndim:
            shape[axis] = length
    check_result(shape, array.itemsize, " x ".join(map(str, shape)))
    box = options.box
    made: Samples = tenter.resize(
        array,
        size,
        axes=axes,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        labels=options.labels,
        where=None if options.mask is None else _mask(options.mask, array.shape),
        skipna=options.skip_nan,
        min_valid=options.min_valid,
        box=None if box is None else ((box[0], box[2]), (box[1], box[3])),
    )
    return made, Sizes(lengths, size)


def _mask(path: str, shape: tuple[int, ...]) -> Samples:
    mask = gaps.checked_mask(open_source(path).full, shape)
    found: Samples = mask.read(tuple((0, n) for n in mask.shape)) != 0
    return found


def array_size(lengths: tuple[int, ...], options: Options, distances: Distances) -> tuple[int, ...]:
    """The new lengths of the axes of an array that --axes names. distances: between samples along them, if known."""
    box = options.box
    if box is not None:
        check_box(box, lengths)
    if options.size is not None:
        return options.size
    if options.spacing is not None:
        return spaced(lengths, distances, options.spacing)
    assert options.scale is not None
    return scaled(lengths if box is None else (box[2] - box[0], box[3] - box[1]), options.scale)
