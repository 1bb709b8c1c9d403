"""Image sizes as people state them: within a box, covering a box, by one side. Pairs are (height, width)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, did_you_mean, error
from tenter._arrays.errors import Refusal, refuse
from tenter._rules.geometry import is_real
from tenter._specs.lengths import spread
from tenter._specs.model_sizes import OF_MODELS, placement
from tenter._specs.placement import GRAVITIES, Box, Placement, SizeRule, Wanted, placed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenter._arrays.signatures import Sizes


@dataclass(frozen=True)
class Fit(SizeRule):
    """The largest size within a height and a width that keeps the ratio of the sides: a `size` of `image.resize`.

    Parameters
    ----------
    size : int or (int, int)
        The height and width in pixels, or one number for both.
    enlarge : bool, default False
        Whether smaller images are enlarged. If False, they keep their size.
    pad : number or sequence of numbers, optional
        The value, or one for each channel, of the pixels that are added around the image until it has the size:
        letterboxing. None: none are added.
    gravity : str, default "center"
        Where the image lies among these pixels, as for `Fill`.

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
    size is that of the box. Where padding of an odd number of pixels is shared evenly, the part above or left of the
    image is rounded to the nearest even int, as in Pillow's `ImageOps.pad`.

    Examples
    --------
    >>> from tenter.image import resize
    >>> photo = np.zeros((3000, 4000, 3), np.uint8)
    >>> resize(photo, Fit(800)).shape, resize(photo, Fit((400, 800))).shape
    ((600, 800, 3), (400, 533, 3))
    >>> resize(photo, Fit(640, enlarge=True, pad=114)).shape
    (640, 640, 3)
    """

    size: Sizes
    enlarge: bool = False
    pad: float | Sequence[float] | None = None
    gravity: str = "center"

    def __post_init__(self) -> None:
        try:
            _sides(self.size)
            _refuse_two_sides("enlarge", self.enlarge, self.size)
            arguments.flag("enlarge", self.enlarge)
            if self.pad is not None:
                object.__setattr__(self, "pad", checked_pad(self.pad))
            check_gravity(self.gravity)
            if self.pad is None and self.gravity != "center":
                refuse(ValueError, "gravity", "pad too, as an image without padding has no place", "no pad")
        except Refusal as refusal:
            given = {"enlarge": self.enlarge, "pad": self.pad}
            gravity = None if self.gravity == "center" else self.gravity
            raise error(refusal, "image.Fit", self.size, **given, gravity=gravity) from None

    def _placement(self, box: Box) -> Placement:
        what = wanted(self)
        assert what is not None
        return placed(what, box)


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
            check_gravity(self.gravity)
        except Refusal as refusal:
            raise error(refusal, "image.Fill", self.size, gravity=self.gravity) from None


#: Sizes that follow from the sides of each image.
RULES = (Fit, Fill, *OF_MODELS)


def wanted(size: Any) -> Wanted | None:
    """Returns the wanted size for one of RULES or a size with None; None for other sizes."""
    if isinstance(size, OF_MODELS):
        return Wanted((None, None), rule=partial(placement, size))
    if isinstance(size, Fit):
        return Wanted(_sides(size.size), size.enlarge, padded=None if size.pad is None else size.gravity)
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


def checked_pad(given: Any) -> Any:
    """A number, or several in a tuple."""
    each = given if isinstance(given, (list, tuple)) else (given,)
    if not each or not all(map(is_real, each)):
        refuse(TypeError, "pad", "a number, or one for each channel", describe(given))
    return each[0] if len(each) == 1 else tuple(each)


def check_gravity(name: Any) -> None:
    if not isinstance(name, str) or name not in GRAVITIES:
        word = did_you_mean(name, tuple(GRAVITIES)) if isinstance(name, str) else ""
        refuse(ValueError, "gravity", f"one of {', '.join(GRAVITIES)}", describe(name) + word)


def _sides(size: Any) -> tuple[int, int]:
    height, width = spread("size", arguments.sizes("size", [size], least=1), size, 2)
    return height, width
