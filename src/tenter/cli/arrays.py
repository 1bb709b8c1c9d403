"""Read and write .npy files, and the `tenter repeat` command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

import tenter
from tenter.cli.output import check_input, check_output, remove_leftovers, write_beside
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


def repeat_command(args: argparse.Namespace) -> None:
    """Carry out `tenter repeat`."""
    source = check_input(args.input)
    for path in (args.input, args.output):
        if Path(path).suffix.lower() != ".npy":
            raise Refusal(f"{path}: expected a file name that ends in .npy")
    target = check_output(args.output, source, args.force)
    array = read_npy(source)
    counts = _read_counts(args.counts)
    _check_total(array, counts, args.dim)
    result = tenter.repeat_interleave(array, counts, dim=args.dim)
    remove_leftovers(target.parent)
    write_beside(target, args.force, lambda file: write_npy(file, result))


def _read_counts(text: str) -> int | npt.NDArray[Any]:
    if text.lower().endswith(".npy"):
        return read_npy(check_input(text))
    try:
        return int(text)
    except ValueError:
        raise Refusal(f"--counts: expected a whole number or a .npy file, got {text!r}") from None


def _check_total(array: npt.NDArray[Any], counts: int | npt.NDArray[Any], dim: int | None) -> None:
    """Refuse a total that memory cannot hold; everything else about the counts is the library's to judge."""
    if not array.size or np.asarray(counts).dtype.kind not in "iu":
        return
    if np.size(counts) == 1:
        total = int(np.asarray(counts).item()) * array.nbytes
    else:
        along = array.size if dim is None else array.shape[dim] if -array.ndim <= dim < array.ndim else 1
        # as floats: exact enough for this, and safe from overflow
        total = int(np.sum(counts, dtype=np.float64)) * (array.nbytes // max(along, 1))
    check_fits(total, "the repeated array")
