"""What tests/arm.py and the counts of instructions rely on, which no Arm machine is needed for."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import arm as counts
from tests import arm

from roots import ROOT


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
        ("x = Array('torch', 'uint16', (7,), 'normal', seed=1).made()\ny = tenter.resize(x, scale=2)", True),
        ("x = Array('torch', 'uint16', (7,), 'normal', seed=1).made()\ny = tenter.resize(x, scale=2, value=7)", False),
    ],
)
def test_what_other_libraries_compute_is_not_compared(source: str, compared: bool):
    assert arm.is_compared({"source": source}) == compared


def test_errors_that_print_addresses_are_not_compared():
    call = {"source": "y = tenter.resize(x, mode=Filter(lambda d: 1 - d, 1.0), like='paint')"}
    assert arm.is_compared({**call, "said": "ValueError: like: expected one of torch, pillow, got 'paint'"})
    assert not arm.is_compared(
        {**call, "said": "ValueError: ... mode=Filter(f=<function <lambda> at 0x>, support=1..."}
    )


def test_a_program_that_runs_keeps_its_files(tmp_path: Path):
    for name in ("new", "old"):
        (tmp_path / name).write_text("the same")
    kept = (tmp_path / "old").stat()
    arm.copy_changed(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").stat() == kept
    (tmp_path / "new").write_text("another")
    arm.copy_changed(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "another"


def test_what_has_passed_on_this_code_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A machine on which the second file fails at first."""
    monkeypatch.setattr(arm, "TESTS", ("a.py", "b.py"))
    monkeypatch.setattr(arm, "FILES_PER_STEP", 1)
    monkeypatch.setattr(arm, "code", lambda step: "code of " + step)
    made = arm.Arm(tmp_path)
    ran: list[str] = []
    failing = {"tests/b.py"}

    def run(level: str, *arguments: str, jobs: int) -> SimpleNamespace:
        ran.append(arguments[-1])
        return SimpleNamespace(returncode=int(arguments[-1] in failing))

    monkeypatch.setattr(made, "run", run)

    def again(**changed: bool) -> tuple[list[str], list[str]]:
        ran.clear()
        failed = arm.tested(made, "neon", [], 7, 0, 1, changed.get("again", False))
        return failed, ran[1:]  # without the question for the level

    assert again() == (["neon: tests/b.py"], ["tests/a.py", "tests/b.py", "60"])
    failing.clear()
    assert again() == ([], ["tests/b.py"])
    assert again() == ([], [])
    monkeypatch.setattr(arm, "code", lambda step: "other code of " + step)
    assert again() == ([], ["tests/a.py", "tests/b.py", "60"])
    assert again(again=True) == ([], ["tests/a.py", "tests/b.py", "60"])
    monkeypatch.setattr(arm, "FILES_PER_STEP", 2)
    failing.add("tests/b.py")
    assert again() == (["neon: tests/a.py tests/b.py"], ["tests/b.py"])


def test_the_code_of_a_step_is_all_but_other_tests():
    both = "tests/maps/test_maps.py tests/kernels/test_bytes.py"
    texts = {name: arm.code(name) for name in (*both.split(), both, "fuzzer 2000")}
    assert len(set(texts.values())) == 4 and arm.code("tests/maps/test_maps.py") == texts["tests/maps/test_maps.py"]
    assert arm.code("digest 3000") == texts["fuzzer 2000"]


def test_the_fewest_instructions_of_a_row_are_bold():
    found = {
        "neon": {("row", "tenter"): 3.0, ("row", "OpenCV"): 2.0, ("other", "tenter"): 1.0},
        "i8mm": {("row", "tenter"): 1.5, ("other", "tenter"): 1.0},
    }
    lines = counts.table(found).splitlines()
    assert lines[0] == "| 512 -> | tenter, `neon` | tenter, `i8mm` | OpenCV | Pillow | NumPy |"
    assert lines[2:] == ["| row | 3 | **1.5** | 2 |  |  |", "| other | **1** | **1** |  |  |  |"]
