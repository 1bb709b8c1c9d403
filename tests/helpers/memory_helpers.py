"""What the tests of memory share: an empty recycler for each, results of whole pages, the blocks that results lie in."""

from __future__ import annotations

import ctypes
import gc
import os
import sys

import numpy as np
import pytest
import torch

import tenter
from tenter import _native, memory

PAGE = 2 << 20
LARGE = _native.tuning.large_bytes
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of a process's memory are Linux's")


X = (np.arange(700 * 400) % 997).astype(np.float32).reshape(700, 400)  # twice as much: 2.24 MB
T = torch.from_numpy(X)


def as_array(y):
    return y.detach().numpy() if isinstance(y, torch.Tensor) else np.asarray(y)


@pytest.fixture(autouse=True, scope="module")
def garbage():
    """Nothing that other tests have left is collected in the middle of these; collecting what these leave is quick."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def recycler():
    """Empty at first, whatever other tests have left there."""
    before = memory.get_limit()
    gc.collect()
    memory.clear()
    memory.set_limit(256 << 20)
    yield
    tenter.set_num_threads(None)
    memory.set_limit(before)
    memory.clear()


def occupied(n_bytes):
    """Bytes of the block of a result of so many."""
    grain = 64 << 10 if n_bytes < 16 << 20 else PAGE
    return -(-n_bytes // grain) * grain


def alignment(n_bytes):
    """Of the block of a result of so many bytes."""
    return PAGE if occupied(n_bytes) >= PAGE else 4096


def pages(n, fill=0):
    """An array that occupies n whole pages."""
    return tenter.repeat_interleave(np.full(PAGE // 2, fill, np.uint8), 2 * n)


def block_of(y):
    """The block that an array or a tensor lies in, None if there is none: its address; its bytes, the spare ones too."""
    if isinstance(y, torch.Tensor):  # alignment: other storage can't be resized either once NumPy has looked at it
        address, n_bytes = y.data_ptr(), y.untyped_storage().nbytes()
        held = n_bytes >= LARGE and address % alignment(n_bytes) == 0 and not y.untyped_storage().resizable()
    else:
        address, n_bytes = y.__array_interface__["data"][0], y.nbytes
        held = type(y.base) is _native.Block
    return (address, occupied(n_bytes)) if held else None


def poison(y):
    address, size = block_of(y)
    ctypes.memset(address, 0xFF, size)  # NaN, of floats
    return address
