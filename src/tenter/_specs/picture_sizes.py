"""Image sizes as people state them: within a box, covering a box, or by one side; in exact arithmetic.

Pairs are (height, width). A side computed from the other is rounded to the nearest integer, halves up, and is at least
1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, did_you_mean, error
from tenter._arrays.errors import Refusal, refuse
from tenter._specs.lengths import rounded, spread

if TYPE_CHECKING:
    from tenter._arrays.signatures import Sizes

Span = tuple[Fraction, Fraction]
#: `fill` cuts this share of the surplus off above and left of what it keeps.
GRAVITIES = {
    f"{vertical}{horizontal}" or "center": (above, left)
    for vertical, above in (("", Fraction(1, 2)), ("north", Fraction(0)), ("south", Fraction(1)))
    for horizontal, left in (("", Fraction(1, 2)), ("west", Fraction(0)), ("east", Fraction(1)))
}


class Wanted(NamedTuple):
    """The wanted size of an image.

    sides: the height and width that the image must fit in, None for any; with a gravity, those that it fills
    enlarge: whether an image that already fits may grow
    """

    sides: tuple[int | None, int | None]
    enlarge: bool = False
    gravity: str | None = None


@dataclass(frozen=True)
class Fit:
    """The largest size within a height and a width that keeps the ratio of the sides: a `size` of `image.resize`.

    Parameters
    ----------
    size : int or (int, int)
        The height and width in pixels, or one number for both.
    enlarge : bool, default False
        Whether smaller images are enlarged. If False, they keep their size.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    See Also
    --------
    Fill : The same height and width for every image, cut where the ratio differs.
    resize : Takes it as `size`.

    Notes
    -----
    The side that follows from the other is rounded to the nearest int, halves up, and is at least 1. With `box`, the
    size is that of the box.

    Examples
    --------
    >>> from tenter.image import resize
    >>> photo = np.zeros((3000, 4000, 3), np.uint8)
    >>> resize(photo, Fit(800)).shape, resize(photo, Fit((400, 800))).shape
    ((600, 800, 3), (400, 533, 3))
    """

    size: Sizes
    enlarge: bool = False

    def __post_init__(self) -> None:
        try:
            _sides(self.size)
            _refuse_two_sides("enlarge", self.enlarge, self.size)
            arguments.flag("enlarge", self.enlarge)
        except Refusal as refusal:
            raise error(refusal, "image.Fit", self.size, enlarge=self.enlarge) from None


@dataclass(frozen=True)
class Fill:
    """A height and width that the image fills: a `size` of `image.resize` that keeps the ratio and cuts what is left.

    Parameters
    ----------
    size : int or (int, int)
        The height and width in pixels, or one number for both.
    gravity : str, default "center"
        The part that is kept: "center", "north", "south", "east", "west", "northeast", "northwest", "southeast" or
        "southwest".

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    See Also
    --------
    Fit : The largest size within a height and a width.
    resize : Takes it as `size`.

    Notes
    -----
    The part is cut in exact fractions of a pixel and resized once. With `box`, it is a part of the box.

    Examples
    --------
    >>> from tenter.image import resize
    >>> resize(np.zeros((3000, 4000, 3), np.uint8), Fill((400, 400), gravity="north")).shape
    (400, 400, 3)
    """

    size: Sizes
    gravity: str = "center"

    def __post_init__(self) -> None:
        try:
            _sides(self.size)
            _refuse_two_sides("gravity", self.gravity, self.size)
            if self.gravity not in GRAVITIES:
                name = self.gravity
                word = did_you_mean(name, tuple(GRAVITIES)) if isinstance(name, str) else ""
                refuse(ValueError, "gravity", f"one of {', '.join(GRAVITIES)}", describe(name) + word)
        except Refusal as refusal:
            raise error(refusal, "image.Fill", self.size, gravity=self.gravity) from None


def wanted(size: Any) -> Wanted | None:
    """Returns the wanted size for a `Fit`, a `Fill` or a size with None; None for other sizes."""
    if isinstance(size, Fit):
        return Wanted(_sides(size.size), size.enlarge)
    if isinstance(size, Fill):
        return Wanted(_sides(size.size), gravity=size.gravity)
    if not isinstance(size, (list, tuple)) or None not in size:
        return None
    if len(size) != 2 or size[0] is size[1]:
        refuse(ValueError, "size", "(height, width), at most one of them None", describe(size))
    height, width = (None if n is None else arguments.integer("size", n, "an int", 1) for n in size)
    return Wanted((height, width), True)


def _refuse_two_sides(name: str, value: Any, size: Any) -> None:
    if type(value) is int:
        refuse(TypeError, name, f"two sides in one size, ({describe(size)}, {value})", f"{value}")


def _sides(size: Any) -> tuple[int, int]:
    height, width = spread("size", arguments.sizes("size", [size], least=1), size, 2)
    return height, width


def placed(what: Wanted, spans: Sequence[Span]) -> tuple[tuple[int, int], tuple[Span, Span]]:
    """Returns the size of the result, and the spans of rows and columns that are resized: the given spans or, if the
    image fills its size, a part of them. A span may be reversed."""
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
    """Returns the part of a span that has a length. shift: the fraction of the rest that is before the part."""
    begin, end = span
    sign = 1 if end > begin else -1
    first = begin + sign * (abs(end - begin) - length) * shift
    return first, first + sign * length
