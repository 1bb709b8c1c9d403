"""Tables of runs and of rows of adjacent inputs: their invariants, and conversions between them."""

import numpy as np

from tenter._arrays.types import Floats, Ints
from tenter.maps._values import require


def check_offsets(n_in: int, n_out: int, offsets: Ints) -> None:
    """Raises ValueError for tables that break a copy's invariants."""
    require(offsets.shape == (n_in + 1,) and offsets[0] == 0 and offsets[-1] == n_out, "offsets from 0 to n_out")
    require(np.all(offsets[1:] >= offsets[:-1]), "ascending offsets")


def runs_of(index: Ints, n_in: int) -> tuple[int | None, Ints | None]:
    """Returns the repeat, or else the offsets, of a copy given by source indices."""
    require((not index.size or (index[0] >= 0 and index[-1] < n_in)), "indices in [0, n_in)")
    require(np.all(index[1:] >= index[:-1]), "indices that do not descend")
    n_out = len(index)
    repeat = n_out // n_in if n_in else 0
    if n_out == n_in * repeat and np.array_equal(index, np.arange(n_out) // max(repeat, 1)):
        return repeat, None
    return None, np.searchsorted(index, np.arange(n_in + 1)).astype(np.int64)


def index_of(n_out: int, repeat: int | None, offsets: Ints | None) -> Ints:
    """Returns the source index of each output of a copy."""
    if offsets is None:
        return np.arange(n_out, dtype=np.int64) // max(repeat or 0, 1)
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def inputs_at(offsets: Ints | None, outputs: list[int]) -> list[int]:
    """Returns the inputs that some outputs of a copy by offsets read, without a table of all."""
    assert offsets is not None
    found: list[int] = (np.searchsorted(offsets, outputs, side="right") - 1).tolist()
    return found


def check_rows(n_in: int, n_out: int, start: Ints, offset: Ints, weight: Floats | None) -> None:
    """Raises ValueError for tables that break a window's invariants."""
    require(start.shape == (n_out,) and offset.shape == (n_out + 1,) and offset[0] == 0, "a start and stop per row")
    # checked first, because differences and sums of other values may wrap
    require(np.all(offset[1:] >= offset[:-1]), "ascending offsets")
    count = np.diff(offset)
    require(np.all(start >= 0) and np.all(count <= n_in) and np.all(start <= n_in - count), "windows inside [0, n_in)")
    stop = start + count
    require(np.all(start[1:] >= start[:-1]) and np.all(stop[1:] >= stop[:-1]), "windows that do not descend")
    require(weight is None or weight.shape == (offset[-1],), "a weight per tap")
