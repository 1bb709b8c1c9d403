"""What the documents promise: examples run, files exist, the public names are the ones listed, everything is typed."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import tenter

ROOT = Path(__file__).resolve().parent.parent
MODULES = [m.name for m in pkgutil.walk_packages(tenter.__path__, "tenter.") if not m.name.endswith("_native")]
PUBLIC = [
    "axis_map",
    "conventions",
    "expand",
    "filters",
    "geometry",
    "get_num_threads",
    "image",
    "interpolate",
    "maps",
    "memory",
    "numpy",
    "repeat",
    "repeat_interleave",
    "resize",
    "set_num_threads",
    "tile",
]  # and torch, which is imported when it is asked for


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs={"np": np})
    assert failed == 0


def test_every_public_function_has_an_example():
    functions = [getattr(tenter, n) for n in PUBLIC if inspect.isfunction(getattr(tenter, n))]
    functions += [getattr(tenter.torch, n) for n in tenter.torch.__all__ if n not in ("DeferredError", "Report")]
    functions += [tenter.memory.limit, tenter.memory.clear, tenter.memory.stats]
    functions += [tenter.numpy.repeat, tenter.numpy.tile, tenter.maps.Copy, tenter.maps.Window, tenter.maps.Gather]
    functions += [tenter.image.resize]
    for f in functions:
        if f is not tenter.get_num_threads:
            assert ">>> " in (f.__doc__ or ""), f


def test_public_names():
    assert sorted(tenter.__all__) == PUBLIC
    assert tenter.maps.__all__ == ["AxisMap", "Copy", "Gather", "Window"]
    assert tenter.numpy.__all__ == ["repeat", "tile"]
    assert tenter.torch.__all__ == [
        "DeferredError",
        "Report",
        "accelerate",
        "install",
        "report",
        "synchronize",
        "uninstall",
    ]
    assert (Path(tenter.__file__).parent / "py.typed").is_file()


def test_the_table_of_operations():
    x, y = np.array([1, 2, 3]), np.array([[1, 2], [3, 4]])
    ri = tenter.repeat_interleave
    assert ri(x, 2).tolist() == [1, 1, 2, 2, 3, 3]
    assert ri(y, 2).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert ri(y, 3, dim=1).tolist() == [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]
    assert ri(y, [1, 2], dim=0).tolist() == ri(y, [1, 2], dim=0, output_size=3).tolist() == [[1, 2], [3, 4], [3, 4]]
    assert ri([10, 20, 30], [1, 3, 2]).tolist() == [10, 20, 20, 20, 30, 30]
    assert ri([[1, 2, 3]], [1, 2, 3], dim=1).tolist() == [[1, 2, 2, 3, 3, 3]]
    assert ri([0, 1], [3, 5]).tolist() == [0] * 3 + [1] * 5
    assert ri(np.arange(3), 4).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    kv = np.random.default_rng(0).random((3, 2, 5, 2))
    assert all(np.array_equal(ri(kv, 4, dim=1)[:, h], kv[:, h // 4]) for h in range(8))
    assert tenter.repeat(x, 2).tolist() == [1, 2, 3, 1, 2, 3]
    assert tenter.repeat(y, 2, 3).shape == (4, 6) and tenter.repeat(x, 3, 4, 2).shape == (3, 4, 6)
    assert np.array_equal(tenter.tile(y, 2), np.tile(y, 2))
    view = tenter.expand(x, 4, 3)
    assert np.shares_memory(view, x) and not view.flags.writeable


def test_readme_code():
    text = (ROOT / "README.md").read_text()
    first, second, third = re.findall(r"```python\n(.*?)```", text, re.S)
    scope: dict = {}
    exec(first, scope)
    assert eval(first.splitlines()[1].split("#")[0], scope).tolist() == [10, 20, 20, 20, 30, 30]
    exec(re.sub("^ +", "", second, flags=re.M), {"tenter": tenter, "np": np})
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(third, {})
    assert "interpolate                1           0" in out.getvalue()
    for path in re.findall(r"\]\(([^)#]+)\)", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", ["pytorch.md", "pictures.md"])
def test_page_code(page):
    text = (ROOT / "docs" / page).read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    (shown,) = re.findall(r"```text\n(.*?)```", text, re.S)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {})
    assert out.getvalue() == shown


def test_memory_page_code():
    text = (ROOT / "docs" / "memory.md").read_text()
    codes, shown = (re.findall(rf"```{kind}\n(.*?)```", text, re.S) for kind in ("python", "text"))
    before = tenter.memory.limit()
    try:
        for code, output in zip(codes, shown, strict=True):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(code, {})
            assert out.getvalue() == output
    finally:
        tenter.memory.limit(before)
