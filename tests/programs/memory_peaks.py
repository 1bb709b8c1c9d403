"""How many MiB the resident memory of calls grows at its peak: memory_peaks.py LIBRARY NAMES

LIBRARY: numpy or torch, whose arrays are passed. NAMES: of calls, with commas between.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tenter
import tenter.image
from tenter.conventions import Convention

SIDE, FEW = 2048, 120
WRAP = Convention.of("pillow", edge="wrap")


def resident(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def noise(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


def inputs(side: int) -> dict[str, np.ndarray[Any, Any]]:
    return {
        "rgba": noise(side, side, 4), "rgb": noise(side, side, 3), "grey": noise(side, side),
        "counts": noise(side * side) % 5, "line": np.ones((1, 1, side * side), np.float32),
    }  # fmt: skip


def call(name: str, x: dict[str, Any], side: int) -> Callable[[], Any]:
    half, whole, twice = ((n, n) for n in (side // 2, side, side * 2))
    image, resize = tenter.image.resize, tenter.resize
    constant = {"axes": (0, 1), "edge": "constant", "value": 7}

    def gradient(size: tuple[int, int], **how: Any) -> Any:
        import torch

        leaf = x["rgb"][..., 0].float().requires_grad_()
        return torch.autograd.grad(resize(leaf, size, axes=(0, 1), **how).sum(), leaf)[0]

    def line_gradient(edge: str) -> Any:
        import torch

        leaf = x["line"].requires_grad_()
        return torch.autograd.grad(resize(leaf, side * side // 3 * 4, axes=2, mode="cubic", edge=edge).sum(), leaf)[0]

    kind, _, edge = name.partition(", ")  # of calls at any edge
    if edge:
        return {
            "signal": lambda: resize(x["line"], side * side // 3 * 4, axes=2, mode="cubic", edge=edge),
            "nearest": lambda: resize(x["line"], scale=1.37, axes=2, mode="nearest-exact", edge=edge),
            "gradient": lambda: line_gradient(edge),
        }[kind]
    return {
        "wrap thumbnail": lambda: resize(x["rgba"], (64, 64), axes=(0, 1), mode="lanczos", antialias=True, edge="wrap"),
        "wrap few": lambda: resize(x["rgba"], (16, 16), axes=(0, 1), mode="lanczos", antialias=True, edge="wrap"),
        "wrap half": lambda: resize(x["rgba"], half, axes=(0, 1), mode="cubic", antialias=True, edge="wrap"),
        "wrap thrice": lambda: resize(x["grey"], (3 * side, 3 * side), axes=(0, 1), mode="cubic", edge="wrap"),
        "reflect outside": lambda: resize(
            x["grey"], whole, axes=(0, 1), mode="cubic", edge="reflect", box=[(-3 * side, -2 * side), (2 * side, 3 * side)]
        ),
        "wrap gaussian": lambda: resize(x["rgba"], half, axes=(0, 1), like="skimage", edge="wrap"),
        "wrap gradient": lambda: gradient((64, 64), mode="lanczos", antialias=True, edge="wrap"),
        "alpha half": lambda: image(x["rgba"], half, alpha=True),
        "alpha thumbnail": lambda: image(x["rgba"], (100, 100), alpha=True),
        "alpha twice": lambda: image(x["rgba"][: side // 2, : side // 2], whole, alpha=True),
        "light half": lambda: image(x["rgb"], half, linear_light=True),
        "light twice": lambda: image(x["grey"], twice, linear_light=True),
        "alpha wrap": lambda: image(x["rgba"], half, like=WRAP, alpha=True),
        "constant half": lambda: resize(x["rgb"], half, antialias=True, **constant),
        "constant twice": lambda: resize(x["grey"], twice, **constant),
        "extrapolated": lambda: resize(x["grey"], twice, **{**constant, "edge": "extrapolate"}),
        "nearest constant": lambda: resize(x["grey"], twice, mode="nearest", **constant),
        "narrow counts": lambda: tenter.repeat_interleave(x["grey"].reshape(-1), x["counts"], 0),
        "line": lambda: tenter.interpolate(x["line"], (side * side // 2,), mode="linear"),
    }[name]  # fmt: skip


if __name__ == "__main__":
    tenter.set_num_threads(1)
    if sys.argv[1] == "torch":
        from torch import from_numpy as make
    else:
        make = np.asarray
    few = {name: make(x) for name, x in inputs(FEW).items()}
    given = inputs(SIDE)
    for name in sys.argv[2].split(";" if ";" in sys.argv[2] else ","):
        call(name, few, FEW)()
        x = {k: make(v) for k, v in given.items()}
        tenter.memory.clear()
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        y = call(name, x, SIDE)()
        print((resident("VmHWM") - before) / 2**20)
