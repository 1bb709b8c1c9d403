"""Arrays on disk that a command reads, with all that the result takes from them; and how the result is made on disk."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import limits
from tenter.cli.formats import check_known
from tenter.cli.refusal import Refusal, first_line
from tenter.cli.volumes import ngff, npy, tiffs, zarrs
from tenter.cli.volumes.axes import dim_names
from tenter.cli.volumes.inside import inside
from tenter.cli.volumes.store import ATTRIBUTES, ROOTS
from tenter.cli.volumes.stored import Stored
from tenter.cli.volumes.windows import Box, Pixels
from tenter.cli.voxels import Voxel

#: The zarr format of a result whose source is not a zarr array.
ZARR_FORMAT = 3


class Source(NamedTuple):
    """stored: the array, its dims in the order of memory: reversed if is_turned. names: the dims' names. like: a zarr
    array, whose chunks and codecs a result takes. multiscale: what is known of axes and voxels, and all attributes of
    the array's group. identity: what tells it from another array, apart from its elements: the state of the files that
    hold them is noted with each block that is made of them. is_group: whether levels can be stored next to it."""

    stored: Stored
    is_turned: bool
    names: list[str]
    like: Any
    multiscale: ngff.Multiscale | None
    attributes: dict[str, Any]
    identity: list[Any]
    is_group: bool = False

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.stored.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.stored.shape[::-1] if self.is_turned else self.stored.shape


class Turned:
    """An array with its dims reversed."""

    def __init__(self, stored: Stored) -> None:
        self.of, self.name, self.dtype = stored, stored.name, stored.dtype
        self.shape, self.unit = stored.shape[::-1], stored.unit[::-1]
        self.chunk, self.largest = stored.chunk and stored.chunk[::-1], stored.largest

    def read(self, box: Box) -> Pixels:
        return np.ascontiguousarray(self.of.read(box[::-1]).T)

    def files(self, box: Box) -> set[str]:
        return self.of.files(box[::-1])

    def write(self, box: Box, values: Pixels) -> None:
        self.of.write(box[::-1], np.ascontiguousarray(values.T))

    def reading(self, box: Box) -> int:
        return self.of.reading(box[::-1]) + _bytes(box, self.dtype)

    def writing(self) -> int:
        return self.of.writing()


def open_source(path: str) -> Source:
    """The array of a .npy file, of a zarr array, or of the full size in an OME-Zarr group."""
    path = path.rstrip("/") or path
    if not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), path)
    if Path(path).suffix.lower() == ".npy" and os.path.isfile(path):
        stored, fortran = npy.open_npy(Path(path))
        _check(stored)
        identity = [os.path.realpath(path), stored.dtype.str, fortran]
        return Source(stored, fortran, dim_names({}, None, len(stored.shape)), None, None, {}, identity)
    if Path(path).suffix.lower() in tiffs.ENDINGS and os.path.isfile(path):
        return _of_tiff(path)
    if not zarrs.is_zarr(path):
        check_known(path)
        raise Refusal(f"{path}: is neither a .npy file, a TIFF stack nor a zarr array or group")
    found, multiscale, attributes, at = zarrs.open_zarr(path), None, {}, path
    if zarrs.is_group(found):
        attributes = dict(found.attrs)
        multiscale = ngff.read(attributes, path)
        if multiscale is None:
            raise Refusal(f"{path}: is a group without multiscales metadata{zarrs.members(found)}")
        at = inside(path, multiscale.paths[0])
        found = zarrs.open_zarr(at)
    array = zarrs.check_array(found, at)
    _check(array)
    names = dim_names(dict(found.attrs), getattr(found.metadata, "dimension_names", None), len(array.shape))
    if multiscale is not None:
        names = ngff.names(multiscale)
        if len(names) != len(array.shape):
            raise Refusal(f"{path}: its metadata has {len(names)} axes, its array {at} has {len(array.shape)}")
    identity = [os.path.realpath(at), _digest(at)]
    return Source(array, False, names, found, multiscale, attributes, identity, multiscale is not None)


def _of_tiff(path: str) -> Source:
    stack = tiffs.open_tiff(Path(path))
    _check(stack.stored)
    identity = [os.path.realpath(path), stack.stored.dtype.str, *stack.names]
    multiscale = None
    if stack.voxel.sizes:
        name = re.sub(r"(\.ome)?\.tiff?$", "", Path(path).name, flags=re.IGNORECASE)
        multiscale = ngff.with_voxel(ngff.new(stack.names, ZARR_FORMAT, name), stack.voxel)
    return Source(stack.stored, False, stack.names, None, multiscale, {}, identity)


def with_voxel(source: Source, sizes: tuple[float, ...], axes: Sequence[int], unit: str | None) -> Source:
    """The source with voxels of these sizes along some axes."""
    name = re.sub(r"(\.ome)?\.(zarr|npy|tiff?)$", "", Path(source.identity[0]).name, flags=re.IGNORECASE)
    found = source.multiscale or ngff.new(source.names, zarr_format(source), name)
    voxel = Voxel({source.names[axis]: size for axis, size in zip(axes, sizes, strict=True)}, unit)
    return source._replace(multiscale=ngff.with_voxel(found, voxel))


def zarr_format(source: Source) -> int:
    """The zarr format of a result: the source's, or the newest if the source is not a zarr array."""
    return ZARR_FORMAT if source.like is None else int(source.like.metadata.zarr_format)


def _check(stored: Stored) -> None:
    if not stored.shape or 0 in stored.shape:
        raise Refusal(f"{stored.name}: expected an array with at least one element, got shape {stored.shape}")
    if math.prod(stored.shape) * stored.dtype.itemsize > limits.INT64_MAX:
        raise Refusal(f"{stored.name}: expected an array of fewer than 2^63 bytes, got shape {stored.shape}")
    try:
        np.broadcast_to(np.empty((), stored.dtype), stored.shape)
    except ValueError as error:  # of more dims than NumPy takes
        raise Refusal(f"{stored.name}: {first_line(error)}") from error


def _digest(path: str) -> str:
    """A digest of the metadata of a zarr array."""
    found = hashlib.sha256()
    for name in (*ROOTS, ATTRIBUTES):
        file = Path(path, name)
        if file.is_file():
            found.update(file.read_bytes())
    return found.hexdigest()


def _bytes(box: Box, dtype: np.dtype[Any]) -> int:
    n = dtype.itemsize
    for lo, hi in box:
        n *= hi - lo
    return n
