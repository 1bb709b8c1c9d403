"""Shrink a zarr volume that is larger than memory, and say how much memory that took.

    python tests/programs/large_volume.py --gigabytes 20 --memory-limit 2GiB [--folder DIR]

All chunks of the volume are links to one file, so a volume of any size takes a few megabytes of disk. Its result has equal
chunks too, which says what each of them must be. Exits with 1 if the peak of resident memory is not below the limit, or a
chunk is wrong.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tenter
from tenter.cli.volumes.memory import in_words, parse_limit

SIDE = 128


def volume(path: Path, n_bytes: float) -> Any:
    """A volume of uint16 of about so many bytes; returns its chunk."""
    import zarr

    side = round((n_bytes / 2) ** (1 / 3) / SIDE)
    counts = (side, side, max(1, round(n_bytes / 2 / SIDE**3 / side**2)))
    chunk = np.random.default_rng(0).integers(0, 9000, (SIDE,) * 3, np.uint16)
    chunk[16:, 16:, 16:] = np.arange(SIDE - 16) * 100
    shape = tuple(n * SIDE for n in counts)
    array = zarr.create_array(path, shape=shape, chunks=chunk.shape, dtype=chunk.dtype)
    array[:SIDE, :SIDE, :SIDE] = chunk
    first = path / "c/0/0/0"
    for z, y, x in itertools.product(*map(range, counts)):
        if (z, y, x) != (0, 0, 0):
            other = path / f"c/{z}/{y}/{x}"
            other.parent.mkdir(parents=True, exist_ok=True)
            os.link(first, other)
    print(f"{' x '.join(map(str, shape))} uint16, {in_words(array.nbytes)} in {np.prod(counts)} chunks", flush=True)
    return chunk


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--memory-limit", default="2GiB")
    parser.add_argument("--threads", default=str(len(os.sched_getaffinity(0))))
    parser.add_argument("--mode", default="area")
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        chunk = volume(folder / "in.zarr", args.gigabytes * 1e9)
        command = [sys.executable, "-m", "tenter.cli.main", "resize", str(folder / "in.zarr"), str(folder / "out.zarr"),
                   "--scale", "0.5", "--axes", "z,y,x", "--mode", args.mode, "--memory-limit", args.memory_limit,
                   "--threads", args.threads]  # fmt: skip
        start = time.monotonic()
        process = subprocess.Popen(command)
        _, status, used = os.wait4(process.pid, 0)
        seconds, peak, limit = time.monotonic() - start, used.ru_maxrss * 1024, parse_limit(args.memory_limit)
        print(f"{seconds:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processors, {args.threads} threads")
        print(f"peak of resident memory {in_words(peak)}, limit {in_words(limit)}")
        good = status == 0 and peak < limit
        if good and args.mode == "area":
            good = is_right(folder / "out.zarr", chunk)
            print("every chunk is right" if good else "a chunk is wrong")
    return 0 if good else 1


def is_right(path: Path, chunk: Any) -> bool:
    import zarr

    half = tenter.resize(chunk, (SIDE // 2,) * 3, axes=(0, 1, 2), mode="area")
    found = zarr.open_array(path)
    for lo in itertools.product(*(range(0, n, SIDE) for n in found.shape)):
        got = found[tuple(slice(k, k + SIDE) for k in lo)]
        if not np.array_equal(got, np.tile(half, 2 * np.ones(3, int))[tuple(map(slice, got.shape))]):
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())
