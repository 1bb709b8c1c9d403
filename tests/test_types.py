"""What type checkers say of tests/typed/uses.py: each type that it states, and on each line with `# error` that error."""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import tenter
from tenter import filters, geometry
from tenter._arrays import signatures
from tenter._rules import presets
from tenter._rules.edges import EDGES
from tenter._specs import lengths, resize_arguments
from tenter._specs.resize import KINDS

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "tests" / "typed" / "uses.py"]
FILES += [ROOT / "tests" / "typed" / f"uses_of_{name}.py" for name in ("dask", "jax") if importlib.util.find_spec(name)]


def pinned(checker):
    """The errors by line: `# error: mypy's code, pyright's rule`."""
    at = {"mypy": 0, "pyright": 1}[checker]
    found = {}
    for file in FILES:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if wanted := re.search(r"# error: ([\w-]+), (\w+)$", line):
                found[file.name, number] = wanted[at + 1]
    assert len(found) > 20
    return found


def ran(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300).stdout


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_mypy():
    """Strict as pyproject.toml has it, so that it shares the cache of the `mypy` that checks src."""
    out = ran(sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, FILES))
    lines = [
        re.match(r"\S*?(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", line)
        for line in out.splitlines()
        if ": error:" in line
    ]
    assert all(lines), out
    assert {(found[1], int(found[2])): found[3] for found in lines[::-1]} == pinned("mypy"), (
        out
    )  # the first error of each line


@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright")
def test_pyright():
    out = json.loads(ran("pyright", "--pythonpath", sys.executable, "--outputjson", *map(str, FILES)))
    found = {}
    for error in out["generalDiagnostics"]:
        found.setdefault((Path(error["file"]).name, error["range"]["start"]["line"] + 1), error.get("rule"))
    assert found == pinned("pyright"), out


# ---- words


@pytest.mark.parametrize(("literal", "words"), [
    (signatures.InterpolateMode, KINDS), (signatures.Mode, resize_arguments.MODES), (signatures.ModeName, (*resize_arguments.MODES, *resize_arguments.JOINT)),
    (signatures.Like, (*presets.PRESETS, *presets.OTHER_NAMES)), (signatures.Rounding, lengths.ROUNDINGS), (signatures.Policy, resize_arguments.POLICIES),
    (signatures.Align, (*geometry.ALIGNS, *geometry._ALIASES["align"])), (signatures.Tie, (*geometry.TIES, *geometry._ALIASES["tie"])), (signatures.Edge, (*EDGES, *geometry._ALIASES["edge"])),
])  # fmt: skip
def test_the_words_that_checkers_know_are_those_that_calls_take(literal, words):
    given = [word for part in typing.get_args(literal) for word in (typing.get_args(part) or (part,))]
    assert sorted(given) == sorted(words)
    assert filters.NAMED


# ---- overloads


def overloads():
    if sys.version_info < (3, 11):
        return
    for module, names in (
        (tenter, ("repeat_interleave", "repeat", "tile", "expand", "interpolate", "resize")),
        (tenter.image, ("resize",)),
    ):
        for name in names:
            function = getattr(module, name)
            for overload in typing.get_overloads(function):
                yield function, overload


def test_every_overload_is_a_call_that_the_function_takes():
    rules = {"ResizeRule": signatures.ResizeRule, "PictureRule": signatures.PictureRule}
    checked = 0
    for function, overload in overloads():
        takes = inspect.signature(function)
        for name, parameter in inspect.signature(overload).parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                (rule,) = re.findall(r"Unpack\[(\w+)\]", parameter.annotation)
                for word in rules[rule].__annotations__:
                    takes.bind(0, **{word: 0})
            elif parameter.kind is parameter.KEYWORD_ONLY and name != "input":
                takes.bind(0, **{name: 0})
            elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                assert name in takes.parameters
                given = parameter.default
                assert given is parameter.empty or given == takes.parameters[name].default, (function, name)
            checked += 1
    assert checked > 100 or sys.version_info < (3, 11)
