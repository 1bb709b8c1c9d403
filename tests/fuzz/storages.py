"""Tensors whose storage is smaller than they are, as each argument of each call that reads or writes memory."""

from __future__ import annotations

from ..helpers import storage_cases
from .call import Call, any_result, written
from .draw import Draw


def too_small(r: Draw) -> Call:
    source = r.pick(storage_cases.sources())
    rows = r.pick((r.int(3, 40), 3000), (30, 1))
    args = [source, rows, r.pick(storage_cases.shrinkable(source)), r.pick(storage_cases.HOW), r.chance(0.5)]
    return Call("", "y = " + written("storage_cases.called", args), {}, any_result, (ValueError,), repeats=False)


KINDS = {"storage too small": (too_small, 0.6)}
