"""What lies past the edges of an axis."""

import numpy as np

from tenter import _native
from tenter._arrays.types import Ints

# What stands for pixels past the edges of abcd: aa|abcd|dd, cb|abcd|cb, ba|abcd|dc, cd|abcd|ab, a constant, nothing
# (the other weights make up for it), and a constant for every output that itself lies outside.
EDGES = _native.WORDS["edge"]
# Those at which the axis goes on.
PERIODIC = _native.PERIODIC
NUMBERS = {edge: number for number, edge in enumerate(EDGES)}


def folded(column: Ints, n_in: int, edge: str) -> Ints:
    """The pixel that stands for each position, for those past the edges too."""
    if edge == "reflect" and n_in > 1:
        column = column % (2 * n_in - 2)
        return np.where(column >= n_in, 2 * n_in - 2 - column, column)
    if edge == "symmetric":
        column = column % (2 * n_in)
        return np.where(column >= n_in, 2 * n_in - 1 - column, column)
    if edge == "wrap":
        return column % n_in
    return np.clip(column, 0, n_in - 1)
