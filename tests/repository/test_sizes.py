"""Files and functions are short enough to be read at once."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from roots import ROOT

SOURCES = sorted(path for folder in ("src", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py"))
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension, ast.Assert, ast.match_case)


def lines(node: ast.Module | ast.ClassDef | FUNCTIONS) -> int:
    """Without the docstring: those of public functions are the reference, which is as long as it needs to be."""
    first = node.body[0]
    held = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) and first.end_lineno else 0
    return (node.body[-1].end_lineno or 0) - first.lineno + 1 - held


def code_lines(path: Path) -> int:
    text = path.read_text()
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    held = [
        node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, documented) and ast.get_docstring(node)
    ]
    return len(text.splitlines()) - sum((node.end_lineno or 0) - node.lineno + 1 for node in held)


def branches(node: ast.AST) -> int:
    """Counts decisions, those of `and` and `or` included, without those of functions inside."""
    found = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            continue
        found += isinstance(child, BRANCHES)
        found += len(child.ifs) if isinstance(child, ast.comprehension) else 0
        found += len(child.values) - 1 if isinstance(child, ast.BoolOp) else 0
        found += branches(child)
    return found


@functools.cache
def functions() -> list[tuple[Path, FUNCTIONS]]:
    """Those of tenter, except Triton's kernels."""
    sources = [path.relative_to(ROOT) for path in SOURCES]
    return [
        (path, node)
        for path in sources
        if path.parts[0] == "src" and "_triton" not in path.parts
        for node in ast.walk(ast.parse((ROOT / path).read_text()))
        if isinstance(node, FUNCTIONS)
    ]


def is_public(path: Path, f: FUNCTIONS) -> bool:
    return not any(part.startswith("_") and part != "__init__.py" for part in path.parts)


@pytest.mark.parametrize(("ending", "most"), [("py", 350), ("cpp", 600), ("hpp", 600)])
def test_no_file_is_long(ending: str, most: int) -> None:
    files = SOURCES if ending == "py" else sorted((ROOT / "native").rglob(f"*.{ending}"))
    assert files
    sizes = {path: len(path.read_text().splitlines()) for path in files}
    if ending == "py":  # docstrings do not count
        sizes = {path: code_lines(path) for path, n in sizes.items() if n > most}
    assert {path.name: n for path, n in sizes.items() if n > most} == {}


def test_no_function_has_more_than_60_lines_or_20_branches() -> None:
    found = {f"{path}: {f.name}": (lines(f), branches(f)) for path, f in functions()}
    assert {name: counts for name, counts in found.items() if counts[0] > 60 or counts[1] > 20} == {}


def test_functions_that_users_do_not_call_have_at_most_8_parameters() -> None:
    found = {
        f"{path}: {f.name}": len(f.args.posonlyargs + f.args.args + f.args.kwonlyargs)
        for path, f in functions()
        if not is_public(path, f)
    }
    assert {name: n for name, n in found.items() if n > 8} == {}


# ---- functions of the core, except its kernels

SKIPPED = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^#(?:[^\n]*\\\n)*[^\n]*', re.MULTILINE)
SCOPE = re.compile(r"(?:template <.*>\s*)?(?:namespace|class|struct|union|enum)\b[^(]*$", re.DOTALL)
NAME = re.compile(r"(operator\(\)|operator\W+|~?\w+)\(")
# clang-format puts spaces around an `&&` that is not a reference.
DECISION = re.compile(r"\b(?:if|for|while|case|catch)\b|\?|\|\||(?<=\s)&&")
MOST_IN_CORE = {"lines": 60, "branches": 20, "parameters": 8}


class CoreFunction(NamedTuple):
    name: str
    lines: int
    branches: int
    parameters: int


def end_of(code: str, begin: int) -> int:
    """Returns where the brace at `begin` is closed."""
    level = 0
    for found in re.finditer("[{}]", code[begin:]):
        level += 1 if found[0] == "{" else -1
        if not level:
            return begin + found.end()
    raise ValueError("expected a closing brace")


def n_parameters(listed: str) -> int:
    """Counts parameters from the opening parenthesis on. Commas in brackets of any kind separate none."""
    level, commas = 0, 0
    for k, c in enumerate(listed):
        level += (c in "({[<") - (c in ")}]>")
        commas += c == "," and level == 1
        if not level:
            return commas + 1 if listed[1:k].strip() else 0
    raise ValueError("expected a closing parenthesis")


def core_functions(text: str) -> Iterator[CoreFunction]:
    """Functions and methods with a body, in sources as clang-format leaves them. Lambdas count as parts of the function
    around them."""
    code = SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    begin = at = level = 0  # begin: of a declaration; level: of parentheses
    while at < len(code):
        c = code[at]
        level += (c == "(") - (c == ")")
        if not level and c == "{":
            head = code[begin:at].strip()
            if not SCOPE.match(head):
                end = end_of(code, at)
                name = NAME.search(head)
                # Other braces are initializers: they follow `=`, or a name without a space.
                if name and code[at - 1].isspace() and not head.endswith("="):
                    body = code[code.index(head, begin) : end]
                    yield CoreFunction(
                        name[1], body.count("\n") + 1, len(DECISION.findall(body)), n_parameters(head[name.end() - 1 :])
                    )
                    begin = end
                at = end
                continue
        if not level and c in ";{}":
            begin = at + 1
        at += 1


def functions_of_core() -> Iterator[tuple[str, CoreFunction]]:
    for path in sorted((ROOT / "native").rglob("*.[ch]pp")):
        if "levels" not in path.parts:
            for f in core_functions(path.read_text()):
                yield f"{path.relative_to(ROOT)}: {f.name}", f


def test_functions_of_the_core_are_found() -> None:
    text = """
    namespace {
    constexpr Row rows[] = {{1, "if {"}, {f(2), 3}};
    // if (commented) {
    template <class T>
    struct Pair : std::vector<T> {
      Pair(std::pair<int, T> both, int n = 0) : first{n}, second(n ? 1 : 2) {}
      T operator()(int k) const {
        for (;;)
          if (k && take([](auto&& x) { return x || k; })) return '{';
      }
      int first = 0, n[] = {1};
    };
    bool empty();
    #define MACRO(x) \\
      if (x) {
    }  // namespace
    bool empty() { return true; }
    """
    found = list(core_functions(textwrap.dedent(text)))
    assert found == [("Pair", 1, 1, 2), ("operator()", 4, 4, 1), ("empty", 1, 0, 0)]
    all_found = dict(functions_of_core())
    known = ("calls/lookup.cpp: cached_call", "plan/planner.cpp: plan_passes", "arrays/arrays.hpp: contiguous")
    assert [name for name in known if f"native/{name}" not in all_found] == []
    # Each body that clang-format leaves at the beginning of a line belongs to a function that is found.
    for path in sorted((ROOT / "native").rglob("*.cpp")):
        ends = re.findall(r"^}$", path.read_text(), re.MULTILINE)
        longer = [f for f in core_functions(path.read_text()) if f.lines > 1]
        assert len(longer) >= len(ends), path


def test_functions_of_the_core_are_short() -> None:
    found: dict[str, dict[str, int]] = {}
    for name, f in functions_of_core():
        counts = {what: getattr(f, what) for what, most in MOST_IN_CORE.items() if getattr(f, what) > most}
        if counts:
            found[name] = counts
    assert found == {}
