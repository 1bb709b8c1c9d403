"""Indices, masks, padded arrays and extremes of segments, in host memory. The core's kernels get addresses. The offsets
that they read were checked, and nobody else can change them."""

import math
from typing import Any, Protocol

import numpy as np

from tenter import _native
from tenter._arrays import blocks, limits
from tenter._arrays.dtypes import NUMBERS
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, of
from tenter._arrays.numpy_arrays import address
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array
from tenter._specs.segments import Segments


class Allocate(Protocol):
    def __call__(self, x: Any, shape: tuple[int, ...]) -> tuple[Any, int, bool]:
        """Allocates a result of x's kind and dtype. Returns the array, its address, and whether streaming stores should
        write it."""


def _check(x: Any, dim: int, n: int, or_more: bool = False) -> None:
    """Refuses an x that is shorter than when it was checked. Reading a later argument may have run code that frees x's
    memory."""
    if x.shape[dim] < n or (x.shape[dim] > n and not or_more):
        refuse(ValueError, "x", "an array that stays as it is during the call", "one that was changed")


# ---- indices


def row_ids(s: Segments) -> Array:
    return _ranges(s, s.dtype, ids=True)


def positions(s: Segments) -> Array:
    return _ranges(s, s.dtype)


def ranges(s: Segments, starts: Any, steps: Any, int32: bool) -> Array:
    """starts, steps: an int, or an int64 array with one value for each row."""
    return _ranges(s, np.int32 if int32 else np.int64, starts, steps)


def _ranges(s: Segments, dtype: type, starts: Any = 0, steps: Any = 1, ids: bool = False) -> Array:
    limits.memory((s.total,), np.dtype(dtype).itemsize)
    y, at, past_caches = blocks.empty((s.total,), np.dtype(dtype))
    (start_table, start), (step_table, step) = _table_and_number(starts), _table_and_number(steps)
    wrong = _native.ranges(
        address(s.offsets), s.n, start_table, step_table, start, step, ids, at, dtype is np.int32,
        thread_count(), past_caches,
    )  # fmt: skip
    if wrong >= 0:
        start, step = (int(v[wrong]) if isinstance(v, np.ndarray) else v for v in (starts, steps))
        got = f"{int(s.offsets[wrong + 1] - s.offsets[wrong])} from {start} by {step} in row {wrong}"
        refuse(ValueError, "starts", f"ranges of {dtype.__name__}", got)
    return y


def _table_and_number(values: Any) -> tuple[int, int]:
    """Returns (address of one int64 for each row, 0), or (0, the number for all rows)."""
    return (address(values), 0) if isinstance(values, np.ndarray) else (0, values)


# ---- padded arrays


def mask(s: Segments, length: int) -> Array:
    limits.memory((s.n, length), 1)
    y = blocks.empty((s.n, length), np.dtype(np.bool_))[0]
    if y.size:
        _native.pad(
            0, address(y), address(s.offsets), s.padding_side == "left", s.n, length, 1, 0, 0, thread_count()
        )  # fmt: skip
    return y


def pad(x: Any, s: Segments, length: int, value: Array, allocate: Allocate) -> Any:
    """Returns contiguous x with its rows padded, in a new dim. value: one element, as bytes of x's dtype."""
    _check(x, 0, s.total)
    shape = (s.n, length, *x.shape[1:])
    limits.memory(shape, of(x).itemsize(x))
    y, at, _ = allocate(x, shape)
    each = math.prod(x.shape[1:]) * of(x).itemsize(x)
    if each and s.n and length:
        _native.pad(
            of(x).address(x), at, address(s.offsets), s.padding_side == "left", s.n, length, each, address(value),
            value.nbytes, thread_count(),
        )  # fmt: skip
    return y


def repeat_padded(x: Any, offsets: Array, length: int, value: Array, allocate: Allocate) -> Any:
    """Repeats contiguous x[B, T, ...] by counts with these offsets, and pads the rows. value: one element, as bytes of
    x's dtype."""
    n_rows, width = x.shape[:2]
    _check(x, 0, n_rows if n_rows * width == len(offsets) - 1 else -1)
    shape = (n_rows, length, *x.shape[2:])
    limits.memory(shape, of(x).itemsize(x))
    y, at, past_caches = allocate(x, shape)
    each = math.prod(x.shape[2:]) * of(x).itemsize(x)
    if each and n_rows and length:
        _native.repeat_padded(
            of(x).address(x), at, address(offsets), n_rows, width, length, each, address(value), value.nbytes,
            thread_count(), past_caches,
        )  # fmt: skip
    return y


def unpad(x: Any, s: Segments, allocate: Allocate) -> Any:
    _check(x, 0, s.n)
    _check(x, 1, int(s.lengths.max(initial=0)), or_more=True)
    shape = (s.total, *x.shape[2:])
    y, at, _ = allocate(x, shape)
    each = math.prod(x.shape[2:]) * of(x).itemsize(x)
    if each and s.total:
        _native.unpad(
            of(x).address(x), at, address(s.offsets), s.padding_side == "left", s.n, x.shape[1], each, thread_count()
        )
    return y


def spans(starts: Array, ends: Array, length: int) -> Array:
    """Returns the mask of positions between starts and ends, along the last dim of checked spans."""
    shape = (*starts.shape[:-1], length)
    limits.memory(shape, 1)
    y = blocks.empty(shape, np.dtype(np.bool_))[0]
    if not starts.size:
        y.fill(False)
    elif y.size:
        starts, ends, marked = (a.reshape(-1, a.shape[-1]) for a in (starts, ends, y))  # the core reads 8 dims
        starts, ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        written = _native.ragged_spans(starts, ends, length, marked)
        assert written is not None
    return y


# ---- extremes


def extremes(
    x: Any, s: Segments, dim: int, largest: bool, placed: bool, allocate: Allocate
) -> tuple[Any, Array | None]:
    """Returns the largest or smallest value of each row of contiguous x. placed: also return their positions, -1 for
    empty rows."""
    _check(x, dim, s.total)
    shape = (*x.shape[:dim], s.n, *x.shape[dim + 1 :])
    y, at, _ = allocate(x, shape)
    where = np.empty(shape, np.int64) if placed else None
    outer, inner = math.prod(x.shape[:dim]), math.prod(x.shape[dim + 1 :])
    name = dtype_name(x)
    if outer and inner and s.n:
        _native.extremes(
            of(x).address(x), at, 0 if where is None else address(where), NUMBERS["uint8" if name == "bool" else name],
            address(s.offsets), s.n, outer, inner, largest, thread_count(),
        )  # fmt: skip
    return y, where
