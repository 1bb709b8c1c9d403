"""What a lazy array weighs has the bits of the operation, however the input lies in memory, and so have its slices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
from sweeps import sampled


def lying(x, random):
    """x in another order in memory."""
    order = random.permutation(x.ndim)
    return np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))


def array(s):
    return np.asarray(s.materialize() if isinstance(s, tenter.lazy.LazyArray) else s)


@pytest.mark.parametrize("seed", sampled(range(64), 8))
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "float16", "float32"])
def test_resize(dtype, seed):
    random = np.random.default_rng([seed, ord(dtype[0])])
    for _ in range(10):
        ndim = random.integers(2, 5)
        x = lying((random.random(random.integers(2, 14, ndim)) * 200).astype(dtype), random)
        axes = tuple(np.sort(random.choice(ndim, random.integers(1, min(ndim, 3) + 1), replace=False)).tolist())
        size = tuple(random.integers(2, 20, len(axes)).tolist())
        how = {"mode": str(random.choice(["linear", "cubic", "area", "lanczos"]))}
        if how["mode"] != "area":
            how |= {
                "like": [None, "torch", "pillow"][random.integers(3)],
                "edge": str(random.choice(["replicate", "wrap"])),
            }
            how |= {"antialias": bool(random.integers(2))} if how["like"] == "torch" else {}
        x = torch.from_numpy(x) if random.random() < 0.3 else x
        want, s = np.asarray(tenter.resize(x, size, axes=axes, **how)), tenter.lazy.resize(x, size, axes=axes, **how)
        assert array(s).tobytes() == want.tobytes(), (x.shape, size, axes, how)
        written = np.empty(want.shape, dtype, order=random.choice(["C", "F"]))
        s.materialize(out=written if isinstance(x, np.ndarray) else torch.from_numpy(written))
        assert written.tobytes() == want.tobytes(), (x.shape, size, axes, how)
        ends = [sorted(random.integers(0, n + 1, 2).tolist()) for n in s.shape]
        key = tuple([slice(*at) for at in ends])
        assert array(s[key]).tobytes() == want[key].tobytes(), (x.shape, size, axes, how, key)


@pytest.mark.parametrize("seed", sampled(range(32), 8))
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "area"])
def test_interpolate(mode, seed):
    random = np.random.default_rng([seed, ord(mode[2])])
    for dtype in ("uint8", "int16", "int32"):
        x = lying((random.random(random.integers(2, 14, 4)) * 200).astype(dtype), random)
        how = {"mode": mode, "antialias": bool(mode != "area" and random.random() < 0.5)}
        size = tuple(random.integers(2, 20, 2).tolist())
        want = tenter.interpolate(x, size, **how)
        assert array(tenter.lazy.interpolate(x, size, **how)).tobytes() == want.tobytes(), (x.shape, size, how)
