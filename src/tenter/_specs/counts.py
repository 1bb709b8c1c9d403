"""The counts of repeat_interleave: checks, and the prefix sums in their maps."""

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tenter import _native
from tenter._arrays import blocks, foreign, library, limits
from tenter._arrays.arguments import check_memory, integer
from tenter._arrays.dtypes import INTEGERS, NUMBERS
from tenter._arrays.errors import refuse
from tenter._arrays.library import dtype_name, surely
from tenter._arrays.limits import INT64_MAX, number
from tenter._arrays.thread_count import thread_count
from tenter._arrays.types import Array, Ints
from tenter._specs.repeat import Repeat, RepeatCounts, every

FOR_PADDED = " (counts for each row of a padded batch: tenter.ragged.repeat_padded)"
FLAT = f"0-d or 1-D counts{FOR_PADDED}"
TOTAL = "the sum of the counts, an int"


class Counts(NamedTuple):
    """How often each position is repeated: one int for all, or offsets, the n + 1 prefix sums of one count for each
    position."""

    each: int | None
    offsets: Ints | None

    def total(self, n: int) -> int:
        if self.offsets is not None:
            return int(self.offsets[-1])
        assert self.each is not None
        return n * self.each

    def spec(self, ndim: int, dim: int) -> Repeat | RepeatCounts:
        """Returns the specification that repeats one of ndim dims."""
        if self.offsets is not None:
            return RepeatCounts(self.offsets, dim, int(self.offsets[-1]))
        assert self.each is not None
        return every(ndim, dim, self.each)


def unwrapped(name: str, repeats: Any, n: int | None = None) -> Any:
    """Returns counts that another object holds (a Series, a range, a pyarrow array) as a NumPy array, and others
    unchanged. n: how many there may be."""
    if isinstance(repeats, range):
        if n is not None:
            check_shape(name, "int64", (len(repeats),), n, None)
        return foreign.of_range(name, repeats)
    if library.is_array(repeats) or isinstance(repeats, (int, list, tuple, np.generic)):
        return repeats
    return foreign.taken(name, repeats) if foreign.holds_an_array(repeats) else repeats


def checked(repeats: Any, n: int, dim: int | None, output_size: Any) -> Counts:
    """Returns the counts of repeat_interleave for n positions, checked against output_size."""
    if type(repeats) is int:
        result = Counts(one_count("repeats", repeats), None)
    else:
        values = count_array("repeats", repeats)
        check_shape("repeats", values.dtype.name, values.shape, n, dim)
        if values.size == 1:
            result = Counts(integer("repeats", values.reshape(-1)[0], "a count", 0), None)
        else:
            result = Counts(None, offsets("repeats", values))
    if result.total(n) > INT64_MAX:
        refuse(ValueError, "repeats", "counts whose sum is below 2**63", f"{n} positions times {result.each}")
    check_total(result.total(n), output_size)
    return result


def one_count(name: str, repeats: Any) -> int:
    """Returns one count for all positions."""
    if type(repeats) is int or limits.symbolic(repeats):
        return integer(name, repeats, "a count", 0)
    return integer(name, repeats, "integer counts: an int, an array of ints or a list of ints", 0)


def one_for_all(repeats: Any, n: int, output_size: Any) -> int:
    """Returns one count for all n positions of a traced array. Both may be symbols."""
    each = one_count("repeats", repeats)
    if type(each) is int and type(n) is int:
        checked(each, n, None, output_size)
    else:
        check_total(each * n, output_size)
    return each


def count_array(name: str, repeats: Any) -> Array:
    """Returns counts as an integer array in host memory."""
    if library.is_array(repeats):
        of = library.of(repeats)
        expected = "counts in a NumPy array or a plain CPU tensor"
        check_memory(name, repeats, expected)
        if problem := of.unreadable(repeats):
            refuse(TypeError, name, expected, problem)
        if dtype_name(repeats) not in INTEGERS:
            refuse(TypeError, name, "integer counts", dtype_name(repeats) + _how_to_convert(repeats))
        values = of.to_numpy(repeats)
        limits.memory(values.shape, 8, name)  # a broadcast array takes none: its offsets would
    elif isinstance(repeats, (list, tuple)):
        values = _listed(name, repeats)
    else:
        values = np.asarray(one_count(name, repeats))
    if values.dtype.kind not in "iu":
        refuse(TypeError, name, "integer counts", f"{values.dtype}")
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _listed(name: str, repeats: Sequence[Any]) -> Array:
    if set(map(type, repeats)) == {int}:  # most lists; the checks of every item below take longer than a small call
        with contextlib.suppress(OverflowError):
            values = np.array(repeats, np.int64)
            if values.min() >= -INT64_MAX:
                return values
    if any(isinstance(r, (bool, np.bool_)) for r in repeats):
        refuse(TypeError, name, "integer counts", "bool")
    if any(isinstance(r, int) and abs(r) > INT64_MAX for r in repeats):
        refuse(ValueError, name, "counts below 2**63", f"{max(repeats, key=abs)}")
    try:
        values = np.asarray(repeats)
    except ValueError:
        refuse(ValueError, name, "integer counts", "a ragged list")
    except (TypeError, RuntimeError) as failed:
        refuse(TypeError, name, "integer counts", f"a list (NumPy: {failed})")
    if values.size == 0:
        return values.astype(np.int64)
    if values.ndim == 1 and values.dtype.kind not in "iu":  # floats, or integers that NumPy converts to floats
        return np.asarray([integer(name, r, f"integer counts{_of_whole(r)}") for r in repeats], np.int64)
    return values


def _of_whole(r: Any) -> str:
    return f" (convert with int({r}))" if isinstance(r, (float, np.floating)) and r == r // 1 else ""


def _how_to_convert(counts: Any) -> str:
    """Says how to convert counts that are floats, such as rounded durations."""
    if not dtype_name(counts).startswith(("float", "bfloat")):
        return ""
    of = library.of(counts)
    convert = {"numpy": ".astype(np.int64)", "torch": ".long()"}.get(of.PACKAGE)
    if convert is None:
        return ""
    if of.unreadable(counts) or bool((counts == counts.round()).all()):
        return f" (convert with {convert})"
    return f" with fractions (round, then convert with {convert})"


def offsets(name: str, values: Array, what: str = "counts") -> Ints:
    """Returns the n + 1 prefix sums of 1-D counts, from 0. Negative counts and sums of 2**63 or more are refused."""
    sums, address, _ = blocks.empty((len(values) + 1,), np.dtype(np.int64))
    total = _native.offsets(
        values.__array_interface__["data"][0],
        NUMBERS[values.dtype.name],
        values.strides[0],
        len(values),
        address,
        thread_count(),
    )
    if total < 0:
        at = -1 - total
        if values[at] < 0:
            refuse(ValueError, name, f"non-negative {what}", f"{values[at]} at position {at}")
        refuse(ValueError, name, f"{what} whose sum is below 2**63", f"more from position {at} on")
    return sums


def check_shape(name: str, dtype: str, shape: Sequence[int], n: int, dim: int | None) -> None:
    """Checks for one count for all n positions, or one for each."""
    if dtype not in INTEGERS:
        refuse(TypeError, name, "integer counts", dtype + (" (convert with .long())" if "float" in dtype else ""))
    if len(shape) > 1:
        refuse(ValueError, name, FLAT, f"{len(shape)}-D")
    if len(shape) == 1 and surely(shape[0] != 1) and surely(shape[0] != n):
        where = "position of the flattened x" if dim is None else f"position of dim {dim}"
        one = " (or one for all)" if n != 1 else ""
        refuse(ValueError, name, f"{number(n)} counts, one per {where}{one}", number(shape[0]))


def check_total(actual: int, output_size: Any) -> None:
    """Checks a user's output_size."""
    if output_size is not None and surely(integer("output_size", output_size, TOTAL, 0) != actual):
        refuse(ValueError, "output_size", f"{number(actual)}, the sum of the counts", number(output_size))


def check_alone(name: str, ndim: int, dim: Any) -> None:
    """Checks repeat_interleave with one argument."""
    if dim is not None:
        refuse(TypeError, "dim", "None, as there is no x to repeat along it", f"{dim}")
    if ndim != 1:
        refuse(ValueError, name, f"1-D counts{FOR_PADDED}", f"{ndim}-D")
