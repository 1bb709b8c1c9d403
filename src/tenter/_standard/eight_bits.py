"""Antialiased 8-bit values. Each axis rounds to 8 bits, in Pillow's order of axes. They are computed in integers if the
weights are multiples of 2**-22 whose sums fit 32 bits, as in the core's kernels."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenter import _native
from tenter._arrays.standard_arrays import namespace
from tenter._standard import numbers
from tenter.maps import AxisMap, Window
from tenter.maps._values import trusted

UNIT = 2.0**22
Along = Callable[[Any, Sequence[tuple[int, AxisMap]]], Any]


Sums = Sequence[tuple[int, AxisMap]]


def in_order(sums: Sums) -> Sums:
    """Returns the axes with their maps, in Pillow's order of axes. sums: ascending axes."""
    rows_first = len(sums) != 2 or _native.rows_before(*(n for _, m in sums for n in (m.n_in, m.n_out)))
    return sums if rows_first else sums[::-1]


def are_exact(sums: Sums) -> bool:
    """True if sums of 8-bit values are exact in 32 bits, in units of 2**-22."""
    return all(isinstance(m, Window) and m._form.has_bytes for _, m in sums)


def applied(x: Any, sums: Sums, along: Along) -> Any:
    of_axis = _in_integers if are_exact(sums) else _in_floats
    for axis, m in in_order(sums):
        x = of_axis(x, axis, m, along)
    return x


def _in_integers(x: Any, axis: int, m: AxisMap, along: Along) -> Any:
    xp = namespace(x)
    assert isinstance(m, Window)
    start, offset = m.rows()
    assert m.weight is not None
    units = trusted(
        Window, n_in=m.n_in, n_out=m.n_out, start=start, offset=offset, weight=np.rint(m.weight * UNIT), width=None,
        block=1,
    )  # fmt: skip
    y = along(xp.astype(x, xp.int32), [(axis, units)])
    return xp.astype(xp.clip((y + (1 << 21)) >> 22, 0, 255), x.dtype)


def _in_floats(x: Any, axis: int, m: AxisMap, along: Along) -> Any:
    wide = numbers.summed_in(x, True)
    return numbers.into(along(namespace(x).astype(x, wide), [(axis, m)]), x)
