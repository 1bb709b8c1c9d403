"""Segments from lengths, offsets, row ids, positions or masks, and back. The core computes arrays in host memory. For
tensors that are traced or on a device, expressions of the library's functions do."""

from typing import Any

import numpy as np

from tenter._arrays import library
from tenter._arrays.arguments import integer
from tenter._arrays.errors import refuse
from tenter._arrays.library import compiling, dtype_name, is_array, on_device, surely, traced
from tenter._arrays.limits import number
from tenter._execution import executor
from tenter._ragged import segmented
from tenter._specs import segments as spec
from tenter._specs.segments import Segments


def later(values: Any) -> bool:
    """True if the host cannot read the values now."""
    return compiling() or traced(values) or on_device(values)


def expressions(values: Any) -> Any:
    """Returns the module of a library's expressions. For a list it is that of the compiler that is tracing the code."""
    tensor = is_array(values) and not isinstance(values, np.ndarray)
    return executor.of_segments(values).tracing if tensor else executor.of_compiler().tracing


# ---- from


def of_lengths(lengths: Any, total: Any, called: str) -> Segments:
    """called: the public function, for errors that are found later."""
    if later(lengths):
        return expressions(lengths).of_lengths(lengths, total, called)  # type: ignore[no-any-return]
    if is_array(lengths):
        executor.of(lengths)  # makes the core read arrays of this library, so that later calls need no Python
    return spec.of_lengths("lengths", lengths, total)


def of_offsets(offsets: Any, output_size: Any = None) -> Segments:
    if later(offsets):
        return expressions(offsets).of_offsets(offsets, output_size)  # type: ignore[no-any-return]
    return spec.of_offsets("offsets", offsets, output_size)


def of_row_ids(row_ids: Any, n: Any) -> Segments:
    if later(row_ids):
        return expressions(row_ids).of_row_ids(row_ids, n)  # type: ignore[no-any-return]
    return spec.of_row_ids("row_ids", row_ids, n)


def of_positions(positions: Any) -> Segments:
    if later(positions):
        return expressions(positions).of_positions(positions)  # type: ignore[no-any-return]
    return spec.of_positions("positions", positions)


def of_mask(mask: Any, padding_side: Any) -> Segments:
    if later(mask):
        return expressions(mask).of_mask(mask, padding_side)  # type: ignore[no-any-return]
    return spec.of_mask("mask", mask, padding_side)


def moved(s: Segments, device: Any) -> Segments:
    """Returns segments whose indices are tensors on a device."""
    if s.library.PACKAGE == "numpy":
        refuse(TypeError, "plan", "one of tensors (Plan(torch.from_numpy(plan.lengths)) makes one)",
               "one of NumPy arrays")  # fmt: skip
    return expressions(s.offsets).moved(s, device)  # type: ignore[no-any-return]


# ---- to


def total(s: Segments) -> Any:
    return s.total if s.total is not None else expressions(s.offsets).total(s)


def longest(s: Segments) -> Any:
    return spec.longest(s) if s.known() else expressions(s.offsets).longest(s)


def side(s: Segments) -> str:
    return s.padding_side if isinstance(s.padding_side, str) else expressions(s.offsets).side(s)


def lengths(s: Segments) -> Any:
    return _given(s, s.lengths) if s.known() else expressions(s.offsets).lengths(s)


def offsets(s: Segments, shared: bool) -> Any:
    """shared: the segments stay in use, so the result is a copy. Kernels trust the segments' own offsets."""
    if not s.known():
        return expressions(s.offsets).offsets(s)
    return _given(s, s.offsets.copy() if shared and not s.int32 else s.offsets)


def row_ids(s: Segments) -> Any:
    return _given(s, segmented.row_ids(s)) if s.known() else expressions(s.offsets).row_ids(s)


def positions(s: Segments) -> Any:
    return _given(s, segmented.positions(s)) if s.known() else expressions(s.offsets).positions(s)


def _given(s: Segments, values: Any) -> Any:
    """Returns indices in the dtype and library of the array that described the segments."""
    return s.library.from_numpy(values.astype(s.dtype, copy=False), s.offsets)


def ranges(s: Segments, starts: Any, steps: Any) -> Any:
    starts, steps, int32, its = _kind_of_ranges(starts, steps, s.n, s.int32, s.library)
    arrays = [v for v in (starts, steps) if is_array(v)]
    if s.known() and not any(map(later, arrays)):
        first, step = (spec.table(n, v) if is_array(v) else v for n, v in (("starts", starts), ("steps", steps)))
        return its.from_numpy(segmented.ranges(s, first, step, int32), s.offsets)
    like = [*filter(later, arrays), s.offsets][0]
    runs = expressions(like)
    s = s.changed(offsets=runs.beside(s, like))
    return runs.ranges(s, *(runs.placed("starts", v, like) if is_array(v) else v for v in (starts, steps)), int32)


def _kind_of_ranges(starts: Any, steps: Any, n: Any, int32: bool, its: Any) -> tuple[Any, Any, bool, Any]:
    """Checks starts and steps of n rows. Returns them, whether the ranges are int32, and their library. int32, its: the
    dtype and library of the lengths."""
    found = [_one_each(name, v, n) for name, v in (("starts", starts), ("steps", steps))]
    arrays = [v for v in found if is_array(v)]
    if arrays:
        int32 = all(dtype_name(v) == "int32" for v in arrays)
    others = [v for v in arrays if not isinstance(v, np.ndarray)]
    return found[0], found[1], int32, library.of(others[0]) if others else its


def _one_each(name: str, values: Any, n: Any) -> Any:
    """Checks an int, or integers with one value for each row."""
    if not is_array(values) and not isinstance(values, (list, tuple)):
        return integer(name, values, "an int, or integers, one for each row")
    spec.check_integers(name, values)
    found = values if is_array(values) else spec.integers(name, values)
    if surely(found.shape[0] != n):
        refuse(ValueError, name, f"{number(n)} integers, one for each row", number(found.shape[0]))
    return found
