"""Write TIFF stacks by tifffile, with the distances between their new samples."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.reading.stack import DISTANCES, IMAGEJ, INTERVAL, OME, SPACING, Stack
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.voxels import in_ascii
from tenter.cli.writing.tiff import CLASSIC_LIMIT, HORIZONTAL

#: ImageJ's names
LABELS, INFO = "Labels", "Info"
LABELS_LOST = "ImageJ's labels of slices"


def resized(stack: Stack, array: npt.NDArray[Any]) -> tuple[Stack, list[str]]:
    """The stack of the resized array, its distances multiplied by old length / new length; and what is not kept."""
    factors = {axis: old / new for axis, old, new in zip(stack.axes, stack.array.shape, array.shape) if new}
    about, lost = dict(stack.about), list(stack.unread)
    distances = {"Z": SPACING, "T": INTERVAL} if stack.program == IMAGEJ else DISTANCES
    for axis, name in distances.items():
        if name in about:
            about[name] = float(about[name]) * factors.get(axis, 1)
    if LABELS in about and any(factors.get(axis, 1) != 1 for axis in "TZC"):
        del about[LABELS]
        lost.append(LABELS_LOST)
    x, y = stack.resolution or (0.0, 0.0)
    resolution = (x / factors.get("X", 1), y / factors.get("Y", 1)) if stack.resolution else None
    return replace(stack, array=array, about=about, resolution=resolution), lost


def write_stack(file: BinaryIO, stack: Stack) -> None:
    """Write an array of any axes, without loss, with metadata as its source had, and compressed by deflate unless its
    source is not."""
    require("tifffile")
    import tifffile

    whole = io.BytesIO()
    options: dict[str, Any] = {"maxworkers": 1, "photometric": "minisblack", "software": False}
    if stack.compressed and stack.program != IMAGEJ:
        options["compression"] = "zlib"
        if stack.array.dtype.kind in "ui":
            options["predictor"] = HORIZONTAL
    if stack.axes.endswith("S"):
        options |= {"photometric": "rgb", "planarconfig": "contig"}
    if stack.resolution:
        options |= {"resolution": stack.resolution, "resolutionunit": stack.unit}
    named = {"axes": stack.axes} if stack.program in (IMAGEJ, OME) else {}  # tifffile's has axes in `about`, if any
    about = stack.about
    if stack.program == IMAGEJ:  # whose description is ASCII, apart from INFO, which has a place of its own
        about = {key: in_ascii(of) if isinstance(of, str) and key != INFO else of for key, of in about.items()}
    options["metadata"] = {**named, **about} if stack.program else None
    if stack.program == IMAGEJ:
        del options["maxworkers"]
    big = stack.array.nbytes > CLASSIC_LIMIT and stack.program != IMAGEJ  # which reads no BigTIFF
    try:
        with tifffile.TiffWriter(
            whole, byteorder=stack.byteorder, bigtiff=big, imagej=stack.program == IMAGEJ, ome=stack.program == OME
        ) as writer:
            if stack.program:
                writer.write(stack.array, **options)
            else:
                for page in _pages(stack):
                    writer.write(page, contiguous=False, **options)
    except Exception as error:
        raise Refusal(f"cannot write this stack as TIFF: {first_line(error)}") from error
    file.write(whole.getbuffer())


def _pages(stack: Stack) -> npt.NDArray[Any]:
    """The planes; each one is a page."""
    plane = 3 if stack.axes.endswith("S") else 2
    return np.reshape(stack.array, (-1, *stack.array.shape[-plane:]))
