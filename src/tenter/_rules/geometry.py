"""Exact positions of a resized axis's outputs in its input.

Pixel `i` covers [i, i + 1), and its center has the index `i`. Every rule is a line, `index(o) = first + o * step`, in
fractions. So a position on the edge between two pixels is exactly there, without a rounding error.
"""

import operator
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.arguments import describe, error, integer, one_of
from tenter._arrays.errors import Refusal
from tenter._arrays.immutable import Immutable
from tenter._arrays.types import Array, Floats, Ints

HALF = Fraction(1, 2)
# The largest position. Float64 has no fractions beyond it.
LARGEST = 2**53
# Which points of input and output are aligned: ONNX's names, and "corner_areas".
ALIGNS = _native.WORDS["align"]
# What is lined up, in words of one's own.
ALIGNS_ELSEWHERE = {"center": "half_pixel", "edges": "half_pixel", "corners": "align_corners",
                    "centers": "align_corners"}  # fmt: skip
TIES = _native.WORDS["tie"]
# ONNX's names of ties with another name here.
_ONNX_TIES = {"round_prefer_floor": "prefer_floor", "round_prefer_ceil": "prefer_ceil"}


def tie_of(word: Any) -> Any:
    """Returns tenter's name of a tie, and other values unchanged."""
    return _ONNX_TIES.get(word, word) if isinstance(word, str) else word


class Geometry(Immutable):
    """Where the outputs of one axis are in its input, in exact fractions. Provisional: it may change before 1.0.

    Pixel i covers [i, i + 1) and has the index i at its center. Output o is at the index first + o * step.

    Parameters
    ----------
    n_in, n_out : int
        The lengths of the axis, input and output.
    align : str, default "half_pixel"
        "half_pixel" aligns the outer edges of the axes; "align_corners" the centers of the corner pixels; "asymmetric"
        the near edges alone, index 0 with index 0; "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn"
        and "tf_crop_and_resize" as ONNX's Resize defines them, whose words these are; "corner_areas" the near edges of
        areas as wide as the step of "align_corners": output o is at (o + 0.5) * step - 0.5, as in PyTorch's antialias
        with align_corners.
    scale : Fraction, optional
        Output / input, if positions follow it and not the ratio of the lengths.
    box : (begin, end), optional
        The part of the input that is sampled, in pixels from edge to edge. None: the whole axis.

    Raises
    ------
    TypeError, ValueError
        If a length is negative or not an int, or align is unknown.

    See Also
    --------
    tenter.resize : Takes align, scale and box.

    Examples
    --------
    >>> Geometry(4, 8)
    Geometry(half_pixel: 4 -> 8, output o at index -1/4 + 1/2 o)
    >>> Geometry(4, 3, align="align_corners").index()
    array([0. , 1.5, 3. ])
    """

    __match_args__ = ("n_in", "n_out", "align", "scale", "box")
    n_in: int
    n_out: int
    align: str
    scale: Fraction | None = None
    box: tuple[Fraction, Fraction] | None = None

    def __init__(
        self, n_in: int, n_out: int, align: str = "half_pixel", scale: Fraction | None = None,
        box: tuple[Fraction, Fraction] | None = None,
    ) -> None:  # fmt: skip
        try:
            lengths = {"n_in": integer("n_in", n_in, least=0), "n_out": integer("n_out", n_out, least=0)}
            one_of("align", align, ALIGNS)
        except Refusal as refusal:
            raise error(refusal, "Geometry", n_in, n_out, align) from None
        self._set(**lengths, align=align)
        if scale is not None:
            self._set(scale=Fraction(plain(scale)))
        if box is not None:
            if len(box) != 2:
                refusal = Refusal(ValueError, f"box: expected a pair (begin, end), got {describe(box)}")
                raise error(refusal, "Geometry", n_in, n_out, align, scale, box)
            begin, end = box
            self._set(box=(Fraction(plain(begin)), Fraction(plain(end))))

    def line(self) -> tuple[Fraction, Fraction]:
        """The index of output 0, and the distance between outputs.

        Returns
        -------
        (Fraction, Fraction)

        Examples
        --------
        >>> Geometry(4, 8).line()
        (Fraction(-1, 4), Fraction(1, 2))
        """
        first, step, unit = units(self)
        return Fraction(first, unit), Fraction(step, unit)

    def pitch(self) -> Fraction:
        """Input pixels for each output pixel, which need not be the distance between outputs.

        Returns
        -------
        Fraction

        Examples
        --------
        >>> Geometry(4, 8).pitch()
        Fraction(1, 2)
        """
        if self.scale:
            return 1 / self.scale
        if not self.n_out:
            return Fraction(1)
        return Fraction(self.n_in, self.n_out) if self.box is None else (self.box[1] - self.box[0]) / self.n_out

    def index(self) -> Floats:
        """The index that each output samples, with its fraction.

        Returns
        -------
        numpy.ndarray
            float64[n_out].

        Examples
        --------
        >>> Geometry(4, 2).index()
        array([0.5, 2.5])
        """
        return positions(*self.line(), self.n_out)[2]

    def nearest(self, tie: str) -> Ints:
        """The input index nearest to each output's, or below or above it; not cut to the axis.

        Parameters
        ----------
        tie : {"floor", "ceil", "prefer_floor", "prefer_ceil"}
            Which index is taken; the last two if it is between two.

        Returns
        -------
        numpy.ndarray
            int64[n_out].

        Examples
        --------
        >>> Geometry(4, 2).nearest("prefer_floor")
        array([0, 2])
        """
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
        """Where each output's area ends and the next one's begins, in pixels from the axis's edge.

        Returns
        -------
        (numpy.ndarray, int)
            The numerators of n_out + 1 fractions, and their denominator.

        Examples
        --------
        >>> Geometry(4, 2).edges()
        (array([0, 2, 4]), 1)
        """
        first, step = self.line()
        return positions(first - step / 2 + HALF, step, self.n_out + 1)[:2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Geometry) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        first, step = self.line()
        box = f", box {_short(self.box[0])} to {_short(self.box[1])}" if self.box else ""
        scale = f", scale {_short(self.scale)}" if self.scale else ""
        line = f"output o at index {_short(first)} + {_short(step)} o"
        return f"Geometry({self.align}: {self.n_in} -> {self.n_out}{box}{scale}, {line})"


def trusted(n_in: int, n_out: int, align: str) -> Geometry:
    """Returns the geometry of a whole axis, without checks. Resizing makes one for every axis of a call."""
    new = object.__new__(Geometry)
    new.__dict__.update(n_in=n_in, n_out=n_out, align=align)
    return new


def units(of: Geometry) -> tuple[int, int, int]:
    """Returns the line in integers: output o has the index (first + o * step) / unit."""
    n, align = of.n_out, of.align
    low, extent, d = 0, of.n_in, 1  # the box, in units of 1 / d
    if of.box is not None:
        lo, hi = of.box
        d = lcm(lo.denominator, hi.denominator)
        low = lo.numerator * (d // lo.denominator)
        extent = hi.numerator * (d // hi.denominator) - low
    if align in ("align_corners", "corner_areas", "tf_crop_and_resize"):
        length, per = (extent * of.scale.numerator, d * of.scale.denominator) if of.scale else (n, 1)
        step, q = ((extent - d) * per, d * (length - per)) if length > per else (0, 1)
    elif of.scale:
        step, q = of.scale.denominator, of.scale.numerator
    else:
        step, q = (extent, d * n) if n else (1, 1)
    first = 2 * q * low  # in units of 1 / (2 d q)
    if align in ("half_pixel", "corner_areas", "half_pixel_symmetric") or (align == "pytorch_half_pixel" and n != 1):
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


def is_real(value: Any) -> bool:
    # By type: an object whose `__class__` claims to be a number may not compute like one.
    return issubclass(type(value), (int, float, Fraction, np.floating, np.integer)) and not isinstance(value, bool)


def plain(value: Any) -> Any:
    """Returns a real number as a Python number, because NumPy's integers wrap, and so do fractions of them. A symbol of
    PyTorch's compiler becomes its value, because rules are text in graphs."""
    if isinstance(value, Fraction):
        return Fraction(operator.index(value.numerator), operator.index(value.denominator))
    if isinstance(value, (int, np.integer)):
        return operator.index(value)
    return float(value) if isinstance(value, np.floating) else value


def positions(first: Fraction, step: Fraction, n: int) -> tuple[Array, int, Floats]:
    """Returns first + o * step for o < n: the numerators (Python ints if int64 is too small), their denominator, and
    the quotients, accurate to one or two units in the last place."""
    d = lcm(first.denominator, step.denominator)
    a, b = first.numerator * (d // first.denominator), step.numerator * (d // step.denominator)
    if abs(a) + abs(b) * n + d < 1 << 61:
        numerators = a + b * np.arange(n, dtype=np.int64)
        return numerators, d, np.asarray(numerators / d, np.float64)
    return a + b * np.arange(n, dtype=object), d, np.asarray(float(first) + np.arange(n) * float(step), np.float64)


def _short(f: Fraction) -> str:
    return str(f) if f.denominator < 10_000 else f"{float(f):.6g}"
