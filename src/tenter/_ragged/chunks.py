"""Lengths on the host, in chunks of rows. A result in `out` then needs the offsets of one chunk only. Those of all rows
would take 8 bytes a row."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import library
from tenter._arrays.arguments import integer
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.library import dtype_name, is_array
from tenter._arrays.limits import INT64_MAX, number
from tenter._arrays.types import Array, Ints
from tenter._execution import executor
from tenter._ragged.segments import later
from tenter._specs import counts, segments as spec
from tenter._specs.segments import Segments

ROWS = 1 << 16


class RowLengths(NamedTuple):
    """Checked lengths in the caller's memory, or the offsets of a plan.

    lengths: the caller's lengths; None for a plan
    offsets: the plan's offsets; None for lengths
    longest: the largest length
    The other fields are as in `Segments`.
    """

    name: str
    lengths: Array | None
    offsets: Ints | None
    n: int
    total: int
    longest: int
    int32: bool
    library: Any

    @property
    def dtype(self) -> type:
        return np.int32 if self.int32 else np.int64

    def offsets_of(self, first: int, end: int) -> Ints:
        """Returns the offsets of rows first..end - 1, starting at 0."""
        if self.lengths is not None:
            return counts.offsets(self.name, self.lengths[first:end], self.name)
        assert self.offsets is not None
        found: Ints = self.offsets[first : end + 1] - self.offsets[first]
        return found


class Chunk(NamedTuple):
    """A chunk of rows.

    at: the number of the first position
    """

    rows: slice
    at: int
    segments: Segments

    @property
    def positions(self) -> slice:
        return slice(self.at, self.at + self.segments.total)


def readable(given: Any, total: Any, out: Any, *read: Any, name: str = "lengths") -> RowLengths | None:
    """Returns the lengths, or those of a plan's segments; None if the result must be made in its own memory and then
    copied. name: the argument that holds the lengths."""
    of_plan = isinstance(given, Segments)
    if (of_plan and not given.known) or not disjoint(out, *read, None if of_plan else given):
        return None
    if not of_plan:
        return of_lengths(name, given, total)
    spec.check_total(total, given.total)
    return of_segments(given)


def disjoint(out: Any, *read: Any) -> bool:
    """True if the host can read all arrays now, and can write to `out` before it has read them completely."""
    arrays = [v for v in read if is_array(v)]
    if later(out) or any(map(later, arrays)):
        return False
    return not is_array(out) or not any(_overlap(v, out) for v in arrays)


def _overlap(x: Any, out: Any) -> bool:
    its = library.of(x)
    if its is library.of(out):
        return not executor.of(x).disjoint(x, out)
    (begin, end), (other, other_end) = _extent(x), _extent(out)
    return begin < other_end and other < end


def _extent(x: Any) -> tuple[int, int]:
    """Returns the addresses where x's memory begins and ends."""
    its = library.of(x)
    reach = [(n - 1) * s for n, s in zip(x.shape, its.strides(x))]
    at = its.address(x)
    return at + sum(min(r, 0) for r in reach), at + sum(max(r, 0) for r in reach) + its.itemsize(x)


def of_lengths(name: str, lengths: Any, total: Any = None) -> RowLengths:
    """Reads lengths in host memory and checks them against the total."""
    values = spec.integers(name, lengths)
    rows = RowLengths(
        name, values, None, len(values), 0, 0, False, library.of(lengths if is_array(lengths) else values)
    )
    found, longest = 0, 0
    try:
        for first in range(0, rows.n, ROWS):
            offsets = rows.offsets_of(first, min(first + ROWS, rows.n))
            found, longest = found + int(offsets[-1]), max(longest, int(np.diff(offsets).max()))
    except Refusal:  # its position counts from the chunk's first row
        spec.of_lengths(name, lengths, total)
        raise
    if found > INT64_MAX:
        refuse(ValueError, name, f"{name} whose sum is below 2**63", number(found))
    spec.check_total(total, found)
    int32 = is_array(lengths) and dtype_name(lengths) == "int32"
    spec.check_int32(name, found, int32 and name != "repeats")  # repeats have no result that holds the sum
    return rows._replace(total=found, longest=longest, int32=int32)


def of_segments(s: Segments) -> RowLengths:
    """Returns the lengths of a plan whose offsets are in host memory."""
    most = max((int(np.diff(s.offsets[at : at + ROWS + 1]).max()) for at in range(0, s.n, ROWS)), default=0)
    return RowLengths("lengths", None, s.offsets, s.n, s.total, most, s.int32, s.library)


def chunks(rows: RowLengths, positions: int | None = None, most: int = 1 << 62) -> Iterator[Chunk]:
    """Yields chunks of at most `most` rows and at most `positions` positions. A longer row is one chunk."""
    at, each = 0, max(1, min(ROWS, most))
    for first in range(0, rows.n, each):
        offsets = rows.offsets_of(first, min(first + each, rows.n))
        i, n = 0, len(offsets) - 1
        if at + int(offsets[-1]) > rows.total or int(np.diff(offsets).max()) > rows.longest:
            _refuse_change(rows)
        while i < n:
            j = n
            if positions is not None:
                j = max(i + 1, int(np.searchsorted(offsets, offsets[i] + max(1, positions), "right")) - 1)
            its = offsets[i : j + 1] - offsets[i]
            total = int(its[-1])
            yield Chunk(slice(first + i, first + j), at, Segments(its, j - i, total, rows.int32, rows.library, {}))
            at, i = at + total, j
    if at != rows.total:
        _refuse_change(rows)


def _refuse_change(rows: RowLengths) -> None:
    refuse(ValueError, rows.name, f"{rows.name} that stay as they are during the call", "some that were changed")


def padded_length(longest: int, max_len: Any) -> int:
    """Returns the number of positions of a padded row."""
    if max_len is None:
        return longest
    length = integer("max_len", max_len, "a length", 0)
    if length < longest:
        refuse(ValueError, "max_len", f"at least {longest}, the largest length", number(length))
    return length
