"""Bad arguments of every operation, made of arrays and tensors: each is an exception, and none ends the process."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tenter

NAN, INF = float("nan"), float("inf")


def must_raise(call: Callable[[], Any]) -> None:
    try:
        call()
    except (TypeError, ValueError, IndexError, MemoryError):
        return
    sys.exit(f"no error from line {call.__code__.co_firstlineno}")


for f in (np.asarray, torch.as_tensor):
    x, image = f(np.zeros((2, 3), np.float32)), f(np.zeros((1, 2, 4, 5), np.float32))
    must_raise(lambda: tenter.repeat_interleave(f(np.array([-1, -1, 2])), output_size=0))
    must_raise(lambda: tenter.repeat_interleave(x, f(np.array([-5, 4, 4])), 1, output_size=3))
    must_raise(lambda: tenter.repeat_interleave(x, f(np.array([2**62, 2**62, 2**62])), 1))
    must_raise(lambda: tenter.repeat_interleave(x, f(np.array([1, 1, 1])), 1, output_size=10**12))
    must_raise(lambda: tenter.repeat_interleave(x, f(np.array([1, 1, 1])), 1, output_size=-1))
    must_raise(lambda: tenter.repeat_interleave(x, 2**33, 0))
    must_raise(lambda: tenter.repeat_interleave(f(np.array(3.0)), f(np.array([1, 2])), 0))
    must_raise(lambda: tenter.repeat_interleave(f(np.zeros((0, 3))), f(np.array([1, 2])), 0))
    must_raise(lambda: tenter.repeat(x, 2**31, 2**31))
    must_raise(lambda: tenter.repeat(x, *[2] * 64))
    must_raise(lambda: tenter.tile(x, (2**62,)))
    must_raise(lambda: tenter.expand(x, -7, 3))
    for s in (NAN, INF, -INF, 0.0, -2.0, 1e-300, 1e300, (2.0, NAN)):
        must_raise(lambda: tenter.interpolate(image, scale_factor=s))
    for s in (0, -1, 2**31, 2**62, (3, 0), ()):
        must_raise(lambda: tenter.interpolate(image, s, mode="bilinear"))
    must_raise(lambda: tenter.interpolate(f(np.zeros((1, 1, 0))), 3))
    # no error, and no crash either: empty, 0-d, huge strides, overlapping memory
    assert tenter.repeat_interleave(f(np.zeros((0, 3))), 5, 0).shape == (0, 3)
    assert tenter.repeat_interleave(f(np.array(3.0)), 5).shape == (5,)
    assert tenter.interpolate(f(np.zeros((0, 2, 4, 4))), 3, mode="bicubic").shape == (0, 2, 3, 3)
    assert tenter.interpolate(f(np.zeros((2, 0, 4, 4))), 3).shape == (2, 0, 3, 3)
    assert tenter.repeat(x, 0, 2**40).shape == (0, 3 * 2**40)
    wide = tenter.expand(f(np.ones((1, 1, 1, 5), np.float32)), 3, 2, 700, 5)
    assert float(tenter.interpolate(wide, (9, 11), mode="bilinear").sum()) == 3 * 2 * 9 * 11
with contextlib.suppress(Exception):
    tenter.repeat_interleave(torch.zeros(4).cuda(), 2)
big = np.lib.stride_tricks.as_strided(np.zeros(1, np.uint8), (1, 1, 2**40), (0, 0, 0))
must_raise(lambda: tenter.interpolate(big, 2**39, mode="linear"))
for bad in (type("A", (), {"__index__": lambda s: 1 / 0})(), type("B", (), {"__len__": lambda s: -1})()):
    with contextlib.suppress(Exception):
        tenter.repeat(np.zeros(3), bad)
print("survived")
