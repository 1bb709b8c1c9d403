"""Calls already checked and planned, so that the next one like them costs a look-up: checking takes longer than the
work on small arrays.

What a call does depends on its arguments and on how x lies in memory, never on x's values. Arguments that are arrays,
such as counts, are values, and such calls are not remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenter import apply, frontends
from tenter.stretch import RepeatCounts, Stretch

_planned: dict[tuple[Any, ...], apply.Planned] = {}
_positions = 0
# Entries; positions of their maps, together (a table costs about 40 bytes for each) and of one; steps of one.
MOST, MOST_POSITIONS, LONGEST, STEPS = 2048, 1 << 20, 1 << 19, 32
# Arguments that stay what they are; a tensor of one count does not.
CONSTANTS = {int, float, str, bool, type(None), tuple}


def recall(op: str, x: Any, args: tuple[Any, ...], kinds: tuple[type, ...]) -> Any:
    """The result of a call like an earlier one; None if there was none.

    kinds: the types of all values in args, as equal ones of unlike types are not the same: 1 == True == 1.0.
    """
    frontend = frontends.KINDS.get(type(x))
    if frontend is None or not frontend.plain(x):
        return None
    try:
        planned = _planned.get((op, x.shape, frontend.place(x), x.dtype, args, kinds))
    except TypeError:  # lists and arrays have no hash
        return None
    return None if planned is None else frontend.again(x, planned)


def recall_counts(x: Any, counts: Any, dim: Any, output_size: Any) -> Any:
    """Each element as often as counts say, which are values; None for what needs more care, or a plan."""
    frontend = frontends.KINDS.get(type(x))
    if frontend is None or frontends.KINDS[type(counts)] is not frontend:
        return None
    return frontend.repeat_counted(x, counts, dim, output_size)


def serve(op: str, x: Any, args: tuple[Any, ...], kinds: tuple[type, ...], flat: Any, does: Stretch) -> Any:
    """The result of a checked call, kept for the next one. flat: x in the shape that the operation works on."""
    frontend = frontends.of(x)
    if frontend.recorded(flat) or (isinstance(does, RepeatCounts) and frontends.recorded(does.offsets)):
        return frontend.record(flat, does)
    planned = apply.plan(flat, does)
    if not _lasting(x, kinds, flat, planned):
        return frontend.execute(flat, planned)
    _make_room(planned)
    planned.shape_in = tuple(x.shape)
    _planned[op, x.shape, frontend.place(x), x.dtype, args, kinds] = planned  # last: other threads find it at once
    return frontend.execute(x, planned)


def kept(key: tuple[Any, ...], plan: Callable[[], apply.Planned]) -> apply.Planned:
    """A plan that depends on the key alone."""
    planned = _planned.get(key)
    if planned is None:
        planned = plan()
        if _light(planned):
            _make_room(planned)
            _planned[key] = planned
    return planned


def _make_room(planned: apply.Planned) -> None:
    """By forgetting everything: programs call in few ways, or in so many that no order of forgetting would help."""
    global _positions
    _positions += planned.positions
    if len(_planned) >= MOST or _positions > MOST_POSITIONS:
        _planned.clear()
        _positions = planned.positions


def _light(planned: apply.Planned) -> bool:
    steps = planned.steps
    return steps is not None and len(steps.steps) <= STEPS and planned.positions <= LONGEST


def _lasting(x: Any, kinds: tuple[type, ...], flat: Any, planned: apply.Planned) -> bool:
    frontend = planned.frontend
    return (
        type(x) in frontends.KINDS
        and all(k in CONSTANTS for k in kinds)
        and _light(planned)
        and not isinstance(planned.does, RepeatCounts)
        and frontend.address(x) == frontend.address(flat)  # another shape of the same memory, not a copy
    )
