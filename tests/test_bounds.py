"""No kernel reads past its input: inputs end where a page begins that may not be touched."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own, as a read past the end ends it.
GUARDED = """
import ctypes, mmap, numpy as np
from tenter import _native, build
from tenter.apply import planned
from tenter.kernels import reference
from tenter.maps import Copy
libc, keep = ctypes.CDLL(None, use_errno=True), []

def guarded(x):
    "x, copied to the end of memory that is followed by a forbidden page."
    size = -(-max(x.nbytes, 1) // 4096) * 4096
    memory = mmap.mmap(-1, size + 4096)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(start + size), 4096, 0) == 0
    keep.append(memory)
    y = np.frombuffer(memory, np.uint8, x.nbytes, size - x.nbytes).view(x.dtype).reshape(x.shape)
    y[...] = x
    return y

def run(x, maps):
    return planned(x, maps).run(x)

rng = np.random.default_rng(0)
counts = rng.integers(0, 5, 37)
for level in _native.levels():
    assert _native.force_level(level)
    for dtype in ("uint8", "float16", "float32", "float64", "int64"):
        for shape in ((37,), (5, 37), (37, 3), (2, 37, 5), (3, 37, 20), (18, 37), (17, 37, 3), (37, 5000)):
            axis = shape.index(37)
            maps = [Copy.counts(counts), Copy.every(37, 3), build.resample("nearest", 37, 50), build.resample("linear", 37, 80),
                    build.resample("cubic", 37, 11), build.resample("area", 37, 6), Copy.every(1, 37).T, Copy.cycle(1, 37).T]
            maps += [Copy.counts([7, 30]).T, Copy.counts([1] * 37).T, Copy.counts([4, 3, 0, 25, 5]).T]
            for m in maps:
                x = (rng.random(shape) * 100).astype(dtype)
                got, want = run(guarded(x), ((axis, m),)), reference.run(x, ((axis, m),))
                off = np.abs(got.astype(float) - want.astype(float)).max()
                assert off <= (1 if np.dtype(dtype).kind in "iu" else 0.1 + np.abs(want).max() * 1e-3), (level, dtype, shape, m, off)
        x = (rng.random((3, 37, 29)) * 100).astype(dtype)
        for ho, wo in ((11, 80), (80, 11), (6, 6), (70, 70)):
            run(guarded(x), ((1, build.resample("cubic", 37, ho)), (2, build.resample("linear", 29, wo))))
    keep.clear()
print("inside")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no mprotect")
def test_no_read_past_the_end():
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True, timeout=240)
    assert done.stdout == "inside\n", (done.returncode, done.stderr)
