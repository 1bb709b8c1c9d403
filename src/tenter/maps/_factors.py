"""The two maps whose product a map is, if they are applied faster one after the other."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tenter.maps._gather import Gather
    from tenter.maps._window import Window


class Factors(NamedTuple):
    """`first` is applied before `second`. transposed: of the transpose of a map, whose order is the other."""

    first: "Window | Gather"
    second: "Window | Gather"
    transposed: bool

    @property
    def T(self) -> "Factors":
        return Factors(self.second.T, self.first.T, not self.transposed)  # type: ignore[arg-type]  # weights are not one
