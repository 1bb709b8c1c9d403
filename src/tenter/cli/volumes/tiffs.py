"""TIFF stacks of ImageJ, OME and plain pages: read page by page, and written so that any block has its place."""

from __future__ import annotations

import itertools
import math
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.types import Array
from tenter._parts.boxes import Box, extents
from tenter.cli.reading.opening import named
from tenter.cli.reading.stack import (
    CHANNEL,
    DISTANCES,
    IMAGEJ_UNITS,
    INTERVAL,
    SPACING,
    UNNAMED,
    Stack as Described,
    described,
    imagej_distances,
    ome_distances,
    opened_stack,
    place_of,
    voxel_of,
)
from tenter.cli.reading.tiff import check_whole, decoded
from tenter.cli.refusal import Refusal, require
from tenter.cli.volumes.axes import given_names
from tenter.cli.volumes.npy import NpyFile
from tenter.cli.volumes.ordered import ordered
from tenter.cli.volumes.stored import Stored, state
from tenter.cli.voxels import Voxel
from tenter.cli.writing.tiff import CLASSIC_LIMIT

ENDINGS = (".tif", ".tiff")
#: The order of an OME-Zarr array's axes.
ORDER = "tczyx"
#: What ImageJ's own files hold.
IMAGEJ_DTYPES = ("uint8", "uint16", "float32")


class Stack(NamedTuple):
    """A file as an array: its elements, the names of its dims and whether something says them, how large its voxels are
    if it says so, and what no other file has of it."""

    stored: Stored
    names: list[str]
    is_named: bool
    voxel: Voxel
    lost: list[str]


class Pages:
    """A stack whose pages are decoded one at a time. opened: what holds the file open."""

    largest = 0

    def __init__(self, series: Any, name: str, opened: Any) -> None:
        self.name, self._series, self._opened, self._lock = name, series, opened, threading.Lock()
        self._file: int = series.keyframe.parent.filehandle.fileno()
        self.shape, self.dtype = tuple(series.shape), np.dtype(series.dtype)
        self._inner: int = series.keyframe.ndim
        self.unit = (*[1] * (len(self.shape) - self._inner), *self.shape[len(self.shape) - self._inner :])
        self.chunk: tuple[int, ...] | None = self.unit

    def read(self, box: Box) -> Array:
        split = len(box) - self._inner
        values: Array = np.empty(extents(box), self.dtype.newbyteorder("="))
        within = tuple(slice(lo, hi) for lo, hi in box[split:])
        for place in itertools.product(*(range(lo, hi) for lo, hi in box[:split])):
            index = int(np.ravel_multi_index(place, self.shape[:split])) if split else 0
            values[tuple(p - lo for p, (lo, _) in zip(place, box))] = self._page(index)[within]
        return values

    def _page(self, index: int) -> Array:
        with self._lock:
            page = self._series.pages[index]
            if page is None:  # which the file says is there, and has not
                return np.zeros(self.unit[-self._inner :], self.dtype.newbyteorder("="))
            try:
                pixels = decoded(page, f"compression {self._series.keyframe.compression.name}")
                return pixels.reshape(self.unit[-self._inner :])
            except Refusal as error:
                raise Refusal(f"{self.name}: page {index}: {error}") from error
            except OSError as error:
                raise OSError(error.errno, error.strerror or str(error), self.name) from error

    def files(self, box: Box) -> set[str]:
        return {state(self._file)}

    def reading(self, box: Box) -> int:
        """A page, encoded and decoded."""
        return 2 * math.prod(map(int, self.unit)) * int(self.dtype.itemsize)


def open_tiff(path: Path, given: str | None = None) -> Stack:
    """The first series of a file, whose dims are put in OME-Zarr's order. It stays open as long as the command runs.
    given: what the user calls the dims."""
    found = opened_stack(path)
    series, tiff = found.__enter__()
    stored: Stored = Pages(series, str(path), found)
    if series.dataoffset is not None:
        dtype = np.dtype(series.dtype).newbyteorder(tiff.byteorder)
        stored = NpyFile(path, tuple(series.shape), dtype, series.dataoffset, str(path))
    with named(path):
        said = described(series, tiff)
        voxel = voxel_of(said)
        for page in series.pages:
            if page is not None:
                check_whole(page)
    is_named = given is not None or not any(letter in UNNAMED for letter in series.axes)
    names = _names(series.axes, path) if given is None else given_names(given, len(series.shape))
    order = tuple(sorted(range(len(names)), key=lambda k: ORDER.find(names[k])))
    lost = [*said.unread, *_unsaid(said)]
    return Stack(ordered(stored, order), [names[k] for k in order], is_named, voxel, lost)


def _names(letters: str, path: Path) -> list[str]:
    """Names of dims, from tifffile's letters. A dim without a meaning is z if there is no other."""
    names = [CHANNEL if letter == "S" else letter.lower() for letter in letters]
    unknown = [k for k, name in enumerate(names) if name not in ORDER]
    if len(unknown) == 1 and "z" not in names:
        names[unknown[0]] = "z"
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        of = " and ".join(twice)
        what = f"two of its dims would be {of}" if set(twice) <= set(ORDER) else "more than one of its dims has no name"
        raise Refusal(f"{path}: {what}, its axes are {','.join(letters.lower())}; --names says what they are")
    return names


def _unsaid(stack: Described) -> list[str]:
    """What a program says of its stack that no other format has."""
    of = {*DISTANCES.values(), *(place_of(name) + "Unit" for name in "tzyx"), SPACING, INTERVAL, *IMAGEJ_UNITS.values()}
    keys = sorted(str(key) for key in stack.about if key not in of and key not in ("axes", "Name"))
    return [f"{stack.program} metadata ({', '.join(keys)})"] if keys else []


def create_tiff(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], names: list[str], voxel: Voxel, is_ome: bool
) -> None:
    """A file of zeros, not compressed, with metadata of OME or of ImageJ. is_ome: whether its name says so."""
    require("tifffile")
    import tifffile

    letters = "".join(names).upper()
    n_bytes = math.prod(shape) * dtype.itemsize
    of_imagej = not is_ome and dtype.name in IMAGEJ_DTYPES and n_bytes < CLASSIC_LIMIT
    of_imagej = of_imagej and letters in ("YX", "ZYX", "TYX", "CYX", "TZYX", "TCYX")
    if not of_imagej and (set(letters) - set("TCZYX") or letters[-2:] != "YX"):
        raise Refusal(f"{path.name}: a TIFF stack has axes of t, c, z, y and x, got {','.join(names)}")
    voxel = Voxel({name: size for name, size in voxel.sizes.items() if name in ORDER}, voxel.units)
    options: dict[str, Any] = {"photometric": "minisblack", "software": False}
    metadata = {"axes": letters, **(imagej_distances(voxel) if of_imagej else ome_distances(voxel))}
    if of_imagej and {"x", "y"} <= set(voxel.sizes):
        options |= {"resolution": (1 / voxel.sizes["x"], 1 / voxel.sizes["y"]), "resolutionunit": 1}
    with tifffile.TiffWriter(path, bigtiff=n_bytes >= CLASSIC_LIMIT, imagej=of_imagej, ome=not of_imagej) as writer:
        writer.write(shape=shape, dtype=dtype.newbyteorder("="), metadata=metadata, **options)


def open_created(path: Path, name: str) -> NpyFile:
    """The elements of a file that `create_tiff` has made."""
    import tifffile

    with tifffile.TiffFile(path) as tiff:
        series = tiff.series[0]
        shape = tuple(page for page in series.shape)
        dtype = np.dtype(series.dtype).newbyteorder(tiff.byteorder)
        return NpyFile(path, shape, dtype, series.dataoffset, name)
