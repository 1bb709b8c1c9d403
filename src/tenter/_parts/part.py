"""A part of a result, computed from chunks of the input."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.thread_count import one_thread
from tenter._arrays.types import Array, Ints
from tenter._execution import numpy_executor
from tenter._parts.rows import MapRows, SharedRows, local, positions
from tenter._plans.plan import plan_part
from tenter._specs.applied import only_copies
from tenter._specs.spec import Shape
from tenter.maps import Gather
from tenter.maps._values import trusted


class Reads(NamedTuple):
    """What a part reads along an axis.

    lengths: those of the input slices that are joined
    taken: the positions to take from the joined slices; None for all of them in order
    rows: the rows of a map to apply to these positions; None to return them unchanged
    """

    lengths: tuple[int, ...]
    taken: Ints | None
    rows: MapRows | None

    @property
    def as_they_are(self) -> bool:
        return len(self.lengths) == 1 and self.taken is None and self.rows is None


class FillValue(NamedTuple):
    """A fill value for outputs that read the padding.

    all_or_nothing: each output is either an input or the fill value
    widens: sums have a wider dtype until the fill value is added
    inside: for each resized axis, the rows of a map whose sums are the weight of inputs
    """

    value: Any
    all_or_nothing: bool
    widens: bool
    inside: tuple[tuple[int, SharedRows], ...]


class Part(NamedTuple):
    """A part of a result.

    reads: what it reads along each axis
    saturate: the result of `Spec.saturates`
    """

    reads: tuple[Reads, ...]
    dtype: Any
    saturate: bool
    fill_value: FillValue | None

    def made(self, *chunks: Any) -> Array:
        """Returns `values`, computed on one thread, because many parts are made at once."""
        with one_thread():
            return self.values(*chunks)

    def values(self, *chunks: Any) -> Array:
        """Returns the part's outputs. chunks: the input slices, in order, the last axis fastest. A part that is one
        unchanged slice shares its memory."""
        found: Array = self.of_block(self._joined(chunks), numpy_executor)
        return found

    def _joined(self, chunks: tuple[Any, ...]) -> Array:
        shape = tuple(sum(r.lengths) for r in self.reads)
        if len(chunks) == 1:
            return _checked(chunks[0], shape, self.dtype)
        block = np.empty(shape, self.dtype)
        for place, chunk in zip(itertools.product(*map(_places, self.reads)), chunks, strict=True):
            block[place] = _checked(chunk, block[place].shape, self.dtype)
        return block

    def of_block(self, block: Any, runs: Any) -> Any:
        """Returns the part's outputs from the joined slices. runs: their library's executor."""
        for axis, r in enumerate(self.reads):
            if r.taken is not None:
                block = _taken(block, r.taken, axis, runs)
        return (
            self._applied(block, runs)
            if self.fill_value is None
            else self._with_fill_value(block, self.fill_value, runs)
        )

    def _applied(self, block: Any, runs: Any) -> Any:
        rows = {axis: r.rows for axis, r in enumerate(self.reads) if r.rows is not None}
        return applied(block, rows, self.saturate, runs)

    def _with_fill_value(self, block: Any, fill_value: FillValue, runs: Any) -> Any:
        inside = runs.reshape(runs.ones(block, 1), (1,) * block.ndim)
        for axis, rows in fill_value.inside:
            at = positions(rows.whole, rows.lo, rows.hi)
            n = at.stop - at.start if isinstance(at, slice) else len(at)
            weight = applied(runs.ones(block, n), {0: rows}, False, runs)
            inside = inside * runs.reshape(weight, tuple([-1 if d == axis else 1 for d in range(block.ndim)]))
        y = self._applied(runs.widened(block) if fill_value.widens else block, runs)
        if isinstance(y, np.ndarray) and np.may_share_memory(y, block):  # NumPy arrays are changed in place
            y = y.copy()
        if fill_value.all_or_nothing:
            return runs.filled(y, inside > 0.5, fill_value.value)
        return runs.shifted(y, 1 - inside, fill_value.value, block)


def _places(reads: Reads) -> list[slice]:
    ends = list(itertools.accumulate(reads.lengths, initial=0))
    return list(map(slice, ends, ends[1:]))


def _checked(chunk: Any, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """Checks a slice of the input. Kernels trust it from here on."""
    found = np.asarray(chunk, dtype)
    if found.shape != shape:
        raise ValueError(f"x: expected a piece of shape {shape}, as its chunks say, got one of shape {found.shape}")
    return found


def applied(block: Any, rows: dict[int, Any], saturate: bool, runs: Any) -> Any:
    """Applies rows of maps, given by axis, to the inputs that they read."""
    if not rows:
        return block
    maps = tuple([(axis, local(r.whole, r.lo, r.hi)) for axis, r in rows.items()])
    if all(only_copies(m) for _, m in maps):
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
    gather = trusted(Gather, n_in=block.shape[axis], n_out=n, offset=np.arange(n + 1), index=index, weight=np.ones(n))
    return runs.run(block, plan_part(block, ((axis, gather),), {}, False))
