"""Memory that ends, or begins, where a page lies that may not be touched."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


def room(n_bytes: int, guard: str | None, shift: int) -> np.ndarray:
    """n_bytes, `shift` bytes off alignment, beside a forbidden page `after` or `before` them or in ordinary memory."""
    if guard is None:
        held = np.full(n_bytes + 128, 0xA5, np.uint8)
        at = -held.ctypes.data % 64 + shift
        return held[at : at + n_bytes]
    size = max(1, -(-(n_bytes + shift) // PAGE)) * PAGE
    mapped = mmap.mmap(-1, size + PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    forbidden = start + size if guard == "after" else start
    if _libc.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    at = size - n_bytes - shift if guard == "after" else PAGE + shift
    return np.frombuffer(mapped, np.uint8)[at : at + n_bytes]
