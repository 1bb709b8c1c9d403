"""The memory of results. Large blocks come from the buffer pool (see docs/memory.md)."""

import math
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.numpy_arrays import address
from tenter._arrays.types import Array


def block(n_bytes: int) -> _native.Block | None:
    """Returns a block from the buffer pool. None where the array library's own allocator is as good."""
    if n_bytes < _native.tuning.large_bytes or not _native.Block.recycles():
        return None
    try:
        return _native.Block(n_bytes)
    except MemoryError:
        raise MemoryError(f"result: no memory for {n_bytes} bytes") from None


def empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Array, int, bool]:
    """Returns a NumPy array for a result, its address, and whether streaming stores should write it."""
    n_bytes = math.prod(shape) * dtype.itemsize
    held = block(n_bytes)
    if held is None:
        y: Array = np.empty(shape, dtype)
        return y, address(y), False
    y = np.ndarray(shape, dtype, buffer=held)  # type: ignore[arg-type]  # any buffer
    return y, held.address, past_caches(held, n_bytes)


def past_caches(held: _native.Block, n_bytes: int) -> bool:
    """True if streaming stores should write a result. Fresh pages are already in the caches, because the system has
    zeroed them."""
    return n_bytes >= _native.tuning.stream_bytes and held.used


def streams(n_bytes: int) -> bool:
    """True if streaming stores should write to the caller's memory, which is assumed to have been used before."""
    return n_bytes >= _native.tuning.stream_bytes
