"""Splines on a device, and their gradients, have the values of the host: their maps are applied as products there."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from cuda_helpers import some
from on_host import close, on_host, on_the_host, values

import tenter
from tenter._rules import splines

pytestmark = pytest.mark.gpu
SIZES: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [
    ((2, 7, 9), (1, 2), (15, 20)), ((30, 3), (0,), (11,)), ((3, 4, 5, 6), (0, 2, 3), (6, 9, 4)), ((40,), (0,), (100,)),
]  # fmt: skip
CASES = list(itertools.product(splines.EDGES, range(2, 6), SIZES))
ALWAYS = [("reflect", 3, SIZES[0]), ("wrap", 3, SIZES[0])]


@pytest.mark.parametrize("case", some(CASES, len(CASES), str, ALWAYS.__contains__))
def test_splines_have_the_values_of_the_host(case: tuple[str, int, Any], on: str) -> None:
    edge, order, (shape, axes, size) = case
    value = 0.5 if edge in ("constant", "extrapolate") else 0
    how = {"axes": axes, "mode": f"spline{order}", "edge": edge, "value": value, "antialias": False}
    x = values(shape, torch.float32)
    y = tenter.resize(x.to(on), size, **how)
    want = on_the_host("resize", x, size, **how)
    close(y, want, scale=10)
    g, made = values(tuple(want.shape), torch.float32, 1), []
    for place in (on, "cpu"):
        at = x.to(place).requires_grad_()
        if place == on:
            tenter.resize(at, size, **how).backward(g.to(place))
        else:
            with on_host():
                tenter.resize(at, size, **how).backward(g)
        made.append(at.grad)
    close(made[0], made[1], scale=10)


@pytest.mark.parametrize(
    "dtype", some([torch.uint8, torch.int16, torch.float16, torch.bfloat16, torch.float64, torch.complex64], 1, str,
                  lambda d: d == torch.uint8),
)  # fmt: skip
def test_splines_of_every_dtype_are_rounded_once(dtype: torch.dtype, on: str) -> None:
    x = values((2, 9, 11), dtype)
    for order, antialias in ((3, False), (5, True)):
        how = {"axes": (1, 2), "mode": f"spline{order}", "antialias": antialias}
        got, want = tenter.resize(x.to(on), (16, 8), **how), on_the_host("resize", x, (16, 8), **how)
        if dtype in (torch.uint8, torch.int16):
            apart = (got.cpu().double() - want.double()).abs()
            assert apart.max() <= 1 and (apart > 0).double().mean() < 0.01
        else:
            close(got, want, scale=10)
