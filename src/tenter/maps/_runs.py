"""Maps by counts that lie on a device: where runs end is known there alone."""

from typing import NamedTuple


class Runs(NamedTuple):
    """Each input as often as its count says: a `Copy` whose offsets come with the call."""

    n_in: int
    n_out: int
    repeat: None = None
    block: int = 1

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
    def T(self) -> Runs:
        return Runs(self.n_out, self.n_in)
