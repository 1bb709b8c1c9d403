"""Read and write .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.refusal import Refusal, first_line
from tenter.cli.sizes import check_fits


def read_npy(path: Path) -> npt.NDArray[Any]:
    """Read a .npy file. Refuse pickled objects, and a file that is shorter than its header requires."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise Refusal(f"{path}: is not a .npy file")
    try:
        # A memory map checks the header against the file's length; a plain load would allocate first. The pixels are
        # not read through the map: if the file became shorter meanwhile, SIGBUS would end the process.
        nbytes = np.load(path, mmap_mode="r", allow_pickle=False).nbytes
        check_fits(nbytes, f"{path}: the array")
        array: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    except (Refusal, MemoryError):
        raise
    except Exception as error:
        # NumPy parses the header as Python code, so a damaged one raises tokenize.TokenError, SyntaxError and others.
        if "object" in str(error).lower():
            raise Refusal(f"{path}: holds pickled Python objects, which are not read; save plain numbers") from error
        raise Refusal(f"{path}: is truncated or damaged: {first_line(error)}") from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def write_npy(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as .npy; refuse to pickle objects."""
    np.save(file, array, allow_pickle=False)
