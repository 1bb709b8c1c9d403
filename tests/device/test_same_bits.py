"""`window` and `shared_row_window` give the same bits, so a result does not depend on which of them a call gets. (The sign
of a zero to which a sum underflows may differ.)"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from cuda_helpers import some

import tenter
from tenter._arrays import torch_tensors
from tenter._triton import shared_rows, windows
from tenter.maps import Window

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]

LINEAR, CUBIC, AREA = {"mode": "linear"}, {"mode": "cubic"}, {"mode": "area"}
CORNERS, LONG = {"mode": "cubic", "align": "align_corners"}, {"mode": "linear", "antialias": True}
# (shape, result's spatial size, options of the maps, whether the maps are transposed). Channels are dim 1.
CASES = {
    "four columns together": ((1, 2, 3, 16), (6, 32), LINEAR, False),
    "a last group of three columns": ((1, 2, 4, 7), (9, 23), CUBIC, False),
    "two columns together": ((1, 2, 12, 33), (6, 17), LINEAR, True),
    "eight rows together": ((1, 2, 4, 9), (16, 36), LINEAR, False),
    "weights of zero": ((1, 1, 3, 8), (5, 22), CORNERS, False),
    "as many columns as inputs": ((1, 2, 7, 3), (14, 18), CUBIC, False),
    "more inputs than registers": ((1, 1, 12, 96), (5, 8), LONG, False),
    "without weights": ((1, 1, 17, 50), (7, 20), AREA, False),
    "few channels inside": ((2, 3, 5, 9), (10, 18), CUBIC, False),
    "few channels inside a last group": ((1, 3, 3, 7), (5, 23), LINEAR, False),
    "two channels inside": ((1, 2, 6, 16), (3, 8), LINEAR, True),
    "many channels inside": ((1, 9, 5, 7), (10, 15), CUBIC, False),
    "volumes": ((1, 2, 2, 3, 8), (4, 6, 16), LINEAR, False),
    "volumes of many channels": ((1, 9, 3, 3, 4), (2, 5, 7), CUBIC, False),
}
INSIDE = {
    "few channels inside",
    "few channels inside a last group",
    "two channels inside",
    "many channels inside",
    "volumes of many channels",
}
DTYPES = [torch.float32, torch.float64, torch.float16, torch.uint8]
EVERY = [(name, dtype, finite) for name in CASES for dtype in DTYPES for finite in (True, dtype == torch.uint8)]
EVERY = list(dict.fromkeys(EVERY))  # bytes are finite
DAILY = [
    (name, torch.float32, False) for name in ("weights of zero", "many channels inside", "volumes of many channels")
]


@pytest.mark.parametrize("case", some(EVERY, 1, lambda c: f"{c[0]}-{c[1]}-{c[2]}", lambda c: c in DAILY))
def test_both_kernels_give_the_same_bits(case, device, monkeypatch):
    name, dtype, finite = case
    shape, size, options, transposed = CASES[name]
    x = torch.randn(shape, device=device)
    x = x.mul_(100).abs_().to(dtype) if dtype == torch.uint8 else x.to(dtype)
    if not finite:
        flat = x.view(-1)
        flat[0], flat[-2], flat[len(flat) // 2] = math.inf, -math.inf, math.nan
    order = tuple(range(x.ndim))
    if name in INSIDE:
        order = (0, *range(2, x.ndim), 1)
        x = x.movedim(1, -1).contiguous().movedim(-1, 1)
    maps = []
    for axis, (n, m) in enumerate(zip(shape[2:], size), start=2):
        made = tenter.axis_map(m, n, **options).T if transposed else tenter.axis_map(n, m, **options)
        assert isinstance(made, Window)
        maps.append((axis, made))
    monkeypatch.setattr(shared_rows, "BUSY", 4)
    results = []
    for kernel in ("shared_row_window", "window"):
        monkeypatch.setattr(shared_rows, "is_faster", lambda pass_, m, shared=kernel != "window": shared)
        made = windows.launches(torch_tensors.layout(x), tuple(maps), order)
        assert {step.kernel.function.__name__ for step in made.steps} <= {kernel, "long_sums"}
        y = torch.empty([(*shape[:2], *size)[k] for k in order], dtype=dtype, device=device)
        made.run(x, y)
        results.append(y)
    ours, theirs = results
    assert ours.isfinite().all() or not finite
    both = ours.isnan() & theirs.isnan()  # NaN has many bits
    assert torch.equal(ours.masked_fill(both, 0).view(torch.uint8), theirs.masked_fill(both, 0).view(torch.uint8))


def test_weights_that_underflow_are_read(device, monkeypatch):
    """An infinite input has an effect by any weight, as in float64."""
    tiny = Window(8, 8, np.arange(8) // 2, np.arange(9) * 2, np.tile([1.0, 1e-60], 8))
    x = torch.zeros(1, 8, 80, device=device)
    x[0, 1, 3] = math.inf
    results = []
    for shared in (True, False):
        monkeypatch.setattr(shared_rows, "is_faster", lambda pass_, m, shared=shared: shared)
        made = windows.launches(torch_tensors.layout(x), ((1, tiny), (2, tenter.axis_map(80, 90, mode="linear"))))
        y = torch.empty(1, 8, 90, device=device)
        made.run(x, y)
        results.append(y)
    assert torch.equal(results[0].isnan(), results[1].isnan()) and results[0].isnan().any()


@pytest.mark.parametrize("shape", [(1, 0, 64), (1, 64, 0)])
def test_outputs_of_empty_axes_are_zeros(shape, device):
    """Nothing is read, as watched loads tell."""
    x = torch.empty(shape, device=device)
    none = lambda n: Window(0, n, np.zeros(n, int), np.zeros(n + 1, int), np.zeros(0))
    maps = [none(m) if n == 0 else tenter.axis_map(m, n, mode="linear").T for n, m in zip(shape[1:], (16, 70))]
    y = torch.ones(1, 16, 70, device=device)
    windows.launches(torch_tensors.layout(x), tuple(enumerate(maps, start=1))).run(x, y)
    assert not y.any()
