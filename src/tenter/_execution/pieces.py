"""Lengths on the host, some rows at a time. A result in memory of the caller's takes no more offsets than that, where
those of all rows would take 8 bytes a row."""

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
from tenter._execution.segments import later
from tenter._specs import counts, segments as spec
from tenter._specs.segments import Segments

ROWS = 1 << 16


class Rows(NamedTuple):
    """lengths: checked, as they lie in the caller's memory; of a plan, its offsets in their place. The rest is as
    `Segments` has it; longest: the largest length."""

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

    def some(self, first: int, end: int) -> Ints:
        """The offsets of rows, from 0."""
        if self.lengths is not None:
            return counts.offsets(self.name, self.lengths[first:end], self.name)
        assert self.offsets is not None
        found: Ints = self.offsets[first : end + 1] - self.offsets[first]
        return found


class Piece(NamedTuple):
    """Rows, and the number of their first position."""

    rows: slice
    at: int
    segments: Segments

    @property
    def positions(self) -> slice:
        return slice(self.at, self.at + self.segments.total)


def readable(given: Any, total: Any, out: Any, *read: Any, name: str = "lengths") -> Rows | None:
    """Of lengths, whose argument has that name, or of a plan's segments. None where the result is to be made apart."""
    of_plan = isinstance(given, Segments)
    if (of_plan and not given.known) or not apart(out, *read, None if of_plan else given):
        return None
    if not of_plan:
        return of_lengths(name, given, total)
    spec.check_total(total, given.total)
    return of_segments(given)


def apart(out: Any, *read: Any) -> bool:
    """Whether the host can read all arrays now, and write to out before it has read them whole."""
    arrays = [v for v in read if is_array(v)]
    if later(out) or any(map(later, arrays)):
        return False
    return not is_array(out) or not any(_overlap(v, out) for v in arrays)


def _overlap(x: Any, out: Any) -> bool:
    its = library.of(x)
    if its is library.of(out):
        return not executor.of(x).apart(x, out)
    (begin, end), (other, other_end) = _extent(x), _extent(out)
    return begin < other_end and other < end


def _extent(x: Any) -> tuple[int, int]:
    """Addresses that x lies between."""
    its = library.of(x)
    reach = [(n - 1) * s for n, s in zip(x.shape, its.strides(x))]
    at = its.address(x)
    return at + sum(min(r, 0) for r in reach), at + sum(max(r, 0) for r in reach) + its.itemsize(x)


def of_lengths(name: str, lengths: Any, total: Any = None) -> Rows:
    """Of lengths that the host can read, verified against the total."""
    values = spec.integers(name, lengths)
    rows = Rows(name, values, None, len(values), 0, 0, False, library.of(lengths if is_array(lengths) else values))
    found, longest = 0, 0
    try:
        for first in range(0, rows.n, ROWS):
            offsets = rows.some(first, min(first + ROWS, rows.n))
            found, longest = found + int(offsets[-1]), max(longest, int(np.diff(offsets).max()))
    except Refusal:  # which names a place among some of the rows
        spec.of_lengths(name, lengths, total)
        raise
    if found > INT64_MAX:
        refuse(ValueError, name, f"{name} whose sum is below 2**63", number(found))
    spec.check_total(total, found)
    int32 = is_array(lengths) and dtype_name(lengths) == "int32"
    spec.check_int32(name, found, int32 and name != "repeats")  # of which nothing has the sum
    return rows._replace(total=found, longest=longest, int32=int32)


def of_segments(s: Segments) -> Rows:
    """Of a plan's, which the host knows."""
    most = max((int(np.diff(s.offsets[at : at + ROWS + 1]).max()) for at in range(0, s.n, ROWS)), default=0)
    return Rows("lengths", None, s.offsets, s.n, s.total, most, s.int32, s.library)


def pieces(rows: Rows, positions: int | None = None, most: int = 1 << 62) -> Iterator[Piece]:
    """All rows, `most` at a time and no more positions than that, but for one row that has more by itself."""
    at, each = 0, max(1, min(ROWS, most))
    for first in range(0, rows.n, each):
        offsets = rows.some(first, min(first + each, rows.n))
        i, n = 0, len(offsets) - 1
        if at + int(offsets[-1]) > rows.total or int(np.diff(offsets).max()) > rows.longest:
            _refuse_change(rows)
        while i < n:
            j = n
            if positions is not None:
                j = max(i + 1, int(np.searchsorted(offsets, offsets[i] + max(1, positions), "right")) - 1)
            its = offsets[i : j + 1] - offsets[i]
            total = int(its[-1])
            yield Piece(slice(first + i, first + j), at, Segments(its, j - i, total, rows.int32, rows.library, {}))
            at, i = at + total, j
    if at != rows.total:
        _refuse_change(rows)


def _refuse_change(rows: Rows) -> None:
    refuse(ValueError, rows.name, f"{rows.name} that stay as they are during the call", "some that were changed")


def room(longest: int, max_len: Any) -> int:
    """Positions of a padded row."""
    if max_len is None:
        return longest
    length = integer("max_len", max_len, "a length", 0)
    if length < longest:
        refuse(ValueError, "max_len", f"at least {longest}, the largest length", number(length))
    return length
