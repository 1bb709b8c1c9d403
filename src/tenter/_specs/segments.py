"""Segments: rows of different lengths, one after the other along an axis. They are read from any of the forms that
describe them.

These are all checks of what the host can read. For tensors that are traced or on a device, PyTorch's operators check
what they can.
"""

from typing import Any, NamedTuple

import numpy as np

from tenter._arrays import arguments, foreign, library, limits
from tenter._arrays.arguments import describe, integer
from tenter._arrays.dtypes import INTEGERS
from tenter._arrays.errors import refuse
from tenter._arrays.library import compiling, dtype_name, surely
from tenter._arrays.limits import number
from tenter._arrays.types import Array, Ints
from tenter._specs import counts

INT32_MAX = 2**31 - 1
SIDES = ("right", "left")
# The name in errors, where no public function is known.
RAGGED = "tenter.ragged"
TOTAL = "the sum of the lengths, an int"
# The function whose lengths may be -1, for rows that are not rows of a mask, and what its rows are.
OF_MASK = "ragged.Plan.from_mask"
ROWS = "0 and 1, with padding at one side, the same for all rows"


class Segments(NamedTuple):
    """Rows of different lengths.

    offsets: n + 1 int64, from 0: a NumPy array if the host knows them, else a tensor
    total: the last offset; None if only a device knows it
    int32: indices are returned in int32, else in int64
    library: that of the array that described the segments; indices are its arrays
    cached: copies of the offsets on devices, and plans for arrays of some layouts
    called: the public function, for errors that a device finds later
    padding_side: where padded rows have their padding; in traced code also a tensor, whether it is the left
    """

    offsets: Any
    n: Any
    total: Any
    int32: bool
    library: Any
    cached: dict[Any, Any]
    called: str = RAGGED
    padding_side: Any = "right"

    def known(self) -> bool:
        """True if the host can read the offsets now. A compiler must see what is done to them. Not a property: before
        2.12 PyTorch's compiler follows none of a named tuple."""
        return isinstance(self.offsets, np.ndarray) and not compiling()

    def changed(self, **fields: Any) -> "Segments":
        """Not `_replace`, nor by a slice or an iteration: PyTorch's compiler does not follow the first before 2.8, nor
        the others in 2.6."""
        return Segments(*[fields[name] if name in fields else getattr(self, name) for name in Segments._fields])

    @property
    def dtype(self) -> type:
        return np.int32 if self.int32 else np.int64

    @property
    def lengths(self) -> Ints:
        found: Ints = np.diff(self.offsets)
        return found


def of_lengths(name: str, lengths: Any, total: Any = None) -> Segments:
    """Returns segments from lengths that the host can read, checked against the total."""
    values = integers(name, lengths)
    offsets = counts.offsets(name, values, "lengths")
    check_total(total, int(offsets[-1]))
    return _segments(name, offsets, lengths)


def of_offsets(name: str, offsets: Any, total: Any = None) -> Segments:
    values = integers(name, offsets)
    if not values.size or values[0] != 0:
        got = f"{values[0]} first" if values.size else "none"
        refuse(ValueError, name, "offsets from 0 on, one more than there are rows", got)
    kept = np.array(values, np.int64)  # copied first: another thread may write to the caller's array
    kept[0] = 0
    if (wrong := _first(kept[1:] < kept[:-1])) is not None:
        refuse(ValueError, name, "ascending offsets", f"{kept[wrong + 1]} after {kept[wrong]} at position {wrong + 1}")
    check_total(total, int(kept[-1]))
    return _segments(name, kept, offsets)


def of_row_ids(name: str, row_ids: Any, n: Any = None) -> Segments:
    values = np.array(integers(name, row_ids), np.int64)
    if (wrong := _first(values[1:] < values[:-1])) is not None:
        refuse(ValueError, name, "sorted row ids", f"{values[wrong + 1]} after {values[wrong]} at position {wrong + 1}")
    least = int(values[-1]) + 1 if values.size else 0
    rows = least if n is None else integer("n", n, "a number of rows", 0)
    if values.size and (values[0] < 0 or least > rows):
        refuse(ValueError, name, f"row ids from 0 to {rows - 1}", f"{values[0] if values[0] < 0 else values[-1]}")
    _check_rows(name if n is None else "n", rows)
    begins = np.append(True, values[1:] != values[:-1])[: len(values)]
    at = np.flatnonzero(begins)
    each = np.zeros(rows, np.int64)
    each[values[at]] = np.diff(at, append=len(values))
    return _segments(name, counts.offsets(name, each), row_ids)


def _check_rows(name: str, rows: int) -> None:
    """Refuses a number of rows whose lengths, offsets and result do not fit in memory."""
    needed = 3 * 8 * rows
    if needed > limits.machine_memory():
        expected = f"rows that fit in the machine's {limits.machine_memory() / 2**30:.3g} GiB"
        refuse(MemoryError, name, expected, f"{number(rows)} rows, which take {needed / 2**30:.6g} GiB")


def of_positions(name: str, positions: Any) -> Segments:
    values = np.array(integers(name, positions), np.int64)
    begins = values == 0
    if values.size and values[0] != 0:
        refuse(ValueError, name, "positions that begin with 0", f"{values[0]}")
    if (wrong := _first(~begins[1:] & (values[1:] != values[:-1] + 1))) is not None:
        refuse(ValueError, name, f"0 or {values[wrong] + 1} after {values[wrong]}",
               f"{values[wrong + 1]} at position {wrong + 1}")  # fmt: skip
    return _segments(name, np.append(np.flatnonzero(begins), len(values)), positions)


def of_mask(name: str, mask: Any, side: Any = None) -> Segments:
    """side: where the padding is; None to find it. A mask without padding, or of empty rows only, has it on the
    right."""
    check_mask(name, mask)
    check_side(side)
    # Copied: another thread may write to the caller's array.
    given = library.of(mask).to_numpy(mask) if library.is_array(mask) else mask
    limits.memory(np.shape(given), 1, name)
    values = np.array(given)
    held = values.astype(np.bool_, copy=False)
    if values.dtype != np.bool_ and len(wrong := np.argwhere(values != held)):
        row, at = wrong[0]
        refuse(ValueError, name, "0 or 1", f"{values[row, at]} at position {at} of row {row}")
    found = _side(name, held, side)
    return _segments(name, counts.offsets(name, held.sum(1, dtype=np.int64)), mask).changed(padding_side=found)


def _side(name: str, held: Array, side: str | None) -> str:
    """Returns the side of a mask's padding, which is checked."""
    changes = held[:, 1:] != held[:, :-1]
    if (wrong := _first(changes.sum(1) > 1)) is not None:
        at = int(np.flatnonzero(changes[wrong])[1]) + 1
        got = f"a {held[wrong, at]} after a {held[wrong, at - 1]} at position {at} of row {wrong}"
        refuse(ValueError, name, "padding at one side of each row", got)
    first, last = (np.asarray(part.any(1)) for part in (held[:, :1], held[:, -1:]))
    rows = {"right": _first(first > last), "left": _first(first < last)}
    found = [s for s in SIDES if rows[s] is not None]
    if side is None and len(found) > 1:
        got = f"it on the right of row {rows['right']} and on the left of row {rows['left']}"
        refuse(ValueError, name, "padding at the same side of all rows", got)
    side = side or (found or SIDES)[0]
    if wrong_side := [s for s in found if s != side]:
        got = f"it on the {wrong_side[0]} of row {rows[wrong_side[0]]} (padding_side={wrong_side[0]!r} takes that)"
        refuse(ValueError, name, f"padding on the {side} of all rows", got)
    return side


def check_side(side: Any) -> None:
    if side is not None and not (isinstance(side, str) and side in SIDES):
        refuse(ValueError if isinstance(side, str) else TypeError, "padding_side", "'left' or 'right'", describe(side))


def padded_on(s: Segments, side: Any) -> Segments:
    """Returns segments with their padding on a side; None for the side that they have."""
    check_side(side)
    return s if side is None else s.changed(padding_side=side)


def check_rows(lengths: Array) -> None:
    """Refuses lengths of -1, which stand for rows that are not rows of a mask."""
    if (wrong := _first(lengths < 0)) is not None:
        refuse(ValueError, "mask", ROWS, f"another row {wrong}")


def check_mask(name: str, mask: Any) -> None:
    if library.is_array(mask):
        arguments.refuse_others(name, mask)
        arguments.check_memory(name, mask, "a NumPy array or a plain tensor")
        dtype, ndim = dtype_name(mask), mask.ndim
    else:
        try:
            made = np.asarray(mask)
        except ValueError:
            refuse(ValueError, name, "a 2-D mask", "a ragged list")
        dtype, ndim = made.dtype.name, made.ndim
    if ndim != 2:
        refuse(ValueError, name, "a 2-D mask: rows, positions", f"{ndim}-D")
    if dtype != "bool" and dtype not in INTEGERS:
        refuse(TypeError, name, "a mask of bools, or of the integers 0 and 1", dtype)


def _segments(name: str, offsets: Ints, given: Any) -> Segments:
    total = int(offsets[-1])
    check_int32(name, total, int32 := library.is_array(given) and dtype_name(given) == "int32")
    its = library.of(given) if library.is_array(given) else library.of(offsets)
    return Segments(offsets, len(offsets) - 1, total, int32, its, {})


def integers(name: str, values: Any, ndim: int | None = 1) -> Array:
    """Returns integers in host memory. ndim: the required number of dims; None for any."""
    check_integers(name, values, ndim)
    found = counts.count_array(name, counts.unwrapped(name, values))
    _check_ndim(name, found, ndim)
    return found


def table(name: str, values: Any) -> Ints:
    """Returns integers as contiguous int64, without a copy where possible."""
    return np.ascontiguousarray(integers(name, values), np.int64)


def check_integers(name: str, values: Any, ndim: int | None = 1) -> None:
    """Checks what is known of an array without its values."""
    expected = "integers: an array, a tensor or a list"
    if library.is_array(values):
        arguments.refuse_others(name, values)
        arguments.check_memory(name, values, expected)
        if (dtype := dtype_name(values)) not in INTEGERS:
            hint = "" if dtype == "bool" else f" (convert with {_conversion(values)})"
            refuse(TypeError, name, f"integers{hint}", dtype)
        _check_ndim(name, values, ndim)
    elif not isinstance(values, (list, tuple, range)) and not foreign.holds_an_array(values):
        refuse(TypeError, name, expected, describe(values))


def _check_ndim(name: str, values: Any, ndim: int | None) -> None:
    if ndim is not None and values.ndim != ndim:
        batch_of_one = ndim == 1 and values.ndim == 2 and not surely(values.shape[0] != 1)
        hint = f" (did you mean {name}[0]?)" if batch_of_one else ""
        refuse(ValueError, name, f"{ndim}-D integers", f"{values.ndim}-D{hint}")


def spans(starts: Any, ends: Any, n: int) -> tuple[Array, Array]:
    """Returns checked spans of n positions. They are copies, because another thread may write to the caller's
    arrays."""
    found = [np.array(integers(name, v, None), np.int64) for name, v in (("starts", starts), ("ends", ends))]
    begin, end = found
    check_spans(begin, end)
    if (wrong := _first((begin < 0) | (begin > end) | (end > n))) is not None:
        got = f"{begin.reshape(-1)[wrong]} .. {end.reshape(-1)[wrong]}"
        refuse(ValueError, "starts", f"spans with 0 <= start <= end <= {n}", got)
    return begin, end


def check_spans(starts: Any, ends: Any) -> None:
    for name, values in (("starts", starts), ("ends", ends)):
        check_integers(name, values, None)
    if starts.ndim == 0:
        refuse(ValueError, "starts", "spans along its last dim", "0-d")
    if tuple(starts.shape) != tuple(ends.shape):
        refuse(ValueError, "ends", f"the shape of starts, {tuple(starts.shape)}", f"{tuple(ends.shape)}")


def check_padded_counts(counts: Any, x: Any) -> None:
    if x.ndim < 2:
        refuse(ValueError, "x", "rows of positions: 2-D or more", f"{x.ndim}-D")
    check_integers("repeats", counts, 2)
    if library.is_array(counts) and tuple(counts.shape) != tuple(x.shape[:2]):
        last = x.ndim > 2 and tuple(counts.shape) == (x.shape[0], x.shape[-1])
        got = f"{tuple(counts.shape)}{positions_second(x) if last else ''}"
        refuse(ValueError, "repeats", f"shape {tuple(x.shape[:2])}, one for each of x's positions", got)


def positions_second(x: Any) -> str:
    """The hint for a padded array whose positions are last, as layers of convolutions have them."""
    moved = "np.moveaxis(x, -1, 1)" if isinstance(x, np.ndarray) else "x.movedim(-1, 1)"
    return f" (positions are x's second dim: did you mean {moved}?)"


def _conversion(values: Any) -> str:
    return ".astype(np.int64)" if isinstance(values, np.ndarray) else ".long()"


def check_total(total: Any, actual: Any) -> None:
    """Checks a user's total."""
    if total is not None and surely(integer("output_size", total, TOTAL, 0) != actual):
        refuse(ValueError, "output_size", f"{number(actual)}, the sum of the lengths", number(total))


def check_int32(name: str, total: Any, int32: bool) -> None:
    if int32 and surely(total > INT32_MAX):
        refuse(ValueError, name, "a sum below 2**31, as they are int32", number(total))


def check_length(total: Any, name: str, x: Any, dim: int) -> None:
    """Checks that x has all positions along dim. total: their number; None if only a device knows it."""
    if total is not None and surely(x.shape[dim] != total):
        got = f"{number(x.shape[dim])} along dim {dim}"
        refuse(ValueError, name, f"length {number(total)}, the sum of the lengths", got)


def longest(s: Segments) -> int:
    return int(s.lengths.max(initial=0))


def padded_length(s: Segments, max_len: Any, of_mask: bool = False) -> int:
    """Returns the number of positions of a padded row. of_mask: of a mask, which shorter lengths would cut."""
    most = longest(s)
    if max_len is None:
        return most
    length = integer("max_len", max_len, "a length", 0)
    if surely(length < most):
        at, got = int(s.lengths.argmax()), number(length)
        hint = f" (lengths.clip(max={got}) cuts them, as sequence_mask does)" if of_mask else ""
        refuse(ValueError, "max_len", f"at least {most}, the length of row {at}", f"{got}{hint}")
    return length


def _first(wrong: Array) -> int | None:
    """Returns the position of the first True."""
    return int(wrong.argmax()) if wrong.any() else None
