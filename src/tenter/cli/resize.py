"""Resize one file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

import tenter
from tenter._rules.axis_rule import NEAREST
from tenter.cli.along import resize_stack
from tenter.cli.arrays import check_shape, read_npy, write_npy
from tenter.cli.colors import is_of_inks
from tenter.cli.first_bytes import type_of_input
from tenter.cli.flatten import flattened, padding
from tenter.cli.formats import FORMATS, TYPES, is_npy
from tenter.cli.kept.metadata import with_size
from tenter.cli.kept.xmp import is_panorama, without_panorama
from tenter.cli.options import Options, of_samples, sides
from tenter.cli.output import check_output, write_beside
from tenter.cli.picture import Origin, OtherKind, Picture, common_kind, from_array, of_one_kind, upright
from tenter.cli.reading.opening import DEPTH, Decoded, How, Opened, opened, opened_once
from tenter.cli.reading.stack import is_stack
from tenter.cli.refusal import Refusal, first_line
from tenter.cli.sizes import Sizes, check_result
from tenter.cli.target import Target, find_target, reduction
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
from tenter.cli.writing.stack import write_stack
from tenter.image import _padded as padded

Pixels = npt.NDArray[Any]
#: Takes a function that writes the contents of a file, and lets it write one.
Place = Callable[[Callable[[BinaryIO], None]], None]
#: Types whose endings say more than the type. A copy of such a file keeps its ending.
NAMED_EXACTLY = ("PPM", "JPEG2000")
COPIED = 1 << 20  # bytes at a time
#: types whose animations have frames of one kind
OF_ONE_KIND = ("PNG", "AVIF")


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
        made, sizes, lost = resize_stack(source, name, from_, output, options)
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
        if origin.frames > 1 and may_copy:
            with open_() as (_, again):
                may_copy = all(unchanged for _, unchanged in job._replace(sizes=[], lost=[]).carry_out(again))
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
        elif origin.frames > 1 and type_ in OF_ONE_KIND:
            place(partial(_write_in_one_kind, job=job, images=images, open_=open_))
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


def _write_in_one_kind(
    file: BinaryIO, job: _Job, images: Iterator[Picture], open_: Callable[[], AbstractContextManager[Opened]]
) -> None:
    """Write several images in the kind of the first; where a later one needs another, all are read again. So the usual
    animation is read once."""
    first = next(images)
    kind, images = common_kind(first), chain([first], images)
    del first
    with ExitStack() as closing:
        while True:
            origin = job.origin._replace(kind=kind)
            try:
                write_pictures(file, of_one_kind(images, kind), job.output, job.type, origin, job.options.encoding)
                return
            except OtherKind as found:
                kind = found.kind
            file.seek(0)
            file.truncate()
            job.sizes.clear()
            job.lost.clear()
            closing.close()
            images = (picture for picture, _ in job.carry_out(closing.enter_context(open_()).pictures))


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
    kept = TYPES[type_].kinds if (options.labels or options.mode in NEAREST) and type_ else ()
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
    value: Any = 0
    if target.resized != target.size:
        picture, value = padding(picture, options.background)
    if type_:
        check_format(picture, output, type_, target.size, options.encoding)
    elif options.encoding.depth:
        check_depth(picture.pixels.dtype)
    channels = 1 if picture.pixels.ndim == 2 else picture.pixels.shape[2]
    check_result((*target.size, channels), picture.pixels.itemsize, sides(*target.after))
    pixels = _resize_pixels(picture, target, options, value)
    metadata = with_size(picture.metadata, *target.size)
    if (target.box is not None or target.resized != target.size) and metadata.xmp and is_panorama(metadata.xmp):
        metadata = replace(metadata, xmp=without_panorama(metadata.xmp))
        lost.append("panorama")
    made = replace(picture, pixels=pixels, metadata=metadata, reduced=1)
    return made, Sizes(target.before, target.after), lost


def _is_converted_first(picture: Picture, output: str, type_: str, options: Options) -> bool:
    """Whether colors become sRGB before they are resized: inks, and what is mixed with a color of sRGB or in its linear
    light. Others do afterwards, when there are fewer of them."""
    dropped = loses_profile(type_, options.encoding)
    pads = options.wanted is not None and options.wanted.padded is not None
    if picture.kind != "CMYK":
        is_gray = picture.kind == "gray+alpha" or (picture.kind == "gray" and pads)
        colored = is_gray and len(set(options.background or ())) > 1  # gray becomes sRGB's colors
        mixed = options.linear_light or options.background is not None
        return picture.metadata.icc is not None and (colored or (dropped and mixed))
    speaks = is_of_inks(picture)
    if picture.pixels.dtype != np.uint8 and not (speaks and picture.pixels.dtype == np.uint16):
        return False
    return not holds_cmyk(type_, output) or options.encoding.srgb or pads or (speaks and dropped)


def _resize_pixels(picture: Picture, target: Target, options: Options, value: Any) -> Pixels:
    box = target.box
    if box is None and picture.reduced > 1:
        box = (0, 0, *picture.size)  # which may end within the last of the reduced pixels
    if box is not None:
        top, left, bottom, right = (edge / picture.reduced for edge in box)
    if options.labels and options.mode not in NEAREST and picture.pixels.ndim > 2:
        raise Refusal(f"--labels: expected one value for each pixel with --mode {options.mode}, this image has several")
    resize = partial(
        tenter.image.resize,
        picture.pixels,
        target.resized,
        mode=options.mode,
        antialias=options.antialias,
        like=options.like,
        box=None if box is None else ((top, bottom), (left, right)),
        alpha="premultiplied" if picture.alpha and not options.premultiply else picture.alpha,
        linear_light=options.linear_light,
        labels=options.labels,
    )
    if target.resized == target.size:
        return resize()
    channel = 2 if picture.pixels.ndim == 3 else None
    value = padded.check("--background", value, picture.pixels, channel, picture.alpha)
    made: Pixels = padded.around(
        picture.pixels, target.size, target.inside, (0, 1), channel, value, lambda room: resize(out=room)
    )
    return made


def _array_of_pixels(source: Path, to_npy: bool) -> Pixels:
    array = read_npy(source)
    check_shape(source, array.shape, to_npy)
    return array
