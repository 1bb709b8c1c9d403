"""Calls whose instructions `python -m benchmarks arm` counts: a program for Arm's Python (tests/arm.py).

Each call is made WARM times, so that plans and memory are there, then CALLS times between two marks, which the counter
sees as system calls. Prints the libraries' versions and CALLS, then a line of JSON for each call, in their order.
Arguments are names of libraries, which are all otherwise.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import cv2
import numpy as np
import PIL
from PIL import Image

import tenter

WARM, CALLS = 3, 4
RNG = np.random.default_rng(0)
Row = tuple[str, dict[str, Callable[[], Any]]]


def resized(name: str, x: np.ndarray, n: int, cubic: bool = False, antialias: bool = False) -> Row:
    mode = "bicubic" if cubic else "bilinear"
    calls: dict[str, Callable[[], Any]] = {
        "tenter": lambda: tenter.resize(x, (n, n), axes=(0, 1), mode=mode, antialias=antialias, like="torch")
    }
    if x.dtype != np.float16 and not antialias:
        calls["OpenCV"] = lambda: cv2.resize(x, (n, n), interpolation=cv2.INTER_CUBIC if cubic else cv2.INTER_LINEAR)
    if x.dtype == np.uint8 or (x.dtype == np.float32 and x.ndim == 2 and not cubic):  # bicubic: of other coefficients
        picture, kind = Image.fromarray(x), Image.Resampling.BICUBIC if cubic else Image.Resampling.BILINEAR
        calls["Pillow"] = lambda: picture.resize((n, n), kind)
    return name, calls


def rows() -> Iterator[Row]:
    gray, rgb = RNG.random((512, 512), np.float32), RNG.random((512, 512, 3), np.float32)
    photo = RNG.integers(0, 256, (512, 512, 3), np.uint8)
    yield resized("bilinear, f32, gray, 1024", gray, 1024)
    yield resized("bilinear, f32, gray, 800", gray, 800)
    yield resized("bilinear, f32, RGB, 800", rgb, 800)
    yield resized("bicubic, f32, gray, 1024", gray, 1024, cubic=True)
    yield resized("bicubic, f32, RGB, 1024", rgb, 1024, cubic=True)
    yield resized("bilinear, f16, gray, 1024", gray.astype(np.float16), 1024)
    yield resized("bilinear, u8, RGB, 224, antialiased", photo, 224, antialias=True)
    yield resized("bicubic, u8, RGB, 224, antialiased", photo, 224, cubic=True, antialias=True)
    yield resized("bilinear, u8, RGB, 1024, antialiased", photo, 1024, antialias=True)
    for name, x in (
        ("65,536 scalars, f32", RNG.random(65536, np.float32)),
        ("4,096 rows of 8, f32", RNG.random((4096, 8), np.float32)),
    ):
        counts = RNG.integers(0, 5, len(x))
        ours, theirs = partial(tenter.repeat_interleave, x, counts, dim=0), partial(np.repeat, x, counts, axis=0)
        yield f"repeat by counts, {name}", {"tenter": ours, "NumPy": theirs}


def mark() -> None:
    os.getpgid(0)


def main() -> None:
    cv2.setNumThreads(1)
    tenter.set_num_threads(1)
    only = sys.argv[1:]
    versions = {"OpenCV": cv2.__version__, "Pillow": PIL.__version__, "NumPy": np.__version__}
    print(json.dumps([versions, CALLS]))
    for name, calls in rows():
        for library, call in calls.items():
            if only and library not in only:
                continue
            for _ in range(WARM):
                call()
            mark()
            for _ in range(CALLS):
                call()
            mark()
            print(json.dumps([name, library]), flush=True)


if __name__ == "__main__":
    main()
