"""--dry-run and --update: the sizes of results, from the heads of the files alone."""

from __future__ import annotations

import os
from pathlib import Path

from tenter.cli.along import array_size, refuse_padding
from tenter.cli.arrays import check_shape, shape_of_npy
from tenter.cli.first_bytes import type_of_input
from tenter.cli.folders import Task
from tenter.cli.formats import FORMATS, is_npy
from tenter.cli.options import Options
from tenter.cli.reading.heads import head_of, lengths_of_stack
from tenter.cli.reading.opening import How
from tenter.cli.reading.stack import is_stack, positions
from tenter.cli.refusal import Refusal
from tenter.cli.sizes import Sizes
from tenter.cli.target import find_target


def planned_sizes(source: Path, output: str, options: Options) -> Sizes:
    """The sizes of a file and of its result. Pixels are not read, so a damaged image is not found, nor one whose
    channels the new type does not hold."""
    if type_of_input(source, str(source)):
        if options.axes is not None:
            lengths, known = lengths_of_stack(source, options.axes)
            return Sizes(lengths, array_size(lengths, options, options.voxel_size or known))
        return _of_pictures(source, output, options)
    shape = shape_of_npy(source)
    if options.axes is None:
        check_shape(source, shape, is_npy(output))
        target = find_target((shape[0], shape[1]), 1, options)
        return Sizes(target.before, target.after)
    axes = positions(options.axes, "", source)
    if any(not -len(shape) <= axis < len(shape) for axis in axes):
        raise Refusal(f"{source}: has {len(shape)} axes, --axes names {', '.join(map(str, axes))}")
    lengths = tuple(shape[axis] for axis in axes)
    return Sizes(lengths, array_size(lengths, options, options.voxel_size or [None] * len(lengths)))


def is_current(task: Task, options: Options) -> bool:
    """Whether an output that exists is no older than its input, and of the size that is asked for."""
    try:
        if os.stat(task.source).st_mtime_ns > os.stat(task.output).st_mtime_ns:
            return False
        wanted = planned_sizes(Path(task.source), task.output, options._replace(wanted=task.wanted)).after
        unscaled = options._replace(
            size=None, scale=1.0, spacing=None, voxel_size=None, wanted=None, box=None, frame=None
        )
        return planned_sizes(Path(task.output), task.output, unscaled).before == wanted
    except Exception:  # what cannot be read is written again, or reported then
        return False


def _of_pictures(source: Path, output: str, options: Options) -> Sizes:
    type_ = "" if is_npy(output) else FORMATS[Path(output).suffix.lower()]
    if type_ == "TIFF" and options.frame is None and is_stack(source):
        refuse_padding(options)
        (height, width), _ = lengths_of_stack(source, ("y", "x"))
        target = find_target((height, width), 1, options)
        return Sizes(target.before, target.after)
    head = head_of(source, How(options.frame, max_pixels=options.max_pixels, to=type_))
    target = find_target(head.size, head.orientation, options)
    return Sizes(target.before, target.after, head.pictures)
