"""Rows of maps: which inputs some outputs read, and the map from these inputs to the outputs. The maps of a part may
come from another process."""

from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.cached import cached
from tenter._arrays.types import Ints
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._kinds import changing
from tenter.maps._part import laid_out, part, reads


def positions(m: AxisMap, lo: int, hi: int) -> slice | Ints:
    """Returns the inputs that outputs lo..hi - 1 read, in the order that `local` reads them."""
    if isinstance(m, Gather) and m.picks:
        return m.index[lo:hi]
    if m.block == 1:
        order, rows = laid_out(m)
        at = reads(rows, lo, hi)
        return at if order is None else order[at]
    assert isinstance(m, Copy)
    if m.repeat is None or m.block < m.n_in:
        return m.index()[lo:hi]
    if _tiles(m, lo, hi):
        return slice(0, m.n_in)
    first = lo % m.n_in
    return slice(first, first + hi - lo) if first + hi - lo <= m.n_in else np.arange(lo, hi) % m.n_in


def stays(m: AxisMap, lo: int, hi: int) -> bool:
    """True if outputs lo..hi - 1 are these inputs, unchanged."""
    if isinstance(m, Gather):
        return m.picks
    return isinstance(m, Copy) and m.block > 1 and _tiles(m, lo, hi) < 2


def local(m: AxisMap, lo: int, hi: int) -> AxisMap:
    """Returns the map from these inputs to outputs lo..hi - 1. Not for outputs for which `stays` is true."""
    return part(laid_out(m)[1], lo, hi)[1] if m.block == 1 else Copy.tile(m.n_in, _tiles(m, lo, hi))  # type: ignore[arg-type]


def _tiles(m: Copy, lo: int, hi: int) -> int:
    """Returns how often outputs lo..hi - 1 repeat the whole axis; 0 if they do not."""
    if m.repeat is None or m.block < m.n_in or lo % m.n_in or hi % m.n_in:
        return 0
    return (hi - lo) // m.n_in


def without_blocks(m: AxisMap) -> AxisMap:
    """Returns the same map without blocks. A sum of blocks becomes a sum of positions."""
    if not isinstance(m, Window) or m.block == 1:
        return m
    blocks, inputs, weight = m.taps()
    inside = np.arange(m.block)
    row, column = ((of[:, None] * m.block + inside).reshape(-1) for of in (blocks, inputs))
    order = np.argsort(row, kind="stable")  # each row's taps stay in order
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m.n_out))])
    return Gather(m.n_in, m.n_out, offset, column[order], np.repeat(weight, m.block)[order])


class SharedMaps:
    """The maps of a specification. Only the small specification is sent to other processes. They make the maps again,
    or find them in the cache of axis maps."""

    def __init__(self, spec: Spec, shape: Shape, dtype: str) -> None:
        self.spec, self.shape, self.dtype = spec, shape, dtype

    @cached
    def maps(self) -> dict[int, AxisMap]:
        """Returns the maps of the axes that change."""
        return dict(changing(self.spec.maps(self.shape, self.dtype, False)))

    def __reduce__(self) -> Any:
        return SharedMaps, (self.spec, self.shape, self.dtype)


class SharedRows(NamedTuple):
    """Rows lo..hi - 1 of one axis's shared map."""

    shared: SharedMaps
    axis: int
    lo: int
    hi: int

    @property
    def whole(self) -> AxisMap:
        return self.shared.maps[self.axis]


class OwnRows:
    """Rows lo..hi - 1 of a map that may have large tables. Only these rows are sent to other processes."""

    def __init__(self, whole: AxisMap, lo: int, hi: int) -> None:
        self.whole, self.lo, self.hi = whole, lo, hi

    def __reduce__(self) -> Any:
        return OwnRows, (local(self.whole, self.lo, self.hi), 0, self.hi - self.lo)


MapRows = SharedRows | OwnRows
