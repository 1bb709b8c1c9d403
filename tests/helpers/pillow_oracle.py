"""Pillow's resampling of 8-bit values, written a second time and slowly, in plain Python numbers. Nothing of it is
tenter's."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Bytes = np.ndarray[tuple[int, ...], np.dtype[np.uint8]]
BITS = 22


def triangle(x: float) -> float:
    return max(0.0, 1.0 - abs(x))


def keys(x: float) -> float:
    a, x = -0.5, abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def sinc(x: float) -> float:
    return math.sin(x * math.pi) / (x * math.pi) if x else 1.0


def bell(x: float) -> float:
    if x == 0:
        return 1.0
    constant, cosine = float(np.float32(0.54)), float(np.float32(0.46))
    return sinc(abs(x)) * (constant + cosine * math.cos(x * math.pi)) if abs(x) < 1 else 0.0


# By tenter's names: the weight of a distance, and the distance from which on there is none.
FILTERS: dict[str, tuple[Callable[[float], float], float]] = {
    "box": (lambda x: 1.0 if -0.5 < x <= 0.5 else 0.0, 0.5),
    "linear": (triangle, 1.0),
    "hamming": (bell, 1.0),
    "cubic": (keys, 2.0),
    "lanczos": (lambda x: sinc(x) * sinc(x / 3) if -3 <= x < 3 else 0.0, 3.0),
}


def rows(n_in: int, n_out: int, mode: str, box: tuple[float, float]) -> list[tuple[int, list[int]]]:
    """The first input and the weights, in units of 2**-22, of each output."""
    weigh, support = FILTERS[mode]
    begin, end = np.float32(box[0]), np.float32(box[1])
    step = float(end - begin) / n_out
    wide = max(step, 1.0)
    found = []
    for o in range(n_out):
        center = float(begin) + (o + 0.5) * step
        first = max(int(center - support * wide + 0.5), 0)
        stop = min(int(center + support * wide + 0.5), n_in)
        weights = [weigh((i - center + 0.5) * (1 / wide)) for i in range(first, stop)]
        total = 0.0
        for w in weights:
            total += w
        shares = [w / total if total else w for w in weights]
        found.append((first, [int(w * 2**BITS + math.copysign(0.5, w)) for w in shares]))
    return found


def along(x: Bytes, axis: int, weights: list[tuple[int, list[int]]]) -> Bytes:
    """Sums along an axis, rounded to 8 bits."""
    values = np.moveaxis(x, axis, 0).astype(np.int64)
    result = np.empty((len(weights), *values.shape[1:]), np.uint8)
    for o, (first, row) in enumerate(weights):
        total = np.full(values.shape[1:], 1 << (BITS - 1), np.int64)
        for k, w in enumerate(row):
            total += values[first + k] * w
        result[o] = np.clip(total >> BITS, 0, 255)
    return np.moveaxis(result, 0, axis)


def resize(
    x: Bytes, size: tuple[int, int], mode: str,
    box: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None),
) -> Bytes:  # fmt: skip
    """(H, W) or (H, W, C) to `size`; box: ((top, bottom), (left, right))."""
    axes = [1, 0]
    if 0 < x.shape[0] - size[0] > 2 * (x.shape[1] - size[1]):  # since Pillow 13
        axes.reverse()
    whole = x.shape
    for axis in axes:
        edges = box[axis] or (0, whole[axis])
        if size[axis] != whole[axis] or edges != (0, whole[axis]):
            x = along(x, axis, rows(whole[axis], size[axis], mode, edges))
    return x


def by_255ths(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    product = a.astype(int) * b.astype(int) + 128
    return (product + (product >> 8)) >> 8


def resize_weighed(x: Bytes, size: tuple[int, int], mode: str) -> Bytes:
    """(H, W, 2 or 4), the last channel being alpha."""
    if size == x.shape[:2]:
        return x.copy()
    y = resize(np.concatenate([by_255ths(x[..., :-1], x[..., -1:]), x[..., -1:]], -1).astype(np.uint8), size, mode)
    color, alpha = y[..., :-1].astype(int), y[..., -1:].astype(int)
    divided = np.minimum(255 * color // np.maximum(alpha, 1), 255)
    return np.concatenate([np.where((alpha == 0) | (alpha == 255), color, divided), alpha], -1).astype(np.uint8)
