"""The names that contributors read lead somewhere: files exist, and functions are defined where the text says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roots import ROOT

FOLDERS = ("native", "src", "docs", "tests", "benchmarks", "examples", ".ci")
FILES = {
    p.relative_to(ROOT).as_posix(): p
    for folder in FOLDERS
    for p in sorted((ROOT / folder).rglob("*"))
    if "__pycache__" not in p.parts
}
FILES |= {p.name: p for p in ROOT.iterdir() if p.is_file()}
PARENTS = {q.as_posix() for name in FILES for q in Path(name).parents}
CODE = {name: p.read_text() for name, p in FILES.items() if name.endswith((".py", ".pyi", ".cpp", ".hpp"))}
WORDS = {
    word for name, text in CODE.items() if name != "tests/documents/test_paths.py" for word in re.findall(r"\w+", text)
}
PAGES = ["DESIGN.md", "CONTRIBUTING.md", *(f"docs/internals/{p.name}" for p in (ROOT / "docs/internals").glob("*.md"))]

PATH = re.compile(r"[\w./*-]*[\w*]\.(?:py|pyi|cpp|hpp|c|md|toml|js|json|txt|svg)|[\w.*-]+(?:/[\w.*-]+)+/?")
IN_CODE = re.compile(r"(?<![\w/.*])(?:native|src|docs|tests|benchmarks|examples|_[a-z]+)/[\w./*-]*\w")
NAME = re.compile(r"(?:\w+(?:\.|::))*([A-Za-z_]\w*)(?:\(.*\))?")
# A build makes them, or a contributor: the worked examples say how.
MADE = re.compile(r"build/.*|script\.py|.*/flip\w*\.py|.*NAME.*")
# Instructions of processors and functions of other libraries.
OTHERS = {"vpdpbusd", "usdot", "pmaddwd", "register_autograd", "custom_op"}


def exists(path: str) -> bool:
    """Whether a path from any folder, with or without wildcards, leads to a file or a folder."""
    pattern = re.compile("(?:.*/)?" + re.escape(path.rstrip("/")).replace(r"\*", r"[^/]*"))
    return any(pattern.fullmatch(name) for name in (*FILES, *PARENTS))


def defines(name: str, file: str) -> bool:
    """Whether a line of a file of code starts like a definition of the name: a function, a type, a variable or a field."""
    if file.endswith((".py", ".pyi")):
        form = rf"^\s*(?:(?:async )?def|class) {name}\b|^[ \w,.*]*\b{name}\b[ \w,.*]*(?::[^=\n]+)?(?: =|$)|^\s*\"?{name}\"?:"
    else:
        form = (
            rf"#define {name}\b|\b(?:struct|class|enum|namespace) {name}\b|[\w>&*\]] [&*]?(?:\w+::)*{name}\s*[({{=;,\[]"
        )
    return re.search(form, CODE[file], re.M) is not None


def spans(page: str) -> list[str]:
    """What stands in backticks, without blocks of code."""
    return re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S))


@pytest.mark.parametrize("page", PAGES)
def test_paths_on_pages_exist(page: str) -> None:
    named = [path for span in spans(page) for path in re.split(r"[\s:,]+", span) if PATH.fullmatch(path)]
    assert [path for path in named if not MADE.fullmatch(path) and not exists(path)] == []


@pytest.mark.parametrize("page", PAGES)
def test_functions_on_pages_are_in_the_files_that_they_are_said_to_be_in(page: str) -> None:
    said = [(path, names) for span in spans(page) for path, _, names in [span.rpartition(": ")] if PATH.fullmatch(path)]
    places = [(path, name) for path, names in said for name in names.split(", ")]
    assert [
        (path, name) for path, name in places if not any(defines(name, f) for f in CODE if f"/{f}".endswith(f"/{path}"))
    ] == []


@pytest.mark.parametrize("page", PAGES)
def test_names_on_pages_are_names_in_the_code(page: str) -> None:
    names = [found[1] for span in spans(page) if not PATH.fullmatch(span) and (found := NAME.fullmatch(span))]
    assert set(names) - WORDS - OTHERS == set()


def test_paths_in_code_exist() -> None:
    """Those of docstrings, comments and texts in the library and its core."""
    missing = [
        f"{name}: {path}"
        for name, text in CODE.items()
        if name.startswith(("src/", "native/"))
        for path in IN_CODE.findall(text)
        if not exists(path)
    ]
    assert missing == []
