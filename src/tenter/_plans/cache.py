"""Plans of earlier calls: a call like one of them costs a look-up, as checking and planning take longer than the work
on small arrays.

What a call does depends on its arguments and on how x lies in memory, never on x's values. Arguments that are arrays,
such as counts, are values, and such calls are not kept.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Protocol

from tenter import _native

if TYPE_CHECKING:
    from tenter._plans.plan import Plan


class Placing(Protocol):
    def place(self, x: Any) -> tuple[Any, ...]:
        """What a plan for x depends on, beside its shape and dtype."""


# By key; a key of arguments that are lists or arrays has no hash. The core's plans and those that Python made.
plans: dict[Hashable, Any] = {}
_positions = 0
# Entries; positions of their maps, together (a table costs about 40 bytes for each) and of one.
MOST, MOST_POSITIONS, LONGEST = 2048, 1 << 20, 1 << 19


def key(call: str, library: Placing, x: Any, args: Hashable, arg_types: Hashable = ()) -> Hashable:
    """arg_types: those of all values in args, as equal values of different types are not the same: 1 == True == 1.0."""
    return call, library, x.shape, library.place(x), x.dtype, args, arg_types


def store(of: Hashable, plan: Plan | _native.HostPlan) -> None:
    """Keeps a plan unless it is large."""
    global _positions
    if not is_light(plan):
        return
    plans[of] = plan
    _positions += plan.positions
    if len(plans) > MOST or _positions > MOST_POSITIONS:
        _positions = _make_room()


def _make_room() -> int:
    """Forgets the oldest plans until an eighth of the room is free, as to find the oldest takes as long as many calls.
    Returns the positions that are left."""
    held: list[tuple[Hashable, int]] = [(key, plan.positions) for key, plan in list(plans.items())]
    n, positions = len(held), sum([size for _, size in held])
    for key, size in held:
        if 8 * n <= 7 * MOST and 8 * positions <= 7 * MOST_POSITIONS:
            break
        plans.pop(key, None)
        n, positions = n - 1, positions - size
    return positions


def is_light(plan: Plan | _native.HostPlan) -> bool:
    return plan.steps is not None and plan.positions <= LONGEST
