"""The map of an axis whose lengths are symbols, in PyTorch's own operators: for exporters whose graphs contain no
operator of tenter. `native/rules` makes the maps of axes whose lengths are known."""

import math
from fractions import Fraction
from typing import Any

import torch
from torch import Tensor

from tenter._rules.axis_rule import NEAREST, AxisRule

# Half the width of each filter that PyTorch's arguments can ask for.
LOBES = 3


def has_rule(rule: AxisRule) -> bool:
    """True if `index` or `matrix` can compute the rule."""
    if rule.box is not None or not isinstance(rule.kind, str):
        return False
    if rule.kind in NEAREST:
        return rule.arithmetic.startswith("torch")
    if rule.edge != "renormalize":
        return False
    return rule.kind == "area" or (
        rule.kind in ("linear", "cubic", "lanczos3") and rule.antialias and rule.align in ("half_pixel", "corner_areas")
    )


def index(rule: AxisRule, n_in: Any, n_out: Any, sizes: tuple[Any, ...], dtype: torch.dtype) -> Tensor:
    """Returns the input of each output of a nearest kind. sizes: of all axes."""
    few = 128  # results of at most so many rows and columns have another kernel in PyTorch
    real = torch.float64 if dtype == torch.float64 else torch.float32
    o, before, after = torch.arange(n_out), _number(n_in), _number(n_out)
    exact = rule.kind == "nearest-exact"
    step = (before / after if rule.scale is None else _number(1 / float(Fraction(rule.scale)))).to(real)
    found = ((o.to(real) + (0.5 if exact else 0)) * step).floor().to(torch.int64)
    if rule.scale is not None and not exact and len(sizes) > 1:  # some of PyTorch's kernels ignore the scale
        direct = torch.full((), rule.arithmetic == "torch-direct")
        if len(sizes) == 2:
            direct = direct | (_number(sizes[0]) + _number(sizes[1]) <= few)
        found = torch.where(direct & (after == before), o, found)
        found = torch.where(direct & (after == 2 * before), o // 2, found)
    return torch.minimum(found, before.to(torch.int64) - 1)


def matrix(rule: AxisRule, n_in: Any, n_out: Any) -> Tensor:
    """Returns the weights of sums: a row for each output, a column for each input."""
    i, o = torch.arange(n_in, dtype=torch.float64), torch.arange(n_out, dtype=torch.float64)[:, None]
    before, after = _number(n_in), _number(n_out)
    if rule.kind == "area":  # all inputs that an output touches; whole numbers, as positions are their quotients
        begin, end = ((o * before) / after).floor(), (((o + 1) * before) / after).ceil()
        weight = ((i >= begin) & (i < end)).to(torch.float64)
    else:
        step = _step(rule, before, after)
        stretch = step.clamp(min=1)
        weight = _filter(rule, ((i + 0.5 - (o + 0.5) * step) / stretch).abs())
    return weight / weight.sum(1, keepdim=True)


def _step(rule: AxisRule, before: Tensor, after: Tensor) -> Tensor:
    """Returns the distance of two outputs, in inputs."""
    if rule.align == "corner_areas":
        return torch.where(after > 1, (before - 1) / (after - 1).clamp(min=1), torch.zeros_like(before))
    if rule.scale is None:
        return before / after
    # An axis that keeps its length ignores the scale.
    return torch.where(before == after, torch.ones_like(before), _number(1 / float(Fraction(rule.scale))))


def _filter(rule: AxisRule, d: Tensor) -> Tensor:
    """Returns weights for distances >= 0."""
    if rule.kind == "linear":
        return (1 - d).clamp(min=0)
    if rule.kind == "cubic":
        a = rule.cubic
        near, far = ((a + 2) * d - (a + 3)) * d * d + 1, ((d - 5) * d + 8) * d * a - 4 * a
        return torch.where(d < 1, near, torch.where(d < 2, far, torch.zeros_like(d)))
    x = d.clamp(min=1e-9) * math.pi
    weight = LOBES * x.sin() * (x / LOBES).sin() / (x * x)
    return torch.where(d < LOBES, weight, torch.zeros_like(d))


def _number(n: Any) -> Tensor:
    return torch.scalar_tensor(n, dtype=torch.float64)
