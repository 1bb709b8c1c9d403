"""Maps by counts on a device. Only the device knows where runs end."""

from typing import NamedTuple

from tenter import _native


class CountCopy(NamedTuple):
    """A `Copy` by counts whose offsets are passed to each call."""

    n_in: int
    n_out: int
    repeat: None = None
    block: int = 1

    @property
    def _form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, False)

    @property
    def T(self) -> "CountSums":
        return CountSums(self.n_out, self.n_in)


class CountSums(NamedTuple):
    """The transpose of `CountCopy`: a `Window` of ones whose offsets are passed to each call."""

    n_in: int
    n_out: int
    weight: None = None
    block: int = 1
    ones: bool = True

    @property
    def _form(self) -> _native.AxisMap:
        return _counts(self.n_in, self.n_out, True)

    @property
    def T(self) -> CountCopy:
        return CountCopy(self.n_out, self.n_in)


def _counts(n_in: int, n_out: int, sums: bool) -> _native.AxisMap:
    made = _native.AxisMap()
    made.set_counts(n_in, n_out, sums)
    return made
