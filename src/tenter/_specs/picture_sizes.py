"""Sizes of pictures as people say them: within a box, covering a box, by one side; in exact arithmetic.

Pairs are (height, width). A side that follows from the other is rounded to the nearest whole number, halves up, and is
at least 1.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, did_you_mean
from tenter._arrays.errors import refuse
from tenter._specs.lengths import rounded, spread

Span = tuple[Fraction, Fraction]
#: The part of what `fill` cuts off that lies above, and left of, what it keeps.
GRAVITIES = {
    f"{vertical}{horizontal}" or "center": (above, left)
    for vertical, above in (("", Fraction(1, 2)), ("north", Fraction(0)), ("south", Fraction(1)))
    for horizontal, left in (("", Fraction(1, 2)), ("west", Fraction(0)), ("east", Fraction(1)))
}
POLICIES = ("fit", "fill", "long_edge", "width", "height")


class Wanted(NamedTuple):
    """What a picture's size shall be.

    sides: the height and width that the picture must lie within, None for any; with a gravity, those that it fills.
    enlarge: whether a picture that lies within may grow.
    """

    sides: tuple[int | None, int | None]
    enlarge: bool = False
    gravity: str | None = None


def wanted(given: dict[str, Any], enlarge: bool, gravity: Any) -> Wanted | None:
    """The policy among an argument for each of POLICIES; None if there is none."""
    named = [name for name in POLICIES if given[name] is not None]
    if len(named) > 1:
        hint = " (size has both; fit keeps the ratio)" if named == ["width", "height"] else ""
        refuse(ValueError, named[1], f"one of {', '.join(POLICIES)}", f"{named[0]} too{hint}")
    policy = named[0] if named else None
    arguments.flag("enlarge", enlarge)
    if enlarge and policy not in ("fit", "long_edge"):
        refuse(ValueError, "enlarge", "False without fit or long_edge, as other sizes enlarge by themselves", "True")
    if gravity is not None and policy != "fill":
        refuse(ValueError, "gravity", "none without fill", describe(gravity))
    if policy is None:
        return None
    if policy in ("fit", "fill"):
        height, width = spread(policy, arguments.sizes(policy, [given[policy]], least=1), given[policy], 2)
        return Wanted((height, width), enlarge, _gravity(gravity) if policy == "fill" else None)
    side = arguments.integer(policy, given[policy], "an int", 1)
    if policy == "long_edge":
        return Wanted((side, side), enlarge)
    return Wanted((side, None) if policy == "height" else (None, side), True)


def placed(what: Wanted, spans: Sequence[Span]) -> tuple[tuple[int, int], tuple[Span, Span]]:
    """The size of the result, and the spans of rows and of columns that are resized: those given or, where a picture
    fills its size, a part of them. A span may run backwards."""
    lengths = [abs(end - begin) for begin, end in spans]
    factors = [Fraction(side) / n for side, n in zip(what.sides, lengths) if side is not None]
    if what.gravity is None:
        factor = min(factors) if what.enlarge else min(*factors, Fraction(1))
        height, width = (max(1, rounded(f.numerator, f.denominator, "round")) for f in (factor * n for n in lengths))
        return (height, width), (spans[0], spans[1])
    rows, columns = (
        _window(span, Fraction(side or 0) / max(factors), shift)
        for span, side, shift in zip(spans, what.sides, GRAVITIES[what.gravity])
    )
    return (what.sides[0] or 0, what.sides[1] or 0), (rows, columns)


def _window(span: Span, length: Fraction, shift: Fraction) -> Span:
    """The part of a span that has a length, with so much of the rest before it."""
    begin, end = span
    sign = 1 if end > begin else -1
    first = begin + sign * (abs(end - begin) - length) * shift
    return first, first + sign * length


def _gravity(name: Any) -> str:
    name = "center" if name is None else name
    if name not in GRAVITIES:
        word = did_you_mean(name, tuple(GRAVITIES)) if isinstance(name, str) else ""
        refuse(ValueError, "gravity", f"one of {', '.join(GRAVITIES)}", describe(name) + word)
    return str(name)
