"""Photographs of 4928 x 3279 pixels to 852 x 567, antialiased, each of another size by a few pixels: a folder of them.

The sizes of fast_image_resize's own benchmark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
import tenter.image
from benchmarks import photograph_peers as peers
from benchmarks.crops import photograph
from benchmarks.machine import cores
from benchmarks.race import Maker, Work
from benchmarks.workloads import CLOSE, LEVELS

WIDTH, HEIGHT = 4928, 3279
TO_WIDTH, TO_HEIGHT = 852, 567
CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
MODES = {"bilinear": "linear", "bicubic": "catmull-rom", "lanczos": "lanczos3"}  # ours for PyTorch's
SHOWN = {"bilinear": "bilinear", "bicubic": "Catmull-Rom", "lanczos": "lanczos3"}
DTYPES = ("uint8", "uint16", "float32")
JITTER = 16  # pixels
SHARE = 1.0


class Photograph(NamedTuple):
    pixels: Any  # (H, W, C)
    size: tuple[int, int]


def thread_counts() -> list[int]:
    return sorted({1, cores()})


def works(threads: int, cut: int) -> Iterator[Work]:
    """cut: how many times smaller than usual pictures are."""
    for dtype in DTYPES:
        for name, channels in CHANNELS.items():
            for mode in MODES:
                yield arrays(dtype, name, channels, mode, False, threads, cut)
            if name in ("LA", "RGBA"):
                for mode in MODES:
                    yield arrays(dtype, name, channels, mode, True, threads, cut)
    for dtype in ("uint8", "float32"):
        for name in ("L", "RGB", "RGBA"):
            for mode in MODES:
                yield tensors(dtype, name, CHANNELS[name], mode, cut)


def arrays(dtype: str, name: str, channels: int, mode: str, weigh: bool, threads: int, cut: int) -> Work:
    def ours(p: Photograph) -> Callable[[], Any]:
        return lambda: tenter.image.resize(p.pixels, p.size, mode=MODES[mode], alpha=weigh)

    libraries = peers.libraries(dtype, name, mode, weigh, threads)
    if not weigh and dtype != "uint16":  # which PyTorch does not resize
        libraries["PyTorch"] = of_torch(mode)
    group = f"Arrays, {dtype}" + (", colors weighted by alpha" if weigh else "")
    return Work(group, f"{name}, {SHOWN[mode]}", drawing(dtype, channels, cut), ours, libraries,
                lambda p: truth(p, mode, weigh), CLOSE if dtype == "float32" else LEVELS, share=SHARE,
                warm=False)  # fmt: skip


def tensors(dtype: str, name: str, channels: int, mode: str, cut: int) -> Work:
    """Channels-last, by interpolate: PyTorch's rules."""

    def of(f: Callable[..., Any]) -> Maker:
        def make(p: Photograph) -> Callable[[], Any]:
            x = torch.from_numpy(p.pixels).permute(2, 0, 1)[None]
            return lambda: f(x, p.size, mode=mode, antialias=True)

        return make

    return Work(f"Tensors, channels-last, {dtype}", f"{name}, {SHOWN[mode]}", drawing(dtype, channels, cut),
                of(tenter.interpolate), {"PyTorch": of(F.interpolate)},
                lambda p: torch.from_numpy(truth(p, mode, False)).permute(2, 0, 1)[None],
                CLOSE if dtype == "float32" else LEVELS, share=SHARE, warm=False)  # fmt: skip


@lru_cache(1)
def stock(dtype: str, channels: int, cut: int) -> Any:
    """The pixels of which each photograph is made: all of a buffer's first ones, as wide as it says."""
    made = photograph(HEIGHT // cut + JITTER, WIDTH // cut + JITTER, channels)
    return (made.astype(dtype) * (peers.FULL[dtype] / 255)).astype(dtype, copy=False).reshape(-1)


def drawing(dtype: str, channels: int, cut: int) -> Callable[[np.random.Generator], Photograph]:
    def draw(rng: np.random.Generator) -> Photograph:
        wide, high = WIDTH // cut + int(rng.integers(JITTER)), HEIGHT // cut + int(rng.integers(JITTER))
        pixels = stock(dtype, channels, cut)[: high * wide * channels].reshape(high, wide, channels)
        return Photograph(pixels, (TO_HEIGHT // cut + int(rng.integers(4)), TO_WIDTH // cut + int(rng.integers(4))))

    return draw


def of_torch(mode: str) -> Maker:
    def make(p: Photograph) -> Callable[[], Any]:
        x = torch.from_numpy(p.pixels).permute(2, 0, 1)[None]
        return lambda: F.interpolate(x, p.size, mode=mode, antialias=True)[0].permute(1, 2, 0).numpy()

    return make


def truth(p: Photograph, mode: str, weigh: bool) -> Any:
    """In float64, rounded and cut to integers where pixels are. Of 8-bit colors weighted by alpha, Pillow's pixels: it
    rounds them before and after, and where alpha is small that decides."""
    if weigh and p.pixels.dtype == np.uint8:
        weighted = peers.pillow("uint8", "LA" if p.pixels.shape[2] == 2 else "RGBA", mode, True)
        assert weighted is not None
        return np.asarray(weighted(p)())
    wide = p.pixels.astype(np.float64)
    if weigh:
        wide[..., :-1] *= wide[..., -1:]
    x = torch.from_numpy(wide).permute(2, 0, 1)[None]
    y = F.interpolate(x, p.size, mode=mode, antialias=True)[0].permute(1, 2, 0).numpy()
    if weigh:
        y[..., :-1] /= y[..., -1:]
    dtype = p.pixels.dtype
    return y if dtype.kind == "f" else np.clip(np.rint(y), 0, peers.FULL[dtype.name]).astype(dtype)
