"""The passes of a plan as the core returns them, with the Python maps whose tables the launches read."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tenter._arrays.dtypes import NUMBERS
from tenter._plans import passes as planner
from tenter.maps import AxisMap, Gather
from tenter.maps._counts import CountCopy, CountSums

# Memories that a pass reads and writes: the call's input and output, then temporaries (native/plan/planner.hpp).
INPUT, OUTPUT, FIRST_TEMPORARY = range(3)
_NAMES = {number: name for name, number in NUMBERS.items()}


class Buffer(NamedTuple):
    """A part of a call's memory, from byte `at` on. dtype: the dtype of the values that are summed."""

    memory: int
    at: int
    dtype: str
    itemsize: int


class SourceIndices(NamedTuple):
    """Source indices in any order."""

    n_in: int
    n_out: int
    block_index: Any
    block: int = 1

    @property
    def _blocks(self) -> Any:
        """Returns them by the name that a `Copy` has for its own."""
        return self.block_index


class MappedDim(NamedTuple):
    """A dim of an array, with its stride in bytes and the map along it. Dims are listed from slowest to fastest."""

    n: int
    stride: int
    map: AxisMap | SourceIndices | CountCopy | CountSums | None = None

    @property
    def n_out(self) -> int:
        return self.map.n_out // self.map.block if self.map is not None else self.n


class Pass(NamedTuple):
    """A pass.

    copies: True to copy along all dims that have maps, False to sum along `axes`
    spare: the temporary for a packed copy of the input, if it is needed
    """

    copies: bool
    source: Buffer
    target: Buffer
    dims: list[MappedDim]
    axes: list[int]
    spare: int


def read(passes: Iterable[planner.Pass], maps: list[Any]) -> Iterator[Pass]:
    """Reads the core's passes. maps: those that the core was given."""
    for p in passes:
        axes = list(range(p.first, p.first + p.n_axes))
        dims = [_dim(maps, d) for d in p.dims]
        yield Pass(p.copies, _buffer(p.source), _buffer(p.target), dims, axes, p.spare - FIRST_TEMPORARY)


def _buffer(b: planner.CoreBuffer) -> Buffer:
    return Buffer(b.memory, b.at, _NAMES.get(b.number, ""), b.itemsize)


def _dim(maps: list[Any], d: planner.PassDim) -> MappedDim:
    if d.map < 0:
        return MappedDim(d.n, d.stride)
    m = maps[d.map]
    if isinstance(m, Gather):
        if m.picks:
            m = SourceIndices(m.n_in, m.n_out, m.index)
        else:
            order, sums = m._in_order
            m = SourceIndices(m.n_in, len(order), order) if d.part == "order" else sums
    return MappedDim(d.n, d.stride, m)
