"""Which parameters of a sweep are default tests, the rest carry the marker `slow`; and sweeps that are one test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def sampled(
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


def in_one_test(names: str, of: Iterable[Any], ids: Iterable[Any] | Callable[[Any], Any] = str) -> Callable[..., Any]:
    """As `pytest.mark.parametrize`, one test for all parameters and one for those that are marked `slow`: pytest's own
    work takes longer than many a law. The message names the parameter that failed. For laws without skips, whose
    fixtures several parameters may share."""
    found = [p if hasattr(p, "marks") else pytest.param(*(p if "," in names else (p,))) for p in of]
    known = (p.id or (ids(p.values[0]) if "," not in names else str(p.values)) for p in found) if callable(ids) else ids
    given = [p._replace(id=str(name)) for p, name in zip(found, known)]
    assert all(mark.name == "slow" for p in given for mark in p.marks), "a mark that a group would lose"
    groups = [[p for p in given if not p.marks], [p for p in given if p.marks]]
    assert groups[0], "a default test of nothing"

    def one_test(law: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(law)
        def test(*, group: int = 0, **fixtures: Any) -> None:
            for p in groups[group]:
                try:
                    law(**dict(zip(names.split(", "), p.values)), **fixtures)
                except Exception as error:
                    raise AssertionError(f"{p.id}: {error}") from error

        takes = [p for p in inspect.signature(law).parameters.values() if p.name not in names.split(", ")]
        slow = [inspect.Parameter("group", inspect.Parameter.KEYWORD_ONLY)] if groups[1] else []
        test.__signature__ = inspect.Signature(takes + slow)  # type: ignore[attr-defined]
        both = pytest.mark.parametrize("group", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "the rest"])
        return both(test) if groups[1] else test

    return one_test
