"""--dry-run: the sizes of results, from the heads of the files alone."""

from __future__ import annotations

import warnings
from pathlib import Path

from tenter.cli.arrays import shape_of_npy
from tenter.cli.options import Options
from tenter.cli.orientation import ORIENTATION
from tenter.cli.pictures import allowed_pixels, is_npy, too_large
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.resize import Sizes, array_size, check_shape
from tenter.cli.streams import quiet
from tenter.cli.target import find_target


def planned_sizes(source: Path, output: str, options: Options) -> Sizes:
    """The sizes of a file and of its result. Pixels are not read, so a damaged picture is not found."""
    if not is_npy(str(source)):
        target = find_target(*_head(source, options.max_pixels), options)
        return Sizes(target.before, target.after)
    shape = shape_of_npy(source)
    if options.axes is None:
        check_shape(source, shape, is_npy(output))
        target = find_target((shape[0], shape[1]), 1, options)
        return Sizes(target.before, target.after)
    if any(not -len(shape) <= axis < len(shape) for axis in options.axes):
        raise Refusal(f"{source}: has {len(shape)} axes, --axes names {', '.join(map(str, options.axes))}")
    lengths = tuple(shape[axis] for axis in options.axes)
    return Sizes(lengths, array_size(lengths, options))


def _head(path: Path, max_pixels: int | None) -> tuple[tuple[int, int], int]:
    """The stored height and width of a picture, and its orientation."""
    require("PIL")
    from PIL import Image

    try:
        with warnings.catch_warnings(), quiet(), allowed_pixels(max_pixels), Image.open(path) as image:
            warnings.simplefilter("ignore")
            orientation = image.getexif().get(ORIENTATION, 1)
            return (image.height, image.width), orientation if orientation in range(1, 9) else 1
    except Image.DecompressionBombError as error:
        raise too_large(path, error) from error
    except OSError as error:
        if error.errno:
            raise
        raise Refusal(f"{path}: is not a picture that can be read") from error
    except Exception as error:
        raise Refusal(f"{path}: {first_line(error)}") from error
