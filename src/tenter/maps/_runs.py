"""Maps by counts on a device. Only the device knows where runs end."""

from typing import NamedTuple

from tenter import _native


class Runs(NamedTuple):
    """A `Copy` by counts whose offsets are passed to each call."""

    n_in: int
    n_out: int
    repeat: None = None
    block: int = 1

    @property
    def _form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, False)

    @property
    def T(self) -> "RunSums":
        return RunSums(self.n_out, self.n_in)


class RunSums(NamedTuple):
    """The transpose of `Runs`: a `Window` of ones whose offsets are passed to each call."""

    n_in: int
    n_out: int
    weight: None = None
    block: int = 1
    ones: bool = True

    @property
    def _form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, True)

    @property
    def T(self) -> Runs:
        return Runs(self.n_out, self.n_in)


def _counts(n_in: int, n_out: int, sums: bool) -> _native.AxisMap:
    made = _native.AxisMap()
    made.set_counts(n_in, n_out, sums)
    return made
