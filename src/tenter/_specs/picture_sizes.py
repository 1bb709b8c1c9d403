"""Image sizes as people state them: within a box, covering a box, by one side, or by a number of pixels.

Pairs are (height, width). A side computed from the other is rounded to the nearest integer, halves up, and is at least
1, in exact arithmetic. Budgets of pixels have the floats of the libraries whose models were trained with them.
"""

from __future__ import annotations

import math
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
    budget: the rule of both sides, in place of the others
    """

    sides: tuple[int | None, int | None]
    enlarge: bool = False
    gravity: str | None = None
    budget: Budget | None = None


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


@dataclass(frozen=True)
class Budget:
    """Sides that are multiples, of about the image's ratio, within a number of pixels: a `size` of `image.resize`.

    Vision-language models read images of such sizes, with any ratio of sides.

    Parameters
    ----------
    most : int
        The greatest number of pixels.
    least : int, default 0
        The least number of pixels: smaller images are enlarged.
    multiple : int, default 1
        What the height and the width are multiples of, in pixels.
    enlarge : bool, default False
        False: sides are rounded to the nearest multiple, and down where the pixels are too many, as in Qwen2-VL's
        `smart_resize`. True: the largest sides within `most`, rounded up, as in SigLIP 2's NaFlex; there is no `least`.

    Raises
    ------
    TypeError, ValueError
        Naming the argument. Where the size is used: for an image whose one side is over 200 times the other, or that no
        size of the budget suits.

    See Also
    --------
    Fit : The largest size within a height and a width.
    tenter.torch.transforms.Patches : Takes it as `size`.

    Notes
    -----
    The sides are those of the two functions in transformers, whose floats they share.

    Examples
    --------
    >>> from tenter.image import resize
    >>> photo = np.zeros((1512, 2016, 3), np.uint8)
    >>> resize(photo, Budget(1280 * 28 * 28, 56 * 56, 28)).shape
    (840, 1148, 3)
    >>> resize(photo, Budget(256 * 16 * 16, multiple=16, enlarge=True)).shape
    (224, 288, 3)
    """

    most: int
    least: int = 0
    multiple: int = 1
    enlarge: bool = False

    def __post_init__(self) -> None:
        try:
            multiple = arguments.integer("multiple", self.multiple, "an int", 1)
            most = arguments.integer("most", self.most, "an int", 1)
            if most < multiple**2:
                square = f"at least multiple * multiple, {multiple**2} pixels"
                refuse(ValueError, "most", square, describe(self.most))
            least = arguments.integer("least", self.least, "an int", 0)
            arguments.flag("enlarge", self.enlarge)
            if least > most or (least and self.enlarge):
                limit = "0 with enlarge=True" if self.enlarge else f"at most `most`, {most}"
                refuse(ValueError, "least", limit, describe(self.least))
        except Refusal as refusal:
            shown = {"least": self.least, "multiple": self.multiple, "enlarge": self.enlarge}
            raise error(refusal, "image.Budget", self.most, **shown) from None

    def sides(self, height: int | Fraction, width: int | Fraction) -> tuple[int, int]:
        """Returns the sides that an image gets.

        Parameters
        ----------
        height, width : int or Fraction
            The sides of the image, or of the box of it that is resized, in pixels.

        Returns
        -------
        (int, int)
            The height and width in pixels.

        Raises
        ------
        ValueError
            If one side is over 200 times the other.

        Examples
        --------
        >>> Budget(1280 * 28 * 28, 56 * 56, 28).sides(1512, 2016)
        (840, 1148)
        """
        h, w, each = float(height), float(width), int(self.multiple)
        if max(h, w) > 200 * min(h, w):
            refuse(ValueError, "x", "an image whose sides differ by a factor of at most 200", f"{h:g} x {w:g} pixels")
        return self._largest(h, w, each) if self.enlarge else self._nearest(h, w, each)

    def _nearest(self, height: float, width: float, each: int) -> tuple[int, int]:
        rows, columns = round(height / each) * each, round(width / each) * each
        if rows * columns > self.most:
            by = math.sqrt((height * width) / self.most)
            rows, columns = math.floor(height / by / each) * each, math.floor(width / by / each) * each
        elif rows * columns < self.least:
            by = math.sqrt(self.least / (height * width))
            rows, columns = math.ceil(height * by / each) * each, math.ceil(width * by / each) * each
        return max(each, rows), max(each, columns)

    def _largest(self, height: float, width: float, each: int) -> tuple[int, int]:
        """By halving an interval of scales, to the same end as in transformers."""

        def sides(scale: float) -> tuple[int, int]:
            return max(each, math.ceil(height * scale / each) * each), max(each, math.ceil(width * scale / each) * each)

        low, high = 1e-6, 100.0
        while high - low >= 1e-5:
            middle = (low + high) / 2
            h, w = sides(middle)
            low, high = (middle, high) if h * w <= self.most else (low, middle)
        return sides(low)


#: Sizes that follow from the sides of each image.
RULES = (Fit, Fill, Budget)


def wanted(size: Any) -> Wanted | None:
    """Returns the wanted size for one of RULES or a size with None; None for other sizes."""
    if isinstance(size, Budget):
        return Wanted((None, None), budget=size)
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
    if what.budget is not None:
        return what.budget.sides(*lengths), (spans[0], spans[1])
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
