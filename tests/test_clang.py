"""Clang compiles the core without a warning, and its kernels pass their tests at every level."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from program_helpers import of_this_machine

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "test_kernels.py",
    "test_filters.py",
    "test_maps.py",
    "test_bytes.py",
    "test_byte_taps.py",
    "test_signals.py",
    "test_nearest.py",
)
# An editable installation would be imported in place of what is on the path.
PYTEST = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
import pytest
import tenter
assert tenter.__file__.startswith(sys.argv.pop(1)), tenter.__file__
raise SystemExit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_clang_is_a_second_compiler(tmp_path: Path) -> None:
    clang = of_this_machine(("clang++", "clang++-19", "clang++-16"), "--version", r"clang version (1[6-9]|[2-9]\d)\.")
    levels = "v4;v3;v2;portable" if platform.machine() == "x86_64" else "i8mm;neon;portable"
    settings = {
        "CMAKE_CXX_COMPILER": clang, "CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable,
        "TENTER_LEVELS": levels, "CMAKE_CXX_FLAGS": "-Werror",
    }  # fmt: skip
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    for command in (["-S", ROOT, "-B", tmp_path, "-G", "Ninja", *defined], ["--build", tmp_path, "-j1"]):
        done = subprocess.run(["cmake", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    package = tmp_path / "package" / "tenter"
    shutil.copytree(ROOT / "src" / "tenter", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    [core] = tmp_path.glob("_core*.so")
    shutil.copy(core, package / "_native")
    arguments = ["-q", "-n", "0", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS)]
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    program = [sys.executable, "-c", PYTEST, str(package.parent), *arguments]
    done = subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
