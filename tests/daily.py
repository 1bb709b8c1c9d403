"""Which parameters of a sweep are default tests; the rest carry the marker `slow`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def daily(
    of: Iterable[Any],
    every: int,
    ids: Callable[[Any], str | None] = lambda p: None,
    always: Callable[[Any], bool] = lambda p: False,
) -> list[Any]:
    """One in `every`, from the first on, and those that are `always` there. A tuple is a test's several parameters."""
    found = []
    for k, p in enumerate(of):
        marks = [pytest.mark.slow] * (k % every > 0 and not always(p))
        found.append(pytest.param(*(p if type(p) is tuple else (p,)), marks=marks, id=ids(p)))
    return found
