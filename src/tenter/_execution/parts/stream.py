"""A result made a box at a time from whatever can be read by slices: files, memory maps."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tenter._arrays.types import Array
from tenter._execution.parts.work import Work

Place = tuple[slice, ...]


def streamed(work: Work, read: Callable[[Place], Array], lengths: Sequence[int]) -> Iterator[tuple[Place, Array]]:
    """Each box of the result, of these lengths or shorter at the ends, and where it goes. read: the input at a place.

    Uses as many threads as other calls do. Holds what one box reads, and the box.
    """
    axes = []
    for axis, (n, n_out, length) in enumerate(zip(work.shape, work.shape_out, lengths)):
        boxes = [(lo, min(lo + length, n_out)) for lo in range(0, n_out, length)]
        ends = np.array([n], np.int64)  # one piece
        axes.append([(*work.reads(axis, lo, hi, ends), (lo, hi)) for lo, hi in boxes])
    for box in itertools.product(*axes):
        reads, pieces, ranges = zip(*box)
        places = [tuple([some for _, some in one]) for one in itertools.product(*pieces)]
        part = work.part(reads, ranges)
        yield tuple([slice(*r) for r in ranges]), part.values(*map(read, places))
