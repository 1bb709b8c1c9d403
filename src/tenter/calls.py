"""Calls already checked and planned, so that the next one like them costs a look-up: checking takes longer than the
work on small arrays.

What a call does depends on its arguments and on how x lies in memory, never on x's values; counts in arrays are values
and are not remembered.
"""

from __future__ import annotations

from typing import Any

from tenter import apply, frontends
from tenter.stretch import RepeatCounts, Stretch

_planned: dict[tuple[Any, ...], apply.Planned] = {}
# Entries, and how long their maps' tables and lists of steps may be.
MOST, LONGEST, STEPS = 2048, 1 << 15, 32


def recall(op: str, x: Any, args: tuple[Any, ...]) -> Any:
    """The result of a call like an earlier one; None if there was none."""
    frontend = frontends.KINDS.get(type(x))
    if frontend is None or not frontend.plain(x):
        return None
    try:
        planned = _planned.get(_key(frontend, op, x, args))
    except TypeError:  # lists and arrays have no hash
        return None
    return None if planned is None else frontend.execute(x, planned)


def serve(op: str, x: Any, args: tuple[Any, ...], flat: Any, does: Stretch) -> Any:
    """The result of a checked call, kept for the next one. flat: x in the shape that the operation works on."""
    frontend = frontends.of(x)
    if frontend.recorded(flat) or (isinstance(does, RepeatCounts) and frontends.recorded(does.offsets)):
        return frontend.record(flat, does)
    planned = apply.plan(flat, does)
    if _lasting(frontend, x, flat, planned):
        if len(_planned) >= MOST:
            _planned.clear()
        try:
            _planned[_key(frontend, op, x, args)] = planned
        except TypeError:
            pass
        else:
            planned.shape_in = tuple(x.shape)
            return frontend.execute(x, planned)
    return frontend.execute(flat, planned)


def _key(frontend: Any, op: str, x: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    # Equal arguments of unlike types are not the same: 1 == True == 1.0.
    kinds = tuple([tuple(map(type, a)) if type(a) is tuple else type(a) for a in args])
    return (op, x.shape, frontend.strides(x), x.dtype, args, kinds)


def _lasting(frontend: Any, x: Any, flat: Any, planned: apply.Planned) -> bool:
    return (
        type(x) in frontends.KINDS
        and planned.steps is not None
        and len(planned.steps.steps) <= STEPS
        and not isinstance(planned.does, RepeatCounts)
        and sum(m.n_in + m.n_out for _, m in planned.maps) <= LONGEST
        and frontend.address(x, 0) == frontend.address(flat, 0)  # another shape of the same memory, not a copy
    )
