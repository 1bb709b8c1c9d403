"""What type checkers say of tests/typed/uses.py: each type that it states, and on each line with `# error` that error."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import tenter
from program_helpers import of_this_machine
from roots import ROOT
from tenter import _native
from tenter._arrays import signatures
from tenter._rules import geometry, presets
from tenter._rules.axis_rule import EDGES
from tenter._specs import modes, picture_sizes, signatures as of_resize
from tenter._specs.resize import KINDS

FILES = [ROOT / "tests" / "typed" / "uses.py"]
FILES += [
    ROOT / "tests" / "typed" / f"uses_of_{name}.py"
    for name in ("dask", "jax", "xarray")
    if importlib.util.find_spec(name)
]
CONFIGURATION = str(ROOT / "tests" / "typed" / "mypy.ini")
KEPT = ROOT / ".mypy_cache"
CACHE = str(KEPT) if os.access(KEPT if KEPT.exists() else ROOT, os.W_OK) else os.devnull
MYPY = (sys.executable, "-m", "mypy", "--config-file", CONFIGURATION, "--cache-dir", CACHE, "--no-error-summary")


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


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_mypy():
    out = ran(*MYPY, *map(str, FILES))
    lines = [
        re.match(r"\S*?(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", line)
        for line in out.splitlines()
        if ": error:" in line
    ]
    assert all(lines), out
    assert {(found[1], int(found[2])): found[3] for found in lines[::-1]} == pinned("mypy"), (
        out
    )  # the first error of each line


def test_pyright():
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("needs pyright")
    of_this_machine(("pyright",), "--version", rf"^pyright {re.escape(importlib.metadata.version('pyright'))}$")
    out = json.loads(ran("pyright", "--pythonpath", sys.executable, "--outputjson", *map(str, FILES)))
    found = {}
    for error in out["generalDiagnostics"]:
        found.setdefault((Path(error["file"]).name, error["range"]["start"]["line"] + 1), error.get("rule"))
    assert found == pinned("pyright"), out


# ---- results

MODULES = ["tenter", *(f"tenter.{name}" for name in (
    "conventions", "filters", "geometry", "image", "lazy", "maps", "memory", "numpy", "ragged", "torch", "torch.transforms",
))]  # fmt: skip
# What Python, NumPy and PyTorch call, of which they say themselves what it gives; arrays of pyarrow, which has no types.
PROTOCOLS = {
    "__array__", "__array_function__", "__array_ufunc__", "__torch_function__", "__arrow_array__", "to_arrow", "to_scipy",
    "__getattr__", "__reduce__", "__class_getitem__", "__init_subclass__", "__getnewargs__", "__parameters__", "__orig_bases__",
}  # fmt: skip


def public_names():
    """Expressions, of classes by an instance `o`: functions, methods, attributes."""
    for module in map(importlib.import_module, MODULES):
        for name in getattr(module, "__all__", [n for n in dir(module) if not n.startswith("_")]):
            value = getattr(module, name)
            if not inspect.isclass(value):
                yield None, f"{module.__name__}.{name}", name
            elif not issubclass(value, Exception):
                fields = {*dir(value), *getattr(value, "__annotations__", {})} - {*dir(object), "__annotations__"}
                fields -= {f for base in value.__mro__ if base.__module__.startswith("torch") for f in dir(base)}
                for field in sorted(fields):
                    if not field.startswith("_") or (field.startswith("__") and callable(getattr(value, field, None))):
                        yield f"{module.__name__}.{name}", f"o.{field}", field


def results(shown):
    """Of a type as mypy shows it, what calls give, or the type of what is not called. Arrays of any dtype, which lists
    make, are arrays; a named tuple is what its name says."""
    shown = shown.removeprefix("Overload(")
    found, at = [], 0
    while (begin := shown.find("def ", at)) >= 0 and "fallback=" not in shown[:begin]:
        at = closed(shown, shown.index("(", begin)) + 1
        end = shown.find(", def ", at) if ", def " in shown[at:] else len(shown)
        if shown[at:].startswith(" -> "):
            found.append(shown[at + 4 : end])
        at = end
    shapes = [r.rsplit("fallback=")[-1].replace("ndarray[tuple[Any, ...], ", "ndarray[") for r in found or [shown]]
    return [re.sub(r"numpy\.ndarray\[numpy\.dtype\[(Any|[^\[\]]*\[Any\])\]\]", "array", r) for r in shapes]


def closed(text, at):
    """Where the parenthesis at a place is closed."""
    depth = 0
    for k in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if not depth:
            return k
    return len(text)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="needs mypy")
def test_no_public_result_is_of_any_type(tmp_path):
    lines, names = ["import typing", *(f"import {module}" for module in MODULES)], {}
    for number, (kind, expression, field) in enumerate(public_names()):
        if field not in PROTOCOLS:
            lines += [f"def f{number}({f'o: {kind}' if kind else ''}) -> None:", f"    reveal_type({expression})"]
            names[len(lines)] = f"{kind}: {expression}" if kind else expression
    (tmp_path / "names.py").write_text("\n".join(lines) + "\n")
    out = ran(*MYPY, str(tmp_path / "names.py"))
    shown = {int(n): t for n, t in re.findall(r'names\.py:(\d+): note: Revealed type is "(.*)"', out)}
    assert names.keys() == shown.keys(), out[:2000]
    wrong = [names[n] for n, shown_type in shown.items() if any(re.search(r"\bAny\b", r) for r in results(shown_type))]
    assert not wrong
    assert len(shown) > 200 and results("Overload(def (x: Any) -> int, def (x: def (Any) -> str) -> Any)") == [
        "int",
        "Any)",
    ]


# ---- words


@pytest.mark.parametrize(("literal", "words"), [
    (signatures.InterpolateMode, KINDS), (signatures.Mode, modes.MODES), (signatures.ModeName, (*modes.MODES, *modes.JOINT)),
    (signatures.Like, (*presets.PRESETS, *presets.OTHER_NAMES)), (signatures.Rounding, _native.WORDS["length_rounding"]), (signatures.AspectRatio, _native.WORDS["policy"]), (signatures.RoundedAs, tuple(presets._TIES_OF)),
    (signatures.Align, geometry.ALIGNS), (signatures.Tie, (*geometry.TIES, *geometry._ONNX_TIES)), (signatures.Edge, EDGES), (signatures.Gravity, tuple(picture_sizes.GRAVITIES)),
])  # fmt: skip
def test_the_words_that_checkers_know_are_those_that_calls_take(literal, words):
    given = [word for part in typing.get_args(literal) for word in (typing.get_args(part) or (part,))]
    assert sorted(given) == sorted(words)


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
    rules = {
        "ResizeRule": of_resize.ResizeRule,
        "ResizeArguments": of_resize.ResizeArguments,
        "PictureRule": of_resize.PictureRule,
        "NamedDims": of_resize.NamedDims,
        "InterpRule": signatures.InterpRule,
    }
    checked = 0
    for function, overload in overloads():
        takes = inspect.signature(function)
        for name, parameter in inspect.signature(overload).parameters.items():
            if parameter.kind is parameter.VAR_KEYWORD:
                (rule,) = re.findall(r"Unpack\[(\w+)\]", parameter.annotation)
                for word in rules[rule].__annotations__:
                    takes.bind_partial(0, **{word: 0})
            elif parameter.kind is parameter.KEYWORD_ONLY and name != "input":
                takes.bind_partial(0, **{name: 0})
            elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                assert name in takes.parameters
                given = parameter.default
                assert given is parameter.empty or given == takes.parameters[name].default, (function, name)
            checked += 1
    assert checked > 100 or sys.version_info < (3, 11)
