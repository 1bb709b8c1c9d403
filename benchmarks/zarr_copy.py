"""What zarr alone takes for the bytes of a job: as many threads read and write the same chunks, and compute nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any


def copier(reads: list[str], writes: list[str], folder: Path, threads: int) -> Callable[[], None]:
    """Reads every chunk of some arrays, and writes every chunk of others again, in a folder. The first call also loads
    what is to be written; the arrays must be there by then."""
    import zarr

    held: dict[str, Any] = {}

    def copy() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        for path in writes:
            if path not in held:
                held[path] = zarr.open_array(path, mode="r")[...]
        todo: list[Callable[[], Any]] = []
        for path in reads:
            source = zarr.open_array(path, mode="r")
            todo += [partial(source.__getitem__, at) for at in chunks(source)]
        for k, path in enumerate(writes):
            like, x = zarr.open_array(path, mode="r"), held[path]
            target = zarr.create_array(
                str(folder / str(k)), shape=x.shape, chunks=like.chunks, dtype=x.dtype, compressors=like.compressors
            )
            todo += [partial(target.__setitem__, at, x[at]) for at in chunks(target)]
        with zarr.config.set({"async.concurrency": 1}), ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda one: one(), todo))

    return copy


def chunks(array: Any) -> list[tuple[slice, ...]]:
    along = [[slice(lo, min(lo + c, n)) for lo in range(0, n, c)] for n, c in zip(array.shape, array.chunks)]
    return list(product(*along))
