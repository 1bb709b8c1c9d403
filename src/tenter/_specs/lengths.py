"""Sizes, scales and boxes, and the lengths that follow from them, in exact arithmetic."""

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tenter._arrays import limits
from tenter._arrays.arguments import describe, instead, several, single
from tenter._arrays.errors import refuse
from tenter._arrays.library import of, surely
from tenter._rules.geometry import LARGEST, is_real, plain


def spread(name: str, values: Sequence[Any], given: Any, n: int) -> list[Any]:
    """Returns one value for each of n axes."""
    if len(values) == n:
        return list(values)
    if len(values) == 1:
        return list(values) * n
    expected = "1 value for 1 axis" if n == 1 else f"{n} values, one per axis, or one for all"
    return refuse(ValueError, name, expected, f"{len(values)}")


def scales(scale: Any) -> list[Any]:
    """Returns numbers and fractions, one for all axes or one for each. A pair of ints is two scales, and a ratio of
    ints is a Fraction."""
    given = several("scale", scale)
    return [_factor(f) for f in ([scale] if given is None else given)]


def _factor(f: Any) -> Any:
    if not is_real(f):
        refuse(TypeError, "scale", "numbers or fractions.Fraction, one for all axes or one each", instead(f))
    f = plain(f)
    if not 0 < f < math.inf:
        refuse(ValueError, "scale", "finite numbers above 0", describe(f))
    if not 1 / LARGEST <= f < 2**63:
        refuse(ValueError, "scale", "numbers from 2**-53 to 2**63", describe(f))
    return f if isinstance(f, Fraction) else float(f)


# No array is this long: an address has fewer bits.
LONGEST = 2**48


def scaled(name: str, length: Any, factor: Any, rounding: str = "floor") -> Any:
    """Returns the output length of an axis. name: the argument that gave the factor."""
    if not isinstance(length, (int, Fraction)):
        return _scaled_symbol(name, length, factor, rounding)
    if isinstance(factor, float) and surely(length * factor >= 2.0**63):
        refuse(ValueError, name, "output sizes below 2**63", f"{length} * {factor}")
    found = _times(length, factor, rounding)
    if surely(found >= 2**63):
        refuse(ValueError, name, "output sizes below 2**63", f"{length} * {factor}")
    if surely(found < 1) and surely(length != 0):
        refuse(ValueError, name, "output sizes of at least 1", f"{rounding}({length} * {factor}) = {found}")
    return found


def _scaled_symbol(name: str, length: Any, factor: Any, rounding: str) -> Any:
    """Does the same for a length that is a symbol. Lengths are compared with ints only: PyTorch proves such comparisons
    from the range of an exported dim, and does not prove those of floats."""
    if isinstance(factor, (float, Fraction)):
        too_long, least = math.ceil(2**63 / Fraction(factor)), _shortest(factor, rounding)
        if too_long < LONGEST and surely(length >= too_long):
            refuse(ValueError, name, "output sizes below 2**63", f"{limits.number(length)} * {factor}")
        if least > 1 and surely(length < least) and surely(length != 0):
            got = f"{rounding}({limits.number(length)} * {factor}) = 0"
            refuse(ValueError, name, "output sizes of at least 1", got)
    return _times(length, factor, rounding)


def _shortest(factor: Any, rounding: str) -> int:
    """Returns the shortest length with an output of at least 1."""
    exact = 1 / Fraction(factor)
    least = max(1, math.ceil(exact if rounding == "floor" else exact / 2))
    while least > 1 and _times(least - 1, factor, rounding) >= 1:
        least = 1 if rounding == "ceil" else least - 1
    while _times(least, factor, rounding) < 1:
        least += 1
    return least


def _times(length: Any, factor: Any, rounding: str) -> Any:
    if isinstance(factor, Fraction) or isinstance(length, Fraction):
        n, d = _ratio(length)
        exact = Fraction(factor)
        return rounded(n * exact.numerator, d * exact.denominator, rounding)
    if isinstance(factor, float) and factor == math.floor(factor) < 2**53:
        return length * int(factor)  # of a symbol the compiler then knows that the sizes are multiples
    out = length * factor  # as in PyTorch
    if rounding in ("ceil", "round_even"):
        return math.ceil(out) if rounding == "ceil" else round(out)
    # Equal to floor, as lengths are not negative. PyTorch's exporter cannot write the floor of a symbol.
    return math.trunc(out + 0.5 if rounding == "round" else out)


def _ratio(length: Any) -> tuple[Any, int]:
    """Returns numerator and denominator. A symbol has the denominator 1."""
    return (length.numerator, length.denominator) if isinstance(length, Fraction) else (length, 1)


def rounded(n: Any, d: int, rounding: str) -> Any:
    """Returns n / d as an int, computed with ints only."""
    if rounding == "floor":
        return n // d
    if rounding == "ceil":
        return -(-n // d)
    up = (2 * n + d) // (2 * d)
    tie = rounding == "round_even" and (2 * n + d) % (2 * d) == 0
    return up - 1 if tie and up % 2 == 1 else up


def fitted(sizes: Sequence[int], extents: Sequence[Any], aspect_ratio: str) -> tuple[list[int], list[Fraction | None]]:
    """ONNX's keep_aspect_ratio_policy: one scale for all axes, and lengths rounded half up."""
    # Symbols become numbers, because the scale becomes a part of the rule.
    lengths = [e if isinstance(e, Fraction) else Fraction(operator.index(e)) for e in extents]
    if any(e == 0 for e in lengths):
        refuse(ValueError, "like", "aspect_ratio='stretch', for axes of length 0", repr(aspect_ratio))
    scale = Fraction(sizes[0]) / lengths[0]
    for s, e in zip(sizes[1:], lengths[1:]):
        if (Fraction(s) / e < scale) == (aspect_ratio == "not_larger"):
            scale = Fraction(s) / e
    if scale == 0:
        refuse(ValueError, "size", "sizes of at least 1, to keep the ratio of", f"{list(sizes)}")
    exact = [scale * e for e in lengths]
    return [max(1, rounded(e.numerator, e.denominator, "round")) for e in exact], [scale] * len(sizes)


def refuse_other_sizes(size: Any, scale: str) -> None:
    """Refuses a size that is no lengths, with what is likely meant. scale: the name of that argument."""
    if isinstance(size, str):
        sides = size.lower().split("x")
        if len(sides) == 2 and all(map(str.isdigit, sides)):
            meant = f"size=({sides[1]}, {sides[0]})"
        elif size.endswith("%") and size[:-1].replace(".", "", 1).isdigit():
            meant = f"{scale}={float(size[:-1]) / 100:g}"
        else:
            return
    elif isinstance(size, dict) and size and all(type(n) is int for n in (*size, *size.values())):
        meant = f"size={describe(tuple(size.values()))}, axes={describe(tuple(size))}"
    elif (each := size if isinstance(size, (list, tuple)) else (size,)) and any(type(n) is float for n in each):
        if not all(type(n) in (int, float) and 0 < n < math.inf for n in each) or all(n == int(n) for n in each):
            return
        meant = f"{scale}={describe(size)}"
    else:
        return
    refuse(TypeError, "size", "sizes that are ints", f"{describe(size)} (did you mean {meant}?)")


def boxes(box: Any, n: int) -> list[tuple[Fraction, Fraction] | None]:
    if box is None:
        return [None] * n
    pairs = several("box", box)
    if pairs is None:
        refuse(TypeError, "box", "a (begin, end) per axis", describe(box))
    if len(pairs) != n:
        expected = (
            f"{n} pairs (begin, end), one per axis" if n != 1 else "a pair (begin, end) in a sequence, for one axis"
        )
        if n == 1 and len(pairs) == 2 and all(map(is_real, pairs)):
            refuse(ValueError, "box", expected, f"{describe(box)} (did you mean box=[{describe(box)}]?)")
        if len(pairs) == 4 and all(map(is_real, pairs)):  # edges have no order that all libraries share
            a, b, c, d = map(describe, pairs)
            expected += f": (({a}, {c}), ({b}, {d})) for (top, left, bottom, right), "
            expected += f"(({b}, {d}), ({a}, {c})) for Pillow's (left, upper, right, lower)"
            refuse(ValueError, "box", expected, describe(box))
        refuse(ValueError, "box", expected, f"{len(pairs)}")
    return [None if pair is None else _pair(pair) for pair in pairs]


def _pair(pair: Any) -> tuple[Fraction, Fraction]:
    given = several("box", pair)
    if given is None or len(given) != 2:
        refuse(ValueError, "box", "pairs (begin, end)", describe(pair))
    pair = tuple(given)  # a copy, because converting its numbers may run code that changes the list
    ends = []
    for edge in pair:
        if not is_real(edge):
            refuse(TypeError, "box", "numbers", instead(edge))
        number = plain(edge)
        if not -math.inf < number < math.inf:
            refuse(ValueError, "box", "finite numbers", describe(pair))
        if abs(number) > LARGEST:
            refuse(ValueError, "box", "numbers up to 2**53", describe(pair))
        ends.append(Fraction(number))
    begin, end = ends
    if begin == end:
        refuse(ValueError, "box", "an end that differs from its begin", describe(pair))
    return begin, end


def is_whole(box: tuple[Fraction, Fraction], length: Any) -> bool:
    """True for a box that contains the whole axis."""
    begin, end = box
    return bool(begin == 0 and end.denominator == 1 and end.numerator == length)


def per_dim(name: str, values: tuple[Any, ...], given: Any, n: int, x: Any = None) -> tuple[Any, ...]:
    """Returns interpolate's numbers, one for each of n spatial dims. x: the array, for the call that messages
    suggest."""
    if single(given):
        return values * n
    if len(values) != n:
        hint = _with_batch(x) if len(values) == n + 1 == x.ndim - 1 < 4 else ""
        expected = "1 value for 1 spatial dim" if n == 1 else f"{n} values, one per spatial dim, or one for all"
        refuse(ValueError, name, f"{expected} of (batch, channels, ...){hint}", f"{len(values)}")
    return values


def _with_batch(x: Any) -> str:
    """Says how to pass an image or a volume without batch and channels."""
    image = x.ndim == 3
    what, lengths = ("image", "H, W") if image else ("volume", "D, H, W")
    if channels_first(x.shape):
        return f"; a (C, {lengths}) {what} goes in as x[None]"
    order = "2, 0, 1" if image else "3, 0, 1, 2"
    turn = "permute" if of(x).PACKAGE == "torch" else "transpose"
    return f"; {'an' if image else 'a'} ({lengths}, C) {what} goes in as x.{turn}({order})[None]"


def channels_first(shape: Sequence[Any]) -> bool:
    """True if the first dim of an image seems to be its channels: there are fewer channels than pixels."""
    return bool(shape[0] < shape[-1])
