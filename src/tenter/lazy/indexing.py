"""Indexing and slicing. Only what a map reads for the wanted outputs is touched.

A slice of neighbors stays a map, of fewer inputs. Other outputs of a copy are taken from its inputs. If a map sums, the
outputs from the first to the last wanted one are computed. The library's own indexing does the rest.
"""

from typing import Any

import numpy as np

from tenter._arrays.arguments import check_memory
from tenter._arrays.library import is_array, of
from tenter._arrays.types import Array
from tenter.lazy.rows import copies, inputs_of, part, rows_of
from tenter.lazy.stretched import Stretched, applied, beside, stand_in, stretched, taken
from tenter.maps import Copy, Gather, Window

WHOLE = slice(None)
# Wanted outputs are computed alone if they are fewer than 1 in this many between the first and the last. The table of
# their rows takes about ten times the memory of an output.
FEW = 16
# One entry for each dim: an int >= 0, a slice, or positions >= 0 in an int64 array. None is a new dim. An ellipsis
# stands for no dim: NumPy does not treat arrays on both sides of it as adjacent.
Entries = list[Any]


def indexed(s: Stretched, key: Any) -> Stretched | None:
    """Returns None for rare keys. Then the materialized array is indexed."""
    entries = _entries(s, key if isinstance(key, tuple) else (key,))
    if entries is None:
        stand_in(s)[key]  # raises the library's own error
        return None
    summed, d = [], 0
    for k, entry in enumerate(entries):
        if not _has_dim(entry):
            continue
        m = s.maps[d]
        if m is not None:
            if isinstance(entry, slice) and entry.indices(m.n_out) == (0, m.n_out, 1):
                entries[k] = WHOLE
            elif not copies(m):
                s, entries[k] = _narrowed(s, d, entry)
                summed.append(d)
            elif isinstance(m, Copy) and m.block == 1 and _is_run(entry, m.n_out):
                s, entries[k] = _narrowed(s, d, entry)
            else:
                s, entries[k] = _taken(s, d, entry)
        d += 1
    dims = [entry for entry in entries if _has_dim(entry)]
    return _by_library(applied(s, [d for d in summed if not _is_run(dims[d], s.shape[d])]), entries)


def _entries(s: Stretched, key: tuple[Any, ...]) -> Entries | None:
    given: list[Any] = []
    for entry in key:
        found = entry if entry is None or entry is Ellipsis or isinstance(entry, slice) else _positions(entry)
        if found is None and entry is not None:
            return None
        given.append(found)
    free = len(s.maps) - sum(map(_n_dims, given))
    rest = [k for k, entry in enumerate(given) if entry is Ellipsis]
    if free < 0 or len(rest) > 1:
        return None
    at = rest[0] if rest else len(given)
    unnamed: Entries = [WHOLE] * free
    given[at : at + 1] = unnamed or [Ellipsis] * len(rest)
    entries: Entries = []
    d = 0
    for entry in given:
        shape = s.shape[d : d + _n_dims(entry)]
        found = _checked(entry, shape, isinstance(s.base, np.ndarray)) if shape else entry
        if found is None and entry is not None:
            return None
        entries.extend(found if isinstance(found, tuple) else (found,))
        d += len(shape)
    return entries


def _positions(entry: Any) -> int | Array | None:
    """Returns an int, or an array of integers or bools in host memory."""
    if is_array(entry):
        check_memory("key", entry, "an array or a plain tensor")
        values = entry if isinstance(entry, np.ndarray) else of(entry).to_numpy(entry.cpu())
    elif isinstance(entry, (list, range)):
        try:
            values = np.asarray(entry)
        except ValueError:
            return None
        values = values.astype(np.int64) if not values.size else values
    elif isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        return int(entry)
    else:
        return None
    if values.ndim == 0:
        return int(values) if values.dtype.kind in "iu" else None
    # In PyTorch, uint8 is a mask.
    good = values.dtype.kind in "biu" and (isinstance(entry, (np.ndarray, list, range)) or values.dtype != np.uint8)
    return values if good else None


def _has_dim(entry: Any) -> bool:
    return entry is not None and entry is not Ellipsis


def _n_dims(entry: Any) -> int:
    if not _has_dim(entry):
        return 0
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == bool else 1


def _checked(entry: Any, shape: tuple[int, ...], backward: bool) -> Any:
    """Returns the entry, checked against the dims that it indexes, a mask as a tuple of positions; None if it is wrong.
    backward: whether the library allows negative steps."""
    if isinstance(entry, slice):
        step = 1 if entry.step is None else entry.step
        return entry if step != 0 and (backward or step > 0) else None
    if isinstance(entry, int):
        return entry % shape[0] if -shape[0] <= entry < shape[0] else None
    if entry.dtype == bool:
        return entry.nonzero() if entry.shape == shape else None
    if entry.size and not (-shape[0] <= int(entry.min()) and int(entry.max()) < shape[0]):
        return None
    return np.where(entry < 0, entry.astype(np.int64) + shape[0], entry).astype(np.int64)


def _is_run(entry: Any, n: int) -> bool:
    """True for a slice of neighbors in ascending order."""
    return isinstance(entry, slice) and (at := entry.indices(n))[2] == 1 and at[1] > at[0]


def _narrowed(s: Stretched, d: int, entry: Any) -> tuple[Stretched, Any]:
    """Restricts dim d to the outputs from the first to the last wanted one. Returns the rest, and the entry that
    indexes it."""
    m = s.maps[d]
    assert m is not None
    wanted = range(m.n_out)[entry] if isinstance(entry, slice) else np.reshape(entry, -1)
    if not len(wanted):
        return _with(s, d, taken(s, d, slice(0, 0)), None), entry if isinstance(entry, np.ndarray) else WHOLE
    ends = (wanted[0], wanted[-1]) if isinstance(wanted, range) else (wanted.min(), wanted.max())
    lo, hi = int(min(ends)), int(max(ends)) + 1
    if FEW * len(wanted) < hi - lo and isinstance(m, (Window, Gather)) and m.block == 1:
        each, place = np.unique(np.asarray(wanted), return_inverse=True)
        at = slice(None, None, -1 if entry.step < 0 else 1) if isinstance(entry, slice) else place.reshape(entry.shape)
        return _with(s, d, s.base, rows_of(m, each)), at
    found = part(m, lo, hi)
    assert found is not None
    step = entry.step if isinstance(entry, slice) and entry.step != 1 else None
    left = slice(None, None, step) if isinstance(entry, slice) else entry - lo
    return _with(s, d, taken(s, d, found[0]), found[1]), left


def _taken(s: Stretched, d: int, entry: Any) -> tuple[Stretched, Any]:
    """Restricts dim d to the inputs that the wanted outputs of a copy read. Returns them, and the entry that indexes
    them."""
    m = s.maps[d]
    assert isinstance(m, (Copy, Gather))
    if not isinstance(entry, slice):
        inputs = inputs_of(m, np.asarray(entry))
        return _with(s, d, s.base, None), inputs if inputs.ndim else int(inputs)
    wanted = np.arange(*entry.indices(m.n_out))
    return _with(s, d, taken(s, d, inputs_of(m, wanted)), None), WHOLE


def _with(s: Stretched, d: int, base: Any, m: Any) -> Stretched:
    return stretched(base, (*s.maps[:d], m, *s.maps[d + 1 :]), s.summing)


def _by_library(s: Stretched, entries: Entries) -> Stretched:
    """Applies the library's own indexing to dims without a map or taken whole, and finds where dims with a map end
    up."""
    arrays = [entry for entry in entries if isinstance(entry, np.ndarray)]
    base = s.base[tuple([beside(e, s.base) if isinstance(e, np.ndarray) else e for e in entries])]
    numpy, maps = isinstance(base, np.ndarray), iter(s.maps)
    # Next to arrays, NumPy treats ints as arrays. PyTorch applies ints first.
    by_array = (np.ndarray, int) if arrays and numpy else np.ndarray
    rest: list[Any] = []  # the maps of the remaining dims
    kinds: list[bool] = []  # for each of them, whether an array made it
    first = 0
    for entry in entries:
        m = next(maps) if _has_dim(entry) else None
        if isinstance(entry, by_array):
            first = first if True in kinds else len(rest)
            kinds.append(True)
        elif entry is Ellipsis:
            kinds += [False] * numpy
        elif not isinstance(entry, int):
            rest.append(m)
            kinds.append(False)
    # Dims made by arrays come first if the arrays are not adjacent.
    at = [k for k, by in enumerate(kinds) if by]
    if at and at[-1] - at[0] + 1 != len(at):
        first = 0
    new = [None] * (max(entry.ndim for entry in arrays) if arrays else 0)
    return stretched(base, [*rest[:first], *new, *rest[first:]], s.summing)
