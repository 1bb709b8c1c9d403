"""Caches are those of DESIGN's table, and none grows past its bound."""

from __future__ import annotations

import ast
import importlib
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tenter
from roots import ROOT
from tenter import _native
from tenter._plans import cache, specializations
from tenter._rules import axis_rule
from tenter._specs import axis_maps
from tenter._specs.modes import NO_ANTIALIAS
from tenter.maps import _written

SOURCE = ROOT / "src" / "tenter"
# Facts found once for each process or type, what objects hold (as DESIGN says below the table), and a queue of checks.
OTHERS = {
    "_rules/srgb.py", "_rules/filters.py", "_torch/autograd.py", "_torch/inductor.py", "_torch/device.py", "_arrays/limits.py", "_triton/driver.py",
    "lazy/tensors.py", "torch/normalized.py",
}  # fmt: skip


def table() -> dict[str, list[tuple[str, str]]]:
    """The cache of each row, with the modules and names of its second column."""
    text = (ROOT / "DESIGN.md").read_text()
    rows = text[text.index("| cache | where | bound |") :].split("\n\n")[0].splitlines()[2:]
    return {row.split("|")[1].strip(): re.findall(r"`([\w/.]+): (\w+)`", row) for row in rows}


def test_there_are_at_most_five_and_each_is_where_design_says() -> None:
    found = table()
    assert 0 < len(found) <= 5
    for of, places in found.items():
        assert places, of
        for path, name in places:
            if "_triton" not in path:
                module = importlib.import_module("tenter." + path.removesuffix(".py").replace("/", "."))
                assert hasattr(module, name), (path, name)
            assert re.search(rf"\b{name}\b", (SOURCE / path).read_text()), (path, name)


def keeps(tree: ast.Module) -> bool:
    """Whether functions of a module are cached, or one of its dicts or ordered dicts is filled by a subscript or
    by setdefault."""
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "functools"]
    names = {alias.name for node in imported for alias in node.names}
    empty = {
        target.id
        for node in tree.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, (ast.Dict, ast.Call))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
        and (
            (isinstance(node.value, ast.Dict) and not node.value.keys)
            or getattr(getattr(node.value, "func", None), "id", "") in ("dict", "OrderedDict")
        )
    }
    filled = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
    }
    filled |= {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "setdefault" and isinstance(node.value, ast.Name)
    }
    return bool(names & {"lru_cache", "cache"} or empty & filled)


def test_no_module_has_a_cache_that_the_table_lacks() -> None:
    expected = {path for places in table().values() for path, _ in places}
    modules = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    caching = {name for name, path in modules.items() if keeps(ast.parse(path.read_text())) and name[:4] != "cli/"}
    assert caching - OTHERS == expected


def test_clear_leaves_no_plan_map_or_scratch() -> None:
    x = np.zeros((300, 200, 3), np.uint8)
    for _ in range(_native.tuning.seldom_calls + 2):  # plans of frequent calls are cached
        tenter.resize(x, (100, 90), axes=(0, 1), antialias=True, like="pillow")
    assert cache.plans and specializations.native and _native.Block.scratch() > 0
    tenter.memory.clear()
    assert not cache.plans and not specializations.native and cache._positions == 0
    assert axis_maps.cached_axis_map.cache_info().currsize == _native.Block.scratch() == 0


def test_idle_scratch_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((2000, 500), np.float32)

    def scratch() -> int:
        tenter.memory.clear()
        with ThreadPoolExecutor(8) as threads:  # each call takes workspaces of its own
            list(threads.map(lambda n: tenter.resize(x, (n, 300), antialias=True), range(700, 716)))
        return _native.Block.scratch()

    kept = scratch()
    assert 0 < kept <= _native.tuning.idle_scratch_bytes
    monkeypatch.setattr(_native.tuning, "idle_scratch_bytes", kept // 2)
    assert scratch() <= kept // 2


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Any:
    cache.plans.clear()
    specializations.native.clear()
    monkeypatch.setattr(cache, "MOST", 16)
    monkeypatch.setattr(specializations, "MOST", 16)
    return monkeypatch


def test_none_grows_past_its_bound(few: Any) -> None:
    x = np.zeros((4, 5), np.float32)
    modes, edges = ("linear", "cubic", "lanczos", "area"), ("replicate", "reflect", "symmetric", "wrap")
    for mode in modes:
        for edge in edges:
            for antialias in (False, mode not in NO_ANTIALIAS):
                tenter.resize(x, (3, 7), mode=mode, edge=edge, antialias=antialias)
                assert 0 < len(specializations.native) <= specializations.MOST
    for n in range(3 * cache.MOST):
        for _ in range(_native.tuning.seldom_calls + 2):  # plans of frequent calls are cached
            tenter.tile(x, (n + 1, 1))
        assert 0 < len(cache.plans) <= cache.MOST
    for kept, most in ((axis_maps.cached_axis_map, 512), (axis_rule.read, 256), (_written.read, 64)):
        assert kept.cache_info().maxsize == most
