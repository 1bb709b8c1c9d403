"""A part of a result, made of pieces of the input."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.thread_count import one_thread
from tenter._arrays.types import Array, Ints
from tenter._execution import numpy_executor
from tenter._execution.parts.rows import Rows, Ruled, local, positions
from tenter._plans.plan import plan_part
from tenter._specs.applied import picks
from tenter._specs.spec import Shape
from tenter.maps import Gather
from tenter.maps._values import trusted


class Reads(NamedTuple):
    """What a part reads along an axis. lengths: of the pieces that are put together; taken: which of these
    positions, None for all; rows: of the map that is applied to them, None where they stay as they are."""

    lengths: tuple[int, ...]
    taken: Ints | None
    rows: Rows | None

    @property
    def as_they_are(self) -> bool:
        return len(self.lengths) == 1 and self.taken is None and self.rows is None


class Outside(NamedTuple):
    """A value for what lies past the edges. fills: whether an output is all inside or all outside. widens: whether sums
    are wider than the dtype until the value is added. inside: of each resized axis, the rows whose sums are the weight
    of inputs."""

    value: Any
    fills: bool
    widens: bool
    inside: tuple[tuple[int, Ruled], ...]


class Part(NamedTuple):
    """reads: along each axis. saturate: as `Spec.saturates`."""

    reads: tuple[Reads, ...]
    dtype: Any
    saturate: bool
    outside: Outside | None

    def made(self, *pieces: Any) -> Array:
        """`values` on one thread, as many parts are made beside each other."""
        with one_thread():
            return self.values(*pieces)

    def values(self, *pieces: Any) -> Array:
        """The outputs. pieces: of the input, those of the last axis next to each other. A part that is one piece as it
        is shares its memory."""
        found: Array = self.of_block(self._put_together(pieces), numpy_executor)
        return found

    def _put_together(self, pieces: tuple[Any, ...]) -> Array:
        shape = tuple(sum(r.lengths) for r in self.reads)
        if len(pieces) == 1:
            return _checked(pieces[0], shape, self.dtype)
        block = np.empty(shape, self.dtype)
        for place, piece in zip(itertools.product(*map(_slices, self.reads)), pieces, strict=True):
            block[place] = _checked(piece, block[place].shape, self.dtype)
        return block

    def of_block(self, block: Any, runs: Any) -> Any:
        """The outputs of the pieces put together. runs: the executor of their library."""
        for axis, r in enumerate(self.reads):
            if r.taken is not None:
                block = _taken(block, r.taken, axis, runs)
        return self._applied(block, runs) if self.outside is None else self._with_outside(block, self.outside, runs)

    def _applied(self, block: Any, runs: Any) -> Any:
        rows = {axis: r.rows for axis, r in enumerate(self.reads) if r.rows is not None}
        return applied(block, rows, self.saturate, runs)

    def _with_outside(self, block: Any, outside: Outside, runs: Any) -> Any:
        inside = runs.reshape(runs.ones(block, 1), (1,) * block.ndim)
        for axis, rows in outside.inside:
            at = positions(rows.whole, rows.lo, rows.hi)
            n = at.stop - at.start if isinstance(at, slice) else len(at)
            weight = applied(runs.ones(block, n), {0: rows}, False, runs)
            inside = inside * runs.reshape(weight, tuple([-1 if d == axis else 1 for d in range(block.ndim)]))
        y = self._applied(runs.widened(block) if outside.widens else block, runs)
        if isinstance(y, np.ndarray) and np.may_share_memory(y, block):  # as NumPy's are changed in place
            y = y.copy()
        if outside.fills:
            return runs.filled(y, inside > 0.5, outside.value)
        return runs.shifted(y, 1 - inside, outside.value, block)


def _slices(reads: Reads) -> list[slice]:
    ends = list(itertools.accumulate(reads.lengths, initial=0))
    return list(map(slice, ends, ends[1:]))


def _checked(piece: Any, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """A piece, which kernels trust from here on."""
    found = np.asarray(piece, dtype)
    if found.shape != shape:
        raise ValueError(f"x: expected a piece of shape {shape}, as its chunks say, got one of shape {found.shape}")
    return found


def applied(block: Any, rows: dict[int, Any], saturate: bool, runs: Any) -> Any:
    """Rows of maps applied to what they read, by axis."""
    if not rows:
        return block
    maps = tuple([(axis, local(r.whole, r.lo, r.hi)) for axis, r in rows.items()])
    if all(picks(m) for _, m in maps):
        return runs.run(block, plan_part(block, maps, {}, saturate))
    wholes = {axis: r.whole for axis, r in rows.items()}
    if not isinstance(block, np.ndarray):
        return runs.run(block, plan_part(block, maps, wholes, saturate))
    if not block.size:  # sums of nothing
        n_out = {axis: m.n_out for axis, m in maps}
        return np.zeros([n_out.get(d, n) for d, n in enumerate(block.shape)], block.dtype)
    native = block.astype(block.dtype.newbyteorder("="), copy=False)
    return runs.run(native, plan_part(native, maps, wholes, saturate)).astype(block.dtype, copy=False)


def _taken(block: Any, index: Ints, axis: int, runs: Any) -> Any:
    if isinstance(block, np.ndarray):
        return block.take(index, axis)
    n = len(index)
    picked = trusted(Gather, n_in=block.shape[axis], n_out=n, offset=np.arange(n + 1), index=index, weight=np.ones(n))
    return runs.run(block, plan_part(block, ((axis, picked),), {}, False))
