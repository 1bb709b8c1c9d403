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


def applied(x: Any, sums: list[tuple[int, AxisMap]], along: Along) -> Any:
    if len(sums) == 2 and not _native.rows_before(*(n for _, m in sums for n in (m.n_in, m.n_out))):
        sums = sums[::-1]
    whole = all(isinstance(m, Window) and m._form.has_bytes for _, m in sums)
    for axis, m in sums:
        x = _in_integers(x, axis, m, along) if whole else _in_floats(x, axis, m, along)
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
