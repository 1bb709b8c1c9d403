"""Arguments that change other arguments, or x's memory, while they are read: a result or an error, and no crash."""

from __future__ import annotations

from ..helpers import object_cases as cases
from .call import Call, any_result, written
from .draw import Draw


def acting(r: Draw) -> Call:
    n = r.pick((r.int(5, 60), 4100), (200, 1))  # memory of the latter goes back to the system at once
    args = [r.int(0, len(cases.CALLS + cases.VIEWS) - 1), r.pick(("numpy", "torch")), n, r.pick(cases.TYPES), r.pick(cases.ACTS), r.chance(0.5)]  # fmt: skip
    return Call("", "y = " + written("object_cases.called", args), {}, any_result, lies=True, repeats=False)


KINDS = {"arguments that act": (acting, 0.4)}
