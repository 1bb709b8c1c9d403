"""The plan cache. A cached call costs one look-up. For small arrays, checking and planning take longer than the work.

A plan depends on the arguments and x's layout, never on x's values. Arguments that are arrays, such as counts, are
values, so calls with them are not cached.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from tenter import _native

if TYPE_CHECKING:
    from tenter._arrays.library import Library
    from tenter._plans.plan import CallPlan


# Plans by key. The core's plans and Python's are both here. Lists and arrays are unhashable, so calls with them have no
# key.
plans: dict[Hashable, Any] = {}
_positions = 0
# MOST: entries. MOST_POSITIONS: positions in the maps' tables of all plans; a position takes about 40 bytes. LONGEST:
# positions of one plan.
MOST, MOST_POSITIONS, LONGEST = 2048, 1 << 20, 1 << 19


def key(call: str, library: Library, x: Any, args: Hashable, arg_types: Hashable = ()) -> Hashable:
    """Returns the key of a call. arg_types: the types of all values in args, because 1 == True == 1.0."""
    return call, library, x.shape, library.place(x), x.dtype, args, arg_types


def store(call_key: Hashable, plan: CallPlan | _native.HostPlan) -> None:
    """Caches a plan unless it is large."""
    global _positions
    if not _is_small(plan):
        return
    plans[call_key] = plan
    _positions += plan.positions
    if len(plans) > MOST or _positions > MOST_POSITIONS:
        _positions = _evict()


def clear() -> None:
    global _positions
    plans.clear()
    _positions = 0


def _evict() -> int:
    """Drops the oldest plans until an eighth of the cache is free. Finding the oldest takes as long as many calls, so
    this runs rarely. Returns the positions that are left."""
    entries: list[tuple[Hashable, int]] = [(key, plan.positions) for key, plan in list(plans.items())]
    n, positions = len(entries), sum([size for _, size in entries])
    for key, size in entries:
        if 8 * n <= 7 * MOST and 8 * positions <= 7 * MOST_POSITIONS:
            break
        plans.pop(key, None)
        n, positions = n - 1, positions - size
    return positions


def _is_small(plan: CallPlan | _native.HostPlan) -> bool:
    return plan.steps is not None and plan.positions <= LONGEST
