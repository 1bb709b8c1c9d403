"""Read and write .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.first_bytes import NPY
from tenter.cli.refusal import Refusal, first_line
from tenter.cli.sizes import check_fits

#: A last axis that is longer is not taken for channels.
CHANNELS = 4


def read_npy(path: Path) -> npt.NDArray[Any]:
    """Read a .npy file. Refuse pickled objects, and a file that is shorter than its header requires."""
    mapped = _mapped(path)
    check_fits(mapped.nbytes, f"{path}: the array")
    try:
        # The elements are not read through the map: if the file became shorter meanwhile, SIGBUS would end the process.
        array: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def shape_of_npy(path: Path) -> tuple[int, ...]:
    """The shape of the array in a .npy file, by its header."""
    return _mapped(path).shape


def check_shape(source: Path, shape: tuple[int, ...], to_npy: bool) -> None:
    """Refuse an array that is not of an image's shape. One of three long axes is a volume, not many channels."""
    if len(shape) not in (2, 3):
        what = "expected an array (H, W) or (H, W, C)"
        raise Refusal(f"{source}: {what}, got shape {shape}; --axes says which to resize")
    if to_npy and len(shape) == 3 and shape[2] > CHANNELS:
        what = f"expected a size for each axis of an array of shape {shape}, or at most {CHANNELS} channels"
        raise Refusal(f"{source}: {what}; --axes 0 1 resizes its first two axes")
    if 0 in shape:
        raise Refusal(f"{source}: expected an array with at least one pixel, got shape {shape}")


def _mapped(path: Path) -> npt.NDArray[Any]:
    """The array as a memory map, which checks the header against the file's length; a load would allocate first."""
    with open(path, "rb") as file:
        if file.read(len(NPY)) != NPY:
            raise Refusal(f"{path}: is not a .npy file")
    try:
        mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error
    return mapped


def _unreadable(path: Path, error: Exception) -> Refusal:
    # NumPy parses the header as Python code, so a damaged one raises tokenize.TokenError, SyntaxError and others.
    if "object arrays" in str(error).lower() or "python objects" in str(error).lower():
        return Refusal(f"{path}: holds pickled Python objects, which are not read; save plain numbers")
    return Refusal(f"{path}: is truncated or damaged: {first_line(error)}")


def write_npy(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as .npy; refuse to pickle objects."""
    np.save(file, array, allow_pickle=False)
