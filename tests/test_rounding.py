"""How results are rounded is one value, native/kernels/rounding.hpp: a new one changes few files."""

from __future__ import annotations

import re
from pathlib import Path

from tenter import _native

ROOT = Path(__file__).parents[1]
FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for folder, suffix in (("native", "*.?pp"), ("src", "*.py"))
    for path in sorted((ROOT / folder).rglob(suffix))
}
PLAIN, *OTHERS = _native.WORDS["rounding"]
DEFINED = {"native/kernels/rounding.hpp", "src/tenter/_rules/rounding.py"}
MOST_NAMING, MOST_ASKING = 6, 17
# What said the same before, in parts.
FORMER = re.compile(r"\b(in_bytes|keeps_sums|saturates\(|bool saturate|saturate: bool|\w\.saturate|like_torch)")


def files_with(pattern: str) -> set[str]:
    return {name for name, text in FILES.items() if re.search(pattern, text)}


def test_few_files_name_a_rounding_other_than_the_plain_one() -> None:
    words = "|".join(word.upper() for word in OTHERS[:2])
    python = files_with(rf"\b({words})\b") & files_with(r"_rules\.rounding import|^\"\"\"How results are rounded")
    naming = files_with(rf"\bRounding::({'|'.join(OTHERS)})\b") | python
    assert naming > DEFINED and len(naming) <= MOST_NAMING, sorted(naming)


def test_every_rounding_is_decided_and_obeyed() -> None:
    """Each settled one is named where it is decided, and outside: as a kernel, or as a question of rounding.hpp."""
    planner = FILES["native/plan/planner.cpp"]
    outside = FILES["native/plan/host_plan.cpp"] + FILES["native/kernels/rounding.hpp"]
    for word in OTHERS:
        assert f"Rounding::{word}" in outside, word
    assert [word for word in OTHERS if f"Rounding::{word}" not in planner] == ["each_axis"]  # asked for, not settled


def test_files_that_ask_about_rounding_do_not_become_more() -> None:
    asking = files_with(r"\b(by_axis|rounds_last)\(")
    assert DEFINED < asking and len(asking) <= MOST_ASKING, sorted(asking)


def test_no_other_words_say_how_results_are_rounded() -> None:
    assert PLAIN == "once" and {name: FORMER.findall(text) for name, text in FILES.items() if FORMER.search(text)} == {}
