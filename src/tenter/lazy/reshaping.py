"""Functions that split and merge dims. A map of copies stays, if what it copies together is still whole rows."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tenter._rules.rounding import by_axis
from tenter.lazy.rows import copies
from tenter.lazy.stretched import Stretched, applied, stand_in, stretched
from tenter.maps import AxisMap, Copy

NAMES = {
    "torch": frozenset(("reshape", "view", "flatten", "unflatten", "squeeze", "ravel")),
    "numpy": frozenset(("reshape", "ravel", "flatten", "squeeze")),
}


def reshaped(
    name: str, f: Callable[..., Any], s: Stretched, args: Sequence[Any], kwargs: dict[str, Any], notes: list[str]
) -> Stretched | None:
    """Returns s in another shape; None if that depends on the memory, or if nothing stays lazy."""
    if not s.size or kwargs.get("order", "C") != "C" or not isinstance(kwargs.get("dtype", 0), int):
        return None
    shape = _shape(name, f, s, args, kwargs)
    if shape is None or math.prod(shape) != s.size:
        return None
    if by_axis(s.summing.rounding) or sum(not copies(m) for m in s.maps) > 1:  # memory decides the order of sums
        s = applied(s, [d for d, m in enumerate(s.maps) if not copies(m)])
    kept = list(_kept(s, shape))
    lost = {d for before, after in kept for d in before if after is None and s.maps[d] is not None}
    if lost:
        notes.extend(f"dim {d} is materialized: {name} splits or merges it" for d in sorted(lost))
        s = applied(s, lost)
    maps: list[AxisMap | None] = [None] * len(shape)
    small = list(shape)
    for _, after in kept:
        if after is not None:
            place, m = after
            maps[place], small[place] = m, m.n_in
    return stretched(s.base.reshape(small), maps, s.summing)


def _shape(
    name: str, f: Callable[..., Any], s: Stretched, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[int, ...] | None:
    """Returns the shape that f gives; the library finds it for one element, which is a view of the whole shape."""
    if name == "ravel" or (name == "flatten" and isinstance(s.base, np.ndarray)):
        return (s.size,)
    if any(not isinstance(a, (int, np.integer, tuple, list)) for a in args):
        return None  # another dtype, or order
    return tuple(f(stand_in(s), *args, **kwargs).shape)


def _kept(s: Stretched, shape: Sequence[int]) -> Iterator[tuple[range, tuple[int, AxisMap] | None]]:
    """Yields the dims that become a group of dims, and where their map is afterwards with that map; None for no map."""
    for before, after in _groups(s.shape, shape):
        mapped = [d for d in before if s.maps[d] is not None]
        long = [d for d in before if s.shape[d] != 1]
        places = [k for k in after if shape[k] != 1]
        found = None
        if len(mapped) == 1 and long[:1] == mapped and places:
            m = s.maps[mapped[0]]
            assert m is not None
            found = _map_of(m, math.prod(s.shape[d] for d in long[1:]), math.prod(shape[k] for k in places[1:]))
        yield before, None if found is None else (places[0], found)


def _map_of(m: AxisMap, merged: int, split: int) -> AxisMap | None:
    """Returns the map of the first dim that a dim with map m becomes.

    merged: how many elements of the dims after it join each of its positions
    split: how many elements each position of the new dim has
    """
    if merged == split:
        return m
    if not isinstance(m, Copy) or m.block * merged % split:
        return None
    n_in, n_out, block = (n * merged // split for n in (m.n_in, m.n_out, m.block))
    return Copy(n_in, n_out, m.repeat, m.offsets, block)


def _groups(before: Sequence[int], after: Sequence[int]) -> Iterator[tuple[range, range]]:
    """Yields neighboring dims of two shapes that have equally many elements, as few dims at a time as possible."""
    i = j = 0
    while i < len(before) or j < len(after):
        first, place = i, j
        p = q = 1
        while p != q or (i, j) == (first, place):
            if j >= len(after) or (i < len(before) and p <= q):
                p, i = p * before[i], i + 1
            else:
                q, j = q * after[j], j + 1
        yield range(first, i), range(place, j)
