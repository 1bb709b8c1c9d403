"""Calls from a file to a file, of arrays twice as large as the memory that the process may have beside what it has."""

import resource
import sys
from pathlib import Path

import numpy as np

import tenter

folder = Path(sys.argv[1])
N = 4096
x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (N, N))  # 64 MiB
for at in range(0, N, 256):
    x[at : at + 256] = np.arange(at, at + 256, dtype=np.float32)[:, None]
tenter.set_num_threads(2)
small = np.ones((64, 64), np.float32)
tenter.resize(small, (90, 90), antialias=True), tenter.repeat_interleave(small, 2, 0), tenter.tile(small, 2)
used = next(
    int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData")
)
resource.setrlimit(resource.RLIMIT_DATA, ((used << 10) + (32 << 20),) * 2)
try:
    np.ones(N * N, np.float32)
except MemoryError:
    print("no room for a copy")
calls = {
    "half": ((N // 2, N // 2), lambda x, out: tenter.resize(x, (N // 2, N // 2), antialias=True, out=out)),
    "longer": ((N + 100, N), lambda x, out: tenter.resize(x, N + 100, axes=0, mode="cubic", out=out)),
    "repeated": ((2 * N, N), lambda x, out: tenter.repeat_interleave(x, 2, 0, out=out)),
}
for name, (shape, f) in calls.items():
    out = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, shape)
    assert f(np.load(folder / "x.npy", mmap_mode="r"), out) is out
    print(name, round(float(out[-1, -1]) - N + 1, 1))
