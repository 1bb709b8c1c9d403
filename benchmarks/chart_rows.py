"""The rows of the chart and of docs/performance.md, by kind of user: calls of tenter, and the same by others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

import tenter
from benchmarks import peers
from benchmarks.huge_pages import PYTORCH
from benchmarks.measure import gradient
from benchmarks.workloads import counts, values

Call = Callable[[], Any]
FAST = "fast_image_resize"
TRAIN, IMAGES, ARRAYS = "Training and inference (PyTorch)", "Images", "Arrays and signals (NumPy, SciPy)"


class Row(NamedTuple):
    """calls: tenter's and each peer's, when it is measured. shown: in the chart too. threads: 0 for the default."""

    group: str
    name: str
    calls: Callable[[], tuple[Call, dict[str, Call]]]
    shown: bool = False
    threads: int = 0


def resized(shape: tuple[int, ...], size: tuple[int, ...], back: bool = False, **how: Any) -> Any:
    def calls() -> tuple[Call, dict[str, Call]]:
        x = values(shape, how.get("dtype", torch.float32), how.get("channels_last", False))
        options = {k: v for k, v in how.items() if k not in ("dtype", "channels_last")}

        def ours(x: torch.Tensor) -> Any:
            return tenter.interpolate(x, size, **options)

        def theirs(x: torch.Tensor) -> Any:
            return F.interpolate(x, size, **options)

        if back:
            g = torch.randn_like(theirs(x))
            return gradient(ours, x, g), {PYTORCH: gradient(theirs, x, g)}
        return lambda: ours(x), {PYTORCH: lambda: theirs(x)}

    return calls


def tiny_gradient() -> tuple[Call, dict[str, Call]]:
    x = values((1, 3, 8, 8), torch.float32).requires_grad_()
    g = torch.randn(1, 3, 16, 16)

    def back(f: Any) -> Call:
        return lambda: torch.autograd.grad(f(x, (16, 16), mode="bilinear"), x, g)[0]

    return back(tenter.interpolate), {PYTORCH: back(F.interpolate)}


def tiny_view() -> tuple[Call, dict[str, Call]]:
    x = values((1, 8, 4), torch.float32)
    return (lambda: tenter.expand(x, 3, 8, 4)), {PYTORCH: lambda: x.expand(3, 8, 4)}


def repeated(shape: tuple[int, ...], dim: int, each: int | None, dtype: torch.dtype = torch.float32) -> Any:
    def calls() -> tuple[Call, dict[str, Call]]:
        x, repeats = values(shape, dtype), counts(shape[dim]) if each is None else each
        return (lambda: tenter.repeat_interleave(x, repeats, dim)), {
            PYTORCH: lambda: torch.repeat_interleave(x, repeats, dim)
        }

    return calls


def summed() -> tuple[Call, dict[str, Call]]:
    lengths = counts(100_000)
    x = values((int(lengths.sum()), 16), torch.float32)
    return (lambda: tenter.ragged.segment_sum(x, lengths)), {
        PYTORCH: lambda: torch.segment_reduce(x, "sum", lengths=lengths, axis=0)
    }


def photograph(height: int, width: int, to: tuple[int, int], antialias: bool, channels: int = 3) -> Any:
    """8-bit colors, or colors and alpha, as an array. What OpenCV has to shrink well is INTER_AREA, another filter."""

    def calls() -> tuple[Call, dict[str, Call]]:
        x = values((height, width, channels), torch.uint8).numpy()
        found: dict[str, Call] = {}
        if antialias and (image := peers.module("PIL.Image")) is not None:
            opened = image.fromarray(x)
            found["Pillow"] = lambda: opened.resize(to[::-1], image.Resampling.BILINEAR)
        if antialias and (resizer := peers.module("cykooz_resizer")) is not None:
            found[FAST] = fast_image_resize(resizer, x, to)
        if channels == 3 and (cv2 := peers.module("cv2")) is not None:
            flag = cv2.INTER_AREA if antialias else cv2.INTER_LINEAR
            found["OpenCV"] = lambda: cv2.resize(x, to[::-1], interpolation=flag)
        if antialias:
            return (lambda: tenter.image.resize(x, to, mode="linear", alpha=channels == 4)), found
        return (lambda: tenter.resize(x, to, axes=(0, 1), like="opencv")), found

    return calls


def fast_image_resize(resizer: Any, x: Any, to: tuple[int, int]) -> Call:
    kind = resizer.PixelType[f"U8x{x.shape[2]}"]
    source, out = (
        resizer.ImageData(*size[::-1], kind, *held) for size, held in ((x.shape[:2], [x.tobytes()]), (to, []))
    )
    does, how = resizer.Resizer(), resizer.ResizeAlg.convolution(resizer.FilterType.bilinear)
    options = resizer.ResizeOptions(resize_alg=how)
    return lambda: does.resize(source, out, options)


def tensor_photograph() -> tuple[Call, dict[str, Call]]:
    x = values((1080, 1920, 3), torch.uint8).permute(2, 0, 1)[None]
    options: dict[str, Any] = {"size": (224, 224), "mode": "bilinear", "antialias": True}
    return (lambda: tenter.interpolate(x, **options)), {PYTORCH: lambda: F.interpolate(x, **options)}


def numpy_repeat(shape: tuple[int, ...], repeats: Any, axis: int) -> Any:
    def calls() -> tuple[Call, dict[str, Call]]:
        x = np.random.default_rng(0).random(shape)
        n = counts(shape[axis]).numpy() if repeats is None else repeats
        return (lambda: tenter.repeat_interleave(x, n, axis)), {"NumPy": lambda: np.repeat(x, n, axis)}

    return calls


def numpy_tile() -> tuple[Call, dict[str, Call]]:
    x = np.random.default_rng(0).random((1000, 1000))
    return (lambda: tenter.tile(x, (3, 3))), {"NumPy": lambda: np.tile(x, (3, 3))}


def signal() -> tuple[Call, dict[str, Call]]:
    n, m = 1_000_000, 918_750
    x = np.random.default_rng(0).random(n).astype(np.float32)
    at, known = np.linspace(0, n - 1, m), np.arange(n)
    return (lambda: tenter.resize(x, m, align="align_corners", antialias=False)), {
        "NumPy": lambda: np.interp(at, known, x)
    }


def volume() -> tuple[Call, dict[str, Call]]:
    x = np.random.default_rng(0).random((48, 96, 96)).astype(np.float32)
    if (ndimage := peers.module("scipy.ndimage")) is None:
        return (lambda: tenter.resize(x, scale=2, axes=(0, 1, 2), like="scipy")), {}
    return (lambda: tenter.resize(x, scale=2, axes=(0, 1, 2), like="scipy")), {
        "SciPy": lambda: ndimage.zoom(x, 2, order=1)
    }


IMAGE, VOLUME, PHOTOGRAPHS = (8, 64, 128, 128), (2, 32, 64, 64, 64), (8, 3, 1080, 1920)
ROWS = [
    Row(TRAIN, "bicubic, (8, 64, 128, 128) to 256²", resized(IMAGE, (256, 256), mode="bicubic")),
    Row(
        TRAIN,
        "gradient of bicubic, (8, 64, 128, 128) to 256²",
        resized(IMAGE, (256, 256), True, mode="bicubic"),
        shown=True,
    ),
    Row(
        TRAIN,
        "bilinear, the same sizes, channels-last",
        resized(IMAGE, (256, 256), mode="bilinear", channels_last=True),
        shown=True,
    ),
    Row(TRAIN, "trilinear, (2, 32, 64, 64, 64) to 128³", resized(VOLUME, (128, 128, 128), mode="trilinear")),
    Row(TRAIN, "nearest, (8, 64, 128, 128) to 256²", resized(IMAGE, (256, 256), mode="nearest"), shown=True),
    Row(
        TRAIN,
        "antialiased bilinear, 8 float photographs of 1080p to 224²",
        resized(PHOTOGRAPHS, (224, 224), mode="bilinear", antialias=True),
        shown=True,
    ),
    Row(TRAIN, "repeat_interleave, a count per element, 1M float32", repeated((1_000_000,), 0, None), shown=True),
    Row(
        TRAIN,
        "repeat_interleave, K/V heads (4, 8, 4096, 128) 4 times, bfloat16",
        repeated((4, 8, 4096, 128), 1, 4, torch.bfloat16),
    ),
    Row(TRAIN, "sums of 100,000 segments, 16 wide", summed),
    Row(TRAIN, "a tiny call: bilinear, (1, 3, 8, 8) to 16²", resized((1, 3, 8, 8), (16, 16), mode="bilinear")),
    Row(TRAIN, "a tiny call: forward and backward of it", tiny_gradient),
    Row(TRAIN, "a tiny call: expand (1, 8, 4) to (3, 8, 4)", tiny_view),
    Row(
        IMAGES,
        "antialiased, 8-bit photograph of 1080p to 224²",
        photograph(1080, 1920, (224, 224), True),
        shown=True,
        threads=1,
    ),
    Row(IMAGES, "the same with alpha, 8-bit RGBA", photograph(1080, 1920, (224, 224), True, 4), threads=1),
    Row(IMAGES, "antialiased, 8-bit photograph as a tensor", tensor_photograph),
    Row(IMAGES, "8-bit, 512² to 2048², bilinear as OpenCV", photograph(512, 512, (2048, 2048), False)),
    Row(
        IMAGES, "8-bit, 1080p to 224² without antialias, bilinear as OpenCV", photograph(1080, 1920, (224, 224), False)
    ),
    Row(ARRAYS, "repeat by a count per element, 1M float64", numpy_repeat((1_000_000,), None, 0)),
    Row(ARRAYS, "repeat (2000, 2000) float64 along axis 1, 3 times", numpy_repeat((2000, 2000), 3, 1), shown=True),
    Row(ARRAYS, "tile (1000, 1000) float64 by (3, 3)", numpy_tile),
    Row(ARRAYS, "a tiny call: repeat 10 float64 3 times", numpy_repeat((10,), 3, 0)),
    Row(ARRAYS, "linear, a signal of 1M float32 to 0.92M", signal, threads=1),
    Row(ARRAYS, "linear, a volume (48, 96, 96) to twice the size", volume, threads=1),
]
