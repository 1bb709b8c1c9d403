"""The table: every row, and beside it the share of the copy bandwidth that it should reach."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks import image_rows
from benchmarks.results import BANDWIDTH, Target
from benchmarks.workloads import FLOAT32, Row, beside_interpolate, interleave, numpy, picture, resize, whole, with_mask

# Shares of the copy bandwidth that rows should reach, forward and backward: a result in fresh memory also pays for its
# pages, and a sum of a gradient reads more than it writes.
FORWARD, BACKWARD = 0.75, 0.6
# What keeps rows below these.
COUNTS = "counts of 8 bytes are read twice, beside elements of one"
RAGGED = "each segment's sum is a load across lines and a share of a transpose"
SHORT_ROWS = "a copy of a few rows at a time, whose length a count decides"
ARITHMETIC = "as many products as there are taps, 6 to 36 for each value"
HALF = "16-bit values are converted to 32 bits and back"
LAST = "vectors of channels are summed for each pixel apart"
INTEGERS = "8-bit products, as many as there are taps for each byte"
BYTES = "bytes are widened to 32-bit floats and rounded back"
PARTED = "; a tensor's result is planes, as PyTorch's, and an array's pixels as the input"


def aim(row: Row, forward: float = FORWARD, backward: float | None = BACKWARD, why: str = "") -> Row:
    """The row with its target; without one for a gradient that it does not have."""
    differentiable = not any(word in row.name for word in (", int", ", uint")) and not row.name.startswith("numpy.")
    return row._replace(targets=(Target(BANDWIDTH, forward, backward if differentiable else None, why),))


def rows() -> Iterator[Row]:
    yield from repeats()
    yield from resizes()
    yield from pictures()
    yield from arrays()
    yield from same_work()
    yield from gaps()
    yield from image_rows.opencv()
    yield from image_rows.scikit_image()


def gaps() -> Iterator[Row]:
    """A field of 100 times and one mask of it: land and sea."""
    yield with_mask("0.25 degrees to 1 degree, 100 times", (100, 720, 1440), (180, 360))


def repeats() -> Iterator[Row]:
    yield aim(interleave("1M scalars, counts 0..8", (1_000_000,), 0, None), backward=0.5, why=RAGGED)
    yield aim(interleave("1M scalars, counts 0..8", (1_000_000,), 0, None, torch.int64))
    yield aim(interleave("1M scalars, counts 0..8", (1_000_000,), 0, None, torch.int8), 0.4, why=COUNTS)
    yield aim(interleave("(100000, 64) dim 0, counts 0..8", (100_000, 64), 0, None), 0.7, why=SHORT_ROWS)
    yield aim(interleave("(4096, 1024) dim 1, counts 0..8", (4096, 1024), 1, None), 0.55, 0.5, RAGGED)
    yield aim(interleave("(4096, 4096) dim 1, 2 each", (4096, 4096), 1, 2))
    for dtype in (FLOAT32, torch.bfloat16):
        name = "grouped-query K/V (4, 8, 4096, 128) dim 1, 4 each"
        yield aim(interleave(name, (4, 8, 4096, 128), 1, 4, dtype))
    for op in ("repeat", "tile"):
        yield aim(whole(op, (1024, 1024), (4, 4)))


def resizes() -> Iterator[Row]:
    """Each as it lies in memory by default, then channels-last where its dims have that."""
    image, photograph = (8, 64, 128, 128), (8, 3, 1080, 1920)
    for mode in ("bilinear", "bicubic", "nearest", "nearest-exact"):
        yield aim(resize(mode, image, (256, 256)))
        yield aim(resize(mode, image, (256, 256), channels_last=True))
    yield aim(resize("trilinear", (2, 32, 64, 64, 64), (128, 128, 128)))
    yield aim(resize("trilinear", (2, 32, 64, 64, 64), (128, 128, 128), channels_last=True), 0.65, why=LAST)
    yield aim(resize("nearest", (2, 32, 64, 64, 64), (128, 128, 128)))
    yield aim(resize("linear", (8, 256, 4096), (8192,)))
    for mode, antialias, least, why in (
        ("area", False, FORWARD, ""),
        ("bilinear", True, 0.7, ARITHMETIC),
        ("bicubic", True, 0.45, ARITHMETIC),
    ):
        yield aim(resize(mode, photograph, (224, 224), antialias=antialias), least, why=why)
        yield aim(resize(mode, photograph, (224, 224), antialias=antialias, channels_last=True), least, why=why)
    for antialias, channels_last in ((False, False), (False, True), (True, False), (True, True)):
        # Position embeddings: few pixels of many channels.
        row = resize("bicubic", (1, 1024, 16, 16), (37, 37), antialias=antialias, channels_last=channels_last)
        yield aim(row, 0.45, 0.4, ARITHMETIC)
    for dtype in (torch.bfloat16, torch.float16):
        yield aim(resize("bilinear", (4, 3, 512, 512), (2048, 2048), dtype), 0.65, 0.4, HALF)
        yield aim(resize("bilinear", (4, 3, 512, 512), (2048, 2048), dtype, channels_last=True), 0.65, 0.4, HALF)
    yield aim(resize("bicubic", (1, 3, 512, 512), (2048, 2048)), 0.65, 0.4, ARITHMETIC)
    yield aim(resize("bicubic", (1, 3, 512, 512), (2048, 2048), channels_last=True), 0.65, 0.4, ARITHMETIC)


def pictures() -> Iterator[Row]:
    for array in (False, True):
        yield aim(picture(1080, 1920, 224, antialias=True, array=array), 0.4, why=INTEGERS)
    for array in (False, True):
        yield aim(picture(512, 512, 2048, antialias=False, array=array), 0.3, why=BYTES + PARTED)


def same_work() -> Iterator[Row]:
    for mode in ("bilinear", "bicubic", "nearest", "area"):
        yield beside_interpolate(mode, (8, 64, 128, 128), (256, 256))
    yield beside_interpolate("bilinear", (8, 3, 1080, 1920), (224, 224), antialias=True)
    yield beside_interpolate("trilinear", (1, 8, 64, 64, 64), (96, 96, 96))
    yield beside_interpolate("bilinear", (1, 3, 16, 16), (32, 32))


def arrays() -> Iterator[Row]:
    yield aim(numpy("repeat", "1M scalars, counts 0..8", (1_000_000,)))
    for dtype in (torch.uint8, torch.float64):
        yield aim(numpy("repeat", "1M scalars, 4 each", (1_000_000,), dtype, repeats=4))
    for axis in (0, 1):
        yield aim(numpy("repeat", f"(2000, 2000) axis {axis}, 3 each", (2000, 2000), repeats=3, axis=axis))
    for dtype in (torch.uint8, torch.float64):
        yield aim(numpy("tile", "(1000, 1000) by (3, 3)", (1000, 1000), dtype, reps=(3, 3)))
