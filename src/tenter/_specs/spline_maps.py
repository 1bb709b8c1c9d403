"""The map of an axis that a spline resizes: `W @ inv(B)` (tenter._rules.splines)."""

from fractions import Fraction

import numpy as np

from tenter._arrays.types import Array, Floats, Ints
from tenter._rules import filters, splines
from tenter._rules.axis_rule import AxisRule
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._algebra import product
from tenter.maps._factors import Factors
from tenter.maps._values import check_table_size, sealed

#: The word of a settled rule for sums in float32.
SINGLE = "24 bits"
# Two steps pay where they multiply fewer numbers than this share of one (measured in 2-D and 3-D).
MOST_STEPS = 0.95
# Coefficients are larger than samples, of order 5 in 3-D by 40 times: stored in float32, they lose bits that the result
# then lacks. So sums in float32 take two steps up to this order.
HIGHEST_SINGLE = 3
#: Rows whose weights fit in the caches.
IN_CACHE = 1 << 11


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
    low, high = int(first.min()), int(first.max()) + order + 1
    n = high - low
    steps = n * len(row) + n_out * (order + 1)
    is_exact = order <= HIGHEST_SINGLE or rule.arithmetic != SINGLE
    pays = is_exact and steps < MOST_STEPS * n_out * len(row) and bool((first[1:] >= first[:-1]).all())
    if edge == "wrap" and pays and rule.kind in splines.ORDERS and len(row) + order <= n_in:
        return _periodic(value, row, first, low, n, n_in)
    made = _rows(_convolved(value, row), first - len(row) // 2, outside, n_in, edge)
    blur = _blur(rule, n_in, n_out) if rule.kind in splines.BLURRED and _shrinks(rule, n_in, n_out) else None
    if blur is not None:
        return product(made, blur)
    if pays and isinstance(made, Window):
        each = np.arange(low, high)
        coefficients = _rows(np.tile(row, (n, 1)), each - len(row) // 2, np.zeros(n, bool), n_in, edge)
        sums = _window(n, first - low, value, outside)
        if isinstance(coefficients, Window) and isinstance(sums, Window):
            made.__dict__["_factors"] = Factors(coefficients, sums, False)
    return made


def _periodic(value: Floats, row: Floats, first: Ints, low: int, n: int, n_in: int) -> Gather:
    """Returns the map of a periodic axis: two windows on what continues past its ends. low, n: the first coefficient,
    and the number of them."""
    reach, inside = len(row) // 2, np.zeros(max(n, len(first)), bool)
    n_read = n + 2 * reach
    order = splines.folded(np.arange(n_read) + low - reach, n_in, "wrap")
    coefficients = _window(n_read, np.arange(n), np.tile(row, (n, 1)), inside[:n])
    sums = _window(n, first - low, value, inside[: len(first)])
    whole = _window(n_read, first - low, _convolved(value, row), inside[: len(first)])
    whole.__dict__["_factors"] = Factors(coefficients, sums, False)
    made = _in_order(whole, order, n_in)
    made.__dict__["_factors"] = Factors(_in_order(coefficients, order, n_in), sums, False)
    return made


def _in_order(m: Window, order: Ints, n_in: int) -> Gather:
    """Returns the map of rows that read inputs in an order."""
    start, offset = m.rows()
    width = int(offset[1])
    index = order[start[:, None] + np.arange(width)].reshape(-1)
    made = Gather(n_in, m.n_out, offset, index, m.weight)  # type: ignore[arg-type]  # it has weights
    made.__dict__["_laid_out"] = sealed(order), m
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
    made = np.empty((len(value), value.shape[1] + len(row) - 1))
    for at in range(0, len(value), IN_CACHE):
        some = np.ascontiguousarray(value[at : at + IN_CACHE].T)
        sums = np.zeros((made.shape[1], some.shape[1]))
        for k in range(len(some)):
            sums[k : k + len(row)] += some[k] * row[:, None]
        made[at : at + IN_CACHE] = sums.T
    return made


def _rows(weight: Floats, first: Ints, empty: Array, n_in: int, edge: str) -> AxisMap:
    """Returns the map of rows that read samples from `first` on, in the axis or in its padding."""
    width = weight.shape[1]
    inside = (first >= 0) & (first + width <= n_in)
    if inside.all():
        return _window(n_in, first, weight, empty)
    # Of rows in the axis, only those at its ends are looked at tap by tap.
    low, high = (int(inside.argmax()), len(inside) - int(inside[::-1].argmax())) if inside.any() else (0, 0)
    if edge == "wrap" or not inside[low:high].all() or empty[low:high].any():
        low = high = 0
    ends = np.r_[0:low, high : len(first)]
    read = splines.sample(first[ends, None] + np.arange(width), n_in, edge)
    used = (read >= 0) & ~empty[ends, None]
    start, stop = first.copy(), first + width
    start[ends] = np.where(used, read, n_in).min(axis=1, initial=n_in)
    stop[ends] = np.where(used, read + 1, 0).max(axis=1, initial=0)
    stop = np.maximum.accumulate(stop)
    start = np.minimum(np.minimum.accumulate(start[::-1])[::-1], stop)
    n_taps = int((stop - start).sum())
    if edge == "wrap" or n_taps > 2 * (used.sum() + (high - low) * width):
        if low < high:
            read = splines.sample(first[:, None] + np.arange(width), n_in, edge)
            used = (read >= 0) & ~empty[:, None]
        return _gather(weight, read, used, n_in)
    offset = np.concatenate([[0], np.cumsum(stop - start)])
    made = np.zeros(n_taps)
    kept = slice(low, high)  # where no row became longer, for the sake of those at the ends
    if low < high and offset[high] - offset[low] == (high - low) * width:
        made[offset[low] : offset[high]] = weight[kept].reshape(-1)
    elif low < high:
        at = (first[kept] - start[kept] + offset[kept])[:, None] + np.arange(width)
        np.add.at(made, at, weight[kept])
    at = (read - start[ends, None] + offset[ends, None])[used]
    np.add.at(made, at, weight[ends][used])
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
