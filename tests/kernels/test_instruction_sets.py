"""Each operation that instruction sets specialize is what it is for a single value: native/levels/simd-inl.hpp and 8-bit sums."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest

from program_helpers import PROGRAMS, compiler_of_this_machine
from roots import ROOT
from sweeps import sampled
from tenter import _native

VNNI = ["-mavx512vnni", "-mavx512vbmi"]


def flags_of(level: str) -> list[str]:
    """Those by which CMake compiles it."""
    if level == "vnni":
        return [*flags_of("v4"), *VNNI]
    [flags] = re.findall(rf"^set\(flags_{level} (.*)\)$", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return flags.split()


# `portable`, which is for other processors, can be compiled for each.
LEVELS = dict.fromkeys(["portable", *_native.testing.levels()])


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no other processor has flags")
@pytest.mark.parametrize("level", sampled(reversed(LEVELS), len(LEVELS)))
def test_operations_of_each_set_are_those_of_single_values(level: str, tmp_path: Path) -> None:
    compiler = compiler_of_this_machine()
    program = tmp_path / "program"
    flags = ["-std=c++20", "-O2", "-w", "-ffp-contract=off", f"-DTENTER_LEVEL={level}", f"-I{ROOT / 'native'}"]
    source = PROGRAMS / "instruction_sets.cpp"
    subprocess.run([compiler, *flags, *flags_of(level), source, "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, set(done.stdout.splitlines())) == (0, set())
