"""The sizes of images and stacks, from the heads of their files alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tenter.cli.kept.orientation import ORIENTATION
from tenter.cli.reading import tiff
from tenter.cli.reading.opening import STILL, How, begun, chosen, named
from tenter.cli.reading.stack import described, opened_stack, positions, voxel_of
from tenter.cli.sizes import Axes
from tenter.cli.voxels import along

if TYPE_CHECKING:
    from PIL import Image


class Head(NamedTuple):
    """size, orientation: those of the first image that is read, as stored. pictures: how many are read. type: the
    file's."""

    size: tuple[int, int]
    orientation: int
    pictures: int
    type: str


def head_of(path: Path, how: How) -> Head:
    """What the head of a file says of the images that are read."""
    with begun(path, how) as (image, file, type_), named(path):
        which = chosen(image, file, how)
        if image is not None and _at(image, which[0]):
            orientation = image.getexif().get(ORIENTATION, 1)
            orientation = orientation if orientation in range(1, 9) else 1
            return Head((image.height, image.width), orientation, len(which), type_)
        with tiff.opened(file) as whole:
            page = whole.pages[which[0]]
            size = (page.imagelength, page.imagewidth)
            return Head(size, tiff.metadata_of(page, file).orientation, len(which), type_)


def _at(image: Image.Image, index: int) -> bool:
    """Go to an image of several; False if that is a page that Pillow does not open."""
    if getattr(image, "n_frames", 1) == 1 or image.format in STILL:
        return True
    try:
        image.seek(index)
    except (SyntaxError, OSError):
        if image.format != "TIFF":
            raise
        return False
    return True


def lengths_of_stack(path: Path, axes: Axes) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The lengths of a TIFF stack along axes, by letter or number, and how far apart its samples are, where it says."""
    with opened_stack(path) as (series, tiff):
        at = positions(axes, series.axes, path)
        letters = [series.axes[axis].lower() for axis in at]
        return tuple(series.shape[axis] for axis in at), along(voxel_of(described(series, tiff)), letters)
