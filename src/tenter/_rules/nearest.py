"""Which input nearest kinds take, with the rounding of positions of each library."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tenter import _native
from tenter._arrays.types import Ints
from tenter._rules import torch_quirks
from tenter._rules.axis_rule import AxisRule
from tenter._rules.edges import folded
from tenter._rules.picking import ACCUMULATED, CENTERS, FLOAT_QUOTIENTS, OFFSET, by_formula, on_line
from tenter.geometry import Geometry

Bools = npt.NDArray[np.bool_]


def picking(rule: AxisRule, n_in: int, n_out: int) -> _native.Picking | None:
    """What computes the input that each output takes, if inputs ascend and the core has the numbers for it."""
    if rule.arithmetic in torch_quirks.KERNELS:
        return torch_quirks.picking(n_in, n_out, _scale(rule), rule.kind == "nearest-exact", rule.arithmetic)
    geometry = rule.geometry(n_in, n_out)
    if rounds(rule):
        return _rounded(geometry, rule) if rule.edge != "extrapolate" else None
    first, step, unit = geometry.units()
    if step < 0:  # as corners of a box below one pixel have it
        return None
    begin, end = 0, n_out
    if rule.edge == "extrapolate":
        begin, end = _within(first, step, (n_in - 1) * unit, n_out)
    lower = {"floor": 0, "ceil": 2 * unit - 1, "prefer_floor": unit - 1, "prefer_ceil": unit}[rule.tie]
    return on_line(n_in, n_out, (2 * first + lower, 2 * step, 2 * unit), begin, end, rule.edge)


def index(rule: AxisRule, n_in: int, n_out: int) -> tuple[Ints, Bools]:
    """The input that each output takes, and which outputs lie outside the axis and take none: for any rule."""
    nowhere = np.zeros(n_out, np.bool_)
    geometry = rule.geometry(n_in, n_out)
    if rounds(rule):
        found = _rounded(geometry, rule._replace(edge="replicate")).index(0, n_out)
    else:
        found = geometry.nearest(rule.tie)
    if rule.edge == "constant":
        nowhere = (found < 0) | (found >= n_in)
    if rule.edge == "extrapolate":
        at = geometry.index()
        nowhere = (at < 0) | (at > n_in - 1)
    return folded(found, n_in, rule.edge), nowhere


def _scale(rule: AxisRule) -> float | None:
    return float(Fraction(rule.scale)) if rule.scale is not None else None


def rounds(rule: AxisRule) -> bool:
    """Whether positions are rounded as a library does."""
    return rule.arithmetic != "exact" and (rule.box is None or rule.arithmetic == "pillow")


def _within(first: int, step: int, last: int, n_out: int) -> tuple[int, int]:
    """The outputs at positions from 0 to last, of ascending ones."""
    if not step:
        return (0, n_out) if 0 <= first <= last else (0, 0)
    begin = min(max(0, -(first // step)), n_out)
    return begin, min(max(begin, (last - first) // step + 1), n_out)


def rounding_formula(arithmetic: str, align: str) -> int:
    """That of a library that is not PyTorch. Pillow's NEAREST, OpenCV's INTER_NEAREST_EXACT: step after step."""
    if arithmetic == "scipy":
        return OFFSET if align == "corners" else CENTERS
    return {"pillow": ACCUMULATED, "opencv": OFFSET}.get(arithmetic, FLOAT_QUOTIENTS)


def _rounded(geometry: Geometry, rule: AxisRule) -> _native.Picking:
    """Positions as other libraries round them (native/new_picking.cpp has them too)."""
    n_in, n_out, arithmetic, scale = geometry.n_in, geometry.n_out, rule.arithmetic, _scale(rule)
    formula, first, step = rounding_formula(arithmetic, geometry.align), 0.0, n_in / n_out
    if formula == ACCUMULATED:  # from a float32 box
        begin, end = (np.float32(float(edge)) for edge in geometry.box or (0, n_in))
        step = float(end - begin) / n_out
        first = float(begin) + step * 0.5
    elif arithmetic == "opencv":
        step = 1.0 / (scale if scale is not None else n_out / n_in)
    elif formula == OFFSET:
        first, step = 0.5, (n_in - 1) / (n_out - 1) if n_out > 1 else 1.0
    return by_formula(n_in, n_out, formula, first, step, rule.edge)
