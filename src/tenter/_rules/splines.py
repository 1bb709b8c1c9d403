"""Splines through the samples, as SciPy defines them.

A spline is a sum of B-splines: `W @ c`, where W holds the values of B-splines at the outputs, and c are coefficients.
With the coefficients `inv(B) @ x` it passes through the samples x, as B holds the values of B-splines at the samples.
The rows of inv(B) decay by a factor for each sample (0.27 for order 3, 0.43 for order 5). They are cut where the rest
is below the rounding of sums, so an output reads few samples.
"""

import numpy as np

from tenter import _native
from tenter._arrays.types import Array, Floats, Ints
from tenter._rules.geometry import Geometry, units

ORDERS = {f"spline{order}": order for order in range(2, 6)}
# Splines that are antialiased by a Gaussian, and their orders.
BLURRED = {f"gaussian {name}": order for name, order in ORDERS.items()}
KINDS = ORDERS | BLURRED
# The edges at which SciPy defines splines: mirror, reflect, grid-wrap, nearest, grid-constant and constant.
EDGES = ("reflect", "symmetric", "wrap", "replicate", "constant", "extrapolate")
#: What a row of inv(B) leaves out, for sums in float64 and in float32.
DOUBLES, SINGLES = 1e-15, 4e-8
# SciPy continues an axis by so many samples before it computes the coefficients for these edges.
PADDING = 12
_POLES = {
    2: (8**0.5 - 3,),
    3: (3**0.5 - 2,),
    4: ((664 - 438976**0.5) ** 0.5 + 304**0.5 - 19, (664 + 438976**0.5) ** 0.5 - 304**0.5 - 19),
    5: ((67.5 - 4436.25**0.5) ** 0.5 + 26.25**0.5 - 6.5, (67.5 + 4436.25**0.5) ** 0.5 - 26.25**0.5 - 6.5),
}


def inverse(order: int, precision: float) -> Floats:
    """Returns a row of inv(B) inside of an axis, an odd number of weights that sum to one. It is symmetric."""
    reach = np.arange(-120, 121)
    row = np.ones(1)
    for pole in _POLES[order]:
        row = np.convolve(row, (1 - pole) / (1 + pole) * pole ** np.abs(reach))
    middle = len(row) // 2
    left_out = 2 * (np.abs(row[middle:]).sum() - np.cumsum(np.abs(row[middle:])))
    n = int(np.argmax(left_out < precision))
    row = row[middle - n : middle + n + 1]
    return np.asarray(row / row.sum())


def bsplines(order: int, u: Floats) -> Floats:
    """Returns the values of the B-splines that are not zero at a position, `order + 1` for each. u: where the position
    is between two knots, in [0, 1)."""
    value = np.zeros((len(u), order + 1))
    value[:, 0] = 1
    for degree in range(1, order + 1):
        saved = np.zeros(len(u))
        for k in range(degree):
            part = value[:, k] / degree
            value[:, k] = saved + (k + 1 - u) * part
            saved = (u + (degree - 1 - k)) * part
        value[:, degree] = saved
    return value


def at(order: int, geometry: Geometry, edge: str) -> tuple[Ints, Floats, Array]:
    """Returns the first coefficient that each output reads, the weights of `order + 1` coefficients from there on, and
    whether the output is outside of the axis and reads nothing."""
    first, step, unit = units(geometry)
    n, n_out = geometry.n_in, geometry.n_out
    wide = max(abs(first), abs(step) * n_out, (n + 1) * unit) >= 1 << 60
    where = first + step * np.arange(n_out, dtype=object if wide else np.int64)
    outside = np.zeros(n_out, bool)
    if edge == "extrapolate":
        outside = np.asarray((where < 0) | (where > (n - 1) * unit), bool)
    if edge in ("extrapolate", "replicate"):
        far = PADDING if edge == "replicate" else 0
        where = np.clip(where, -far * unit, (n - 1 + far) * unit)
    # An even order has its knots between the samples.
    twice = 2 * where + (unit if order % 2 == 0 else 0)
    whole = twice // (2 * unit)
    u = np.asarray((twice - whole * (2 * unit)) / (2 * unit), np.float64)
    return np.asarray(whole - order // 2, np.int64), bsplines(order, u), outside


def sample(index: Ints, n: int, edge: str) -> Ints:
    """Returns the sample that stands for each position of the axis and of its padding; -1 for zero."""
    if edge in ("replicate", "constant"):
        way = "symmetric" if edge == "replicate" else "reflect"
        found = folded(index + PADDING, n + 2 * PADDING, way) - PADDING
        return np.clip(found, 0, n - 1) if edge == "replicate" else np.where((found < 0) | (found >= n), -1, found)
    return folded(index, n, "reflect" if edge == "extrapolate" else edge)


def folded(index: Ints, n: int, edge: str) -> Ints:
    """Returns the positions in the axis of positions in its padding."""
    found: Ints = _native.folded(np.ascontiguousarray(index).reshape(-1), n, edge)
    return found.reshape(index.shape)


def has_coefficient(index: Ints, n: int, edge: str) -> Array:
    """Returns which coefficients are not zero. Beyond the padding of zeros, coefficients are zeros."""
    if edge != "constant":
        return np.ones(index.shape, bool)
    return (index >= -PADDING) & (index < n + PADDING)


def support(order: int) -> float:
    """Returns how far a spline reaches to either side as a filter, in pixels."""
    return len(inverse(order, SINGLES)) // 2 + (order + 1) / 2


def cardinal(order: int, distance: Floats) -> Floats:
    """Returns the weights of samples in a spline, by their distance from the output."""
    return _sums(order, distance, inverse(order, SINGLES))


def kernel(order: int, distance: Floats) -> Floats:
    """Returns the weights of coefficients in a spline, by their distance from the output."""
    return _sums(order, distance, np.ones(1))


def _sums(order: int, distance: Floats, row: Floats) -> Floats:
    """Returns sums of B-splines that are moved by whole samples. row: an odd number of factors."""
    twice = 2 * np.asarray(distance, np.float64) + (order % 2 == 0)
    whole = np.floor(twice / 2)
    value = bsplines(order, twice / 2 - whole)
    made = np.zeros(len(value))
    for k in range(order + 1):
        place = whole.astype(np.int64) - order // 2 + k + len(row) // 2
        inside = (place >= 0) & (place < len(row))
        made += np.where(inside, value[:, k] * row[np.clip(place, 0, len(row) - 1)], 0.0)
    return made
