""".npy files, read and written window by window.

By reads and writes, not through a memory map: an input that gets shorter, a disk that fails or is full would end the
process by SIGBUS, and pages of a map count as memory of the process.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tenter._arrays.types import Array
from tenter._parts.boxes import Box, extents
from tenter.cli.refusal import Refusal, first_line
from tenter.cli.volumes.stored import state

#: Adjacent elements are read and written in runs of about this many bytes.
UNIT_BYTES = 1 << 20


class NpyFile:
    """A .npy file whose dims are in the order of memory: those of a Fortran-ordered array are reversed."""

    largest = 0
    chunk: tuple[int, ...] | None = None

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], begin: int, name: str) -> None:
        self.name, self.shape, self.dtype, self._begin = name, shape, dtype, begin
        self.unit = _unit(shape, dtype.itemsize)
        self._path = path
        self._files: dict[str, int] = {}

    def read(self, box: Box) -> Array:
        values: Array = np.empty(extents(box), self.dtype)
        flat = memoryview(values.reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # any array is a buffer
        file = self._file("rb")
        for at, n, place in self._runs(box):
            done = 0
            while done < n:
                try:
                    got = os.preadv(file, [flat[place + done : place + n]], at + done)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, self.name) from error
                if not got:
                    raise Refusal(f"{self.name}: ended while it was read")
                done += got
        return values.astype(self.dtype.newbyteorder("="), copy=False)

    def files(self, box: Box) -> set[str]:
        return {state(self._file("rb"))}  # of the open file, which another may have replaced

    def write(self, box: Box, values: Array) -> None:
        stored = np.ascontiguousarray(values, self.dtype)
        flat = memoryview(stored.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        file = self._file("r+b")
        for at, n, place in self._runs(box):
            done = 0
            while done < n:
                try:
                    done += os.pwrite(file, flat[place + done : place + n], at + done)
                except OSError as error:
                    raise OSError(error.errno, error.strerror, self.name) from error

    def reading(self, box: Box) -> int:
        swapped = 0 if self.dtype.isnative else 1
        return swapped * math.prod(extents(box)) * self.dtype.itemsize

    def writing(self) -> int:
        return 0

    def flat(self) -> NpyFile:
        """The same elements along one dim."""
        return NpyFile(self._path, (math.prod(self.shape),), self.dtype, self._begin, self.name)

    def _runs(self, box: Box) -> Iterator[tuple[int, int, int]]:
        """Yields runs of adjacent elements: their offset in the file, their bytes, and their offset in the box."""
        inner = len(box)
        while inner > 0 and box[inner - 1] == (0, self.shape[inner - 1]):
            inner -= 1
        split = max(inner - 1, 0)  # dims from here on are one run
        step = self.dtype.itemsize
        strides = [step * math.prod(self.shape[k + 1 :]) for k in range(len(box))]
        n = step * math.prod(extents(box[split:]))
        first = self._begin + sum(lo * s for (lo, _), s in zip(box, strides))
        outer = extents(box[:split])
        for number, index in enumerate(np.ndindex(*outer)):
            yield first + sum(k * s for k, s in zip(index, strides)), n, number * n

    def _file(self, mode: str) -> int:
        if mode not in self._files:
            self._files[mode] = os.open(self._path, os.O_RDONLY if mode == "rb" else os.O_RDWR)
        return self._files[mode]


def open_npy(path: Path) -> tuple[NpyFile, bool]:
    """A file, and whether the array is Fortran-ordered."""
    try:
        with open(path, "rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise Refusal(f"{path}: is not a .npy file")
            file.seek(0)
            shape, fortran, dtype = _header(file)
            begin = file.tell()
    except (Refusal, OSError):
        raise
    except Exception as error:
        raise Refusal(f"{path}: is truncated or damaged: {first_line(error)}") from error
    if dtype.hasobject:
        raise Refusal(f"{path}: holds pickled Python objects, which are not read; save plain numbers")
    if not dtype.itemsize or any(n < 0 for n in shape):
        raise Refusal(f"{path}: is damaged: its head says shape {shape} of {dtype}")
    if path.stat().st_size < begin + math.prod(shape) * dtype.itemsize:
        raise Refusal(f"{path}: is truncated or damaged: it ends before the last element")
    shape = tuple(map(int, shape))  # NumPy takes True for a length
    return NpyFile(path, shape[::-1] if fortran else shape, dtype, begin, str(path)), fortran


def create_npy(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], fortran: bool, name: str) -> None:
    """A sparse file of zeros. shape: in the order of memory."""
    with open(path, "wb") as file:
        given = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": fortran,
                 "shape": shape[::-1] if fortran else shape}  # fmt: skip
        np.lib.format.write_array_header_1_0(file, given)
        try:
            file.truncate(file.tell() + math.prod(shape) * dtype.itemsize)
        except OSError as error:
            raise OSError(error.errno, error.strerror, name) from error


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    # Version 3 is for names of fields beyond Latin-1, so it has no plain numbers.
    raise ValueError(f"expected a .npy file of version 1 or 2, got {version[0]}.{version[1]}")


def _unit(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Runs of about UNIT_BYTES: whole trailing dims."""
    left, unit = max(1, UNIT_BYTES // itemsize), []
    for n in reversed(shape):
        unit.append(max(1, min(n, left)))
        left //= max(n, 1)
    return tuple(unit[::-1])
