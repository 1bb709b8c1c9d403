"""How one axis is resampled, in plain values that can be written down, hashed and compared."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tenter import _native, filters
from tenter._arrays.errors import refuse
from tenter._rules.edges import EDGES
from tenter.geometry import ALIGNS, TIES, Geometry, canonical

NEAREST = ("nearest", "nearest-exact")
# Whose rounding of nearest positions, as a position on the edge between two pixels may come out on either side.
# torch: PyTorch's, which sizes, dtype and device settle (AxisRule::settled, native/axis_rule.cpp); torch-direct: that
# of its kernels for channels that lie last.
ARITHMETIC = _native.NAMED_ARITHMETIC
# Of positions, beyond which float64 has no fractions.
LARGEST = 2**53
_FRACTION = re.compile(r"-?\d{1,400}(/0*[1-9]\d{0,400})?")


class AxisRule(NamedTuple):
    """How one axis is resized, but for its lengths.

    kind: nearest, nearest-exact, area, overlap, cubic, gaussian (linear, after a Gaussian where it shrinks), a name of
    filters.NAMED, or a user's Filter, which the rule keeps alive; caches and operators have its name. cubic: its `a`.
    scale and box as fractions in words. arithmetic: one of ARITHMETIC.
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
            return Geometry.trusted(n_in, n_out, self.align)
        scale = Fraction(self.scale) if self.scale is not None else None
        box = (Fraction(self.box[0]), Fraction(self.box[1])) if self.box is not None else None
        return Geometry(n_in, n_out, self.align, scale, box)

    def named(self) -> "AxisRule":
        """The rule with its filter's name, by which caches know it."""
        return self if isinstance(self.kind, str) else self._replace(kind=_name(self.kind))


def written(rules: tuple[AxisRule, ...]) -> str:
    """Rules in words, for PyTorch's operators, whose arguments are no tuples. By hand, as its compiler follows it."""
    lines = []
    for r in rules:
        begin, end = r.box if r.box is not None else ("", "")
        antialias = "1" if r.antialias else ""
        kind, scale = _name(r.kind), r.scale or ""
        lines.append(f"{kind},{r.align},{scale},{begin},{end},{r.tie},{r.arithmetic},{r.edge},{antialias},{r.cubic}")
    return ";".join(lines)


@lru_cache(maxsize=256)
def read(words: str) -> tuple[AxisRule, ...]:
    """The rules that were written, by this version or an earlier one."""
    try:
        return tuple(_read(*line.split(",")) for line in words.split(";") if line)
    except (ValueError, TypeError):
        return refuse(ValueError, "rule", "what axis_rule.written wrote", repr(words))


def _read(
    kind: str, align: str, scale: str, begin: str, end: str, tie: str, arithmetic: str, edge: str, antialias: str,
    cubic: str,
) -> AxisRule:  # fmt: skip
    box = (begin, end) if begin else None
    align, edge = canonical("align", align), canonical("edge", edge)
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
    """True for users' filters too: `user_filters` refuses those that are gone."""
    plain = (*NEAREST, "area", "overlap", "cubic", "gaussian")
    return kind in filters.NAMED or kind in plain or kind.startswith(filters.MADE)


def user_filters(rules: tuple[AxisRule, ...]) -> tuple[filters.Filter, ...]:
    """The users' filters among rules; what holds the result keeps them alive."""
    return tuple(filters.by_name(name) for r in rules if (name := _name(r.kind)).startswith(filters.MADE))


def _name(kind: str | filters.Filter) -> str:
    return kind if isinstance(kind, str) else filters.named(*kind)
