"""Scalars repeated by counts of one or two bytes, which are widened a band at a time: running totals of all of them
would take more memory than the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenter import limits, threads
from tenter._native import Counts, Runs

Array = npt.NDArray[Any]
INT32 = 9  # as the core numbers it
BAND = 1 << 21


def total(counts: Array) -> int | None:
    """Of all counts; None where there is something to say about them."""
    if counts.dtype.kind == "i" and counts.min(initial=0) < 0:
        return None
    return int(counts.sum(dtype=np.int64)) or None


def copy(counts: Array, source: int, target: int, n_out: int, itemsize: int, past_caches: bool) -> None:
    """The elements at address source, each as often as its count says, to the n_out at address target."""
    n_threads, done = threads.get_num_threads(), 0
    for at in range(0, len(counts), BAND):
        some = counts[at : at + BAND].astype(np.int32)
        counted: int = some.__array_interface__["data"][0]
        runs = Runs(counted, True, len(some), n_threads)
        # Runs leaves counts alone of which few make most of the result.
        few = Counts(counted, INT32, 4, len(some)) if runs.total < 0 else None
        n = runs.total if few is None else few.total
        if n < 0 or done + n > n_out:
            break
        if few is None:
            runs.copy(source + at * itemsize, target + done * itemsize, itemsize, n_threads, past_caches)
        else:
            few.copy(source + at * itemsize, target + done * itemsize, 1, itemsize)
        done += n
    else:
        if done == n_out:
            return
    limits.refuse(ValueError, "repeats", "counts that stay as they are during the call", "some that were changed")
