"""Image sizes as models read them, by the floats of the libraries with which they were trained. Pairs are (height,
width)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

from tenter._arrays import arguments
from tenter._arrays.arguments import describe, error
from tenter._arrays.errors import Refusal, refuse
from tenter._rules.geometry import is_real
from tenter._specs.lengths import spread
from tenter._specs.placement import Box, Placement, SizeRule, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenter._arrays.signatures import Sizes


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
        Naming the argument. Where the size is used: for an image whose one side is over 200 times the other.

    See Also
    --------
    Fit : The largest size within a height and a width.
    tenter.torch.transforms.Patches : Takes it as `size`.

    Notes
    -----
    The sides are those of the two functions in transformers, whose floats they share. Of thin images, where a side is
    one multiple, there may be more pixels than `most`.

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

    def _placement(self, box: Box) -> Placement:
        return whole(self.sides(*(abs(end - begin) for begin, end in box)), box)

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


@dataclass(frozen=True)
class Tiles(SizeRule):
    """A grid of tiles that suits the image's ratio, which the resized image fills: a `size` of `image.resize`.

    Vision-language models read images as several tiles of the size that their encoder knows.

    Parameters
    ----------
    tile : int or (int, int)
        The height and width of a tile in pixels, or one number for both.
    grids : int or sequence of (int, int)
        The (rows, columns) of tiles that are allowed; an int allows all of up to so many tiles.
    pad : number, optional
        None: the image is stretched to the grid whose ratio is nearest to its own, as in InternVL. A number: it keeps
        its ratio in the grid that shows most of its pixels, and pixels of this value are added, as in LLaVA-NeXT.

    Raises
    ------
    TypeError, ValueError
        Naming the argument.

    See Also
    --------
    Budget : Sides that are multiples, without tiles.
    tenter.torch.transforms.Patches : Takes it as `size`, and cuts the tiles.

    Notes
    -----
    The grids are those of the two functions in transformers, whose floats they share.

    Examples
    --------
    >>> from tenter.image import resize
    >>> photo = np.zeros((1512, 2016, 3), np.uint8)
    >>> resize(photo, Tiles(448, 12)).shape
    (1344, 1792, 3)
    >>> resize(photo, Tiles(336, [(1, 2), (2, 1), (2, 2)], pad=0)).shape
    (672, 672, 3)
    """

    tile: Sizes
    grids: int | Sequence[tuple[int, int]]
    pad: float | None = None

    def __post_init__(self) -> None:
        try:
            _pair("tile", self.tile)
            if isinstance(self.grids, (int, Integral)):  # NumPy's too
                object.__setattr__(self, "grids", arguments.integer("grids", self.grids, "an int", 1))
            else:
                pairs = isinstance(self.grids, (list, tuple)) and self.grids
                if not pairs or not all(isinstance(g, (list, tuple)) and len(g) == 2 for g in self.grids):
                    refuse(TypeError, "grids", "the most tiles, or pairs (rows, columns)", describe(self.grids))
                grids = tuple(_pair("grids", tuple(each)) for each in self.grids)
                object.__setattr__(self, "grids", grids)
            if self.pad is not None and not is_real(self.pad):
                refuse(TypeError, "pad", "a number or None", describe(self.pad))
        except Refusal as refusal:
            raise error(refusal, "image.Tiles", self.tile, self.grids, pad=self.pad) from None

    def _placement(self, box: Box) -> Placement:
        tile = _pair("tile", self.tile)
        height, width = (float(abs(end - begin)) for begin, end in box)
        if self.pad is None:
            rows, columns = self._of_nearest_ratio(height, width, tile)
            return whole((rows * tile[0], columns * tile[1]), box)
        rows, columns = self._of_most_pixels(height, width, tile)
        size = rows * tile[0], columns * tile[1]
        by_height, by_width = size[0] / height, size[1] / width
        if by_width < by_height:
            inner = min(math.ceil(height * by_width), size[0]), size[1]
        else:
            inner = size[0], min(math.ceil(width * by_height), size[1])
        top, left = ((n - m) // 2 for n, m in zip(size, inner))
        return Placement(size, ((top, top + inner[0]), (left, left + inner[1])), box)

    def allowed(self) -> Sequence[tuple[int, int]]:
        """Returns the grids in the order in which they are tried.

        Returns
        -------
        sequence of (int, int)
            As given; of an int fewer tiles first, and fewer columns before others.

        Examples
        --------
        >>> Tiles(448, 3).allowed()
        [(1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]
        """
        if not isinstance(self.grids, int):
            return self.grids
        most = self.grids
        each = ((rows, columns) for columns in range(1, most + 1) for rows in range(1, most // columns + 1))
        return sorted(each, key=math.prod)

    def _of_nearest_ratio(self, height: float, width: float, tile: tuple[int, int]) -> tuple[int, int]:
        ratio, best, least = width / height, (1, 1), math.inf
        for rows, columns in self.allowed():
            apart = abs(ratio - columns / rows)
            if apart < least or (apart == least and height * width > 0.5 * tile[0] * tile[1] * rows * columns):
                best, least = (rows, columns), apart
        return best

    def _of_most_pixels(self, height: float, width: float, tile: tuple[int, int]) -> tuple[int, int]:
        best, most, least_wasted = (1, 1), 0.0, math.inf
        for rows, columns in self.allowed():
            size = rows * tile[0], columns * tile[1]
            scale = min(size[1] / width, size[0] / height)
            shown = min(int(width * scale) * int(height * scale), height * width)
            wasted = size[0] * size[1] - shown
            if shown > most or (shown == most and wasted < least_wasted):
                best, most, least_wasted = (rows, columns), shown, wasted
        return best


class ShorterSide(NamedTuple):
    """The shorter side, and the part in the middle that is kept, as in CLIP: the longer side is truncated, and so is
    what is left above and left of the part."""

    side: int
    crop: tuple[int, int]

    def _placement(self, box: Box) -> Placement:
        lengths = [abs(end - begin) for begin, end in box]
        short, long = sorted(lengths)
        size = [self.side if n == short else int(self.side * long / short) for n in lengths]
        # Resized whole: the order in which Pillow rounds the axes follows the sizes before the cut.
        begins = [-((n - kept) // 2) for n, kept in zip(size, self.crop)]
        return Placement(self.crop, ((begins[0], begins[0] + size[0]), (begins[1], begins[1] + size[1])), box)


class LongerSide(NamedTuple):
    """The most that each side may have, and what both are multiples of, as in Pixtral: they are truncated, and rounded
    up to multiples."""

    most: tuple[int, int]
    multiple: tuple[int, int]

    def _placement(self, box: Box) -> Placement:
        lengths = [abs(end - begin) for begin, end in box]
        ratio = max(float(n) / side for n, side in zip(lengths, self.most))
        fitted = [math.floor(n / ratio) if ratio > 1 else math.ceil(n) for n in lengths]
        rows, columns = (((n - 1) // each + 1) * each for n, each in zip(fitted, self.multiple))
        return whole((rows, columns), box)


#: The rules of this module.
OF_MODELS = (Budget, Tiles, ShorterSide, LongerSide)


def placement(size: Any, box: Box) -> Placement:
    """Where an image lies by one of OF_MODELS."""
    found: Placement = size._placement(box)
    return found


def _pair(name: str, given: Any) -> tuple[int, int]:
    height, width = spread(name, arguments.sizes(name, [given], least=1), given, 2)
    return height, width
