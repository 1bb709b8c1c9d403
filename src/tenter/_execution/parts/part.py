"""A part of a result, made of pieces of the input by the kernels for NumPy arrays."""

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
    dtype: np.dtype[Any]
    saturate: bool
    outside: Outside | None

    def made(self, *pieces: Any) -> Array:
        """`values` on one thread, as many parts are made beside each other."""
        with one_thread():
            return self.values(*pieces)

    def values(self, *pieces: Any) -> Array:
        """The outputs. pieces: of the input, those of the last axis next to each other. A part that is one piece as it
        is shares its memory."""
        block = self._put_together(pieces)
        return self._applied(block) if self.outside is None else self._with_outside(block, self.outside)

    def _put_together(self, pieces: tuple[Any, ...]) -> Array:
        shape = tuple(sum(r.lengths) for r in self.reads)
        if len(pieces) == 1:
            block = _checked(pieces[0], shape, self.dtype)
        else:
            block = np.empty(shape, self.dtype)
            for place, piece in zip(itertools.product(*map(_slices, self.reads)), pieces, strict=True):
                block[place] = _checked(piece, block[place].shape, self.dtype)
        for axis, r in enumerate(self.reads):
            if r.taken is not None:
                block = block.take(r.taken, axis)
        return block

    def _applied(self, block: Array) -> Array:
        return applied(block, {axis: r.rows for axis, r in enumerate(self.reads) if r.rows is not None}, self.saturate)

    def _with_outside(self, block: Array, outside: Outside) -> Array:
        inside = np.ones((1,) * block.ndim)
        for axis, rows in outside.inside:
            at = positions(rows.whole, rows.lo, rows.hi)
            n = at.stop - at.start if isinstance(at, slice) else len(at)
            weight = applied(np.ones(n), {0: rows}, False)
            inside = inside * weight.reshape([-1 if d == axis else 1 for d in range(block.ndim)])
        y = self._applied(numpy_executor.widened(block) if outside.widens else block)
        y = y.copy() if np.may_share_memory(y, block) else y
        if outside.fills:
            return numpy_executor.filled(y, np.broadcast_to(inside > 0.5, y.shape), outside.value)
        return numpy_executor.shifted(y, 1 - inside, outside.value, np.empty(0, self.dtype))


def _slices(reads: Reads) -> list[slice]:
    ends = list(itertools.accumulate(reads.lengths, initial=0))
    return list(map(slice, ends, ends[1:]))


def _checked(piece: Any, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """A piece, which kernels trust from here on."""
    found = np.asarray(piece, dtype)
    if found.shape != shape:
        raise ValueError(f"x: expected a piece of shape {shape}, as its chunks say, got one of shape {found.shape}")
    return found


def applied(block: Array, rows: dict[int, Any], saturate: bool) -> Array:
    """Rows of maps applied to what they read, by axis."""
    if not rows:
        return block
    maps = tuple([(axis, local(r.whole, r.lo, r.hi)) for axis, r in rows.items()])
    if not block.size:  # sums of nothing
        n_out = {axis: m.n_out for axis, m in maps}
        return np.zeros([n_out.get(d, n) for d, n in enumerate(block.shape)], block.dtype)
    if all(picks(m) for _, m in maps):
        return numpy_executor.run(block, plan_part(block, maps, {}, saturate))
    native = block.astype(block.dtype.newbyteorder("="), copy=False)
    wholes = {axis: r.whole for axis, r in rows.items()}
    made: Array = numpy_executor.run(native, plan_part(native, maps, wholes, saturate))
    return made.astype(block.dtype, copy=False)
