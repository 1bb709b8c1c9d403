"""Maps of several axes applied to an array by the standard."""

from collections.abc import Callable, Sequence
from typing import Any

from tenter._arrays.standard_arrays import namespace
from tenter._execution.standard import eight_bits, numbers
from tenter._execution.standard.along import along
from tenter._specs.applied import picks
from tenter._specs.spec import Maps
from tenter.maps import AxisMap

# Applies maps, each along its axis, to an array in the dtype of their sums.
Along = Callable[[Any, Sequence[tuple[int, AxisMap]]], Any]
# Makes complex numbers of their parts.
Join = Callable[[Any, Any], Any]


def applied(x: Any, maps: Maps, saturate: bool, along: Along = along, join: Join = numbers.joined) -> Any:
    """Copies go first, then what shrinks. saturate: 8-bit values are rounded to 8 bits after each axis."""
    copies = [(axis, m) for axis, m in maps if picks(m)]
    sums = [(axis, m) for axis, m in maps if not picks(m)]
    y = along(x, copies) if copies else x
    if not sums:
        return y
    if saturate:
        return eight_bits.applied(y, sums, along)
    sums.sort(key=lambda one: one[1].n_out > one[1].n_in)
    wide = numbers.summed_in(x, any(not m.ones for _, m in sums))
    xp = namespace(x)
    if numbers.is_complex(x):  # parts, as a weight as a complex number would add 0 times infinity
        parts = (along(xp.astype(part, wide), sums) for part in (xp.real(y), xp.imag(y)))
        return xp.astype(join(*parts), x.dtype)
    return numbers.into(along(xp.astype(y, wide), sums), x)
