"""The map of an axis that a spline resizes: `W @ inv(B)` (tenter._rules.splines)."""

from fractions import Fraction

import numpy as np

from tenter._arrays.types import Array, Floats, Ints
from tenter._rules import filters, splines
from tenter._rules.axis_rule import AxisRule
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._algebra import product
from tenter.maps._factors import Factors
from tenter.maps._values import check_table_size

#: The word of a settled rule for sums in float32.
SINGLE = "24 bits"
# Two steps pay where they multiply fewer numbers than this share of one (measured in 2-D and 3-D).
MOST_STEPS = 0.95
# Coefficients are larger than samples, of order 5 in 3-D by 40 times: stored in float32, they lose bits that the result
# then lacks. So sums in float32 take two steps up to this order.
HIGHEST_SINGLE = 3


def is_spline(rule: AxisRule, n_in: int, n_out: int) -> bool:
    """True if a rule is a spline through the samples, or through blurred ones. Antialiased by a filter, an axis that
    shrinks has a wider filter instead."""
    if rule.kind in splines.BLURRED:
        return True
    return rule.kind in splines.ORDERS and not (rule.antialias and _shrinks(rule, n_in, n_out))


def _shrinks(rule: AxisRule, n_in: int, n_out: int) -> bool:
    return rule.geometry(n_in, n_out).pitch() > 1


def spline_map(rule: AxisRule, n_in: int, n_out: int) -> AxisMap:
    """Returns the map of the axis: its matrix, with the two factors where these are applied faster."""
    assert isinstance(rule.kind, str)
    geometry, edge = rule.geometry(n_in, n_out), rule.edge
    if geometry.line() == (Fraction(0), Fraction(1)) and n_in == n_out:
        return Copy.repeat_each(n_in, 1)
    if not n_out:
        return Window(n_in, 0, [], [0], [])
    order = splines.KINDS[rule.kind]
    row = splines.inverse(order, splines.SINGLES if rule.arithmetic == SINGLE else splines.DOUBLES)
    check_table_size(3.0 * n_out * (len(row) + order), 8)
    first, value, outside = splines.at(order, geometry, edge)
    value = np.where(splines.has_coefficient(first[:, None] + np.arange(order + 1), n_in, edge), value, 0)
    value[outside] = 0
    made = _rows(_convolved(value, row), first - len(row) // 2, outside, n_in, edge)
    blur = _blur(rule, n_in, n_out) if rule.kind in splines.BLURRED and _shrinks(rule, n_in, n_out) else None
    if blur is not None:
        return product(made, blur)
    low, high = int(first.min()), int(first.max()) + order + 1
    n = high - low
    steps = n * len(row) + n_out * (order + 1)
    is_exact = order <= HIGHEST_SINGLE or rule.arithmetic != SINGLE
    pays = is_exact and steps < MOST_STEPS * n_out * len(row)
    if pays and isinstance(made, Window) and bool((first[1:] >= first[:-1]).all()):
        each = np.arange(low, high)
        coefficients = _rows(np.tile(row, (n, 1)), each - len(row) // 2, np.zeros(n, bool), n_in, edge)
        sums = _window(n, first - low, value, outside)
        if isinstance(coefficients, Window) and isinstance(sums, Window):
            made.__dict__["_factors"] = Factors(coefficients, sums, False)
    return made


def _blur(rule: AxisRule, n_in: int, n_out: int) -> AxisMap:
    """Returns the Gaussian that scikit-image applies before an axis shrinks."""
    return blurred(n_in, (float(rule.geometry(n_in, n_out).pitch()) - 1) / 2, rule.edge)


def blurred(n: int, sigma: float, edge: str) -> AxisMap:
    """Returns the Gaussian of a deviation in pixels."""
    distance, weight = filters.gaussian(sigma)
    index = np.arange(n)[:, None] + distance
    read = splines.folded(index, n, edge)
    used = (index >= 0) & (index < n) if edge == "constant" else np.ones(index.shape, bool)
    return _gather(np.broadcast_to(weight, index.shape), read, used, n)


def _convolved(value: Floats, row: Floats) -> Floats:
    """Returns the weights of samples from those of coefficients."""
    made = np.zeros((len(value), value.shape[1] + len(row) - 1))
    for k in range(value.shape[1]):
        made[:, k : k + len(row)] += value[:, k, None] * row
    return made


def _rows(weight: Floats, first: Ints, empty: Array, n_in: int, edge: str) -> AxisMap:
    """Returns the map of rows that read samples from `first` on, in the axis or in its padding."""
    index = first[:, None] + np.arange(weight.shape[1])
    read = splines.sample(index, n_in, edge)
    if np.array_equal(read, index):
        return _window(n_in, first, weight, empty)
    used = (read >= 0) & ~empty[:, None]
    start = np.where(used, read, n_in).min(axis=1, initial=n_in)
    stop = np.where(used, read + 1, 0).max(axis=1, initial=0)
    stop = np.maximum.accumulate(stop)
    start = np.minimum(np.minimum.accumulate(start[::-1])[::-1], stop)
    n_taps = int((stop - start).sum())
    if edge == "wrap" or n_taps > 2 * used.sum():
        return _gather(weight, read, used, n_in)
    offset = np.concatenate([[0], np.cumsum(stop - start)])
    made = np.zeros(n_taps)
    at = (read - start[:, None] + offset[:-1, None])[used]
    np.add.at(made, at, weight[used])
    return Window(n_in, len(start), start, offset, made)


def _window(n_in: int, first: Ints, weight: Floats, empty: Array) -> Window:
    """Returns the map of rows that read adjacent inputs from `first` on. Empty rows are at the ends."""
    count = np.where(empty, 0, weight.shape[1])
    stop = np.maximum.accumulate(np.where(empty, 0, first + count))
    start = np.where(empty, stop, first)
    return Window(n_in, len(first), start, np.concatenate([[0], np.cumsum(count)]), weight[~empty].reshape(-1))


def _gather(weight: Floats, read: Ints, used: Array, n_in: int) -> Gather:
    row = np.broadcast_to(np.arange(len(read))[:, None], read.shape)[used]
    place, which = np.unique(row * n_in + read[used], return_inverse=True)
    summed = np.bincount(which, weight[used], len(place))
    offset = np.searchsorted(place // n_in, np.arange(len(read) + 1))
    return Gather(n_in, len(read), offset, place % n_in, summed)


def coefficients(order: int, n: int, edge: str) -> AxisMap:
    """Returns inv(B): the map from the samples of an axis to its coefficients."""
    row = splines.inverse(order, splines.DOUBLES)
    check_table_size(3.0 * n * len(row), 8)
    return _rows(np.tile(row, (n, 1)), np.arange(n) - len(row) // 2, np.zeros(n, bool), n, edge)
