"""How one axis is resampled, in plain values that can be serialized, hashed and compared."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tenter import _native
from tenter._arrays.errors import refuse
from tenter._rules import filters
from tenter._rules.geometry import ALIGNS, LARGEST, TIES, Geometry, trusted

NEAREST = ("nearest", "nearest-exact")
EDGES = _native.WORDS["edge"]
PERIODIC = _native.WORDS["periodic edge"]  # the edges at which the axis continues
# Whose rounding nearest positions follow. A position between two pixels may be rounded either way. torch: PyTorch's
# rounding, which depends on sizes, dtype and device (AxisRule::settled, native/rules/axis_rule.cpp). torch-direct: the
# rounding of PyTorch's kernels for channels-last images.
ARITHMETIC = _native.WORDS["named arithmetic"]
_FRACTION = re.compile(r"-?\d{1,400}(/0*[1-9]\d{0,400})?")


class AxisRule(NamedTuple):
    """How one axis is resized. The rule contains no lengths.

    kind: nearest, nearest-exact, area, overlap, cubic, gaussian (linear, after a Gaussian if it shrinks), a name in
        filters.NAMED, or a user's Filter, which the rule keeps alive
    scale, box: fractions as text
    arithmetic: one of ARITHMETIC
    cubic: the parameter `a` of cubic
    """

    kind: str | filters.Filter
    align: str
    scale: str | None
    box: tuple[str, str] | None
    tie: str
    arithmetic: str
    edge: str
    antialias: bool
    cubic: float

    def geometry(self, n_in: int, n_out: int) -> Geometry:
        if self.scale is None and self.box is None:
            return trusted(n_in, n_out, self.align)
        scale = Fraction(self.scale) if self.scale is not None else None
        box = (Fraction(self.box[0]), Fraction(self.box[1])) if self.box is not None else None
        return Geometry(n_in, n_out, self.align, scale, box)

    def named(self) -> "AxisRule":
        """Returns the rule with its filter's name, which caches use in keys."""
        return self if isinstance(self.kind, str) else self._replace(kind=_name(self.kind))


def written(rules: tuple[AxisRule, ...]) -> str:
    """Serializes rules for PyTorch's operators, whose arguments cannot be tuples. Written by hand so that PyTorch's
    compiler can follow it."""
    lines = []
    for r in rules:
        begin, end = r.box if r.box is not None else ("", "")
        antialias = "1" if r.antialias else ""
        kind, scale = _name(r.kind), r.scale or ""
        lines.append(f"{kind},{r.align},{scale},{begin},{end},{r.tie},{r.arithmetic},{r.edge},{antialias},{r.cubic}")
    return ";".join(lines)


@lru_cache(maxsize=256)
def read(words: str) -> tuple[AxisRule, ...]:
    """Reads rules from the text of `written`."""
    try:
        return tuple(_read(line) for line in words.split(";") if line)
    except (ValueError, TypeError):
        return refuse(ValueError, "rule", "what axis_rule.written wrote", repr(words))


def _read(line: str) -> AxisRule:
    kind, align, scale, begin, end, tie, arithmetic, edge, antialias, cubic = line.split(",")
    box = (begin, end) if begin else None
    rule = AxisRule(kind, align, scale or None, box, tie, arithmetic, edge, antialias == "1", float(cubic))
    known = _known(kind) and align in ALIGNS and tie in TIES and edge in EDGES and arithmetic in ARITHMETIC
    plain = all(not word or _FRACTION.fullmatch(word) for word in (scale, begin, end))
    if not known or not plain or (box and not end) or not abs(rule.cubic) <= LARGEST:
        raise ValueError
    if scale and not Fraction(scale) * LARGEST >= 1:
        raise ValueError
    if box and not -LARGEST <= Fraction(begin) < Fraction(end) <= LARGEST:
        raise ValueError
    return rule


def _known(kind: str) -> bool:
    """True for a valid kind, including users' filters. `user_filters` refuses filters that no longer exist."""
    plain = (*NEAREST, "area", "overlap", "cubic", "gaussian")
    return kind in filters.NAMED or kind in plain or kind.startswith(filters.MADE)


def user_filters(rules: tuple[AxisRule, ...]) -> tuple[filters.Filter, ...]:
    """Returns the users' filters among rules. Holding the result keeps them alive."""
    return tuple(filters.by_name(name) for r in rules if (name := _name(r.kind)).startswith(filters.MADE))


def _name(kind: str | filters.Filter) -> str:
    return kind if isinstance(kind, str) else filters.named(*kind)
