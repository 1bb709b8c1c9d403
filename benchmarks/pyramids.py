"""Pyramids of a zarr volume with two smaller levels: by `tenter pyramid`, ome-zarr-py and ngff-zarr, each as its own
documentation writes one, with the same chunks; and zarr alone on the bytes of the first."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.zarr_copy import copier

OURS = "`tenter pyramid`"


def pyramids(folder: Path, source: str, chunk: int, threads: int) -> dict[str, Callable[[], Any]]:
    """What is timed, by its name. Packages that are not installed are left out."""
    ours = str(folder / "ours.ome.zarr")
    made = {OURS: lambda: by_command(source, ours, threads)}
    levels = [f"{ours}/{k}" for k in range(3)]
    made["zarr alone, the same chunks read and written"] = copier(
        [source, *levels[:2]], levels, folder / "copied", threads
    )
    if find_spec("ome_zarr"):
        made["ome-zarr-py, `write_image`"] = lambda: by_ome_zarr(source, folder / "ome.zarr", chunk, threads)
    if find_spec("ngff_zarr"):
        made["ngff-zarr, `DASK_BIN_SHRINK`"] = lambda: by_ngff_zarr(source, folder / "ngff.zarr", chunk, threads)
    return made


def by_command(source: str, output: str, threads: int) -> None:
    from tenter.cli.main import main

    shutil.rmtree(output, ignore_errors=True)
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["pyramid", source, output, "--levels", "2", "--threads", str(threads)]) == 0


def by_ome_zarr(source: str, output: Path, chunk: int, threads: int) -> None:
    import dask
    import dask.array as da
    import zarr
    from ome_zarr.writer import write_image

    shutil.rmtree(output, ignore_errors=True)
    group = zarr.open_group(output, mode="w")
    factors = [dict.fromkeys("zyx", 2), dict.fromkeys("zyx", 4)]
    with dask.config.set(scheduler="threads", num_workers=threads):
        how = {"scale_factors": factors, "storage_options": {"chunks": (chunk,) * 3}}
        write_image(da.from_zarr(source), group, axes="zyx", **how)


def by_ngff_zarr(source: str, output: Path, chunk: int, threads: int) -> None:
    import dask
    import dask.array as da
    import ngff_zarr

    shutil.rmtree(output, ignore_errors=True)
    image = ngff_zarr.to_ngff_image(da.from_zarr(source), dims=("z", "y", "x"), scale=dict.fromkeys("zyx", 1))
    with dask.config.set(scheduler="threads", num_workers=threads):
        method = ngff_zarr.Methods.DASK_BIN_SHRINK
        made = ngff_zarr.to_multiscales(image, scale_factors=[2, 4], chunks=chunk, method=method)
        ngff_zarr.to_ngff_zarr(str(output), made, version="0.5")
