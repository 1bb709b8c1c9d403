"""How many times its input and result each operation takes beside them, at about 32 MiB; each in a fresh process, on
NumPy and PyTorch, forward and backward. Linux only.

`python -m benchmarks multiples` writes docs/measured/memory.csv, and into docs/memory.md where that was measured;
`python -m benchmarks.multiples OPERATION WAY` is one process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tenter
import tenter.image
from benchmarks.machine import Settings, brief, machine
from benchmarks.memory import MIB, RESET, release, resident
from benchmarks.table import beside, lined

PAGE, TABLE = Path("docs/memory.md"), Path("docs/measured/memory.csv")
BEGIN, END = "<!-- multiples: written by python -m benchmarks multiples -->", "<!-- end of multiples -->"
WAYS = ("NumPy", "PyTorch", "backward")
Call = Callable[[Any], Any]


def rows(n: int) -> dict[str, tuple[str, tuple[int, ...], Call]]:
    """Dtype and shape of x, and the call; n: of a square side, 2048 for what is measured."""
    half, axes = n // 2, {"axes": (0, 1)}
    around, larger = {**axes, "edge": "constant", "value": 7}, (3 * half, 3 * half)

    def counted(x: Any, dtype: str) -> Any:
        counts = counts_of(x.shape[0], dtype)
        return tenter.repeat_interleave(x, counts if isinstance(x, np.ndarray) else torch.from_numpy(counts), 0)

    return {
        "repeat_interleave by 2, float32": ("float32", (n, n), lambda x: tenter.repeat_interleave(x, 2, 1)),
        "repeat_interleave by int64 counts, float32": ("float32", (n * n,), lambda x: counted(x, "int64")),
        "repeat_interleave by uint8 counts, float32": ("float32", (n * n,), lambda x: counted(x, "uint8")),
        "repeat_interleave by uint8 counts, uint8": ("uint8", (4 * n * n,), lambda x: counted(x, "uint8")),
        "repeat, float32": ("float32", (n, n), lambda x: tenter.repeat(x, 1, 2)),
        "interpolate nearest, float32": ("float32", (1, 4, half, half), lambda x: tenter.interpolate(x, (n, n))),
        "interpolate bicubic, float32":
            ("float32", (1, 4, half, half), lambda x: tenter.interpolate(x, (n, n), mode="bicubic")),
        "interpolate antialiased to half, uint8":
            ("uint8", (1, 8, n, n), lambda x: tenter.interpolate(x, (half, half), mode="bilinear", antialias=True)),
        "interpolate one axis of millions, linear, float32":
            ("float32", (1, 1, 2 * n * half), lambda x: tenter.interpolate(x, n * n, mode="linear")),
        "resize, lanczos, wrap, to 64, uint8": ("uint8", (n, n, 8), lambda x: tenter.resize(
            x, (64, 64), **axes, mode="lanczos", antialias=True, edge="wrap")),
        "resize, cubic, wrap, float32":
            ("float32", (half, half, 4), lambda x: tenter.resize(x, (n, n), **axes, mode="cubic", edge="wrap")),
        "resize, constant of 7, uint8": ("uint8", (n, n, 3), lambda x: tenter.resize(x, larger, **around)),
        "resize, constant of 7, float32": ("float32", (half, half, 4), lambda x: tenter.resize(x, (n, n), **around)),
        "resize, extrapolate, uint8":
            ("uint8", (n, n, 3), lambda x: tenter.resize(x, larger, **{**around, "edge": "extrapolate"})),
        "resize, reversed box, uint8":
            ("uint8", (n, n, 4), lambda x: tenter.resize(x, (half, half), **axes, box=[(n, 0), None], antialias=False)),
        "image.resize, alpha, uint8": ("uint8", (n, n, 4), lambda x: tenter.image.resize(
            x, larger, alpha=True, mode="linear")),
        "image.resize, linear light, uint8":
            ("uint8", (n, n, 3), lambda x: tenter.image.resize(
                x, larger, linear_light=True, mode="linear")),
    }  # fmt: skip


@cache
def counts_of(n: int, dtype: str) -> Any:
    return (np.arange(n) % 5).astype(dtype)


def given(dtype: str, shape: tuple[int, ...], way: str) -> Any:
    x = np.random.default_rng(0).integers(0, 200, shape, np.uint8).astype(dtype, copy=False)
    return x if way == "NumPy" else torch.from_numpy(x).requires_grad_(way == "backward")


def one(name: str, way: str) -> dict[str, float]:
    """MiB of input and result, and beside them."""
    dtype, shape, call = rows(64)[name]
    run(given(dtype, shape, way), call, way)
    dtype, shape, call = rows(2048)[name]
    x = given(dtype, shape, way)
    do = prepared(x, call, way)
    for dtype in ("int64", "uint8"):
        counts_of(shape[0], dtype)  # before it is measured
    release()
    RESET.write_text("5")
    before = resident("VmRSS")
    y = do()
    beside = (resident("VmHWM") - before - y.nbytes) / MIB
    other = call(x.detach()).nbytes if way == "backward" else x.nbytes
    return {"both": (y.nbytes + other) / MIB, "beside": beside}


def prepared(x: Any, call: Call, way: str) -> Callable[[], Any]:
    if way != "backward":
        return lambda: call(x)
    y = call(x)
    g = torch.ones_like(y)
    return lambda: torch.autograd.grad(y, x, g)[0]


def run(x: Any, call: Call, way: str) -> Any:
    return prepared(x, call, way)()


def cell(name: str, way: str) -> str:
    if way == "backward" and (name.startswith("image") or not name.endswith("float32")):
        return "-"
    child = subprocess.run([sys.executable, "-m", "benchmarks.multiples", name, way], capture_output=True, text=True)
    if child.returncode:
        return "failed"
    found = json.loads(child.stdout)
    return f"{max(found['beside'], 0) / found['both']:.1f} ({found['both']:.0f} MiB)"


def main() -> int:
    lines = []
    for name in rows(64):
        lines.append([name, *(cell(name, way) for way in WAYS)])
        print(" | ".join(lines[-1]), flush=True)
    before, rest = PAGE.read_text().split(BEGIN)
    link = beside(TABLE, TABLE.stem, lined(["Call", *WAYS], lines), "Each call").replace("](", "](measured/")
    where = brief(machine(Settings(torch.get_num_threads(), 0, 0)))
    PAGE.write_text(f"{before}{BEGIN}\n\n{where} {link}\n\n{END}{rest.split(END)[1]}")
    return int(any("failed" in line for line in lines))


if __name__ == "__main__":
    print(json.dumps(one(*sys.argv[1:])))
