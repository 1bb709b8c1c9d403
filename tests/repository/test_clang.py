"""Clang compiles the core without a warning, for other machines too, and its kernels pass their tests at every level.
For Windows the core links."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from program_helpers import of_this_machine
from roots import ROOT

TESTS = (
    "kernels/test_kernels.py",
    "rules/test_filters.py",
    "maps/test_maps.py",
    "kernels/test_bytes.py",
    "kernels/test_byte_taps.py",
    "kernels/test_signals.py",
    "kernels/test_nearest.py",
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
# By target: CMake's name of the processor, and GCC, whose package brings the target's headers.
TARGETS = {"x86_64-linux-gnu": ("x86_64", "g++"), "aarch64-linux-gnu": ("aarch64", "aarch64-linux-gnu-g++")}
WINDOWS = "x86_64-w64-mingw32"
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
# Loads the library whose path it is given, and asks it for the function that Python would call.
LOADS = """
#include <windows.h>
int main(int, char** given) {
  HMODULE const core = LoadLibraryA(given[1]);
  return core ? GetProcAddress(core, "PyInit__core") ? 0 : 1 : int(GetLastError());
}
"""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def configure(folder: Path, **settings: str | Path) -> None:
    settings = {"CMAKE_BUILD_TYPE": "Release", "Python_EXECUTABLE": sys.executable, **settings}
    run("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *(f"-D{name}={value}" for name, value in settings.items()))


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_clang_compiles_every_file_without_a_warning(target: str, tmp_path: Path) -> None:
    processor, gcc = TARGETS[target]
    clang = of_this_machine(*CLANG)
    of_this_machine((gcc,), "--version", r"\(.*\) \d+")
    configure(
        tmp_path, CMAKE_CXX_COMPILER=clang, CMAKE_CXX_COMPILER_TARGET=target, CMAKE_SYSTEM_NAME="Linux",
        CMAKE_SYSTEM_PROCESSOR=processor, CMAKE_TRY_COMPILE_TARGET_TYPE="STATIC_LIBRARY",
        CMAKE_EXPORT_COMPILE_COMMANDS="ON", CMAKE_CXX_COMPILER_LAUNCHER="", SKBUILD_SOABI="none",
        Python_INCLUDE_DIR=sysconfig.get_paths()["include"],
    )  # fmt: skip
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    assert commands
    for command in commands:
        run(*shlex.split(command["command"]), "-Werror", "-o", os.devnull, cwd=tmp_path)


def python_for_windows(gcc: str, folder: Path) -> tuple[Path, Path]:
    """Headers, and a library that has each name which Python's headers promise, and does nothing."""
    headers = shutil.copytree(sysconfig.get_paths()["include"], folder / "headers")
    (headers / "pyconfig.h").write_text(PYCONFIG)
    text = "".join(file.read_text() for file in headers.rglob("*.h"))
    promised = re.findall(r"PyAPI_(FUNC|DATA)\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(_?Py\w+)", text)
    exports = {name: "function" if kind == "FUNC" else "object DATA" for kind, name in promised}
    (folder / "python.def").write_text("EXPORTS\n" + "".join(f"{name}={what}\n" for name, what in exports.items()))
    (folder / "python.cpp").write_text('extern "C" { char object[4096]; void* function() { return nullptr; } }')
    name = f"python{sys.version_info[0]}{sys.version_info[1]}"
    library = folder / f"lib{name}.dll.a"
    run(gcc, "-shared", "-o", folder / f"{name}.dll", folder / "python.cpp", folder / "python.def",
        f"-Wl,--out-implib,{library}")  # fmt: skip
    return headers, library


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["Clang", "GCC"])
def test_the_core_links_and_loads_on_windows(compiler: str, tmp_path: Path) -> None:
    """Without Python, which Debian and PyPI do not have for Windows: Wine loads the core beside a library of its names."""
    gcc = of_this_machine((f"{WINDOWS}-g++-posix", f"{WINDOWS}-g++"), "--version", r"\(.*\) \d+")
    clang = of_this_machine(*CLANG) if compiler == "Clang" else ""
    wine = of_this_machine(("wine64", "wine"), "--version", r"wine-\d+")
    headers, library = python_for_windows(gcc, tmp_path)
    # GCC aligns the stack for too few bytes on Windows (its bug 54412), so it compiles what is linked and never run.
    by_compiler = {
        "Clang": {
            "CMAKE_CXX_COMPILER": clang, "CMAKE_CXX_COMPILER_TARGET": WINDOWS, "CMAKE_CXX_FLAGS": "-Werror",
            "CMAKE_MODULE_LINKER_FLAGS": "-static",
        },
        "GCC": {"CMAKE_CXX_COMPILER": gcc, "CMAKE_MODULE_LINKER_FLAGS": "-static", "TENTER_LEVELS": "v3"},
    }  # fmt: skip
    build = tmp_path / "build"
    configure(
        build, CMAKE_SYSTEM_NAME="Windows", CMAKE_SYSTEM_PROCESSOR="AMD64", Python_INCLUDE_DIR=headers,
        Python_LIBRARY=library, SKBUILD_SOABI="cpython-3-win_amd64", **by_compiler[compiler],
    )  # fmt: skip
    run("cmake", "--build", build, "-j1")
    [core] = build.glob("_core*.pyd")
    core = Path(shutil.copy(core, tmp_path))
    (tmp_path / "loads.cpp").write_text(LOADS)
    run(gcc, "-static", "-o", tmp_path / "loads.exe", tmp_path / "loads.cpp")
    run(wine, "loads.exe", core.name, cwd=tmp_path, WINEPREFIX=str(tmp_path / "wine"), WINEDEBUG="-all")


@pytest.mark.slow
def test_clang_is_a_second_compiler(tmp_path: Path) -> None:
    clang = of_this_machine(*CLANG)
    levels = "v4;v3;v2;portable" if platform.machine() == "x86_64" else "i8mm;neon;portable"
    configure(tmp_path, CMAKE_CXX_COMPILER=clang, TENTER_LEVELS=levels, CMAKE_CXX_FLAGS="-Werror")
    run("cmake", "--build", tmp_path, "-j1")
    package = tmp_path / "package" / "tenter"
    shutil.copytree(ROOT / "src" / "tenter", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    [core] = tmp_path.glob("_core*.so")
    shutil.copy(core, package / "_native")
    arguments = ["-q", "-n", "0", "-p", "no:cacheprovider", *(f"tests/{name}" for name in TESTS)]
    environment = {"PYTHONPATH": str(package.parent), "TENTER_TEST_LEVELS": "all"}
    run(sys.executable, "-c", PYTEST, str(package.parent), *arguments, **environment)
