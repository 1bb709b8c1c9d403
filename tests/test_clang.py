"""Clang compiles the core without a warning, for other machines too, and its kernels pass their tests at every level."""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
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
CLANG = ("clang++", "clang++-19", "clang++-16"), "--version", r"clang version (1[6-9]|[2-9]\d)\."
# By target: CMake's names of the system and the processor, and GCC, whose package brings the target's headers.
TARGETS = {
    "x86_64-linux-gnu": ("Linux", "x86_64", "g++"),
    "aarch64-linux-gnu": ("Linux", "aarch64", "aarch64-linux-gnu-g++"),
    "x86_64-w64-mingw32": ("Windows", "AMD64", "x86_64-w64-mingw32-g++"),
}
# What Python's headers ask on Windows.
PYCONFIG = """
#define MS_WINDOWS 1
#define MS_WIN64 1
#define Py_ENABLE_SHARED 1
#define HAVE_DECLSPEC_DLL 1
#define HAVE_SSIZE_T 1
#define NT_THREADS 1
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_LONG 4
#define SIZEOF_INT 4
#define SIZEOF_SHORT 2
#define SIZEOF_LONG_LONG 8
#define SIZEOF_WCHAR_T 2
#define SIZEOF_TIME_T 8
#define ALIGNOF_SIZE_T 8
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_clang_compiles_every_file_without_a_warning(target: str, tmp_path: Path) -> None:
    system, processor, gcc = TARGETS[target]
    clang = of_this_machine(*CLANG)
    of_this_machine((gcc,), "--version", r"\(.*\) \d+")
    headers = shutil.copytree(sysconfig.get_paths()["include"], tmp_path / "headers")
    if system == "Windows":
        (headers / "pyconfig.h").write_text(PYCONFIG)
    # CMake wants it for Windows; nothing links it.
    (library := tmp_path / f"libpython{sys.version_info[0]}{sys.version_info[1]}.a").touch()
    settings = {
        "CMAKE_CXX_COMPILER": clang, "CMAKE_CXX_COMPILER_TARGET": target, "CMAKE_SYSTEM_NAME": system,
        "CMAKE_SYSTEM_PROCESSOR": processor, "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        "CMAKE_BUILD_TYPE": "Release", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON", "SKBUILD_SOABI": "none",
        "Python_EXECUTABLE": sys.executable, "Python_INCLUDE_DIR": headers, "Python_LIBRARY": library,
    }  # fmt: skip
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    environment = {name: value for name, value in os.environ.items() if name != "CMAKE_CXX_COMPILER_LAUNCHER"}
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *defined], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert commands
    for command in commands:
        done = subprocess.run(
            [*shlex.split(command["command"]), "-Werror", "-o", os.devnull],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.slow
def test_clang_is_a_second_compiler(tmp_path: Path) -> None:
    clang = of_this_machine(*CLANG)
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
