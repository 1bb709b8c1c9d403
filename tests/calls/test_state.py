"""The core's global state is that of DESIGN's table."""

from __future__ import annotations

import re
from pathlib import Path

from roots import ROOT

# Variables at the scope of a namespace, which clang-format does not indent; static members; and static variables of
# functions. Constants and tables of constants are no state.
STATE = (
    r"^(?=[A-Za-z])(?!constexpr|const |inline constexpr|extern|namespace|using|typedef|template|struct|class|enum)"
    r"(?!return|TENTER)"
    r"(?:(?:inline|static|thread_local) )*[\w:<>*, ]+[ *](\w+)(?:\[\w+\])?(?: = [^()\n]*|\{[^()\n]*\})?;",
    r"^\w+ \(\*(\w+)\)\(.*\) = ",
    r"^\} (\w+);",
    r"^ +inline static (?!const)[\w:<>*, ]+[ *](\w+)(?:\[\w+\])?(?: = [^;\n]*|\{[^;\n]*\})?;",
    r"^ +static (?!const|inline)[\w:<>*, ]+[ *](\w+)(?:\[\w+\])?(?: = .*|;)$",
)


def variables(path: Path) -> set[str]:
    text = re.sub(r"//[^\n]*", "", path.read_text())
    return {name for pattern in STATE for name in re.findall(pattern, text, re.MULTILINE)}


def table() -> dict[str, set[str]]:
    """The variables of each file that a row names."""
    text = (ROOT / "DESIGN.md").read_text()
    rows = text[text.index("| state of the core | where |") :].split("\n\n")[0]
    places = re.findall(r"`(native/[\w/.]+): ([\w, ]+)`", rows)
    return {file: set(names.split(", ")) for file, names in places}


def test_the_core_has_no_global_state_but_that_of_the_table() -> None:
    files = sorted(path for path in (ROOT / "native").rglob("*.[ch]pp") if path.parent.name != "levels")
    found = {path.relative_to(ROOT).as_posix(): names for path in files if (names := variables(path))}
    # These are defined where their struct is declared elsewhere.
    found.pop("native/arrays/array_libraries.hpp")
    assert found == table()
