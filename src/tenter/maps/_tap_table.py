"""The taps of a window's rows as a table, a row of which holds the k-th tap of every output."""

from typing import NamedTuple

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps._window import Window


class TapTable(NamedTuple):
    """inputs: the input of each output's k-th tap, [taps, n_out]. weight: the same of weights; None where all are one.
    n_taps: of each output.

    An output with fewer taps than others repeats its last one, and halves its weight over and over: such sums are
    exact, so inf and NaN stay where they are. Of whole numbers the weights that are missing are 0.
    """

    inputs: Ints
    weight: Floats | None
    n_taps: Ints


def tap_table(m: Window, whole: bool = False) -> TapTable:
    """The table of a window, its `block` left aside. whole: of weights that stay whole numbers."""
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
