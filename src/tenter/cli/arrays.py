"""Read and write .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.refusal import Refusal, first_line
from tenter.cli.sizes import check_fits


def read_npy(path: Path) -> npt.NDArray[Any]:
    """Read a .npy file that holds plain numbers and is as long as its header says."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise Refusal(f"{path}: is not a .npy file")
    try:
        # Mapping checks the header against the file's length, where a plain load would first allocate. But it is not
        # read from: that would end the process if the file became shorter meanwhile.
        nbytes = np.load(path, mmap_mode="r", allow_pickle=False).nbytes
        check_fits(nbytes, f"{path}: the array")
        array: npt.NDArray[Any] = np.load(path, allow_pickle=False)
    except (Refusal, MemoryError):
        raise
    except Exception as error:
        # a damaged header goes through Python's own parsers, which raise tokenize.TokenError among others
        if "object" in str(error).lower():
            raise Refusal(f"{path}: holds pickled Python objects, which are not read; save plain numbers") from error
        raise Refusal(f"{path}: is truncated or damaged: {first_line(error)}") from error
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def write_npy(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as .npy, never pickled."""
    np.save(file, array, allow_pickle=False)
