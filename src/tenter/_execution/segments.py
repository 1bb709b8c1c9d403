"""Segments from any of the forms that describe them, and these forms again: in arrays that the host reads, by the core;
of tensors that are recorded or on a device, by the library's own expressions."""

from typing import Any

import numpy as np

from tenter._arrays import library
from tenter._arrays.arguments import integer
from tenter._arrays.errors import refuse
from tenter._arrays.library import compiling, dtype_name, is_array, on_device, recorded, surely
from tenter._arrays.limits import number
from tenter._execution import executor, segmented
from tenter._specs import segments as spec
from tenter._specs.segments import Segments


def later(values: Any) -> bool:
    """True where the host can't read values now."""
    return compiling() or recorded(values) or on_device(values)


def expressions(values: Any) -> Any:
    """The module of a library's expressions; of lists, those of the compiler that follows them."""
    tensor = is_array(values) and not isinstance(values, np.ndarray)
    return executor.of_segments(values).recording if tensor else executor.of_compiler().recording


# ---- from


def of_lengths(lengths: Any, total: Any, called: str) -> Segments:
    """called: the public function, for what is found wrong later."""
    if later(lengths):
        return expressions(lengths).of_lengths(lengths, total, called)  # type: ignore[no-any-return]
    return spec.of_lengths("lengths", lengths, total)


def of_offsets(offsets: Any, total: Any = None) -> Segments:
    if later(offsets):
        return expressions(offsets).of_offsets(offsets, total)  # type: ignore[no-any-return]
    return spec.of_offsets("offsets", offsets, total)


def of_row_ids(row_ids: Any, n: Any) -> Segments:
    if later(row_ids):
        return expressions(row_ids).of_row_ids(row_ids, n)  # type: ignore[no-any-return]
    return spec.of_row_ids("row_ids", row_ids, n)


def of_positions(positions: Any) -> Segments:
    if later(positions):
        return expressions(positions).of_positions(positions)  # type: ignore[no-any-return]
    return spec.of_positions("positions", positions)


def of_mask(mask: Any) -> Segments:
    if later(mask):
        return expressions(mask).of_mask(mask)  # type: ignore[no-any-return]
    return spec.of_mask("mask", mask)


# ---- to


def total(s: Segments) -> Any:
    return s.total if s.total is not None else expressions(s.offsets).total(s)


def longest(s: Segments) -> Any:
    return spec.longest(s) if s.known else expressions(s.offsets).longest(s)


def lengths(s: Segments) -> Any:
    return _given(s, s.lengths) if s.known else expressions(s.offsets).lengths(s)


def offsets(s: Segments, shared: bool) -> Any:
    """shared: the segments stay in use. Then these are in memory of their own, as kernels trust the segments'."""
    if not s.known:
        return expressions(s.offsets).offsets(s)
    return _given(s, s.offsets.copy() if shared and not s.int32 else s.offsets)


def row_ids(s: Segments) -> Any:
    return _given(s, segmented.row_ids(s)) if s.known else expressions(s.offsets).row_ids(s)


def positions(s: Segments) -> Any:
    return _given(s, segmented.positions(s)) if s.known else expressions(s.offsets).positions(s)


def _given(s: Segments, values: Any) -> Any:
    """Indices in the dtype and library of what described the segments."""
    return s.library.from_numpy(values.astype(s.dtype, copy=False), s.offsets)


def ranges(s: Segments, starts: Any, steps: Any) -> Any:
    starts, steps, int32, its = kind_of_ranges(starts, steps, s.n, s.int32, s.library)
    arrays = [v for v in (starts, steps) if is_array(v)]
    if s.known and not any(map(later, arrays)):
        first, step = (spec.table(n, v) if is_array(v) else v for n, v in (("starts", starts), ("steps", steps)))
        return its.from_numpy(segmented.ranges(s, first, step, int32), s.offsets)
    like = next((v for v in arrays if later(v)), s.offsets)
    runs = expressions(like)
    s = s._replace(offsets=runs.beside(s, like))
    return runs.ranges(s, *(runs.placed("starts", v, like) if is_array(v) else v for v in (starts, steps)), int32)


def kind_of_ranges(starts: Any, steps: Any, n: Any, int32: bool, its: Any) -> tuple[Any, Any, bool, Any]:
    """Starts and steps of n rows, checked; whether ranges are int32, and of which library. int32, its: of lengths."""
    found = [_one_each(name, v, n) for name, v in (("starts", starts), ("steps", steps))]
    arrays = [v for v in found if is_array(v)]
    if arrays:
        int32 = all(dtype_name(v) == "int32" for v in arrays)
    others = [v for v in arrays if not isinstance(v, np.ndarray)]
    return found[0], found[1], int32, library.of(others[0]) if others else its


def _one_each(name: str, values: Any, n: Any) -> Any:
    """An int, or integers, one for each row."""
    if not is_array(values) and not isinstance(values, (list, tuple)):
        return integer(name, values, "an int, or integers, one for each row")
    spec.check_integers(name, values)
    found = values if is_array(values) else spec.integers(name, values)
    if surely(found.shape[0] != n):
        refuse(ValueError, name, f"{number(n)} integers, one for each row", number(found.shape[0]))
    return found
