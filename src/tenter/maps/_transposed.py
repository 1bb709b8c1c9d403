"""The transposes of copies and windows. A copy's transpose is a window, and a window's may be a copy."""

import numpy as np

from tenter import _native
from tenter.maps._computed import sums
from tenter.maps._copy import Copy
from tenter.maps._values import trusted
from tenter.maps._window import Window


def of_copy(m: Copy) -> Window:
    """Returns the transpose: segment sums."""
    # No reference to m: a cycle would keep large offsets alive until the garbage collector runs.
    if m._core is not None:
        return sums(m._core, True)
    offsets = m.offsets
    start = None if offsets is None else offsets[:-1]
    return trusted(
        Window, n_in=m.n_out, n_out=m.n_in, start=start, offset=offsets, weight=None, width=m.repeat, block=m.block
    )


def of_window(m: Window) -> Copy | Window:
    """Returns the transpose: a `Copy` if the rows have no weights and each input is in one row, else a `Window`."""
    made: Copy | Window | None = m.__dict__.get("_transpose")
    if made is None:
        made = m.__dict__["_transpose"] = _of_window(m)
        if (factors := m.__dict__.get("_factors")) is not None:
            made.__dict__["_factors"] = factors.T
    return made


def _of_window(m: Window) -> Copy | Window:
    if m.width is not None:
        return Copy(m.n_out, m.n_in, repeat=m.width, block=m.block)
    native = m.__dict__.get("_core")
    if native is not None and (rule := native.source_index) is not None:
        if native.transposed and rule.reads_all:
            return trusted(Copy, n_in=m.n_out, n_out=m.n_in, repeat=None, block=1, _core=rule)
        return sums(rule, not native.transposed)
    if native is not None and native.sampling is not None:
        made = _native.WindowMap(native.sampling, not native.transposed, False)
        return trusted(Window, n_in=m.n_out, n_out=m.n_in, width=None, block=1, _core=made)
    start, offset = m.rows()
    n_in = m.n_in // m.block
    if m.weight is None and np.array_equal(offset[:-1], start) and offset[-1] == n_in:
        return trusted(Copy, n_in=m.n_out, n_out=m.n_in, repeat=None, offsets=offset, block=m.block)
    first, offset_t, weight_t = _native.transposed_window(n_in, start, offset, m.weight)
    return trusted(
        Window, n_in=m.n_out, n_out=m.n_in, start=first, offset=offset_t, weight=weight_t, width=None, block=m.block
    )
