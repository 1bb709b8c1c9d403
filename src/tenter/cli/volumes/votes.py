"""Labels by majority: each voxel of a level has the most frequent label of those whose centers it covers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.integer]
Ends = tuple[tuple[int, int], ...]


class Votes:
    """Along one axis: output o covers the inputs from o * n_in / n_out to the next one's, by their centers."""

    def __init__(self, n_in: int, n_out: int) -> None:
        self.n_in, self.n_out = n_in, n_out

    def starts(self, lo: int, hi: int) -> npt.NDArray[np.int64]:
        """The first input of each output of a range, and of the one after it; in exact integers."""
        o = np.arange(lo, hi + 1, dtype=object)
        found = -((self.n_out - 2 * o * self.n_in) // (2 * self.n_out))
        return np.minimum(found.astype(np.int64), self.n_in)

    def reads(self, lo: int, hi: int) -> slice:
        """The inputs of outputs lo..hi - 1."""
        first, last = self.starts(lo, lo)[0], self.starts(hi, hi)[0]
        return slice(int(first), int(last))

    @property
    def most(self) -> int:
        """Inputs that one output covers at most."""
        return -(-self.n_in // self.n_out)


def elect(votes: Mapping[int, Votes], box: Ends, x: Labels) -> Labels:
    """The labels of a block. x: what it reads. Equally frequent labels: the smallest wins."""
    shape = tuple(hi - lo for lo, hi in box)
    y: Labels = np.empty(shape, x.dtype)
    starts = [
        votes[axis].starts(lo, hi) - votes[axis].starts(lo, lo)[0] if axis in votes else np.arange(hi - lo + 1)
        for axis, (lo, hi) in enumerate(box)
    ]
    # Outputs that cover as many inputs along each axis are elected together.
    lengths = [np.diff(s) for s in starts]
    for counts in itertools.product(*(np.unique(each).tolist() for each in lengths)):
        at = [np.flatnonzero(each == count) for each, count in zip(lengths, counts)]
        candidates = np.empty((math.prod(counts), *map(len, at)), x.dtype)
        for k, offset in enumerate(itertools.product(*map(range, counts))):
            candidates[k] = x[np.ix_(*(s[a] + d for s, a, d in zip(starts, at, offset)))]
        y[np.ix_(*at)] = _most_frequent(candidates)
    return y


def _most_frequent(candidates: Labels) -> Labels:
    """Along the first axis."""
    candidates.sort(axis=0)
    best: Labels = candidates[0].copy()
    run, longest = np.ones(best.shape, np.int32), np.ones(best.shape, np.int32)
    for before, here in itertools.pairwise(candidates):
        run = np.where(here == before, run + 1, 1).astype(np.int32)
        longer = run > longest
        np.copyto(longest, run, where=longer)
        np.copyto(best, here, where=longer)
    return best
