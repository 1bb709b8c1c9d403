"""Sizes and positions of a volume whose voxels get another spacing."""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.arguments import describe, error, one_of, several, sizes
from tenter._arrays.errors import Refusal, refuse
from tenter._rules.geometry import Geometry, is_real

ROUNDINGS = {"floor": math.floor, "round": lambda length: math.floor(length + Fraction(1, 2)), "ceil": math.ceil}


class Spaced(NamedTuple):
    """What `spaced` returns. Provisional: it may change before 1.0.

    Attributes
    ----------
    how : dict
        Arguments of `tenter.resize`: size, box and align.
    geometries : list of Geometry
        One for each axis, for `affine`.

    See Also
    --------
    spaced : Makes it.

    Examples
    --------
    >>> spaced([4], 1.0, 0.5).geometries
    [Geometry(half_pixel: 4 -> 8, box 0 to 4, output o at index -1/4 + 1/2 o)]
    """

    how: dict[str, Any]
    geometries: list[Geometry]


def spaced(shape: Any, spacing: Any, wanted: Any, align: str = "half_pixel", rounding: str = "round") -> Spaced:
    """How to resize a volume so that its voxels have exactly another spacing. Provisional: it may change before 1.0.

    Parameters
    ----------
    shape : int or sequence of ints
        The lengths of the axes to resize.
    spacing, wanted : number or sequence of numbers
        The distances between voxels, now and then; one number stands for all axes. A float is its shortest decimal,
        also where it was read from a file of float32: 0.800000012 is 4/5.
    align : str, default "half_pixel"
        "half_pixel" keeps the near edges in place, "asymmetric" the center of the first voxel, as ITK does for an image
        that keeps its origin.
    rounding : {"floor", "round", "ceil"}, default "round"
        How length * spacing / wanted becomes a length, at least 1. The spacing stays exact: the far edge moves.

    Returns
    -------
    Spaced
        A pair: arguments of `tenter.resize`, and geometries for `affine`.

    Raises
    ------
    TypeError, ValueError
        If lengths are negative, or a spacing is not a finite number above 0 or not one for each axis.

    See Also
    --------
    affine : The new matrix from indices to the world.

    Examples
    --------
    >>> import tenter
    >>> scan = np.zeros((6, 20, 20), np.int16)
    >>> how, where = spaced(scan.shape, [5.0, 0.8, 0.8], 1.0, align="asymmetric")
    >>> tenter.resize(scan, axes=(0, 1, 2), **how).shape
    (30, 16, 16)
    >>> tenter.geometry.affine(np.diag([5.0, 0.8, 0.8, 1.0]), where).diagonal()
    array([1., 1., 1., 1.])
    """
    try:
        lengths = sizes("shape", [shape])
        one_of("align", align, ("half_pixel", "asymmetric"))
        one_of("rounding", rounding, tuple(ROUNDINGS))
        boxes, new = [], []
        now, then = _each("spacing", spacing, len(lengths)), _each("wanted", wanted, len(lengths))
        for n, step in zip(lengths, (after / before for before, after in zip(now, then))):
            new.append(max(min(n, 1), ROUNDINGS[rounding](n / step)))
            boxes.append((Fraction(0), max(new[-1], 1) * step))
    except Refusal as refusal:
        raise error(refusal, "geometry.spaced", shape, spacing, wanted, align, rounding) from None
    where = [Geometry(n, m, align, box=box) for n, m, box in zip(lengths, new, boxes)]
    return Spaced({"size": tuple(new), "box": boxes, "align": align}, where)


def _each(name: str, given: Any, n: int) -> list[Fraction]:
    found = several(name, given)
    found = [given] * n if found is None else list(found)
    if len(found) != n:
        refuse(ValueError, name, f"{n} numbers, one per axis, or one for all", f"{len(found)}")
    return [_exact(name, each) for each in found]


def _exact(name: str, value: Any) -> Fraction:
    if not is_real(value) or not 0 < value < math.inf:
        refuse(TypeError if not is_real(value) else ValueError, name, "finite numbers above 0", describe(value))
    if isinstance(value, (float, np.floating)):
        with np.errstate(over="ignore"):
            narrow = np.float32(value)
        return Fraction(str(narrow if narrow == value else float(value)))
    return Fraction(value)
