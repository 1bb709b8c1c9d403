"""Where an image comes to lie: which part of it is resized, to which size, and where that lies in the result.

Pairs are (height, width). A side computed from the other is rounded to the nearest integer, halves up, and is at least
1, in exact arithmetic."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import is_array, of
from tenter._specs.lengths import rounded

Span = tuple[Fraction, Fraction]
Box = tuple[Span, Span]
Rows = tuple[int, int]
#: The share of what is left over that is above and left of the image: of the surplus that `Fill` cuts, of padding.
GRAVITIES = {
    f"{vertical}{horizontal}" or "center": (above, left)
    for vertical, above in (("", Fraction(1, 2)), ("north", Fraction(0)), ("south", Fraction(1)))
    for horizontal, left in (("", Fraction(1, 2)), ("west", Fraction(0)), ("east", Fraction(1)))
}


class Wanted(NamedTuple):
    """The wanted size of an image.

    sides: the height and width that the image must fit in, None for any; with a gravity, those that it fills
    enlarge: whether an image that already fits may grow
    padded: where it lies among padding, a key of GRAVITIES; None if there is none
    rule: what places the image, in place of the others
    """

    sides: tuple[int | None, int | None]
    enlarge: bool = False
    gravity: str | None = None
    padded: str | None = None
    rule: Callable[[Any], Any] | None = None


class Placement(NamedTuple):
    """Where an image lies in its result, and how coordinates follow it.

    Attributes
    ----------
    size : (int, int)
        The height and width of the result.
    inside : ((int, int), (int, int))
        The rows and the columns of the result in which the image lies. The others are padding.
    box : ((Fraction, Fraction), (Fraction, Fraction))
        The rows and the columns of the image that are resized.

    See Also
    --------
    Fit.place : Makes one.

    Examples
    --------
    >>> from tenter.image import Fit
    >>> place = Fit(640, enlarge=True, pad=114).place(480, 320)
    >>> place.size, place.inside
    ((640, 640), ((0, 640), (106, 533)))
    >>> place.back([106, 0, 533, 640]).tolist()
    [0.0, 0.0, 320.0, 480.0]
    """

    size: tuple[int, int]
    inside: tuple[Rows, Rows]
    box: Box

    @property
    def resized(self) -> tuple[int, int]:
        """The height and width of the image in the result."""
        (top, bottom), (left, right) = self.inside
        return bottom - top, right - left

    @property
    def is_padded(self) -> bool:
        """Whether the result is larger than the image in it."""
        return self.resized != self.size

    def to(self, points: Any) -> Any:
        """Returns the coordinates in the result of points of the image.

        Parameters
        ----------
        points : array
            (x, y) along the last axis, or several such pairs: boxes (left, top, right, bottom), polygons. Edges of
            pixels are integers.

        Returns
        -------
        array
            Of the shape and kind of points; float64, or points' own dtype if that is float32.

        Examples
        --------
        >>> from tenter.image import Fit
        >>> Fit(100, pad=0).place(200, 400).to([[0, 0], [400, 200]]).tolist()
        [[0.0, 25.0], [100.0, 75.0]]
        """
        each = zip(self.box, self.inside)
        return self._moved("to", points, [((b - a), (end - begin), a, begin) for (a, b), (begin, end) in each])

    def back(self, points: Any) -> Any:
        """Returns the coordinates in the image of points of the result: what a detector found.

        Parameters
        ----------
        points : array
            As for `to`.

        Returns
        -------
        array
            As of `to`. Points in the padding lie outside the image.

        Examples
        --------
        >>> from tenter.image import Fit
        >>> Fit(100, pad=0).place(200, 400).back([[0, 25, 100, 75]]).tolist()
        [[0.0, 0.0, 400.0, 200.0]]
        """
        each = zip(self.box, self.inside)
        return self._moved("back", points, [((end - begin), (b - a), begin, a) for (a, b), (begin, end) in each])

    def _moved(self, call: str, points: Any, axes: Sequence[tuple[Any, Any, Any, Any]]) -> Any:
        """axes: of rows and columns, the length before and after, and where these begin."""
        try:
            values = of(points).to_numpy(points) if is_array(points) else np.asarray(points)
            if values.ndim < 1 or values.shape[-1] % 2 or not values.shape[-1] or values.dtype.kind not in "iuf":
                refuse(ValueError, "points", "numbers (..., 2) or (..., 4): pairs of x and y", describe(points))
        except Refusal as refusal:
            raise error(refusal, f"image.Placement.{call}", points) from None
        found = np.empty(values.shape, np.float64)
        for k, (before, after, begin, to) in enumerate(axes[::-1]):  # x is the column
            ratio = Fraction(after) / Fraction(before)
            found[..., k::2] = (values[..., k::2] - float(begin)) * ratio.numerator / ratio.denominator + float(to)
        found = found.astype(values.dtype if values.dtype == np.float32 else np.float64, copy=False)
        return of(points).from_numpy(found, points) if is_array(points) else found


def placed(what: Wanted, spans: Sequence[Span]) -> Placement:
    """Returns where the image lies whose rows and columns are `spans`: the whole of them is resized or, if the image
    fills its size, a part. A span may be reversed."""
    lengths = [abs(end - begin) for begin, end in spans]
    box = spans[0], spans[1]
    if what.rule is not None:
        found: Placement = what.rule(box)
        return found
    least = most = None  # not min and max, which PyTorch's compiler does not follow for fractions
    for side, n in zip(what.sides, lengths):
        if side is not None:
            factor = Fraction(side) / n
            least = factor if least is None or factor < least else least
            most = factor if most is None or factor > most else most
    assert least is not None and most is not None
    sides = what.sides[0] or 0, what.sides[1] or 0
    if what.gravity is not None:
        rows, columns = (
            _window(span, Fraction(side) / most, shift)
            for span, side, shift in zip(spans, sides, GRAVITIES[what.gravity])
        )
        return whole(sides, (rows, columns))
    factor = least if what.enlarge or least < 1 else Fraction(1)
    size = [max(1, rounded(f.numerator, f.denominator, "round")) for f in (factor * n for n in lengths)]
    if what.padded is None:
        return whole((size[0], size[1]), box)
    # Halves to the even number, as Pillow's ImageOps.pad.
    begins = [round((side - n) * share) for side, n, share in zip(sides, size, GRAVITIES[what.padded])]
    return Placement(sides, ((begins[0], begins[0] + size[0]), (begins[1], begins[1] + size[1])), box)


class SizeRule:
    """Where an image lies by a rule that may leave padding around it."""

    def place(self, height: int | Fraction, width: int | Fraction) -> Placement:
        """Returns where an image of these sides lies in its result: the way back for boxes and points.

        Parameters
        ----------
        height, width : int or Fraction
            The sides of the image in pixels.

        Returns
        -------
        Placement
            Its `back` takes coordinates in the result to those in the image, and `to` the other way.

        Raises
        ------
        TypeError, ValueError
            Naming the argument.

        Examples
        --------
        >>> from tenter.image import Fit, Tiles
        >>> Fit(640, enlarge=True, pad=114).place(480, 320).inside
        ((0, 640), (106, 533))
        >>> Tiles(336, [(1, 2), (2, 2)], pad=0).place(480, 640).inside
        ((84, 588), (0, 672))
        """
        try:
            for name, side in (("height", height), ("width", width)):
                if not isinstance(side, (int, Fraction)) or isinstance(side, bool):
                    refuse(TypeError, name, "an int or a Fraction, in pixels", describe(side))
                if side <= 0:
                    refuse(ValueError, name, "a number above 0", describe(side))
        except Refusal as refusal:
            raise error(refusal, f"image.{type(self).__name__}.place", height, width) from None
        return self._placement(((Fraction(0), Fraction(height)), (Fraction(0), Fraction(width))))

    def _placement(self, box: Box) -> Placement:
        raise NotImplementedError


def whole(size: tuple[int, int], box: Box) -> Placement:
    """Where an image lies that has no padding."""
    return Placement(size, ((0, size[0]), (0, size[1])), box)


def _window(span: Span, length: Fraction, shift: Fraction) -> Span:
    """Returns the part of a span that has a length. shift: the fraction of the rest that is before the part."""
    begin, end = span
    sign = 1 if end > begin else -1
    first = begin + sign * (abs(end - begin) - length) * shift
    return first, first + sign * length
