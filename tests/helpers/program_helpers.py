"""Programs that tests run in a process of their own: what they do may end it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from benchmarks.installed import Absent, installed

from roots import TESTS

PROGRAMS = TESTS / "programs"
# How much longer than usual a program may take: an emulated processor (tests/arm.py) imports PyTorch for minutes.
PATIENCE = float(os.environ.get("TENTER_PATIENCE", "1"))


def run_program(name: str, *args: object, timeout: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", PROGRAMS / name, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=PATIENCE * timeout,
        env={**os.environ, **env},
    )


def prints(name: str, *args: object, timeout: float = 120, **env: str) -> str:
    """What a program prints, which must end well and say nothing else."""
    done = run_program(name, *args, timeout=timeout, **env)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout, done.stderr)
    return done.stdout


def compiler_of_this_machine() -> str:
    names = (os.environ.get("CXX", "c++"), "g++", "clang++")
    return of_this_machine(names, "--version", r"Free Software Foundation|^.*clang version \d+")


def of_this_machine(names: tuple[str, ...], question: str, answer: str) -> str:
    """The path of a program that says its version as expected; else the test is skipped, and says why."""
    try:
        return installed(names, question, answer).path
    except Absent as reason:
        pytest.skip(str(reason))
