"""Scalars repeated by counts of one or two bytes, which are widened a band at a time: running totals of all of them
would take more memory than the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tenter import limits, threads
from tenter._native import Runs

Counts = npt.NDArray[Any]
BAND = 1 << 21


def total(counts: Counts) -> int | None:
    """Of all counts; None where there is something to say about them."""
    if counts.dtype.kind == "i" and counts.min(initial=0) < 0:
        return None
    return int(counts.sum(dtype=np.int64)) or None


def copy(counts: Counts, source: int, target: int, n_out: int, itemsize: int, past_caches: bool) -> None:
    """The elements at address source, each as often as its count says, to the n_out at address target."""
    n_threads, done = threads.get_num_threads(), 0
    for at in range(0, len(counts), BAND):
        some = counts[at : at + BAND].astype(np.int32)
        runs = Runs(some.__array_interface__["data"][0], True, len(some), n_threads)
        if runs.total < 0 or done + runs.total > n_out:
            break
        runs.copy(source + at * itemsize, target + done * itemsize, itemsize, n_threads, past_caches)
        done += runs.total
    else:
        if done == n_out:
            return
    limits.refuse(ValueError, "repeats", "counts that stay as they are during the call", "some that were changed")
