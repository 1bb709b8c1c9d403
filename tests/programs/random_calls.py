"""Random calls of every operation. A call's result depends on its seed alone; big ones are big enough to be parallel."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

import tenter

OPERATIONS = ("repeat_interleave", "repeat", "tile", "expand", "interpolate")


def arguments(op: str, seed: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
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


def digest(op: str, seed: int) -> int:
    args, kwargs = arguments(op, seed)
    return zlib.crc32(np.ascontiguousarray(getattr(tenter, op)(*args, **kwargs)))
