"""The taps of a window's rows as a table. Row k of the table has the k-th tap of every output."""

from typing import NamedTuple

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps._window import Window


class TapTable(NamedTuple):
    """The taps of all outputs. An output with fewer taps than others repeats its last tap and halves the weight each
    time. Such sums are exact, so inf and NaN do not spread. Tables of whole numbers have weights of 0 there.

    inputs: the input of each output's k-th tap, [taps, n_out]
    weight: the weights, likewise; None if all are one
    n_taps: the number of taps of each output
    """

    inputs: Ints
    weight: Floats | None
    n_taps: Ints


def tap_table(m: Window, whole: bool = False) -> TapTable:
    """Returns the table of a window, ignoring its `block`. whole: weights stay whole numbers."""
    start, offset = m.rows()
    count = np.diff(offset)
    taps = int(count.max(initial=0))
    tap, last = np.arange(taps)[:, None], np.maximum(count - 1, 0)
    place = np.minimum(tap, last)
    inputs = np.minimum(start + place, m.n_in // m.block - 1)
    if m.weight is None and np.all(count == taps):
        return TapTable(inputs, None, count)
    given = np.ones(int(offset[-1])) if m.weight is None else m.weight
    weight = given[np.minimum(offset[:-1] + place, len(given) - 1)] if len(given) else np.zeros(place.shape)
    if whole:
        return TapTable(inputs, np.where(tap < count, weight, 0.0), count)
    weight = weight * 0.5 ** np.where(tap < last, 0, np.minimum(tap - last + 1, taps - 1 - last))
    return TapTable(inputs, weight, count)
