"""Rows of maps: which inputs some outputs read, and the map from these. Where the maps of a part come from, in this
process or another."""

import uuid
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.kept import kept
from tenter._arrays.types import Ints
from tenter._specs.spec import Shape, Spec
from tenter.maps import AxisMap, Copy, Gather, Window
from tenter.maps._part import part, reads

# Rules of other processes whose maps are kept.
MOST = 64


def positions(m: AxisMap, lo: int, hi: int) -> slice | Ints:
    """The inputs that outputs lo..hi - 1 are made of, in the order in which `local` reads them."""
    if isinstance(m, Gather):
        if m.picks:
            return m.index[lo:hi]
        order, sums = m.laid_out
        return order[reads(sums, lo, hi)]
    if m.block == 1:
        return reads(m, lo, hi)
    assert isinstance(m, Copy)
    if m.repeat is None or m.block < m.n_in:
        return m.index()[lo:hi]
    if _tiles(m, lo, hi):
        return slice(0, m.n_in)
    first = lo % m.n_in
    return slice(first, first + hi - lo) if first + hi - lo <= m.n_in else np.arange(lo, hi) % m.n_in


def stays(m: AxisMap, lo: int, hi: int) -> bool:
    """True if outputs lo..hi - 1 are these inputs as they are."""
    if isinstance(m, Gather):
        return m.picks
    return isinstance(m, Copy) and m.block > 1 and _tiles(m, lo, hi) < 2


def local(m: AxisMap, lo: int, hi: int) -> AxisMap:
    """The map of outputs lo..hi - 1, which do not stay, from these inputs."""
    if isinstance(m, Gather):
        return part(m.laid_out[1], lo, hi)[1]
    return part(m, lo, hi)[1] if m.block == 1 else Copy.cycle(m.n_in, _tiles(m, lo, hi))  # type: ignore[arg-type]


def _tiles(m: Copy, lo: int, hi: int) -> int:
    """How often outputs are the whole axis over and over; 0 if they are not."""
    if m.repeat is None or m.block < m.n_in or lo % m.n_in or hi % m.n_in:
        return 0
    return (hi - lo) // m.n_in


def without_blocks(m: AxisMap) -> AxisMap:
    """The same map, a sum of blocks as one of their positions."""
    if not isinstance(m, Window) or m.block == 1:
        return m
    blocks, inputs, weight = m.taps()
    inside = np.arange(m.block)
    row, column = ((of[:, None] * m.block + inside).reshape(-1) for of in (blocks, inputs))
    order = np.argsort(row, kind="stable")  # each row's taps stay in order
    offset = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m.n_out))])
    return Gather(m.n_in, m.n_out, offset, column[order], np.repeat(weight, m.block)[order])


class Rule:
    """The maps of a specification that is small: each process that needs them makes them once."""

    def __init__(self, token: str, spec: Spec, shape: Shape, dtype: str) -> None:
        self.token, self.spec, self.shape, self.dtype = token, spec, shape, dtype

    @classmethod
    def of(cls, spec: Spec, shape: Shape, dtype: str) -> "Rule":
        return cls(uuid.uuid4().hex, spec, shape, dtype)

    @kept
    def maps(self) -> dict[int, AxisMap]:
        """Of the axes that change."""
        found = self.spec.maps(self.shape, self.dtype, False)
        return {axis: m for axis, m in found if not (isinstance(m, Copy) and m.repeat == 1)}

    def __reduce__(self) -> Any:
        return _received, (self.token, self.spec, self.shape, self.dtype)


_rules: OrderedDict[str, Rule] = OrderedDict()


def _received(token: str, spec: Spec, shape: Shape, dtype: str) -> Rule:
    """The same rule for all parts of a call, with its maps."""
    found = _rules.setdefault(token, Rule(token, spec, shape, dtype))
    while len(_rules) > MOST:
        _rules.popitem(last=False)
    return found


class Ruled(NamedTuple):
    """Rows lo..hi - 1 of an axis of a rule."""

    rule: Rule
    axis: int
    lo: int
    hi: int

    @property
    def whole(self) -> AxisMap:
        return self.rule.maps[self.axis]


class Given:
    """Rows lo..hi - 1 of a map whose tables may be large: another process gets these rows alone."""

    def __init__(self, whole: AxisMap, lo: int, hi: int) -> None:
        self.whole, self.lo, self.hi = whole, lo, hi

    def __reduce__(self) -> Any:
        return Given, (local(self.whole, self.lo, self.hi), 0, self.hi - self.lo)


Rows = Ruled | Given
