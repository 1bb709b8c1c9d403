"""Arrays on disk for tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
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
