"""Some rows of a map, as a map from the inputs that they read."""

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps._computed import computed
from tenter.maps._copy import Copy
from tenter.maps._factors import Factors
from tenter.maps._gather import Gather
from tenter.maps._values import trusted
from tenter.maps._window import Window

Map = Copy | Window | Gather


def part(m: Map, lo: int, hi: int) -> tuple[slice, Map]:
    """Returns the inputs from the first to the last that outputs lo..hi - 1 read, and the map from these, without a
    table of all rows. m must not have blocks."""
    at = reads(m, lo, hi)
    if isinstance(m, Gather):
        return at, _gather(m, at, lo, hi)
    return at, (_copy(m, at, lo, hi) if isinstance(m, Copy) else _window(m, at, lo, hi))


def laid_out(m: Map) -> tuple[Ints | None, Copy | Window]:
    """Returns the inputs in the order in which rows read neighbors, and the map from them; None for all inputs in
    order. A part of that map reads few inputs, also across a periodic edge."""
    return m._in_order if isinstance(m, Gather) else (None, m)


def reads(m: Map, lo: int, hi: int) -> slice:
    """Returns `m.reads`, without a table if all rows have the same width."""
    if isinstance(m, Window) and m.width is not None:
        return slice(lo * m.width, hi * m.width) if m.width and hi > lo else slice(0, 0)
    return m.reads(lo, hi)


def _copy(m: Copy, at: slice, lo: int, hi: int) -> Copy:
    n = at.stop - at.start
    if m._core is not None:
        return Copy.from_index(m._core.index(lo, hi) - at.start, n)
    if m.repeat is None:
        assert m.offsets is not None
        ends = m.offsets[at.start : at.stop + 1]
    elif not m.repeat or lo % m.repeat == hi % m.repeat == 0:
        return Copy.repeat_each(n, m.repeat)
    else:
        ends = np.arange(at.start, at.stop + 1, dtype=np.int64) * m.repeat
    return trusted(Copy, n_in=n, n_out=hi - lo, repeat=None, offsets=np.clip(ends, lo, hi) - lo, block=1)


def _window(m: Window, at: slice, lo: int, hi: int) -> Window:
    n = at.stop - at.start
    if m.width is not None:
        return trusted(Window, n_in=n, n_out=hi - lo, start=None, offset=None, weight=None, width=m.width, block=1)
    if (rule := m._core.stepped_part(lo, hi, at.start, n)) is not None:
        return computed(n, hi - lo, rule)  # type: ignore[return-value]
    start, offset, weight = rows(m, lo, hi)
    start = np.clip(start - at.start, 0, n)
    made = trusted(Window, n_in=n, n_out=hi - lo, start=start, offset=offset, weight=weight, width=None, block=1)
    if (factors := m.__dict__.get("_factors")) is not None:
        made.__dict__["_factors"] = _factors(factors, at, lo, hi)
    return made


def _factors(of: Factors, at: slice, lo: int, hi: int) -> Factors:
    """The factors of the same rows, from the inputs that the product reads: at least those that the factors read."""
    assert isinstance(of.first, Window) and isinstance(of.second, Window)
    between, second = part(of.second, lo, hi)
    start, offset, weight = rows(of.first, between.start, between.stop)
    n = at.stop - at.start
    first = Window(n, between.stop - between.start, np.clip(start - at.start, 0, n), offset, weight)
    assert isinstance(second, Window)
    return Factors(first, second, of.transposed)


def _gather(m: Gather, at: slice, lo: int, hi: int) -> Gather:
    made = _taps(m, at, lo, hi)
    of = m.__dict__.get("_factors")
    if of is not None and isinstance(of.second, Window):  # not of a transpose
        between, second = part(of.second, lo, hi)
        assert isinstance(of.first, Gather) and isinstance(second, Window)
        first = _taps(of.first, at, between.start, between.stop)
        made.__dict__["_factors"] = Factors(first, second, of.transposed)
    return made


def _taps(m: Gather, at: slice, lo: int, hi: int) -> Gather:
    taps = slice(m.offset[lo], m.offset[hi])
    offset, index = m.offset[lo : hi + 1] - m.offset[lo], m.index[taps] - at.start
    return Gather(at.stop - at.start, hi - lo, offset, index, m.weight[taps])


def rows(m: Window, lo: int, hi: int) -> tuple[Ints, Ints, Floats | None]:
    """Returns the first input, the running number of taps, and the weights (None if all are one) of rows lo..hi - 1.
    The window must not have blocks."""
    if m._is_computed:
        start, offset, *weight = m._core.tables(lo, hi)
        return start, offset - offset[0], weight[0] if weight and not m.ones else None
    start, offset = m.rows()
    weights = m.weight
    taps = slice(offset[lo], offset[hi])
    return start[lo:hi], offset[lo : hi + 1] - offset[lo], None if weights is None else weights[taps]
