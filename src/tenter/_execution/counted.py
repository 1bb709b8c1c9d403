"""repeat_interleave by an array of counts, without a plan. Counts change from call to call, and planning would cost
more than the copy.

The core's `Counts` repeats small arrays. A plan is worth its cost for large arrays or results. `Runs` repeats many
scalars with one count each. It needs no table of prefix sums, which would take more memory than the result. Unusual or
wrong arguments need a plan and the checks before it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.errors import refuse
from tenter._arrays.limits import machine_memory
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array
from tenter._native import Counts, Runs

# Dtypes of counts that the core reads.
NAMES = ("int64", "int32", "int16", "int8", "uint8")
INT32 = NUMBERS["int32"]
# Counts of one or two bytes are widened in chunks of this many.
CHUNK = 1 << 21

# Allocates a result of n elements: returns the array, its address, and whether streaming stores should write it.
Allocate = Callable[[int], tuple[Any, int, bool]]


def agrees(output_size: Any, total: int) -> bool:
    return output_size is None or (type(output_size) is int and output_size == total)


def repeat_scalars(counts: Array, source: int, itemsize: int, output_size: Any, allocate: Allocate) -> Any:
    """Repeats contiguous scalars at an address by their contiguous counts."""
    if counts.dtype.name not in NAMES or not counts.dtype.isnative or itemsize not in (1, 2, 4, 8):
        return None
    n_threads = thread_count()
    at: int = counts.__array_interface__["data"][0]
    runs = Runs(at, counts.itemsize == 4, len(counts), n_threads) if counts.itemsize >= 4 else None
    total = _narrow_total(counts) if runs is None else runs.total
    if total <= 0 or total * itemsize > machine_memory() or not agrees(output_size, total):
        return None
    y, target, past_caches = allocate(total)
    if runs is None:
        _copy_narrow(counts, source, target, total, itemsize, past_caches, n_threads)
    else:
        runs.copy(source, target, itemsize, n_threads, past_caches)
    return y


def _narrow_total(counts: Array) -> int:
    """Returns the sum of counts of one or two bytes; 0 if the counts need all checks."""
    if counts.dtype.kind == "i" and counts.min(initial=0) < 0:
        return 0
    return int(counts.sum(dtype=np.int64))


def _copy_narrow(
    counts: Array, source: int, target: int, n_out: int, itemsize: int, past_caches: bool, n_threads: int
) -> None:
    done = 0
    for first in range(0, len(counts), CHUNK):
        chunk = counts[first : first + CHUNK].astype(np.int32)
        at: int = chunk.__array_interface__["data"][0]
        runs = Runs(at, True, len(chunk), n_threads)
        # Runs declines counts if few of them make most of the result.
        few = Counts(at, INT32, 4, len(chunk)) if runs.total < 0 else None
        n = runs.total if few is None else few.total
        if n < 0 or done + n > n_out:
            break
        if few is None:
            runs.copy(source + first * itemsize, target + done * itemsize, itemsize, n_threads, past_caches)
        else:
            few.copy(source + first * itemsize, target + done * itemsize, 1, itemsize)
        done += n
    else:
        if done == n_out:
            return
    refuse(ValueError, "repeats", "counts that stay as they are during the call", "some that were changed")
