"""A part of a result, computed from chunks of the input."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays.thread_count import one_thread
from tenter._arrays.types import Array, Ints
from tenter._execution import election, numpy_executor
from tenter._parts.rows import MapRows, SharedRows, local, positions
from tenter._parts.values import applied
from tenter._specs.spec import Shape
from tenter.maps import AxisMap


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
    rounding: of the result
    labels: of labels, the one outside of x, or None in it
    """

    reads: tuple[Reads, ...]
    dtype: Any
    rounding: str
    fill_value: FillValue | None
    labels: tuple[int | None] | None = None

    def made(self, *chunks: Any) -> Array:
        """Returns `values`, computed on one thread, because many parts are made at once."""
        with one_thread():
            return self.values(*chunks)

    def values(self, *chunks: Any) -> Array:
        """Returns the part's outputs. chunks: the input slices, in order, the last axis fastest. A part that is one
        unchanged slice shares its memory."""
        block = self._joined(chunks)
        for axis, r in enumerate(self.reads):
            if r.taken is not None:
                block = block.take(r.taken, axis)
        return self._applied(block) if self.fill_value is None else self._with_fill_value(block, self.fill_value)

    def _joined(self, chunks: tuple[Any, ...]) -> Array:
        shape = tuple(sum(r.lengths) for r in self.reads)
        if len(chunks) == 1:
            return _checked(chunks[0], shape, self.dtype)
        block = np.empty(shape, self.dtype)
        for place, chunk in zip(itertools.product(*map(_places, self.reads)), chunks, strict=True):
            block[place] = _checked(chunk, block[place].shape, self.dtype)
        return block

    def _applied(self, block: Array) -> Array:
        maps, wholes = _maps({axis: r.rows for axis, r in enumerate(self.reads) if r.rows is not None})
        if self.labels is None:
            return applied(block, maps, wholes, self.rounding)
        y = np.empty(tuple(maps[axis].n_out if axis in maps else n for axis, n in enumerate(block.shape)), block.dtype)
        election.elect(block, maps, wholes, *self.labels, y)
        return y

    def _with_fill_value(self, block: Array, fill_value: FillValue) -> Array:
        inside = np.ones((1,) * block.ndim)
        for axis, rows in fill_value.inside:
            at = positions(rows.whole, rows.lo, rows.hi)
            n = at.stop - at.start if isinstance(at, slice) else len(at)
            weight = applied(np.ones(n), *_maps({0: rows}))
            inside = inside * weight.reshape(tuple([-1 if d == axis else 1 for d in range(block.ndim)]))
        y = self._applied(numpy_executor.widened(block) if fill_value.widens else block)
        if np.may_share_memory(y, block):  # it is changed in place
            y = y.copy()
        if fill_value.all_or_nothing:
            return numpy_executor.filled(y, inside > 0.5, fill_value.value)
        return numpy_executor.shifted(y, 1 - inside, fill_value.value, block)


def _places(reads: Reads) -> list[slice]:
    ends = list(itertools.accumulate(reads.lengths, initial=0))
    return list(map(slice, ends, ends[1:]))


def _checked(chunk: Any, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """Checks a slice of the input. Kernels trust it from here on."""
    found = np.asarray(chunk, dtype)
    if found.shape != shape:
        raise ValueError(f"x: expected a piece of shape {shape}, as its chunks say, got one of shape {found.shape}")
    return found


def _maps(rows: dict[int, Any]) -> tuple[dict[int, AxisMap], dict[int, AxisMap]]:
    """Returns the maps of rows, by axis, and the whole maps."""
    return {axis: local(r.whole, r.lo, r.hi) for axis, r in rows.items()}, {a: r.whole for a, r in rows.items()}
