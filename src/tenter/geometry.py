"""Where a resized axis's outputs lie in its input, exactly, as one value.

Pixel `i` covers [i, i + 1); its center has the index `i`. Every rule is a line, `index(o) = first + o * step`, in
fractions, so that a position on the edge between two pixels is there and not a rounding away from it.
"""

import operator
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.arguments import error, integer, one_of
from tenter._arrays.errors import Refusal
from tenter._arrays.types import Array, Floats, Ints

__all__ = ["ALIGNS", "TIES", "Geometry"]

HALF = Fraction(1, 2)
# What the first and the last output are lined up with. The last four are ONNX's names.
ALIGNS = _native.WORDS["align"]
TIES = _native.WORDS["tie"]
# ONNX's names of what has a name of its own here, and the spelling of graphs saved by earlier versions.
_ALIASES = {
    "align": {"half_pixel": "center", "align_corners": "corners", "centre": "center"},
    "tie": {"round_prefer_floor": "prefer_floor", "round_prefer_ceil": "prefer_ceil"},
    "edge": {"renormalise": "renormalize"},
}


def canonical(field: str, word: Any) -> Any:
    """An align, tie or edge by the name that it has here; other values as they are."""
    return _ALIASES[field].get(word, word) if isinstance(word, str) else word


@dataclass(frozen=True, repr=False)
class Geometry:
    """One axis of n_in pixels sampled at n_out positions.

    align: `center`, the edges of the whole axes are lined up, pixels are areas; `corners`, the centers of their corner
        pixels; `asymmetric`, the near edges alone, index 0 with index 0; `corner_areas`, the near edges of areas as far
        apart as `corners` has them, which is PyTorch's antialias with align_corners. `half_pixel_symmetric` keeps the
        middle in the middle where a scale makes no whole number of pixels, `pytorch_half_pixel` samples index 0 where
        there is one output, `tf_half_pixel_for_nn` takes the center's position for an index, `tf_crop_and_resize` is
        `corners` with the box's middle for one output; all four as ONNX's Resize defines them.
    scale: output / input, which positions follow where it is given; else the sizes' ratio. The corners are then those
        of a length of input * scale, with its fraction.
    box: the part of the input that is sampled, from edge to edge, (0, n_in) by itself.

    >>> Geometry(4, 8)
    Geometry(center: 4 -> 8, output o at index -1/4 + 1/2 o)
    >>> Geometry(4, 3, align="corners").index()
    array([0. , 1.5, 3. ])
    """

    n_in: int
    n_out: int
    align: str = "center"
    scale: Fraction | None = None
    box: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        try:
            for name in ("n_in", "n_out"):
                object.__setattr__(self, name, integer(name, getattr(self, name), least=0))
            object.__setattr__(self, "align", canonical("align", self.align))
            one_of("align", self.align, ALIGNS)
        except Refusal as refusal:
            raise error(refusal, "Geometry", self.n_in, self.n_out, self.align) from None
        if self.scale is not None:
            object.__setattr__(self, "scale", Fraction(plain(self.scale)))
        if self.box is not None:
            lo, hi = self.box
            object.__setattr__(self, "box", (Fraction(plain(lo)), Fraction(plain(hi))))

    @classmethod
    def trusted(cls, n_in: int, n_out: int, align: str) -> "Geometry":
        """The whole axis, of values that have been checked: resizing makes one for every axis of a call."""
        new = object.__new__(cls)
        new.__dict__.update(n_in=n_in, n_out=n_out, align=align)
        return new

    def line(self) -> tuple[Fraction, Fraction]:
        """The index of output 0, and the distance between neighbors."""
        first, step, unit = self.units()
        return Fraction(first, unit), Fraction(step, unit)

    def units(self) -> tuple[int, int, int]:
        """The line in whole numbers: output o has the index (first + o * step) / unit."""
        n, align = self.n_out, self.align
        low, extent, d = 0, self.n_in, 1  # the box, in parts of d
        if self.box is not None:
            lo, hi = self.box
            d = lcm(lo.denominator, hi.denominator)
            low = lo.numerator * (d // lo.denominator)
            extent = hi.numerator * (d // hi.denominator) - low
        if align in ("corners", "corner_areas", "tf_crop_and_resize"):
            length, of = (extent * self.scale.numerator, d * self.scale.denominator) if self.scale else (n, 1)
            step, q = ((extent - d) * of, d * (length - of)) if length > of else (0, 1)
        elif self.scale:
            step, q = self.scale.denominator, self.scale.numerator
        else:
            step, q = (extent, d * n) if n else (1, 1)
        first = 2 * q * low  # in parts of 2 d q
        if align in ("center", "corner_areas", "half_pixel_symmetric") or (align == "pytorch_half_pixel" and n != 1):
            first += d * (step - q)
        if align == "half_pixel_symmetric":
            first += extent * q - n * step * d
        elif align == "tf_half_pixel_for_nn":
            first += d * step
        elif align == "tf_crop_and_resize" and n == 1:
            first += (extent - d) * q
        step, unit = 2 * step * d, 2 * d * q
        common = gcd(first, step, unit)
        return first // common, step // common, unit // common

    def pitch(self) -> Fraction:
        """Input pixels for each output pixel, which need not be the distance between two."""
        if self.scale:
            return 1 / self.scale
        if not self.n_out:
            return Fraction(1)
        return Fraction(self.n_in, self.n_out) if self.box is None else (self.box[1] - self.box[0]) / self.n_out

    def index(self) -> Floats:
        """The index that each output samples, with fraction: float64[n_out]."""
        return positions(*self.line(), self.n_out)[2]

    def nearest(self, tie: str) -> Ints:
        """The input index nearest to each output's, or below or above it; not cut to the axis: int64[n_out]."""
        numerator, denominator, _ = positions(*self.line(), self.n_out)
        if tie == "floor":
            found = numerator // denominator
        elif tie == "ceil":
            found = -(-numerator // denominator)
        elif tie == "prefer_floor":
            found = -((denominator - 2 * numerator) // (2 * denominator))
        else:
            found = (2 * numerator + denominator) // (2 * denominator)
        return np.asarray(found, np.int64)

    def edges(self) -> tuple[Array, int]:
        """Where each output's area ends and the next one's begins, in pixels from the axis's edge: the numerators of
        n_out + 1 fractions, and their denominator."""
        first, step = self.line()
        return positions(first - step / 2 + HALF, step, self.n_out + 1)[:2]

    def __repr__(self) -> str:
        first, step = self.line()
        box = f", box {_short(self.box[0])} to {_short(self.box[1])}" if self.box else ""
        scale = f", scale {_short(self.scale)}" if self.scale else ""
        line = f"output o at index {_short(first)} + {_short(step)} o"
        return f"Geometry({self.align}: {self.n_in} -> {self.n_out}{box}{scale}, {line})"


def plain(value: Any) -> Any:
    """A real number as one of Python's: NumPy's integers wrap, and so do fractions of them. A symbol of PyTorch's
    compiler becomes the number, as rules are words in its graphs."""
    if isinstance(value, Fraction):
        return Fraction(operator.index(value.numerator), operator.index(value.denominator))
    if isinstance(value, (int, np.integer)):
        return operator.index(value)
    return float(value) if isinstance(value, np.floating) else value


def positions(first: Fraction, step: Fraction, n: int) -> tuple[Array, int, Floats]:
    """first + o * step for o < n: the numerators, Python's ints where int64 is too small, their denominator, and the
    quotients, right to a unit or two in the last place."""
    d = lcm(first.denominator, step.denominator)
    a, b = first.numerator * (d // first.denominator), step.numerator * (d // step.denominator)
    if abs(a) + abs(b) * n + d < 1 << 61:
        numerators = a + b * np.arange(n, dtype=np.int64)
        return numerators, d, np.asarray(numerators / d, np.float64)
    return a + b * np.arange(n, dtype=object), d, np.asarray(float(first) + np.arange(n) * float(step), np.float64)


def _short(f: Fraction) -> str:
    return str(f) if f.denominator < 10_000 else f"{float(f):.6g}"
