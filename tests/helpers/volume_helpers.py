"""Arrays on disk for tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tenter.cli.volumes import memory

zarr = pytest.importorskip("zarr", minversion="3")
HALF = ["resize", "in.zarr", "out.zarr", "--scale", "0.5", "--axes", "0,1", "--mode", "area", "--threads", "1"]


@pytest.fixture(autouse=True)
def _as_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have left in memory is not a command's."""
    monkeypatch.setattr(memory, "resident", lambda: 100 << 20)


def noise(shape: tuple[int, ...], dtype: str = "uint16") -> Any:
    rng = np.random.default_rng(5)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype)


def volume(
    name: str, shape: tuple[int, ...] = (21, 26, 31), dtype: str = "uint16", chunks: Any = (8, 8, 8), **how: Any
) -> Any:
    """A zarr array of noise; returns its elements."""
    x = noise(shape, dtype)
    zarr.create_array(name, data=x, chunks=chunks, **how)
    return x


def elements(name: str) -> Any:
    return zarr.open_array(name, mode="r")[...]


def hidden(folder: str = ".") -> list[str]:
    """Working folders and temporary files that a command has left."""
    return [str(path) for path in Path(folder).rglob("*") if ".tenter-" in path.name or path.name.endswith(".partial")]


def started(args: list[str], before: str = "") -> subprocess.Popen[str]:
    """The command in a process of its own, after some lines of Python."""
    program = f"import sys\n{before}\nfrom tenter.cli.main import main\nsys.exit(main({args!r}))"
    return subprocess.Popen(
        [sys.executable, "-c", program], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )


def tree(folder: str) -> dict[str, bytes]:
    """Every file of a folder."""
    return {
        os.path.relpath(path, folder): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()
    }


def ome(
    name: str, x: Any, axes: str = "zyx", format_: int = 3, scale: Any = None, units: Any = None, of_all: Any = None,
    **held: Any,
) -> None:  # fmt: skip
    """An OME-Zarr group with one level. units: by axis. of_all: a scale for all levels. held: what else it says."""
    kinds = {"t": "time", "c": "channel"}
    said = [
        {"name": n, "type": kinds.get(n, "space"), **({"unit": units[n]} if n in (units or {}) else {})} for n in axes
    ]
    steps = [{"type": "scale", "scale": scale or [1.0] * x.ndim}]
    entry = {"name": "i", "axes": said, "datasets": [{"path": "0", "coordinateTransformations": steps}]}
    if of_all:
        entry["coordinateTransformations"] = [{"type": "scale", "scale": of_all}]
    v2 = {"multiscales": [{**entry, "version": "0.4"}], **held}
    attributes = v2 if format_ == 2 else {"ome": {"version": "0.5", "multiscales": [entry], **held}}
    zarr.create_group(name, zarr_format=format_, attributes=attributes)
    how = {"chunk_key_encoding": {"name": "v2", "separator": "/"}} if format_ == 2 else {"dimension_names": list(axes)}
    zarr.create_array(f"{name}/0", data=x, chunks=tuple(min(8, n) for n in x.shape), zarr_format=format_, **how)


def consolidate(name: str, format_: int) -> None:
    """Consolidate the metadata of a group, of which zarr warns in format 3."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(name, zarr_format=format_)


def said(name: str) -> dict[str, Any]:
    """What a group says as OME-Zarr."""
    attributes = dict(zarr.open_group(name, mode="r", use_consolidated=False).attrs)
    return attributes.get("ome", attributes)


def placed(name: str, level: int = 0) -> tuple[list[float], list[float]]:
    """The scale and the translation of a level."""
    scale, translation = said(name)["multiscales"][0]["datasets"][level]["coordinateTransformations"]
    return scale["scale"], translation["translation"]
