"""8-bit values as Pillow computes them, and PyTorch after it where it antialiases: weights are multiples of 2**-22, and
each axis rounds to 8 bits."""

from fractions import Fraction

from tenter import filters
from tenter._rules.axis_rule import NEAREST, AxisRule

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
