"""Maps of several axes, applied to an array that follows the Array API."""

from collections.abc import Callable, Sequence
from typing import Any

from tenter._arrays.standard_arrays import namespace
from tenter._rules.rounding import by_axis
from tenter._specs.spec import Maps
from tenter._standard import eight_bits, numbers
from tenter._standard.along import along
from tenter.maps import AxisMap
from tenter.maps._kinds import only_copies

# Applies maps, each along its axis, to an array in the dtype of their sums.
Along = Callable[[Any, Sequence[tuple[int, AxisMap]]], Any]
# Makes complex numbers from their parts.
Join = Callable[[Any, Any], Any]


def applied(x: Any, maps: Maps, rounding: str, along: Along = along, join: Join = numbers.joined) -> Any:
    """Applies maps: copies first, then the maps that shrink, then the rest. rounding: of the
    result."""
    copies = [(axis, m) for axis, m in maps if only_copies(m)]
    sums = [(axis, m) for axis, m in maps if not only_copies(m)]
    y = along(x, copies) if copies else x
    if not sums:
        return y
    if by_axis(rounding):
        return eight_bits.applied(y, sums, along)
    sums.sort(key=lambda one: one[1].n_out > one[1].n_in)
    wide = numbers.summed_in(x, any(not m.ones for _, m in sums))
    xp = namespace(x)
    if numbers.is_complex(x):  # by parts, because complex weights would add 0 * inf
        parts = (along(xp.astype(part, wide), sums) for part in (xp.real(y), xp.imag(y)))
        return xp.astype(join(*parts), x.dtype)
    return numbers.into(along(xp.astype(y, wide), sums), x)
