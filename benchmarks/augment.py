"""Random crops of a photograph to 224², as an augmentation draws them: another box and flip on every call, one thread.

Channels-last arrays and tensors, bytes and float32; tenter by slicing and by `box=`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import picture_peers
from benchmarks.crops import Crop, crop, photograph
from benchmarks.race import Maker, Work
from benchmarks.workloads import CLOSE, LEVELS

SIZE, CROPS = 224, 200
HEIGHT, WIDTH = 1200, 1600
KINDS = {"bilinear": "linear", "bicubic": "cubic"}  # resize's words for PyTorch's


def thread_counts() -> list[int]:
    return [1]


def works(threads: int, cut: int) -> Iterator[Work]:
    """cut: how many times smaller than usual pictures are."""
    height, width = HEIGHT // cut, WIDTH // cut
    size = SIZE // cut
    for kind, make in SOURCES.items():
        for mode in KINDS:
            for antialias in (True, False):
                x = make(height, width)
                yield from make_works(kind, x, mode, antialias, size)


def array(dtype: str) -> Callable[[int, int], Any]:
    return lambda height, width: photograph(height, width).astype(dtype)


def tensor(dtype: str, channels_last: bool) -> Callable[[int, int], Any]:
    layout = torch.channels_last if channels_last else torch.contiguous_format

    def make(height: int, width: int) -> Any:
        x = torch.from_numpy(photograph(height, width).astype(dtype)).permute(2, 0, 1)[None]
        return x.contiguous(memory_format=layout)

    return make


SOURCES = {
    "arrays (H, W, 3), uint8": array("uint8"),
    "arrays (H, W, 3), float32": array("float32"),
    "tensors (1, 3, H, W) channels-last, uint8": tensor("uint8", True),
    "tensors (1, 3, H, W) channels-last, float32": tensor("float32", True),
    "tensors (1, 3, H, W), uint8": tensor("uint8", False),
    "tensors (1, 3, H, W), float32": tensor("float32", False),
}


def make_works(kind: str, x: Any, mode: str, antialias: bool, size: int) -> Iterator[Work]:
    """By slicing and, of arrays, by box=, which reads the pixels around the box as Pillow's does."""
    is_array = isinstance(x, np.ndarray)
    height, width = x.shape[:2] if is_array else x.shape[2:]
    call = f"{mode}{', antialias' * antialias}"
    check = LEVELS if "uint8" in kind else CLOSE

    def draw(rng: np.random.Generator) -> Crop:
        return crop(rng, height, width)

    if not is_array:
        ours, peers = sliced_tensor(tenter.interpolate, x, mode, antialias, size), of_torch(x, mode, antialias, size)
        yield Work(kind, call, draw, ours, peers, truth(x, mode, antialias, size), check, rounds=CROPS)
        return
    images = torch.from_numpy(x).permute(2, 0, 1)[None]
    peers = picture_peers.crops(x, mode, antialias, size)
    best = "PyTorch, copied crop" if "uint8" in kind else "PyTorch"
    peers |= {"PyTorch": last(of_torch(images, mode, antialias, size)[best])}
    yield Work(kind, f"{call}, sliced", draw, sliced(x, mode, antialias, size), peers,
               last_of(truth(images, mode, antialias, size)), check, rounds=CROPS)  # fmt: skip
    yield Work(kind, f"{call}, box=", draw, boxed(x, mode, antialias, size), peers,
               picture_peers.truth_of_box(x, mode, size) if antialias else None, check, rounds=CROPS)  # fmt: skip


def sliced(x: Any, mode: str, antialias: bool, size: int) -> Maker:
    def make(c: Crop) -> Callable[[], Any]:
        columns = slice(c.left, c.right) if not c.flip else slice(c.right - 1, c.left - 1 if c.left else None, -1)
        return lambda: tenter.resize(x[c.top : c.bottom, columns], (size, size), axes=(0, 1), mode=KINDS[mode],
                                     antialias=antialias, like="torch")  # fmt: skip

    return make


def boxed(x: Any, mode: str, antialias: bool, size: int) -> Maker:
    def make(c: Crop) -> Callable[[], Any]:
        columns = (c.right, c.left) if c.flip else (c.left, c.right)
        return lambda: tenter.resize(x, (size, size), axes=(0, 1), mode=KINDS[mode], antialias=antialias,
                                     like="torch", box=((c.top, c.bottom), columns))  # fmt: skip

    return make


def sliced_tensor(f: Callable[..., Any], x: Any, mode: str, antialias: bool, size: int, copied: Any = None) -> Maker:
    """copied: the layout into which the crop is copied before."""

    def make(c: Crop) -> Callable[[], Any]:
        def call() -> Any:
            part = x[..., c.top : c.bottom, c.left : c.right]
            if copied is not None:
                part = part.contiguous(memory_format=copied)
            y = f(part, (size, size), mode=mode, antialias=antialias)
            return y.flip(-1) if c.flip else y

        return call

    return make


def of_torch(x: Any, mode: str, antialias: bool, size: int) -> dict[str, Maker]:
    """A copied crop takes other ways through PyTorch, some of them faster."""
    layout = torch.channels_last if x.is_contiguous(memory_format=torch.channels_last) else torch.contiguous_format
    return {
        "PyTorch": sliced_tensor(F.interpolate, x, mode, antialias, size),
        "PyTorch, copied crop": sliced_tensor(F.interpolate, x, mode, antialias, size, layout),
    }


def truth(x: Any, mode: str, antialias: bool, size: int) -> Callable[[Crop], Any]:
    """PyTorch's in float64, rounded and cut to bytes where x holds these."""

    def find(c: Crop) -> Any:
        part = x[..., c.top : c.bottom, c.left : c.right].double()
        y = F.interpolate(part, (size, size), mode=mode, antialias=antialias)
        y = y.flip(-1) if c.flip else y
        return y if x.is_floating_point() else y.round().clamp(0, 255).to(x.dtype)

    return find


def last_of(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """(1, C, H, W) to (H, W, C)."""
    return lambda c: f(c)[0].permute(1, 2, 0).numpy()


def last(make: Maker) -> Maker:
    def made(c: Crop) -> Callable[[], Any]:
        call = make(c)
        return lambda: call()[0].permute(1, 2, 0).numpy()

    return made
