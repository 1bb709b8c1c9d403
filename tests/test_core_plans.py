"""Calls of known families that the core plans by itself: the same bits as by Python's plans, whatever the layout."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import torch

import tenter
from tenter import _native
from tenter._arrays.layout import channels_last, memory_order, numpy_image_order, torch_image_order
from tenter._arrays.library import of
from tenter._execution import calls
from tenter._plans import cache, families
from tenter._rules import taps
from tenter._rules.axis_rule import AxisRule
from tenter.geometry import Geometry

DTYPES = ("uint8", "uint8", "int16", "float32", "float32", "float64", "float16")
INTERPOLATED = {1: ("linear", "area", "nearest", "nearest-exact"), 2: ("bilinear", "bicubic", "area", "lanczos"), 3: ("trilinear", "area")}
RESIZED = ("linear", "cubic", "area", "lanczos3", "mitchell", "hamming", "box", "nearest", "nearest-exact")


def forget() -> None:
    families.families.clear(), families.native.clear(), cache.plans.clear(), cache._once.clear()


def laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Values in one of many layouts: dims in any order, cut out of a larger array, reversed."""
    order = rng.permutation(len(shape)) if rng.random() < 0.4 else np.arange(len(shape))
    room = [shape[d] + int(rng.integers(0, 3)) * int(rng.random() < 0.3) for d in order]
    x = rng.integers(0, 255, room).astype(dtype)[tuple(slice(shape[d]) for d in order)]
    x = x.transpose(np.argsort(order))
    if rng.random() < 0.25:
        x = np.flip(x, int(rng.integers(len(shape))))
    return x


def drawn(rng: np.random.Generator) -> tuple[Any, Any]:
    """A function of an array and sizes, and what makes arrays and sizes for it, which lie alike."""
    dtype, tensors = str(rng.choice(DTYPES)), rng.random() < 0.5
    if rng.random() < 0.5:
        n = int(rng.integers(1, 4))
        mode, antialias = str(rng.choice(INTERPOLATED[n])), bool(rng.random() < 0.5)
        antialias = antialias and mode in ("bilinear", "bicubic") or mode == "lanczos"
        corners = bool(rng.random() < 0.3) if mode.endswith(("linear", "cubic")) else None
        lead, axes = [int(rng.choice((1, 1, 2, 3))), int(rng.choice((1, 3, 3, 4, 17)))], n
        call = lambda x, size: tenter.interpolate(x, size, mode=mode, antialias=antialias, align_corners=corners)  # noqa: E731
        shape = lambda: (*lead, *(int(rng.integers(1, 60)) for _ in range(axes)))  # noqa: E731
    else:
        ndim = int(rng.integers(1, 5))
        n = int(rng.integers(1, min(ndim, 3) + 1))
        at = int(rng.integers(0, ndim - n + 1))
        which = tuple(range(at, at + n))
        how = {"axes": which, "mode": str(rng.choice(RESIZED)), "antialias": [None, True, False][rng.integers(3)]}
        how |= {"like": str(rng.choice(["torch", "pillow", "opencv", "jax"])), "align": [None, "corners", "asymmetric"][rng.choice(3, p=[0.6, 0.2, 0.2])]}  # fmt: skip
        call = lambda x, size: tenter.resize(x, size, **how)  # noqa: E731
        lead = [int(rng.choice((1, 3, 4, 20))) for _ in range(ndim)]
        shape = lambda: tuple(int(rng.integers(1, 60)) if d in which else lead[d] for d in range(ndim))  # noqa: E731
    long = n == 1 and rng.random() < 0.3
    seed = int(rng.integers(1 << 30))

    def made() -> tuple[Any, Any]:
        lying = np.random.default_rng(seed)  # alike each time
        lengths = shape()
        if long:
            lengths = tuple(40 * m if k == len(lengths) - 1 else m for k, m in enumerate(lengths))
        x = laid_out(lying, lengths, dtype)
        sizes = tuple(int(m * 2 ** rng.uniform(-2, 2)) + 1 if rng.random() < 0.9 else m for m in lengths[-n:])
        return (torch.from_numpy(x) if tensors and min(x.strides, default=1) >= 0 else x), sizes

    return call, made


def compared(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Compares a call that the core may plan with Python's plan of it; whether the core planned it."""
    rng = np.random.default_rng(seed)
    call, made = drawn(rng)
    x, size = made()
    forget()
    try:
        wanted = call(x, size)
    except (TypeError, ValueError):
        return False
    forget()
    for _ in range(3):
        call(*made())
    cache.plans.clear(), cache._once.clear()
    planned: list[Any] = []
    plan = calls.plan
    with monkeypatch.context() as patched:
        patched.setattr(calls, "plan", lambda *args: planned.append(args) or plan(*args))
        found = call(x, size)
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    assert of(found).strides(found) == of(wanted).strides(wanted)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    again = call(x, size)
    np.testing.assert_array_equal(np.asarray(again), np.asarray(wanted))
    return not planned


def test_the_core_plans_as_python_does(monkeypatch):
    assert sum(compared(seed, monkeypatch) for seed in range(400)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 13000, 1000))
def test_the_core_plans_as_python_does_in_thousands_of_calls(first, monkeypatch):
    assert sum(compared(seed, monkeypatch) for seed in range(first, first + 1000)) > 250
