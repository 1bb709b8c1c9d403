"""Threads and forks: the same bits from many threads at once and from forked workers, and no hang."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tenter

# A thousand random calls per operation; a call's result depends on its seed alone. Big ones are big enough to be parallel.
CALLS = """
import numpy as np, tenter
OPERATIONS = ("repeat_interleave", "repeat", "tile", "expand", "interpolate")

def arguments(op, seed):
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["uint8", "int16", "float32", "float64", "float16", "complex64"])
    big = 40 if seed % 10 == 0 else 1
    shape = (1, int(rng.integers(1, 5)), int(rng.integers(1, 12)), int(rng.integers(1, 40)) * big)
    x = (rng.standard_normal(shape) * 50).astype(dtype)
    if op == "repeat_interleave":
        dim = int(rng.integers(0, 4))
        repeats = int(rng.integers(0, 7)) if seed % 2 else rng.integers(0, 6, shape[dim])
        return (x, repeats, dim), {}
    if op == "interpolate":
        mode = str(rng.choice(["nearest", "nearest-exact", "bilinear", "bicubic", "area"]))
        size = (int(rng.integers(1, 30)), int(rng.integers(1, 60)) * big)
        return (x, size), {"mode": mode, "antialias": bool(seed % 3 == 0) and mode.startswith("bi")}
    if op == "expand":
        return (x[:, :1], 3, 4, -1, -1), {}
    sizes = tuple(int(n) for n in rng.integers(1, 4, 4))
    return ((x, *sizes) if op == "repeat" else (x, sizes)), {}

def digest(op, seed):
    import zlib
    args, kwargs = arguments(op, seed)
    return zlib.crc32(np.ascontiguousarray(getattr(tenter, op)(*args, **kwargs)))
"""
exec(CALLS)  # the same text runs in subprocesses
OPERATIONS, arguments, digest = (globals()[name] for name in ("OPERATIONS", "arguments", "digest"))


def reference_digest(op, seed):
    """The same call by the reference kernel where it is exact (copies), else on one thread."""
    import zlib

    from tenter._kernels import reference
    from tenter._plans import plan

    args, kwargs = arguments(op, seed)
    nearest = kwargs.get("mode", "nearest").startswith("nearest")
    compiled, plan._is_compiled = plan._is_compiled, (lambda x, maps: False) if nearest else plan._is_compiled
    run, reference.run = reference.run, lambda x, maps: np.ascontiguousarray(run(x, maps))
    tenter.set_num_threads(1)
    try:
        return zlib.crc32(np.ascontiguousarray(getattr(tenter, op)(*args, **kwargs)))
    finally:
        plan._is_compiled, reference.run = compiled, run
        tenter.set_num_threads(None)


@pytest.mark.parametrize("op", OPERATIONS)
def test_a_thousand_calls_from_eight_threads(op):
    want = [reference_digest(op, seed) for seed in range(1000)]
    tenter.set_num_threads(4)
    try:
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda seed: digest(op, seed), range(1000)))
    finally:
        tenter.set_num_threads(None)
    assert got == want


FORKED = (
    CALLS
    + """
import os, sys, threading
which = sys.argv[1]
if which == "torch":
    import torch
    torch.set_num_threads(2)
    torch.randn(2000, 2000) @ torch.randn(2000, 2000)                 # PyTorch's own pool has run
tenter.set_num_threads(2)
big = np.ones((1, 8, 600, 600), np.float32)
tenter.interpolate(big, (900, 900), mode="bilinear")              # and tenter's
stop = threading.Event()
def busy():                                                        # and runs while forking
    while not stop.is_set(): tenter.interpolate(big, (700, 700), mode="bilinear")
thread = threading.Thread(target=busy); thread.start()
want = {op: [digest(op, s) for s in range(0, 1000)] for op in OPERATIONS}
children = []
for worker in range(4):
    pid = os.fork()
    if pid == 0:
        ok = all(digest(op, s) == want[op][s] for op in OPERATIONS for s in range(worker, 1000, 4))
        tenter.set_num_threads(2)                                  # a child may ask for threads of its own
        ok = ok and tenter.interpolate(big, (900, 900), mode="bilinear").min() == 1
        os._exit(0 if ok else 1)
    children.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
stop.set(); thread.join()
print(codes)
"""
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("which", ["numpy", "torch"])
def test_forked_workers(which):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, which], capture_output=True, text=True, timeout=240
    )
    assert done.stdout.strip() == "[0, 0, 0, 0]", done.stderr


LOADER = """
import torch, tenter, numpy as np
from torch.utils.data import DataLoader, Dataset
torch.set_num_threads(2)
x = torch.randn(1, 8, 600, 600)
class Pictures(Dataset):
    def __len__(self): return 64
    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        picture = torch.rand(1, 3, 300 + i, 400, generator=generator)
        ids = tenter.repeat_interleave(torch.arange(5), torch.tensor([i, 1, 0, 2, 3]), output_size=i + 6)
        return tenter.interpolate(picture, (224, 224), mode="bilinear", antialias=True)[0], ids.sum()
for round in range(3):
    # Parallel work in the parent, PyTorch's and ours, with gradients, before each fork.
    leaf = x.clone().requires_grad_()
    (tenter.interpolate(leaf, scale_factor=2, mode="bicubic") ** 2).sum().backward()
    torch.nn.functional.interpolate(x, scale_factor=2, mode="bicubic"); torch.randn(1500, 1500) @ torch.randn(1500, 1500)
    data = Pictures()
    want = [data[i] for i in range(64)]
    loader = DataLoader(data, batch_size=8, num_workers=2, multiprocessing_context="fork", timeout=60)
    got = [b for batch in loader for b in zip(*batch)]
    assert len(got) == 64 and all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(got, want))
print("done")
"""


def test_data_loader_workers_after_parallel_work():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LOADER], capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == "done", done.stderr


def test_number_of_threads():
    default = tenter.get_num_threads()
    tenter.set_num_threads(3)
    assert tenter.get_num_threads() == 3
    tenter.set_num_threads(None)
    assert tenter.get_num_threads() == default
    for bad in (0, -1, 1.5, True, "2"):
        with pytest.raises((TypeError, ValueError), match="n: expected"):
            tenter.set_num_threads(bad)
    code = "import tenter, torch; torch.set_num_threads(1); print(tenter.get_num_threads())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "1\n"
    code = "import tenter; print(tenter.get_num_threads())"
    got = subprocess.check_output([sys.executable, "-c", code], text=True, env={**os.environ, "OMP_NUM_THREADS": "5"})
    assert got == "5\n"


def test_scratch_that_cannot_be_had_is_a_memory_error():
    """An exception in a worker thread comes back to the caller, and the pool goes on."""
    code = """
import resource, numpy as np, tenter
from maps_of import planned
from tenter.maps import Window
tenter.set_num_threads(2)
n = 3_000_000
rows = Window(64, 16, np.arange(16) * 4, np.arange(17) * 4, np.ones(64))
columns = Window(n, n, np.arange(n), np.arange(n + 1), np.ones(n))
rows.native, columns.native
x = np.ones((64, n), np.uint8)
used = int(open('/proc/self/statm').read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), -1))  # enough for the result, not for 16 rows of float32
try: planned(x, ((0, rows), (1, columns))).run(x)
except MemoryError: print('MemoryError')
print(tenter.interpolate(np.ones((1, 8, 300, 300), np.float32), 600, mode='bilinear').min())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["MemoryError", "1.0"], done.stderr


def test_a_forked_child_has_one_thread():
    import os
    import subprocess
    import sys

    code = (
        "import os, tenter\npid = os.fork()\n"
        "if pid == 0: os._exit(tenter.get_num_threads())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), tenter.get_num_threads())"
    )
    env = {**os.environ, "OMP_NUM_THREADS": "5"}
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=env) == "1 5\n"
