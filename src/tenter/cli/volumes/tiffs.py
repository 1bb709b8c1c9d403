"""TIFF stacks of ImageJ, OME and plain pages: read page by page, and written so that any block has its place."""

from __future__ import annotations

import itertools
import math
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tenter.cli.reading.opening import named
from tenter.cli.reading.stack import CHANNEL, described, opened_stack, place_of, voxel_of
from tenter.cli.reading.tiff import check_whole, decoded
from tenter.cli.refusal import Refusal, require
from tenter.cli.volumes.npy import NpyFile
from tenter.cli.volumes.stored import Stored, state
from tenter.cli.volumes.windows import Box, Pixels, extents
from tenter.cli.voxels import SPACE, Voxel, short_unit
from tenter.cli.writing.tiff import CLASSIC_LIMIT

ENDINGS = (".tif", ".tiff")
#: The order of an OME-Zarr array's axes.
ORDER = "tczyx"
#: What ImageJ's own files hold.
IMAGEJ_DTYPES = ("uint8", "uint16", "float32")


class Stack(NamedTuple):
    """A file as an array: its elements, the names of its dims, and how large its voxels are, if it says so."""

    stored: Stored
    names: list[str]
    voxel: Voxel


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

    def read(self, box: Box) -> Pixels:
        split = len(box) - self._inner
        values: Pixels = np.empty(extents(box), self.dtype.newbyteorder("="))
        within = tuple(slice(lo, hi) for lo, hi in box[split:])
        for place in itertools.product(*(range(lo, hi) for lo, hi in box[:split])):
            index = int(np.ravel_multi_index(place, self.shape[:split])) if split else 0
            values[tuple(p - lo for p, (lo, _) in zip(place, box))] = self._page(index)[within]
        return values

    def _page(self, index: int) -> Pixels:
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

    def write(self, box: Box, values: Pixels) -> None:
        raise NotImplementedError

    def reading(self, box: Box) -> int:
        """A page, encoded and decoded."""
        return 2 * math.prod(map(int, self.unit)) * int(self.dtype.itemsize)

    def writing(self) -> int:
        return 0


class Ordered:
    """An array with its dims in another order."""

    def __init__(self, stored: Stored, order: tuple[int, ...]) -> None:
        self.of, self.order, self.name, self.dtype, self.largest = stored, order, stored.name, stored.dtype, 0
        self.shape, self.unit = (tuple(of[axis] for axis in order) for of in (stored.shape, stored.unit))
        self.chunk = stored.chunk and tuple(stored.chunk[axis] for axis in order)

    def read(self, box: Box) -> Pixels:
        return np.ascontiguousarray(self.of.read(self._back(box)).transpose(self.order))

    def files(self, box: Box) -> set[str]:
        return self.of.files(self._back(box))

    def write(self, box: Box, values: Pixels) -> None:
        self.of.write(self._back(box), np.ascontiguousarray(values.transpose(np.argsort(self.order))))

    def reading(self, box: Box) -> int:
        return self.of.reading(self._back(box)) + math.prod(extents(box)) * self.dtype.itemsize

    def writing(self) -> int:
        return self.of.writing() + math.prod(self.unit) * self.dtype.itemsize

    def _back(self, box: Box) -> Box:
        return tuple(box[k] for k in np.argsort(self.order))


def open_tiff(path: Path) -> Stack:
    """The first series of a file, whose dims are put in OME-Zarr's order. It stays open as long as the command runs."""
    found = opened_stack(path)
    series, tiff = found.__enter__()
    stored: Stored = Pages(series, str(path), found)
    if series.dataoffset is not None:
        dtype = np.dtype(series.dtype).newbyteorder(tiff.byteorder)
        stored = NpyFile(path, tuple(series.shape), dtype, series.dataoffset, str(path))
    with named(path):
        voxel = voxel_of(described(series, tiff))
        for page in series.pages:
            if page is not None:
                check_whole(page)
    names = _names(series.axes, path)
    order = tuple(sorted(range(len(names)), key=lambda k: ORDER.find(names[k])))
    if order != tuple(range(len(names))):
        stored, names = Ordered(stored, order), [names[k] for k in order]
    return Stack(stored, names, voxel)


def _names(letters: str, path: Path) -> list[str]:
    """Names of dims, from tifffile's letters. A dim without a meaning is z if there is no other."""
    names = [CHANNEL if letter == "S" else letter.lower() for letter in letters]
    unknown = [k for k, name in enumerate(names) if name not in ORDER]
    if len(unknown) == 1 and "z" not in names:
        names[unknown[0]] = "z"
    if len(set(names)) < len(names):
        raise Refusal(f"{path}: its axes are {','.join(letters.lower())}, and two of them would be {CHANNEL}")
    return names


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
    metadata: dict[str, Any] = {"axes": letters}
    options: dict[str, Any] = {"photometric": "minisblack", "software": False}
    unit = short_unit(voxel.unit)
    if of_imagej:
        metadata |= {"unit": "um" if unit == "µm" else unit} if unit else {}
        metadata |= {"spacing": voxel.sizes["z"]} if "z" in voxel.sizes else {}
        if {"x", "y"} <= set(voxel.sizes):
            options |= {"resolution": (1 / voxel.sizes["x"], 1 / voxel.sizes["y"]), "resolutionunit": 1}
    else:
        for name, size in voxel.sizes.items():
            metadata[place_of(name)] = size
            metadata |= {f"{place_of(name)}Unit": unit} if unit and name in SPACE else {}
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
