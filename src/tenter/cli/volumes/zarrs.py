"""zarr arrays in folders, by the zarr package."""

from __future__ import annotations

import contextlib
import errno
import itertools
import math
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tenter._arrays.types import Array
from tenter._parts.boxes import Box
from tenter.cli.refusal import Refusal, first_line, require
from tenter.cli.volumes import inflating
from tenter.cli.volumes.store import ROOTS, checked, ended
from tenter.cli.volumes.stored import Stored, state

if TYPE_CHECKING:
    import zarr

#: How much wider filters may make elements: eight bytes of one, and as much again.
WIDER = 16
#: Bytes that codecs add to a chunk: checksums, heads.
OF_CODECS = 1 << 20


class ZarrArray:
    """A zarr array. name: what the user calls it, for errors."""

    def __init__(self, array: zarr.Array[Any], name: str) -> None:
        self.array, self.name = array, name
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.unit = tuple(array.shards or array.chunks)
        self._chunk = tuple(array.chunks)
        self.chunk = self._decoded_at_once()
        self.largest = self._largest()
        if isinstance(array.store, checked()):
            array.store.name = name
            index = 16 * math.prod(-(-u // c) for u, c in zip(self.unit, self._chunk))
            array.store.most = 2 * max(self.largest, math.prod(self.unit) * self.dtype.itemsize + index)

    def read(self, box: Box) -> Array:
        try:
            with ended():
                values = self.array[_place(box)]
        except Exception as error:
            raise self._unreadable(box, error) from error
        return np.ascontiguousarray(values, self.dtype.newbyteorder("="))

    def files(self, box: Box) -> set[str]:
        if any(lo == hi for lo, hi in box):
            return set()
        folder, key_of = str(self.array.store.root), self.array.metadata.encode_chunk_key  # type: ignore[attr-defined]
        units = (range(lo // u, -(-hi // u)) for (lo, hi), u in zip(box, self.unit))
        return {state(f"{folder}/{key}", key) for key in map(key_of, itertools.product(*units))}

    def write(self, box: Box, values: Array) -> None:
        with ended():
            self.array[_place(box)] = values

    def reading(self, box: Box) -> int:
        """The encoded chunk and its elements. For a shard: its bytes, its elements and a chunk's."""
        chunk = math.prod(self._chunk) * self.dtype.itemsize
        if self.unit == self._chunk:
            return 2 * chunk
        rounded = math.prod(min(u, hi - lo + 2 * c) for (lo, hi), u, c in zip(box, self.unit, self._chunk))
        return 2 * rounded * self.dtype.itemsize + 2 * chunk

    def writing(self) -> int:
        """The unit's elements, once more encoded, and once more as the bytes that are written."""
        return (2 if self.unit == self._chunk else 3) * math.prod(self.unit) * self.dtype.itemsize

    def _decoded_at_once(self) -> tuple[int, ...] | None:
        is_sharded = self.unit != self._chunk
        # A codec after that of shards decodes all of one.
        return self.unit if is_sharded and len(self.array.metadata.codecs) > 1 else self._chunk  # type: ignore[union-attr]

    def _largest(self) -> int:
        """The most bytes of an encoded chunk: its elements, which filters may have widened, and checksums."""
        wider = WIDER if self.array.filters else 1
        return wider * math.prod(self.chunk or ()) * self.dtype.itemsize + OF_CODECS

    def _unreadable(self, box: Box, error: Exception) -> Exception:
        """The error of the first chunk that cannot be read, with its name."""
        for chunk in _chunks(box, self._chunk, self.shape):
            try:
                with ended():
                    self.array[_place(chunk)]
            except Exception as found:
                within = tuple(lo // n for (lo, _), n in zip(chunk, self._chunk))
                stored = tuple(lo // n for (lo, _), n in zip(chunk, self.unit))
                key = self.array.metadata.encode_chunk_key(stored)
                inner = "" if self.unit == self._chunk else f" (its chunk {within})"
                return Refusal(f"{self.name}/{key}: cannot be read{inner}: {_reason(found)}")
        return Refusal(f"{self.name}: cannot be read: {_reason(error)}")


def is_zarr(path: str) -> bool:
    """Whether a folder is a zarr array or group."""
    return any(os.path.isfile(os.path.join(path, name)) for name in ROOTS)


def open_zarr(path: str) -> Any:
    """The zarr array or group in a folder, to read."""
    require("zarr")
    import zarr

    try:
        with ended():
            return zarr.open(checked()(path, read_only=True), mode="r")
    except OSError:
        raise
    except Exception as error:
        raise Refusal(f"{path}: cannot be read as zarr: {first_line(error)}") from error


def is_group(found: Any) -> bool:
    """Whether what was opened is a group."""
    import zarr

    return isinstance(found, zarr.Group)


def check_array(array: Any, name: str) -> ZarrArray:
    """Refuse arrays without elements of a fixed size, and chunks of different sizes."""
    import zarr

    if not isinstance(array, zarr.Array):
        raise Refusal(f"{name}: is a group, expected an array{members(array)}")
    if np.dtype(array.dtype).hasobject or np.dtype(array.dtype).kind not in "biufc":
        raise Refusal(f"{name}: expected numbers, got {array.dtype}")
    if any(getattr(codec, "codec_id", "") == "pickle" for codec in (*array.filters, *array.compressors)):
        raise Refusal(f"{name}: its chunks are pickled, which may run any program; they are not read")
    if np.ndim(array.fill_value):  # zarr 3.0 reads a list as one
        raise Refusal(f"{name}: expected a number as its fill value, got {array.fill_value.tolist()}")
    try:
        if 0 in array.chunks:
            raise Refusal(f"{name}: expected chunks with at least one element, got chunks {array.chunks}")
        return ZarrArray(array, name)
    except NotImplementedError as error:  # chunks of different sizes
        raise Refusal(f"{name}: expected chunks of one shape: {first_line(error)}") from error


def create_zarr(
    path: Path, like: Any, shape: tuple[int, ...], dtype: np.dtype[Any], chunks: tuple[int, ...] | None, format_: int,
    names: list[str] | None = None, order: tuple[int, ...] | None = None,
) -> None:  # fmt: skip
    """Creates an empty array of zarr format 2 or 3. like: the zarr array whose chunks, codecs, fill value, names of
    dims and attributes it gets; None: zarr's defaults. chunks, names: replace those of `like`. order: for each dim, the
    one of `like` that it is."""
    require("zarr")
    import zarr

    given: dict[str, Any] = {"zarr_format": format_}
    if like is not None and like.metadata.zarr_format == format_:
        given |= {"filters": like.filters, "compressors": like.compressors, "attributes": dict(like.attrs)}
        given |= {"fill_value": like.fill_value, "order": like.order if format_ == 2 else None}
        if format_ == 3:
            given["serializer"] = like.serializer
            given["dimension_names"] = like.metadata.dimension_names
            given["chunk_key_encoding"] = like.metadata.chunk_key_encoding
        else:
            given["chunk_key_encoding"] = {"name": "v2", "separator": like.metadata.dimension_separator}
    if names is not None:  # an array of an OME-Zarr group
        if "_ARRAY_DIMENSIONS" in given.get("attributes", {}):
            given["attributes"]["_ARRAY_DIMENSIONS"] = names
        if format_ == 3:
            given["dimension_names"] = names
        else:
            given["chunk_key_encoding"] = {"name": "v2", "separator": "/"}
    shards = None
    if like is not None and chunks is None:
        order = order or tuple(range(len(shape)))
        chunks, shards = (of and tuple(of[axis] for axis in order) for of in (like.chunks, like.shards))
    if chunks is None:
        chunks = default_chunks(shape, dtype.itemsize)
    if shards is None:
        chunks = tuple(max(1, min(c, n)) for c, n in zip(chunks, shape))
    with ended():
        zarr.create_array(checked()(path), shape=shape, dtype=dtype, chunks=chunks, shards=shards, **given)


def open_created(path: Path, name: str) -> ZarrArray:
    """An array that `create_zarr` has made."""
    import zarr

    if not is_zarr(str(path)):  # zarr would make an empty folder there
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    with ended():
        return check_array(zarr.open_array(checked()(path), mode="r+"), name)


def default_chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """About a mebibyte, as near to a cube of the last three dims as the shape allows."""
    left, chunks = max(1, (1 << 20) // itemsize), [1] * len(shape)
    dims = list(range(len(shape)))[-3:]
    for k, d in enumerate(sorted(dims, key=lambda d: shape[d])):
        side = 2 ** round(math.log2(max(1, left)) / (len(dims) - k))
        chunks[d] = max(1, min(shape[d], side))
        left //= chunks[d]
    return tuple(chunks)


def create_group(path: Path, attributes: dict[str, Any], format_: Any) -> None:
    """A group without members."""
    require("zarr")
    import zarr

    with ended():
        zarr.create_group(checked()(path), attributes=attributes, zarr_format=format_)


def check_level(path: Path) -> None:
    """Refuse to replace what is not a zarr array."""
    if not is_zarr(str(path)) or is_group(open_zarr(str(path))):
        raise Refusal(f"{path}: exists and is not a zarr array")


def attributes_of(path: str) -> dict[str, Any]:
    """The attributes of an array or group in a folder; none where neither is there."""
    return dict(open_zarr(path).attrs) if is_zarr(path) else {}


def set_attributes(path: str, attributes: dict[str, Any], temporary: Path) -> None:
    """Replace all attributes of a group at once. temporary: a folder of the same file system."""
    import zarr

    store = checked()(path)
    store.temporary = temporary
    with ended():
        zarr.open_group(store, mode="r+").attrs.put(attributes)


def consolidate_above(path: Path, temporary: Path) -> None:
    """Make the consolidated metadata again of each group that a path is in and that has any: readers take it for all
    that there is. temporary: as of `set_attributes`."""
    folder = str(path.parent)
    while is_zarr(folder):
        import zarr

        group = open_zarr(folder)
        if is_group(group) and group.metadata.consolidated_metadata is not None:
            store = checked()(folder)
            store.temporary = temporary
            with ended(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of version 3, whose specification has none of it yet
                zarr.consolidate_metadata(store, zarr_format=group.metadata.zarr_format)
        folder = os.path.dirname(os.path.abspath(folder))


def bounded(arrays: list[Stored]) -> contextlib.AbstractContextManager[None]:
    """Meanwhile, no chunk of these decodes to more than it may have."""
    most = max(array.largest for array in arrays)
    return inflating.bounded(most) if most else contextlib.nullcontext()


def one_chunk_at_a_time() -> None:
    """Bound what zarr does at once for each call, as memory is planned for one chunk a thread."""
    if "zarr" in sys.modules:
        import zarr

        zarr.config.set({"async.concurrency": 1})


def _place(box: Box) -> tuple[slice, ...]:
    return tuple(slice(lo, hi) for lo, hi in box)


def _chunks(box: Box, chunk: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[Box]:
    """The chunks that a box touches."""
    numbers = [range(lo // c, -(-hi // c)) for (lo, hi), c in zip(box, chunk)]
    for number in itertools.product(*numbers):
        yield tuple((k * c, min((k + 1) * c, n)) for k, c, n in zip(number, chunk, shape))


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return first_line(error)


def members(group: Any) -> str:
    """Some arrays of a group, for a message."""
    names = sorted(name for name, _ in group.arrays())
    return f", such as {', '.join(names[:4])} in it" if names else ""
