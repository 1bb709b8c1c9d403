"""The includes of native/: its folders include those below them, and no file includes itself through others."""

from __future__ import annotations

import re
from pathlib import Path

from test_layers import circles

from roots import NATIVE

# From the lowest on. DESIGN says what each holds.
FOLDERS = ("system", "kernels", "rules", "maps", "arrays", "plan", "calls", "ragged", "python")
# Compiled once per instruction set: it includes folders up to maps, and none includes it.
LEVELS = "levels"
BELOW = {LEVELS: FOLDERS[:4]} | {name: FOLDERS[: k + 1] for k, name in enumerate(FOLDERS)}
MOST_LINES = 600
# Functions of several headers, or of none: bindings, and one table of kernels per instruction set.
WITHOUT_HEADER = re.compile(r"bind\w*|\w*level\w*|dispatch|offset_operators|ragged_calls|segment_calls")

FILES = {path.relative_to(NATIVE).as_posix(): path.read_text() for path in sorted(NATIVE.rglob("*.?pp"))}
INCLUDES = {name: set(re.findall(r'#include "([^"]+)"', text)) for name, text in FILES.items()}


def test_every_file_is_in_a_folder_that_the_layers_know() -> None:
    assert {name.split("/")[0] for name in FILES} == {*FOLDERS, LEVELS}
    assert all(name.count("/") == 1 for name in FILES)


def test_files_include_their_folder_and_those_below() -> None:
    wrong = [
        f"{name} includes {other}"
        for name, others in INCLUDES.items()
        for other in others
        if other not in FILES or other.split("/")[0] not in (*BELOW[name.split("/")[0]], name.split("/")[0])
    ]
    assert wrong == []


def test_kernels_are_in_files_for_each_instruction_set_and_nowhere_else() -> None:
    assert {name.split("/")[0] for name in FILES if name.endswith("-inl.hpp")} == {LEVELS}


def test_no_file_includes_itself_through_others() -> None:
    assert circles(INCLUDES) == []


def test_a_source_file_defines_what_the_header_of_its_name_declares() -> None:
    alone = [
        name
        for name in FILES
        if name.endswith(".cpp")
        and not WITHOUT_HEADER.fullmatch(Path(name).stem)
        and name.replace(".cpp", ".hpp") not in INCLUDES[name]
    ]
    assert alone == []


def test_no_file_is_long() -> None:
    assert [name for name, text in FILES.items() if text.count("\n") > MOST_LINES] == []
