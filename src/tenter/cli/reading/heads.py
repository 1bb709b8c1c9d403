"""The sizes of pictures and stacks, from the heads of their files alone."""

from __future__ import annotations

from pathlib import Path

from tenter.cli.kept.orientation import ORIENTATION
from tenter.cli.reading import tiff
from tenter.cli.reading.opening import How, begun, named
from tenter.cli.reading.stack import opened_stack, positions
from tenter.cli.sizes import Axes


def size_of(path: Path, how: How) -> tuple[tuple[int, int], int]:
    """The stored height and width of the first picture of a file, and its orientation."""
    with begun(path, how) as (image, file, _), named(path):
        if image is not None:
            orientation = image.getexif().get(ORIENTATION, 1)
            return (image.height, image.width), orientation if orientation in range(1, 9) else 1
        with tiff.opened(file) as whole:
            page = whole.pages[0]
            return (page.imagelength, page.imagewidth), tiff.metadata_of(page, file).orientation


def lengths_of_stack(path: Path, axes: Axes) -> tuple[int, ...]:
    """The lengths of a TIFF stack along axes, by letter or number."""
    with opened_stack(path) as (series, _):
        return tuple(series.shape[axis] for axis in positions(axes, series.axes, path))
