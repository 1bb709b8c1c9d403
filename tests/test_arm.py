"""What tests/arm.py and the counts of instructions rely on, which no Arm machine is needed for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import arm as counts

import arm

ROOT = Path(__file__).resolve().parent.parent


def test_the_tests_for_arm_exist():
    for name in arm.TESTS:
        assert (ROOT / "tests" / name).is_file(), name
    together = "".join((ROOT / "tests" / name).read_text() for name in arm.TESTS)
    for name in arm.NOT_FITTING:
        assert f"def {name.split()[0]}(" in together, name


def test_the_levels_of_arm_are_those_that_are_compiled_there():
    [levels] = re.findall(
        r"aarch64\|arm64\|ARM64\)\$\"\)\n  set\(all_levels ([\w ]+)\)", (ROOT / "CMakeLists.txt").read_text()
    )
    dispatch = (ROOT / "native" / "kernels" / "dispatch.cpp").read_text()
    for name, (compiled, _) in arm.LEVELS.items():
        assert compiled in ("portable", levels.replace(" ", ";"))
        assert f"TENTER_HAS_{name}" in dispatch


@pytest.mark.parametrize(
    "source, compared",
    [
        ("x = Array('numpy', 'float32', (7,), 'normal', seed=1).made()\ny = tenter.resize(x, size=(3,))", True),
        ("x = Array('numpy', 'clongdouble', (7,), 'normal', seed=1).made()\ny = tenter.repeat(x, 2)", False),
        ("x = Array('torch', 'float16', (7,), 'special', seed=1).made()\ny = tenter.repeat(x, 2)", False),
        ("y = tenter.ragged.segment_softmax(x, lengths, 0)", False),
    ],
)
def test_what_other_libraries_compute_is_not_compared(source: str, compared: bool):
    assert bool(arm.NOT_COMPARED.search(source)) != compared


def test_a_program_that_runs_keeps_its_files(tmp_path: Path):
    for name in ("new", "old"):
        (tmp_path / name).write_text("the same")
    kept = (tmp_path / "old").stat()
    arm.copy_changed(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").stat() == kept
    (tmp_path / "new").write_text("another")
    arm.copy_changed(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "another"


def test_the_fewest_instructions_of_a_row_are_bold():
    found = {
        "neon": {("row", "tenter"): 3.0, ("row", "OpenCV"): 2.0, ("other", "tenter"): 1.0},
        "i8mm": {("row", "tenter"): 1.5, ("other", "tenter"): 1.0},
    }
    lines = counts.table(found).splitlines()
    assert lines[0] == "| 512 -> | tenter, `neon` | tenter, `i8mm` | OpenCV | Pillow | NumPy |"
    assert lines[2:] == ["| row | 3 | **1.5** | 2 |  |  |", "| other | **1** | **1** |  |  |  |"]
