"""Maps by counts that lie on a device: where runs end is known there alone."""

from typing import NamedTuple

from tenter import _native


class Runs(NamedTuple):
    """Each input as often as its count says: a `Copy` whose offsets come with the call."""

    n_in: int
    n_out: int
    repeat: None = None
    block: int = 1

    @property
    def form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, False)

    @property
    def T(self) -> "RunSums":
        return RunSums(self.n_out, self.n_in)


class RunSums(NamedTuple):
    """Sums of runs, the transpose: a `Window` of ones whose offsets come with the call."""

    n_in: int
    n_out: int
    weight: None = None
    block: int = 1
    ones: bool = True

    @property
    def form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, True)

    @property
    def T(self) -> Runs:
        return Runs(self.n_out, self.n_in)


def _counts(n_in: int, n_out: int, sums: bool) -> _native.AxisMap:
    made = _native.AxisMap()
    made.set_counts(n_in, n_out, sums)
    return made
