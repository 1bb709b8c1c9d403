"""Some seconds of the fuzzer (tests/fuzz), with a fresh seed; and that it sees what is wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from fuzz import thresholds
from tests.fuzz import runs

from roots import ROOT
from tenter import _native

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="pages that may not be touched, by mprotect")
# See CONTRIBUTING.md.
CALLS = int(os.environ.get("TENTER_FUZZ_CALLS", "250"))


def fuzz(*args, fault=""):
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *map(str, args)],
        capture_output=True, text=True, timeout=1800, cwd=ROOT, env={**os.environ, "TENTER_FUZZ_FAULT": fault},
    )  # fmt: skip


def test_random_calls():
    done = fuzz("--calls", CALLS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing found" in done.stdout


def test_every_threshold_of_the_core_is_lowered():
    fields = {name for name in dir(_native.tuning) if not name.startswith("_")} - {
        "reset",
        "guard_blocks",
        "ran",
        "notes_kernels",
    }
    assert set(thresholds.NATIVE) == fields


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault, kind, said",
    [
        ("element", "repeat_interleave", "repeat_interleave: values"),
        # A first call may need no table, whose weight a later one then shows to differ.
        ("weight", "resize", "resize: (values|not the same a second time)"),
        ("weight", "interpolate", "interpolate: (values|not the same a second time)"),
        ("leak", "resize", "resize: (inf or NaN|values)"),
        ("crash", "repeat_interleave", "repeat_interleave: crashed: SIGSEGV"),
        ("hang", "repeat_interleave", "repeat_interleave: hung: no end within 3 s"),
    ],
)
def test_a_fault_is_found(fault, kind, said):
    limit = 3 if fault == "hang" else 60  # seconds, of which a machine that has other work takes many for a call
    done = fuzz("--seed", 7, "--calls", 2000, "--only", kind, "--limit", limit, "--stop", fault=fault)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(rf"=== {said} \(call \d+, seed \d+\)", done.stdout), done.stdout
    assert re.search(r"--- again: python -m tests.fuzz --replay \d+", done.stdout)


@pytest.mark.slow
def test_a_seed_is_one_call():
    told, call = fuzz("--describe", 12345), runs.made(12345)  # in another process, which hashes words otherwise
    assert told.returncode == 0 and "y = " in told.stdout, told.stderr
    assert told.stdout == f"{call.kind}\n{call.text()}\n"


@pytest.mark.slow
def test_a_digest_is_the_same_again_and_finds_what_is_not(tmp_path):
    digest = lambda *args: subprocess.run(
        [sys.executable, "-m", "tests.digest", *args], capture_output=True, text=True, timeout=600, cwd=ROOT
    )
    file = str(tmp_path / "digest")
    done = digest("--calls", "300", "--write", file)
    assert done.returncode == 0, done.stderr
    same = digest("--compare", file, "--close")
    assert same.returncode == 0 and "0 of 300 calls differ" in same.stdout, same.stdout + same.stderr
    other = digest("--compare", file, "--close", "--respell", "nearest=nearest-exact")
    assert other.returncode == 1 and "by values" in other.stdout, other.stdout + other.stderr
