"""The table: every row, and beside it the ratios it should reach."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks import image_rows
from benchmarks.results import Target
from benchmarks.workloads import FLOAT32, Row, beside_interpolate, interleave, numpy, picture, resize, whole


def aim(row: Row, *ratios: float, peer: str = "PyTorch") -> Row:
    """The row with a target: the peer's time / ours, forward and, where there is one, adjoint."""
    return row._replace(targets=(*row.targets, Target(peer, *ratios)))


def rows() -> Iterator[Row]:
    yield from repeats()
    yield from resizes()
    yield from pictures()
    yield from arrays()
    yield from same_work()
    yield from image_rows.opencv()
    yield from image_rows.scikit_image()


def repeats() -> Iterator[Row]:
    for dtype, ratios in ((FLOAT32, (8, 9)), (torch.int64, (4.5,)), (torch.int8, (12,))):
        yield aim(interleave("1M scalars, counts 0..8", (1_000_000,), 0, None, dtype), *ratios)
    yield aim(interleave("(100000, 64) dim 0, counts 0..8", (100_000, 64), 0, None), 7, 3)
    yield aim(interleave("(4096, 1024) dim 1, counts 0..8", (4096, 1024), 1, None), 6, 3)
    yield aim(interleave("(4096, 4096) dim 1, 2 each", (4096, 4096), 1, 2), 8, 3)
    for dtype in (FLOAT32, torch.bfloat16):
        name = "grouped-query K/V (4, 8, 4096, 128) dim 1, 4 each"
        yield aim(interleave(name, (4, 8, 4096, 128), 1, 4, dtype), 6.5, 2.5)
    for op in ("repeat", "tile"):
        yield aim(whole(op, (1024, 1024), (4, 4)), 4, 3)


def resizes() -> Iterator[Row]:
    """Each as it lies in memory by default, then channels-last where its dims have that."""
    image, photograph = (8, 64, 128, 128), (8, 3, 1080, 1920)
    for mode, ratios in (("bilinear", (8, 11)), ("bicubic", (22, 35)), ("nearest", (6, 4)), ("nearest-exact", (6, 4))):
        yield aim(resize(mode, image, (256, 256)), *ratios)
        yield aim(resize(mode, image, (256, 256), channels_last=True), 2, 2)
    yield aim(resize("trilinear", (2, 32, 64, 64, 64), (128, 128, 128)), 20, 20)
    yield aim(resize("trilinear", (2, 32, 64, 64, 64), (128, 128, 128), channels_last=True), 2, 2)
    yield resize("nearest", (2, 32, 64, 64, 64), (128, 128, 128))
    yield aim(resize("linear", (8, 256, 4096), (8192,)), 9, 13)
    for mode, antialias, forward, adjoint in (
        ("area", False, 2.2, 10),
        ("bilinear", True, 3, 15),
        ("bicubic", True, 4, 28),
    ):
        yield aim(resize(mode, photograph, (224, 224), antialias=antialias), forward, adjoint)
        yield aim(resize(mode, photograph, (224, 224), antialias=antialias, channels_last=True), 2, 2)
    for dtype, forward in ((torch.bfloat16, 9), (torch.float16, 14)):
        yield aim(resize("bilinear", (4, 3, 512, 512), (2048, 2048), dtype), forward, 20)
        yield aim(resize("bilinear", (4, 3, 512, 512), (2048, 2048), dtype, channels_last=True), 2, 2)
    yield aim(resize("bicubic", (1, 3, 512, 512), (2048, 2048)), 30, 50)
    yield aim(resize("bicubic", (1, 3, 512, 512), (2048, 2048), channels_last=True), 2, 2)


def pictures() -> Iterator[Row]:
    yield aim(picture(1080, 1920, 224, antialias=True, array=False), 2.2)
    shrunk = picture(1080, 1920, 224, antialias=True, array=True)
    yield aim(aim(shrunk, 15, peer="Pillow"), 10, peer="OpenCV")
    yield from (picture(512, 512, 2048, antialias=False, array=array) for array in (False, True))


def same_work() -> Iterator[Row]:
    for mode in ("bilinear", "bicubic", "nearest", "area"):
        yield beside_interpolate(mode, (8, 64, 128, 128), (256, 256))
    yield beside_interpolate("bilinear", (8, 3, 1080, 1920), (224, 224), antialias=True)
    yield beside_interpolate("trilinear", (1, 8, 64, 64, 64), (96, 96, 96))
    yield beside_interpolate("bilinear", (1, 3, 16, 16), (32, 32))


def arrays() -> Iterator[Row]:
    yield numpy("repeat", "1M scalars, counts 0..8", (1_000_000,))
    for dtype in (torch.uint8, torch.float64):
        yield numpy("repeat", "1M scalars, 4 each", (1_000_000,), dtype, repeats=4)
    for axis in (0, 1):
        yield numpy("repeat", f"(2000, 2000) axis {axis}, 3 each", (2000, 2000), repeats=3, axis=axis)
    for dtype in (torch.uint8, torch.float64):
        yield numpy("tile", "(1000, 1000) by (3, 3)", (1000, 1000), dtype, reps=(3, 3))
