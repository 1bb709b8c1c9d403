"""What an array on disk provides, of whatever format."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from tenter._arrays.types import Array
from tenter._parts.boxes import Box


class Stored(Protocol):
    """unit: the shape of what is read and written at once, from index 0 on: a chunk, a shard, some rows. chunk: the
    shape of what is decoded at once; None where nothing is decoded. largest: bytes that a chunk of zarr may decode to;
    0 of other formats."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    unit: tuple[int, ...]
    chunk: tuple[int, ...] | None
    largest: int

    def read(self, box: Box) -> Array:
        """The elements of a box, contiguous and in this machine's byte order."""

    def files(self, box: Box) -> set[str]:
        """The files that hold a box, each with its `state`. Never fails: reading says what is wrong."""

    def reading(self, box: Box) -> int:
        """Bytes that reading a box takes in addition to its elements, at most."""


class Writable(Stored, Protocol):
    """One that a command makes."""

    def write(self, box: Box, values: Array) -> None:
        """Write whole units. A unit that could not be written is left out or as it was."""

    def writing(self) -> int:
        """Bytes that writing takes in addition to the elements, at most."""


def state(file: str | int, name: str = "") -> str:
    """What changes when a file is written or replaced. Programs can set the modification time back, the change time
    they cannot. Not the inode: a file system without fixed numbers gives a file that is as it was another one."""
    try:
        found = os.stat(file)
    except OSError:
        return f"{name} -"
    return f"{name} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def digest(files: Iterable[str]) -> str:
    """One word for the states of some files."""
    return hashlib.blake2b("\n".join(sorted(files)).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def whole(shape: tuple[int, ...]) -> Box:
    return tuple((0, n) for n in shape)
