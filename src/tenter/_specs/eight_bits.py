"""8-bit values as Pillow computes them, and PyTorch after it where it antialiases: weights are multiples of 2**-22, and
each axis rounds to 8 bits."""

from fractions import Fraction

import numpy as np

from tenter import _native
from tenter._arrays import limits
from tenter._arrays.types import Floats
from tenter._rules.axis_rule import AxisRule
from tenter.maps import AxisMap, Copy, Window
from tenter.maps._values import trusted

# The filters that Pillow has, by the core's numbers for them.
FILTERS = {"box": 0, "linear": 1, "hamming": 2, "catmull-rom": 3, "cubic": 3, "lanczos3": 4}
UNIT = 2.0**22


def settled(rules: tuple[AxisRule, ...]) -> tuple[AxisRule, ...]:
    """Rules of which those that are Pillow's own get its positions and weights, to the bit."""
    return tuple(r._replace(arithmetic="pillow") if _is_pillows(r) else r for r in rules)


def _is_pillows(rule: AxisRule) -> bool:
    plain = rule.antialias and rule.align == "center" and rule.scale is None and rule.edge == "renormalize"
    return plain and rule.kind in FILTERS and (rule.kind != "cubic" or rule.cubic == -0.5)


def pillow_map(rule: AxisRule, n_in: int, n_out: int) -> Copy | Window:
    """The map of an axis by Pillow's arithmetic, which is that of a box in float32."""
    if rule.box is None and n_in == n_out:
        return Copy.every(n_in, 1)
    limits.memory((n_in + n_out,), 200, limits.TABLES)
    begin, end = (float(Fraction(at)) for at in rule.box or ("0", str(n_in)))
    start, offset, weight = _native.pillow_rows(FILTERS[str(rule.kind)], n_in, begin, end, n_out)
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
