"""8-bit values as Pillow computes them, and PyTorch after it where it antialiases: weights are multiples of 2**-22, and
each axis rounds to 8 bits."""

from fractions import Fraction

import numpy as np

from tenter import _native, filters
from tenter._arrays import limits
from tenter._arrays.types import Floats
from tenter._rules.axis_rule import NEAREST, AxisRule
from tenter.maps import AxisMap, Copy, Window
from tenter.maps._values import trusted

UNIT = 2.0**22
LONGEST = 1 << 24  # of axes whose every pixel has a float32


def settled(rules: tuple[AxisRule, ...], lengths: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[AxisRule, ...]:
    """Rules with their arithmetic decided: `pillow` for those that are Pillow's own, positions and weights to the bit;
    `22 bits`, exact positions and rounded weights, for other filters."""
    found = []
    for rule, n_in, n_out in zip(rules, lengths, sizes):
        if rule.kind not in NEAREST and n_in and n_out:
            rule = rule._replace(arithmetic="pillow" if _is_pillows(rule, n_in) else "22 bits")
        found.append(rule)
    return tuple(found)


def _is_pillows(rule: AxisRule, n_in: int) -> bool:
    plain = rule.antialias and rule.align == "center" and rule.scale is None and rule.edge == "renormalize"
    if not plain or n_in > LONGEST or pillow_filter(rule) is None:
        return False
    return rule.box is None or (Fraction(rule.box[0]) >= 0 and Fraction(rule.box[1]) <= n_in)


def pillow_filter(rule: AxisRule) -> filters.Filter | None:
    """The filter of a rule, if Pillow has it."""
    found = filters.keys(rule.cubic) if rule.kind == "cubic" else filters.NAMED.get(str(rule.kind))
    return found if found is not None and filters.core_of(found).of_pillow else None


def pillow_map(rule: AxisRule, n_in: int, n_out: int) -> Copy | Window:
    """The map of an axis by Pillow's arithmetic, which is that of a box in float32."""
    if rule.box is None and n_in == n_out:
        return Copy.every(n_in, 1)
    begin, end = (0.0, float(n_in)) if rule.box is None else (float(Fraction(at)) for at in rule.box)
    filter_ = pillow_filter(rule)
    assert filter_ is not None
    taps = min(n_in, 2 * (filter_.support * max(1.0, (end - begin) / n_out) + 1))
    limits.memory((int(taps * n_out),), 16, limits.TABLES)
    start, offset, weight = _native.pillow_rows(filters.core_of(filter_), n_in, begin, end, n_out)
    return trusted(Window, n_in=n_in, n_out=n_out, start=start, offset=offset, weight=weight, width=None, block=1)


def rounded(m: AxisMap) -> AxisMap:
    """A map with weights that are multiples of 2**-22, rounded as Pillow rounds them."""
    if not isinstance(m, Window) or m.weight is None or m.start is None:
        return m
    units: Floats = m.weight * UNIT
    weight = np.trunc(units + np.where(units < 0, -0.5, 0.5)) / UNIT
    start, offset = m.rows()
    return trusted(
        Window, n_in=m.n_in, n_out=m.n_out, start=start, offset=offset, weight=weight, width=None, block=m.block
    )
