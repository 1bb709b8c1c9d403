"""Arrays height x width x channels of every dtype that OpenCV has, and what scikit-image has; tenter copies none.

Rows are many, so each gets a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks.peers import module
from benchmarks.workloads import CLOSE, EXACT, LEVELS, Case, Row

SHARE = 0.25
OPENCV, SCIKIT_IMAGE = "OpenCV", "scikit-image"
LAST = {2: (1, 2, 0), 3: (1, 2, 3, 0)}  # channels to the end
KINDS = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}  # resize's words for PyTorch's
DTYPES = ("uint8", "uint16", "int16", "float32", "float64")

# Name, mode, OpenCV's flag, sizes. OpenCV's area is ours where the ratio is whole, an exact box where it is not.
WITH_OPENCV = (
    ("linear 512² to 2048²", "bilinear", "INTER_LINEAR", (512, 512), (2048, 2048)),
    ("cubic 512² to 2048²", "bicubic", "INTER_CUBIC", (512, 512), (2048, 2048)),
    ("nearest 512² to 2048²", "nearest", "INTER_NEAREST", (512, 512), (2048, 2048)),
    ("linear 1080 x 1920 to 224²", "bilinear", "INTER_LINEAR", (1080, 1920), (224, 224)),
    ("area 1080 x 1920 to 224²", "area", "INTER_AREA", (1080, 1920), (224, 224)),
    ("area 1080 x 1920 to 270 x 480", "area", "INTER_AREA", (1080, 1920), (270, 480)),
)
# Name, mode, order, sizes. Order 3 is a B-spline through the pixels, another cubic than ours.
WITH_SCIKIT_IMAGE = (
    ("linear 128² to 256²", "bilinear", 1, (128, 128), (256, 256)),
    ("cubic 128² to 256²", "bicubic", 3, (128, 128), (256, 256)),
    ("linear 32³ to 64³", "trilinear", 1, (32, 32, 32), (64, 64, 64)),
)


def opencv() -> Iterator[Row]:
    cv2 = module("cv2")
    if cv2 is None:
        return
    for name, mode, flag, shape, size in WITH_OPENCV:
        for dtype in DTYPES:
            for channels in (1, 3, 4):
                peer = resized_by_opencv(cv2, size, getattr(cv2, flag))
                yield image(OPENCV, name, mode, (*shape, channels), size, dtype, peer)


def resized_by_opencv(cv2: Any, size: tuple[int, int], flag: int) -> Callable[[Any], Any]:
    """It drops a single channel's dim."""
    return lambda x: cv2.resize(x, size[::-1], interpolation=flag).reshape(*size, -1)


def scikit_image() -> Iterator[Row]:
    transform = module("skimage.transform")
    if transform is None:
        return
    for name, mode, order, shape, size in WITH_SCIKIT_IMAGE:
        for dtype in ("float32", "float64"):
            for channels in (1, 3):
                peer = resized_by_scikit_image(transform, size, order)
                yield image(SCIKIT_IMAGE, name, mode, (*shape, channels), size, dtype, peer)


def resized_by_scikit_image(transform: Any, size: tuple[int, ...], order: int) -> Callable[[Any], Any]:
    options = {"order": order, "mode": "edge", "anti_aliasing": False, "preserve_range": True}
    return lambda x: transform.resize(x, size, **options)


def image(library: str, name: str, mode: str, shape: tuple[int, ...], size: tuple[int, ...], dtype: str,
          peer: Callable[[Any], Any]) -> Row:  # fmt: skip
    dims, real = len(size), np.dtype(dtype).kind == "f"

    def ours(x: Any) -> Any:
        return tenter.resize(x, size, axes=tuple(range(dims)), mode=KINDS.get(mode, mode), like="torch")

    def truth(x: Any) -> Any:
        """In float64, rounded and cut to integers if that is what x holds."""
        wide = torch.from_numpy(x.astype(np.float64)).permute(dims, *range(dims))[None]
        y = F.interpolate(wide, size, mode=mode)[0].permute(*LAST[dims]).numpy()
        return y if real else np.clip(np.rint(y), np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)

    def make() -> Case:
        check = CLOSE if real else EXACT if mode == "nearest" else LEVELS
        return Case(pixels(shape, dtype), ours, {library: peer}, truth, check)

    channels = "1 channel" if shape[-1] == 1 else f"{shape[-1]} channels"
    return Row(library, f"{name}, {dtype}, {channels}", make, share=SHARE)


def pixels(shape: tuple[int, ...], dtype: str) -> Any:
    rng = np.random.default_rng(0)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
