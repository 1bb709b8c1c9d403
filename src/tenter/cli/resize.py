"""Resize one file."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

import tenter
from tenter._rules.axis_rule import NEAREST
from tenter.cli.arrays import check_shape, read_npy, write_npy
from tenter.cli.colors import is_of_inks
from tenter.cli.first_bytes import type_of_input
from tenter.cli.flatten import flattened
from tenter.cli.formats import FORMATS, TYPES, is_npy
from tenter.cli.kept.metadata import with_size
from tenter.cli.kept.xmp import is_panorama, without_panorama
from tenter.cli.options import Options, of_samples, sides
from tenter.cli.output import check_output, write_beside
from tenter.cli.picture import Origin, Picture, common_kind, from_array, upright
from tenter.cli.reading.opening import DEPTH, Decoded, How, Opened, opened, opened_once
from tenter.cli.reading.stack import Stack, is_stack, positions, read_stack, voxel_of, with_voxel
from tenter.cli.refusal import Refusal, first_line, named
from tenter.cli.sizes import check_fits, scaled
from tenter.cli.target import Target, check_box, find_target, reduction
from tenter.cli.voxels import given, spaced
from tenter.cli.writing.encoding import Encoding, changes_file
from tenter.cli.writing.files import write_pictures
from tenter.cli.writing.holding import (
    TURNED_BY_VIEWERS,
    as_written,
    check_depth,
    check_format,
    holds_cmyk,
    loses_profile,
    narrowed,
    without_profile,
)
from tenter.cli.writing.stack import resized as resized_stack, write_stack

Pixels = npt.NDArray[Any]
#: Takes a function that writes the contents of a file, and lets it write one.
Place = Callable[[Callable[[BinaryIO], None]], None]
Distances = Sequence[float | None]
#: Types whose endings say more than the type. A copy of such a file keeps its ending.
NAMED_EXACTLY = ("PPM", "JPEG2000")
COPIED = 1 << 20  # bytes at a time
#: types whose animations have frames of one kind
OF_ONE_KIND = ("PNG", "AVIF")


class Sizes(NamedTuple):
    """The lengths of the input and of the result: height and width of the upright image, or those along --axes. Of
    several images, these of the first, and how many there are. copied: whether the file is the input, byte by byte."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    pictures: int = 1
    copied: bool = False


def resize_file(
    source: Path,
    output: str,
    options: Options,
    name: str | None = None,
    place: Place | None = None,
    decoded: Decoded | None = None,
) -> tuple[Sizes, tuple[str, ...]]:
    """Read one file, resize it and write the result. Return the sizes, and names of what the new file does not keep.

    name: what the input is called, if `source` is a temporary file. place: takes the result if `output` is only a name.
    decoded: what calls for other outputs of this input have decoded, where there are several.
    """
    name = name or str(source)
    from_, to_npy = type_of_input(source, name), is_npy(output)
    from_npy = from_ == ""
    if place is None:
        place = partial(write_beside, check_output(output, source, options.force, options.follow_links), options.force)
    type_ = FORMATS.get(Path(output).suffix.lower(), "")
    if from_npy and to_npy:
        options = of_samples(options)
    if options.axes is not None or (type_ == "TIFF" and options.frame is None and not from_npy and is_stack(source)):
        made, sizes, lost = _resize_stack(source, name, from_, output, options)
        place(lambda file: write_npy(file, made.array) if to_npy else write_stack(file, made))
        return sizes, tuple(lost)
    if from_npy and to_npy:
        _check_plain(options)
    ends_alike = Path(output).suffix.lower() == Path(name).suffix.lower()
    is_exact = ends_alike or type_ not in NAMED_EXACTLY
    may_copy = is_exact and options.frame is None and type_ != "" and not changes_file(options.encoding)
    open_ = partial(_opened, source, from_npy, type_, options, decoded)
    return _resize_pictures(open_, source, output, options, may_copy, place)


def _resize_pictures(
    open_: Callable[[], AbstractContextManager[Opened]],
    source: Path,
    output: str,
    options: Options,
    may_copy: bool,
    place: Place,
) -> tuple[Sizes, tuple[str, ...]]:
    """Resize the images of a file, which `open_` opens, one at a time. may_copy: whether the file itself is the result
    if nothing of it changes."""
    type_ = FORMATS.get(Path(output).suffix.lower(), "")
    with ExitStack() as closing:
        origin, pictures = closing.enter_context(open_())
        lost = [name for name in origin.unread if not (options.encoding.depth and name == DEPTH)]
        job = _Job(origin, type_, output, options, [], [])
        may_copy = may_copy and origin.type == type_
        if origin.frames > 1 and (may_copy or type_ in OF_ONE_KIND):
            may_copy, kind = _surveyed(job, open_, may_copy)
            job = job._replace(origin=origin._replace(kind=kind))
        made = job.carry_out(pictures)
        if origin.frames == 1:
            # What was read is not kept while the result is encoded, unless for other outputs: both would take memory.
            result = [*made]
            may_copy = may_copy and result[0][1]
            made = iter(result)
            closing.close()
        if may_copy:
            next(made)
            place(partial(_copy, source))
            return job.sizes[0]._replace(pictures=origin.frames, copied=True), ()
        images = (picture for picture, _ in made)
        if not type_:
            place(lambda file: write_npy(file, next(images).pixels))
        else:
            place(lambda file: write_pictures(file, images, output, type_, job.origin, options.encoding))
    return job.sizes[0]._replace(pictures=origin.frames), tuple(dict.fromkeys(lost + job.lost))


def _copy(source: Path, file: BinaryIO) -> None:
    with open(source, "rb") as whole:
        shutil.copyfileobj(whole, file, COPIED)


def _check_plain(options: Options) -> None:
    """Refuse, from .npy to .npy, what is said of images."""
    if options.background is not None:
        raise Refusal("--background: is for images; from .npy to .npy, no channel is alpha")
    if options.encoding.depth:
        raise Refusal("--depth: is for images; from .npy to .npy, numbers stay what they are")


class _Job(NamedTuple):
    """What becomes of each image of a file. sizes, lost: of the images that have been resized."""

    origin: Origin
    type: str
    output: str
    options: Options
    sizes: list[Sizes]
    lost: list[str]

    def carry_out(self, pictures: Iterable[Picture]) -> Iterator[tuple[Picture, bool]]:
        """Each image as it is written, and whether it is the one that was read."""
        try:
            for picture in pictures:
                yield self._one(picture)
                del picture  # before the next one is read
        except OSError as error:  # which would be taken for one of the file that is written meanwhile
            raise Refusal(first_line(error)) from error

    def _one(self, picture: Picture) -> tuple[Picture, bool]:
        made, size, missing = _resize_picture(picture, self.output, self.type, self.options)
        self.lost.extend(missing)
        encoding = self.options.encoding
        unchanged = _is_unchanged(picture, made, self.origin, self.type, encoding)
        if self.type:
            made, missing = as_written(made, self.origin, self.type, encoding)
            self.lost.extend(missing)
        elif encoding.depth:
            made = narrowed(made)
        self.sizes.append(size)
        return (made if self.type else upright(made)), unchanged


def _surveyed(job: _Job, again: Callable[[], AbstractContextManager[Opened]], may_copy: bool) -> tuple[bool, str]:
    """Of several images, before any is written: whether all are what they were, and the kind of all. As soon as one is
    not, it is not looked at again."""
    trial = job._replace(sizes=[], lost=[])
    if may_copy:
        with again() as (_, pictures):
            may_copy = all(unchanged for _, unchanged in trial.carry_out(pictures))
    if may_copy or job.type not in OF_ONE_KIND:
        return may_copy, ""
    with again() as (_, pictures):
        return False, common_kind(pictures)


def _is_unchanged(picture: Picture, made: Picture, origin: Origin, type_: str, encoding: Encoding) -> bool:
    """Whether an image that is written as `made` in its own type is the one that was read. Its pixels say so: some
    filters soften also where they keep the size."""
    is_upright = picture.metadata.orientation == 1 or (encoding.as_stored and type_ in TURNED_BY_VIEWERS)
    narrows = encoding.depth and (made.pixels.dtype == np.uint16 or DEPTH in origin.unread)
    if not is_upright or narrows or picture.kind != made.kind:
        return False
    return picture.reduced == 1 and np.array_equal(picture.pixels, made.pixels)


def _opened(
    source: Path, from_npy: bool, type_: str, options: Options, decoded: Decoded | None
) -> AbstractContextManager[Opened]:
    """The images of a file. An array is one; from .npy to .npy none of its channels is alpha."""
    if from_npy:
        array = _array_of_pixels(source, not type_)
        picture = from_array(array, str(source)) if type_ else Picture(array, "plain")
        return nullcontext(Opened(Origin(), iter([picture])))
    kept = TYPES[type_].kinds if options.mode in NEAREST and type_ else ()
    narrow = bool(type_) and "RGB" not in TYPES[type_].deep and not options.encoding.depth
    shrunk = partial(reduction, options=options)
    how = How(options.frame, frozenset(kept), options.max_pixels, shrunk, narrow, type_)
    return opened(source, how) if decoded is None else opened_once(source, how, decoded)


def _resize_picture(picture: Picture, output: str, type_: str, options: Options) -> tuple[Picture, Sizes, list[str]]:
    lost: list[str] = []
    if picture.kind == "CMYK" and options.encoding.depth:
        picture = narrowed(picture)  # inks become RGB before they are resized
    if type_ and _is_converted_first(picture, output, type_, options):
        picture, lost = without_profile(picture, options.encoding)
    if options.background is not None:
        picture = flattened(picture, options.background)
    if options.linear_light and picture.kind == "CMYK":
        raise Refusal("--linear-light: expected gray or RGB (sRGB is assumed), this image is CMYK")
    target = find_target(picture.size, picture.metadata.orientation, options)
    if type_:
        check_format(picture, output, type_, target.size, options.encoding)
    elif options.encoding.depth:
        check_depth(picture.pixels.dtype)
    channels = 1 if picture.pixels.ndim == 2 else picture.pixels.shape[2]
    _check_result((*target.size, channels), picture.pixels, sides(*target.after))
    pixels = _resize_pixels(picture, target, options)
    metadata = with_size(picture.metadata, *target.size)
    if target.box is not None and metadata.xmp and is_panorama(metadata.xmp):
        metadata = replace(metadata, xmp=without_panorama(metadata.xmp))
        lost.append("panorama")
    made = replace(picture, pixels=pixels, metadata=metadata, reduced=1)
    return made, Sizes(target.before, target.after), lost


def _is_converted_first(picture: Picture, output: str, type_: str, options: Options) -> bool:
    """Whether colors become sRGB before they are resized: inks, and what is mixed with a color of sRGB or in its linear
    light. Others do afterwards, when there are fewer of them."""
    dropped = loses_profile(type_, options.encoding)
    if picture.kind != "CMYK":
        colored = picture.kind == "gray+alpha" and len(set(options.background or ())) > 1  # gray becomes sRGB's colors
        mixed = options.linear_light or options.background is not None
        return picture.metadata.icc is not None and (colored or (dropped and mixed))
    speaks = is_of_inks(picture)
    if picture.pixels.dtype != np.uint8 and not (speaks and picture.pixels.dtype == np.uint16):
        return False
    return not holds_cmyk(type_, output) or options.encoding.srgb or (speaks and dropped)


def _resize_stack(source: Path, name: str, from_: str, output: str, options: Options) -> tuple[Stack, Sizes, list[str]]:
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
        target = find_target((lengths[0], lengths[1]), 1, options)
        options = options._replace(size=target.size, scale=None, box=target.box)
    known = voxel_of(stack).sizes
    distances: Distances = options.voxel_size or tuple(known.get(stack.axes[axis : axis + 1].lower()) for axis in axes)
    if options.voxel_size is not None and from_:
        letters = (axis if isinstance(axis, str) else stack.axes[axis].lower() for axis in options.axes or ())
        sizes_of = dict(zip(letters, options.voxel_size))
        stack = with_voxel(stack, given(sizes_of, options.unit))
    try:
        array, sizes = _resize_array(stack.array, axes, lengths, options, distances)
    except (TypeError, ValueError) as error:
        raise Refusal(named(error, name)) from error
    made, lost = resized_stack(stack, array)
    return made, sizes, lost


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
        alpha="premultiplied" if picture.alpha and not options.premultiply else picture.alpha,
        linear_light=options.linear_light,
    )
    return pixels


def _resize_array(
    array: Pixels, axes: tuple[int, ...], lengths: tuple[int, ...], options: Options, distances: Distances
) -> tuple[Pixels, Sizes]:
    """lengths: the axes' lengths. The library raises the error for an axis that does not exist."""
    size = array_size(lengths, options, distances)
    shape = list(array.shape)
    for axis, length in zip(axes, size, strict=True):
        if -array.ndim <= axis < array.ndim:
            shape[axis] = length
    _check_result(shape, array, " x ".join(map(str, shape)))
    box = options.box
    resized: Pixels = tenter.resize(
        array,
        size,
        axes=axes,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((box[0], box[2]), (box[1], box[3])),
    )
    return resized, Sizes(lengths, size)


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


def _check_result(shape: Any, array: Pixels, what: str) -> None:
    check_fits(math.prod(shape) * array.itemsize, f"a result of {what}")


def _array_of_pixels(source: Path, to_npy: bool) -> Pixels:
    array = read_npy(source)
    check_shape(source, array.shape, to_npy)
    return array
