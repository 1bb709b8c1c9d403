"""No kernel reads past its input or writes past its result: they end where a page begins that may not be touched."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own, as a read past the end ends it.
GUARDED = """
import ctypes, mmap, numpy as np
from maps_of import resample

from tenter import _native
from maps_of import planned
from tenter._kernels import reference
from tenter.maps import Copy, Window
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
            maps = [Copy.counts(counts), Copy.every(37, 3), resample("nearest", 37, 50), resample("linear", 37, 80),
                    resample("cubic", 37, 11), resample("area", 37, 6), Copy.every(1, 37).T, Copy.cycle(1, 37).T]
            maps += [Copy.counts([7, 30]).T, Copy.counts([1] * 37).T, Copy.counts([4, 3, 0, 25, 5]).T]
            for m in maps:
                x = (rng.random(shape) * 100).astype(dtype)
                got, want = run(guarded(x), ((axis, m),)), reference.run(x, ((axis, m),))
                off = np.abs(got.astype(float) - want.astype(float)).max()
                assert off <= (1 if np.dtype(dtype).kind in "iu" else 0.1 + np.abs(want).max() * 1e-3), (level, dtype, shape, m, off)
        x = (rng.random((3, 37, 29)) * 100).astype(dtype)
        for ho, wo in ((11, 80), (80, 11), (6, 6), (70, 70)):
            run(guarded(x), ((1, resample("cubic", 37, ho)), (2, resample("linear", 29, wo))))
        # Windows far apart and near the row's end: loads that must begin earlier, single loads, rows that nobody reads.
        for n, n_out in ((150, 75), (150, 70), (1200, 40), (70, 35)):
            for kind in ("linear", "cubic"):
                up = resample(kind, n_out, n)
                for m in (resample(kind, n, n_out), up.T):
                    for inner in (1, 3):
                        x = (rng.random((16, n, inner)) * 100).astype(dtype)
                        got, want = run(guarded(x), ((1, m),)), reference.run(x, ((1, m),))
                        assert np.allclose(got.astype(float), want.astype(float), atol=1 + np.abs(want).max() * 1e-3), (level, dtype, m)
                        x = (rng.random((2, n, 40, inner)) * 100).astype(dtype)
                        run(guarded(x), ((1, m), (2, resample("linear", 40, 90))))
        for start, offset in (([0, 7], [0, 6, 6]), ([0, 9], [0, 2, 2]), ([3, 9, 9], [0, 2, 2, 2]), ([9, 9], [0, 0, 0])):
            gap = Window(9, len(start), start, offset, [1.0] * offset[-1])
            wide = resample("linear", 40, 20)
            x = (rng.random((3, 9, 40)) * 100).astype(dtype)
            for y, maps in ((x, ((1, gap), (2, wide))), (x.reshape(1, 3, 9, 40), ((1, resample("linear", 3, 5)), (2, gap), (3, wide)))):
                got, want = run(guarded(y), maps), reference.run(y, maps)
                assert np.allclose(got.astype(float), want.astype(float), atol=1 + np.abs(want).max() * 1e-3), (level, dtype, maps)
        # Far apart, and the last of a row has fewer taps than its neighbours.
        far = Window(400, 16, [*range(0, 390, 26), 399], [*range(0, 136, 9), 136], np.ones(136))
        x = (rng.random((16, 400)) * 9).astype(dtype)
        got, want = run(guarded(x), ((1, far),)), reference.run(x, ((1, far),))
        assert np.allclose(got.astype(float), want.astype(float), atol=1 + np.abs(want).max() * 1e-3), (level, dtype)
        # Ragged sums whose last vector of segments ends where the row does.
        for most in (1, 2, 4, 8, 16, 40):
            for lengths in (rng.integers(0, most + 1, 64), np.r_[rng.integers(0, most + 1, 32), np.ones(32, int)], np.r_[np.full(63, most), 0]):
                m = Copy.counts(lengths).T
                x = (rng.random(m.n_in) * 3).astype(dtype)
                got, want = run(guarded(x), ((0, m),)), reference.run(x, ((0, m),))
                assert np.allclose(got.astype(float), want.astype(float), atol=1e-3 + np.abs(want).max() * 1e-3), (level, dtype, lengths)
        nobody = Window(0, 20, [0] * 20, [0] * 21, [])
        assert not run(guarded(np.zeros((70, 0), dtype)), ((1, nobody),)).any()
    # Counts that change after they were summed: values, counts and results all end where a forbidden page begins.
    for size in (1, 2, 4, 8):
        for narrow in (np.int32, np.int64):
            said = rng.integers(0, 9, 2 * (1 << 14) + 99).astype(narrow)
            for now in (said, said + 9, said * 30, -said, np.full_like(said, np.iinfo(narrow).max), said + 128):
                for stream in (False, True):
                    each = guarded(said)
                    runs = _native.Runs(each.ctypes.data, narrow is np.int32, said.size, 2)
                    each[...] = now
                    x, y = guarded(np.ones(said.size * size, np.uint8)), guarded(np.zeros(runs.total * size, np.uint8))
                    runs.copy(x.ctypes.data, y.ctypes.data, size, 2, stream)
                    keep.clear()
    keep.clear()
print("inside")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no mprotect")
def test_no_read_past_the_end():
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True, timeout=240)
    assert done.stdout == "inside\n", (done.returncode, done.stderr)
