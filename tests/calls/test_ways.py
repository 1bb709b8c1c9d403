"""The table of ways in DESIGN.md: each row's call takes that way, and no other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from fuzz.caches import forget, forget_plans

import tenter
from roots import ROOT
from tenter import _native
from tenter._plans import cache, specializations

SECTION = (ROOT / "DESIGN.md").read_text().partition("## The ways of a call")[2].partition("\n#")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in SECTION.splitlines() if line.startswith("| ")
][1:]
WHERE = {row[0]: tuple(row[4].strip("`").split(": ")) for row in ROWS}
X = np.arange(12.0, dtype=np.float32).reshape(3, 4)


def cached() -> Any:
    for _ in range(_native.tuning.seldom_calls + 2):
        tenter.resize(X, (5, 6))
    specializations.native.clear()
    return lambda: tenter.resize(X, (5, 6))


def new_numbers() -> Any:
    tenter.resize(X, (5, 6))
    forget_plans()
    return lambda: tenter.resize(X, (7, 9), box=None)


def traced() -> Any:
    t = torch.from_numpy(X)
    return lambda: torch.func.vmap(lambda row: tenter.resize(row, 5))(t)


CALLS = {
    "cached": cached,
    "new numbers": new_numbers,
    "counts": lambda: lambda: [tenter.repeat_interleave(X, np.array([2, 0, 1]), 0, out=out) for out in (None, X + 0)],
    "checked": lambda: lambda: tenter.resize(X, (5, 6)),
    "fill value": lambda: lambda: tenter.resize(X.astype(np.longdouble), (5, 6), box=((-1, 3), None), edge="constant", value=1.0),
    "traced": traced,
    "other libraries": lambda: lambda: tenter.resize(array_api_strict.asarray(X), (5, 6)),
}  # fmt: skip


def taken(call: Any) -> set[str]:
    """The ways whose function in Python's code a call runs."""
    found: set[str] = set()
    package = Path(tenter.__file__).parent
    places = {(str(package / file), name): way for way, (file, name) in WHERE.items()}

    def see(frame: Any, event: str, _: Any) -> None:
        if event == "call" and (way := places.get((frame.f_code.co_filename, frame.f_code.co_name))):
            found.add(way)

    sys.setprofile(see)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def test_every_way_is_in_the_table() -> None:
    assert WHERE.keys() == CALLS.keys() and len(WHERE) <= 7
    for file, name in WHERE.values():
        text = (ROOT / (file if file.startswith("native") else f"src/tenter/{file}")).read_text()
        assert f" {name}(" in text, (file, name)


@pytest.mark.parametrize("way", CALLS)
def test_a_call_takes_the_way_of_its_row(way: str) -> None:
    forget()
    call = CALLS[way]()
    if WHERE[way][0].startswith("native"):
        assert taken(call) == set()
        if way != "cached":  # which alone finds a plan
            assert not cache.plans
    else:
        assert way in taken(call)
