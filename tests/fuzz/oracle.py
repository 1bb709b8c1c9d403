"""What a call must give, in plain NumPy, and how far from it rounding may take it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from .arrays import bits, dtype_name, numbers, same_bits
from .matrices import Dense

Maps = Sequence[tuple[int, Dense]]
EPSILON = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53, "longdouble": 2.0**-64}
LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 2.0**-1074, "longdouble": 0.0}
MOST = {"float16": 65504.0, "bfloat16": 3.38e38, "float32": 3.4e38, "float64": 1.79e308, "longdouble": 1e4000}
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64", "clongdouble": "longdouble"}


class Wrong(Exception):
    """A finding: what kind of failure, and the details."""

    def __init__(self, kind: str, details: str = "") -> None:
        super().__init__(kind, details)
        self.kind, self.details = kind, details


class Want(NamedTuple):
    """Values in a wide dtype, with the sum of |w| |x| behind each and the number of roundings it takes at most. Parts of
    complex numbers lie along a last axis. unsure: how far the value may be off, where a sum on the way may be rounded
    to either side."""

    values: np.ndarray
    size: np.ndarray
    roundings: float
    peak: float = 0.0  # of sums on the way, in any order of the axes
    unsure: Any = 0.0


def name_of(x: Any) -> str:
    if isinstance(x, np.ndarray) and x.dtype.char in "gG":
        return "longdouble" if x.dtype.char == "g" else "clongdouble"
    return dtype_name(x)


def is_whole(name: str) -> bool:
    return name.removeprefix("u").startswith("int")


def accumulator(name: str) -> str:
    name = PARTS.get(name, name)
    return (
        name
        if name == "longdouble"
        else ("float64" if name in ("float64", "int32", "uint32", "int64", "uint64") else "float32")
    )


def taken(x: Any, maps: Maps) -> np.ndarray:
    """Bits of a call that only copies."""
    found = bits(x)
    for axis, d in maps:
        found = np.take(found, d.index, axis)
    return found


def summed(x: np.ndarray, maps: Maps, name: str, between: tuple[float, float] | None = None) -> Want:
    """Maps one after the other. between: what values are cut to after the first of two."""
    wide: Any = np.longdouble if accumulator(name) != "float32" else np.float64
    if x.dtype.kind == "c":
        x = np.stack([x.real, x.imag], -1)
    y = x.astype(wide)
    size = np.where(np.isfinite(y), np.abs(y), 0)
    roundings, peak = 2.0, float(size.max(initial=0))
    for k, (axis, d) in enumerate(maps):
        if d.index is not None:
            y, size = np.take(y, d.index, axis), np.take(size, d.index, axis)
        else:
            y, size = _product(y, axis, d), _moved(size, axis, d.size.astype(wide))
            peak *= max(1.0, float(d.size.sum(1).max(initial=0)))
        roundings += 0 if d.index is not None else d.most_taps + 3
        if between is not None and k == 0:
            y = np.clip(y, *between)
    return Want(y, size, roundings, peak)


def summed_bytes(x: np.ndarray, maps: Maps) -> Want:
    """Maps one after the other with weights of 22 bits, sums being rounded to bytes after each, as Pillow computes."""
    y, unsure = x.astype(np.longdouble), np.zeros(x.shape)
    for k, (axis, d) in enumerate(maps):
        if d.index is not None:
            y, unsure = np.take(y, d.index, axis), np.take(unsure, d.index, axis)
            continue
        y = _product(y, axis, d)
        unsure = _moved(unsure, axis, d.size) + 255 * (d.most_taps + 1) * 2.0**-22
        if k + 1 < len(maps):
            either = np.abs(y - np.floor(y) - 0.5) <= unsure
            y, unsure = np.clip(np.floor(y + 0.5), 0, 255), np.where(either, 1.0, 0.0) + np.floor(unsure)
    return Want(y, np.abs(y), 2.0, 255.0, unsure)


def _moved(x: np.ndarray, axis: int, weight: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.tensordot(weight, x, (1, axis)), 0, axis)


def _product(x: np.ndarray, axis: int, d: Dense) -> np.ndarray:
    finite = np.isfinite(x)
    y = _moved(np.where(finite, x, 0), axis, d.weight.astype(x.dtype))
    if finite.all():
        return y
    high, low, nan = ((x == np.inf).astype(float), (x == -np.inf).astype(float), np.isnan(x).astype(float))
    plus = _moved(high, axis, d.up) + _moved(low, axis, d.down) > 0
    minus = _moved(low, axis, d.up) + _moved(high, axis, d.down) > 0
    neither = _moved(nan, axis, d.up + d.down + d.none) + _moved(high + low, axis, d.none) > 0
    return np.where(neither | (plus & minus), np.nan, np.where(plus, np.inf, np.where(minus, -np.inf, y)))


def exact_sums(x: np.ndarray, maps: Maps, name: str) -> np.ndarray:
    """Unweighted sums of integers: modulo 2**64 for 64 bits, saturated below."""
    y = x.astype(np.int64) if x.dtype != np.uint64 else x.view(np.int64)
    for axis, d in maps:
        y = _moved(y, axis, d.weight.astype(np.int64))
    if name in ("int64", "uint64"):
        return y.astype(name) if name == "int64" else np.ascontiguousarray(y).view(np.uint64)
    info = np.iinfo(name)
    return np.clip(y, info.min, info.max).astype(name)


def check_shape(y: Any, x: Any, shape: tuple[int, ...]) -> None:
    if isinstance(y, torch.Tensor) != isinstance(x, torch.Tensor):
        raise Wrong("kind", f"{type(y).__name__} for {type(x).__name__}")
    if y.dtype != x.dtype:
        raise Wrong("dtype", f"{y.dtype} for {x.dtype}")
    if tuple(y.shape) != tuple(shape):
        raise Wrong("shape", f"{tuple(y.shape)}, not {tuple(shape)}")


def check_bits(y: Any, want: np.ndarray) -> None:
    got = bits(y)
    if not same_bits(got, want):
        raise Wrong("values", _first(got, want, np.atleast_1d(unlike(got, want))))


def unlike(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype.kind == "V" or a.dtype.hasobject:
        return np.array([x != y for x, y in zip(a.ravel().tolist(), b.ravel().tolist())]).reshape(a.shape)
    return np.asarray((a != b) & ~((a != a) & (b != b)))


def check_values(y: Any, want: Want, name: str, slack: float = 0.0) -> None:
    """y against what it must be. slack: of weights that were computed in another way, relative to the sum of |w| |x|."""
    got = numbers(y)
    if got.dtype.kind == "c":
        got = np.stack([got.real, got.imag], -1)
    _check_real(got, want, PARTS.get(name, name), slack)


def _check_real(got: np.ndarray, want: Want, name: str, slack: float) -> None:
    acc = accumulator(name)
    with np.errstate(all="ignore"):
        tolerance = want.size * (EPSILON[acc] * want.roundings + slack) + 4 * want.roundings * LEAST[acc] + want.unsure
        known = want.size < MOST[acc] / 8  # else sums may overflow on the way, in one order and not in another
        v = want.values
        finite = np.isfinite(v)
        if is_whole(name):
            info = np.iinfo(name)
            wide = np.longdouble
            lo = np.clip(np.ceil(v - 0.5 - tolerance), wide(info.min), wide(info.max))
            hi = np.clip(np.floor(v + 0.5 + tolerance), wide(info.min), wide(info.max))
            g = got.astype(wide)
            ok = (g >= lo) & (g <= hi)
        else:
            g = got.astype(v.dtype)
            rounding = 1.01 * np.maximum(EPSILON[name] * np.abs(v), LEAST[name])
            ok = np.abs(g - v) <= tolerance + rounding
            high = np.abs(v) + tolerance + rounding >= MOST[name]
            ok |= high & np.isinf(g) & (np.sign(g) == np.sign(v))
            ok |= ~np.isfinite(g) & (want.peak >= MOST[acc] / 8)
            ok = np.where(finite, ok, (g == v) | (np.isnan(g) & np.isnan(v)))
    bad = ~(ok | ~known)
    if bad.any():
        leak = not is_whole(name) and bool((bad & (np.isfinite(g) != finite)).any())
        raise Wrong("inf or NaN" if leak else "values", _first(got, v, bad))


def _first(got: np.ndarray, want: np.ndarray, bad: np.ndarray) -> str:
    if not bad.any():
        return "bytes"
    at = tuple(int(k) for k in np.argwhere(bad)[0])
    g, w = np.atleast_1d(got)[at], np.atleast_1d(want)[at]
    return f"{int(bad.sum())} of {bad.size} elements, first at {list(at)}: got {g!r}, expected {w!r}"
