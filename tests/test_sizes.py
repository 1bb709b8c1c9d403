"""Files and functions are short enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
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


def functions() -> Iterator[tuple[Path, FUNCTIONS]]:
    """Those of tenter, except Triton's kernels."""
    for path in SOURCES:
        relative = path.relative_to(ROOT)
        if relative.parts[0] == "src" and "_triton" not in relative.parts:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, FUNCTIONS):
                    yield relative, node


def is_public(path: Path, f: FUNCTIONS) -> bool:
    return not any(part.startswith("_") and part != "__init__.py" for part in path.parts)


@pytest.mark.parametrize(("ending", "most"), [("py", 350), ("cpp", 600), ("hpp", 600)])
def test_no_file_is_long(ending: str, most: int) -> None:
    files = SOURCES if ending == "py" else sorted((ROOT / "native").rglob(f"*.{ending}"))
    assert files
    sizes = {path: code_lines(path) if ending == "py" else len(path.read_text().splitlines()) for path in files}
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
