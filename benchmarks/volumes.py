"""A zarr volume shrunk to half along three axes, from disk to disk: by `tenter resize`, and by scikit-image over Dask's
map_overlap. Next to them both in memory, where nothing is read or written, and zarr alone, which reads and writes the
same chunks and computes nothing. Then pyramids of the volume (`pyramids.py`).

`python -m benchmarks volumes` writes docs/measured/volumes.md. Calls alternate; a time is the median of its rounds.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tenter
from benchmarks.pyramids import pyramids
from benchmarks.table import lined
from benchmarks.zarr_copy import copier

PAGE = Path("docs/measured/volumes.md")
BEGIN, END = "<!-- volumes: written by python -m benchmarks volumes -->", "<!-- end of volumes -->"
SIDE, CHUNK, ROUNDS = 384, 64, 5
#: Inputs on each side of a chunk that an antialiased linear filter reads at half size, and that area does not.
DEPTH = {"linear": 4, "area": 0}


def ways(folder: Path, mode: str, side: int, threads: int) -> dict[str, Callable[[], Any]]:
    """What is timed, by its name. The first two go from disk to disk."""
    import dask
    import dask.array as da
    import zarr
    from skimage.transform import downscale_local_mean, resize

    from tenter.cli.main import main

    source, ours, theirs = (str(folder / name) for name in ("in.zarr", "ours.zarr", "theirs.zarr"))
    x = noise(source, side)
    half = (side // 2,) * 3
    given = ["--scale", "0.5", "--axes", "0,1,2", "--mode", mode, "--threads", str(threads)]
    depth = DEPTH[mode]

    def shrunk(block: Any) -> Any:
        if mode == "area":
            return downscale_local_mean(block, (2, 2, 2)).astype(block.dtype)
        return resize(block, tuple(n // 2 for n in block.shape), order=1, anti_aliasing=True)

    def one(block: Any) -> Any:
        made = shrunk(block)
        return made[(slice(depth // 2, made.shape[0] - depth // 2),) * 3] if depth else made

    def by_dask() -> None:
        blocks = da.from_zarr(source)
        if depth:
            blocks = da.overlap.overlap(blocks, depth, "nearest")
        made = blocks.map_blocks(one, dtype=x.dtype, chunks=((CHUNK // 2,) * (side // CHUNK),) * 3)
        target = zarr.create_array(theirs, shape=half, chunks=(CHUNK // 2,) * 3, dtype=x.dtype, overwrite=True)
        with dask.config.set(scheduler="threads", num_workers=threads):
            da.store(made, target, lock=False)

    def by_command() -> None:
        shutil.rmtree(ours, ignore_errors=True)
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["resize", source, ours, *given]) == 0

    def in_memory() -> Any:
        tenter.set_num_threads(threads)
        return tenter.resize(x, half, axes=(0, 1, 2), mode=mode, antialias=None if mode == "area" else True)

    return {
        "`tenter resize`, zarr to zarr": by_command,
        "zarr alone, the same chunks read and written": copier([source], [ours], folder / "copied", threads),
        "scikit-image over Dask's map_overlap, zarr to zarr": by_dask,
        "`tenter.resize`, in memory": in_memory,
        "scikit-image, in memory": lambda: shrunk(x),
    }


def noise(path: str, side: int) -> Any:
    import zarr

    x = np.random.default_rng(0).random((side,) * 3, np.float32)
    zarr.create_array(path, data=x, chunks=(CHUNK,) * 3)
    return x


def measured(mode: str, side: int, threads: int, rounds: int) -> dict[str, float]:
    """Nanoseconds for each element that is read."""
    with tempfile.TemporaryDirectory() as name:
        timed = ways(Path(name), mode, side, threads)
        found = in_turns(timed, side**3, rounds)
        check(Path(name), timed["scikit-image, in memory"](), timed["`tenter.resize`, in memory"]())
        tenter.set_num_threads(None)
    return found


def in_turns(timed: dict[str, Callable[[], Any]], elements: int, rounds: int) -> dict[str, float]:
    """Nanoseconds for each element, after one round that is not counted."""
    found: dict[str, list[float]] = {way: [] for way in timed}
    for n in range(rounds + 1):
        for way, call in timed.items():
            start = time.perf_counter()
            call()
            if n:
                found[way].append((time.perf_counter() - start) * 1e9 / elements)
    return {way: statistics.median(times) for way, times in found.items()}


def check(folder: Path, theirs: Any, ours: Any) -> None:
    """What went from disk to disk is what comes out in memory; of scikit-image apart from the edges, where map_overlap
    has another rule."""
    import zarr

    inner = (slice(4, -4),) * 3
    assert np.allclose(zarr.open_array(folder / "theirs.zarr")[inner], theirs[inner], atol=1e-5)
    assert np.array_equal(zarr.open_array(folder / "ours.zarr")[...], ours)


def table(side: int, threads: int, rounds: int) -> str:
    found = {mode: measured(mode, side, threads, rounds) for mode in DEPTH}
    rows = [[way, *(f"{found[mode][way]:.1f}" for mode in DEPTH)] for way in found["area"]]
    halves = lined(["ns for each element read", "antialiased linear", "area"], rows)
    with tempfile.TemporaryDirectory() as name:
        noise(source := f"{name}/in.zarr", side)
        levels = in_turns(pyramids(Path(name), source, CHUNK, threads), side**3, rounds)
    return f"{halves}\n\n" + str(
        lined(["pyramid", "ns for each element"], [[w, f"{ns:.1f}"] for w, ns in levels.items()])
    )


def main(about: str, threads: int) -> int:
    made = table(SIDE, threads, ROUNDS)
    print(made)
    before, rest = PAGE.read_text().split(BEGIN)
    import dask
    import zarr

    libraries = f"zarr {zarr.__version__}, dask {dask.__version__}"
    size = f"float32, {SIDE} x {SIDE} x {SIDE} in chunks of {CHUNK} x {CHUNK} x {CHUNK}, {threads} threads; "
    PAGE.write_text(f"{before}{BEGIN}\n\n{size}{libraries}; {about}\n\n{made}\n\n{END}{rest.split(END)[1]}")
    return 0
