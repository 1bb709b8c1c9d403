"""How results are rounded is one value, native/kernels/rounding.hpp: a new one changes few files."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from fuzz.caches import forget

import tenter
from roots import ROOT
from tenter import _native
from tenter._specs import axis_maps

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
    assert asking > DEFINED and len(asking) <= MOST_ASKING, sorted(asking)


def test_no_other_words_say_how_results_are_rounded() -> None:
    assert PLAIN == "once" and {name: FORMER.findall(text) for name, text in FILES.items() if FORMER.search(text)} == {}


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex64", "uint8"])
def test_a_fill_value_is_added_in_float64_in_every_way(dtype: str) -> None:
    """By the core's plans and by Python's, to arrays of NumPy and PyTorch, with a gradient and without."""
    rng = np.random.default_rng(3)
    x = (rng.random((37, 41)) * 200).astype(dtype)
    given, value = torch.from_numpy(x), 114 if dtype == "uint8" else 113.7
    box = ((-7.3, 40), (-4.6, 50.7))
    for mode in ("linear", "cubic"):
        how = {"mode": mode, "axes": (0, 1), "edge": "constant", "box": box}
        wanted = None
        if dtype == "float32":
            sums = tenter.resize(x, (30, 34), value=0.0, **how).astype(np.float64)
            inside = tenter.resize(np.ones(x.shape), (30, 34), value=0.0, **how)
            wanted = (sums + (1 - inside) * value).astype(dtype)
        for _ in range(3):
            one = tenter.resize(x, (30, 34), value=value, **how)
            assert np.array_equal(one, tenter.resize(given, (30, 34), value=value, **how).numpy()), mode
        if dtype != "uint8":
            recorded = tenter.resize(given.clone().requires_grad_(), (30, 34), value=value, **how)
            assert np.array_equal(one, recorded.detach().numpy()), mode
        if wanted is not None:
            assert np.abs(one.view(np.int32) - wanted.view(np.int32)).max() <= 1
            assert np.mean(one == wanted) > 0.99, mode


def test_tables_of_an_axis_do_not_decide_which_axis_is_summed_first() -> None:
    """Of a long axis there are none. What no row reads is left out where there are some."""
    changed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = rng.integers(8, 70, rng.integers(2, 4)).tolist()
        x = rng.standard_normal(shape).astype(np.float32)
        sizes = rng.integers(2, 50, len(shape)).tolist()
        ends = [sorted(rng.integers(-3, n + 3, 2).tolist()) for n in shape]
        box = [(lo, hi + 1) if rng.random() < 0.8 else (0, n) for (lo, hi), n in zip(ends, shape)]
        how = {
            "mode": str(rng.choice(["linear", "cubic", "area", "lanczos"])),
            "box": box,
            "axes": tuple(range(len(shape))),
        }
        found = []
        for long_axis in (1 << 40, 0):
            axis_maps.cached_axis_map.cache_clear()
            forget()
            _native.tuning.long_axis = long_axis
            try:
                found.append(tenter.resize(x, sizes, **how))
            finally:
                _native.tuning.reset()
                axis_maps.cached_axis_map.cache_clear()
                forget()
        changed += not np.array_equal(*found)
    assert not changed
