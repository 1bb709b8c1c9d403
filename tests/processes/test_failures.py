"""Calls that fail in the middle: no memory at any of their allocations, Ctrl-C. A MemoryError or the right result, `out`
as it was, nothing kept, and the next call right."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import pytest

from program_helpers import PROGRAMS, compiler_of_this_machine, run_program
from sweeps import sampled

SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "") or "tsan" in os.environ.get("LD_PRELOAD", "")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="allocators are replaced as in glibc")


@pytest.fixture(scope="session")
def failing_malloc(tmp_path_factory):
    compiler = compiler_of_this_machine()
    if SANITIZED:
        pytest.skip("the allocator is a sanitizer's")
    library = tmp_path_factory.mktemp("failing") / "failing_malloc.so"
    source = PROGRAMS / "failing_malloc.cpp"
    subprocess.run([compiler, "-std=c++20", "-O2", "-fPIC", "-shared", source, "-o", library, "-ldl"], check=True)
    return str(library)


def refused(frontend, *libraries, env=None, timeout=900):
    """(allocations, MemoryErrors) of every call in the table of programs/allocations.py."""
    done = run_program("allocations.py", frontend, *libraries, timeout=timeout, **(env or {}))
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout[-500:], done.stderr[-3000:])
    lines = [line.split("|") for line in done.stdout.splitlines()]
    return {(name, when): tuple(map(int, n)) for name, when, *n in lines}


# Calls of the table; none: all of them.
PLAN = ("counts of rows", "bilinear", "a map")
CORE = (*PLAN, "trilinear", "nearest", "resize cubic, wrapped")
ALL = [pytest.param(frontend, (), marks=pytest.mark.slow) for frontend in ("numpy", "torch")]


@needs_linux
@pytest.mark.parametrize("frontend, chosen", [("numpy", CORE), *ALL])
def test_each_allocation_of_the_core(frontend, chosen, failing_malloc):
    found = refused(frontend, "tenter/_native", env={"LD_PRELOAD": failing_malloc, "TENTER_CALLS": ";".join(chosen)})
    assert len(found) > 10
    for name in ("bilinear", "trilinear") if frontend == "numpy" else ("bilinear of a tensor", "gradient of bilinear"):
        n_last, failed_last, n_one, failed_one = found[name, "first"]
        assert min(n_last, n_one) > 3 and min(failed_last, failed_one) >= 3, name  # maps' tables, scratch, the result


@pytest.mark.parametrize("frontend, chosen", [("numpy", PLAN), *ALL])
def test_each_call_of_a_plan(frontend, chosen):
    """Every function in Python or C that tenter's Python calls finds no memory."""
    found = refused(frontend, "python", env={"TENTER_CALLS": ";".join(chosen)})
    assert len(found) >= 4
    for name, (_, failed_last, _, failed_one) in found.items():
        assert min(failed_last, failed_one) > 3, name


# ---- Ctrl-C


def interrupted(*args):
    done = run_program("interrupt.py", *map(str, args), timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), (done.returncode, done.stdout, done.stderr)
    assert done.stdout != "ended\n", "the call ended before the signal came"
    milliseconds, unwritten = map(float, done.stdout.split())
    return milliseconds, unwritten


WAYS = itertools.product(["numpy", "torch"], [1, 2], [(), ("busy",)])


@pytest.mark.parametrize("frontend, threads, busy", sampled(WAYS, 8))
def test_an_interrupt_ends_a_call_before_its_result_is_whole(frontend, threads, busy):
    _, unwritten = interrupted(frontend, "sums", threads, 64, 0.1, *busy)
    assert unwritten > 0


@pytest.mark.slow
@pytest.mark.parametrize("frontend, threads", itertools.product(["numpy", "torch"], [1, 2]))
def test_an_interrupt_ends_a_call_between_its_slices(frontend, threads):
    """Each of which takes less than the time after which loops ask for signals."""
    _, unwritten = interrupted(frontend, "slices", threads, 64, 0.02)
    assert unwritten > 0


@pytest.mark.parametrize("frontend", sampled(["numpy", "torch"], 2))
def test_out_is_whole_when_an_interrupt_is_answered(frontend):
    interrupted(frontend, "sums into out", 2, 16, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("busy", [(), ("busy",)], ids=["alone", "beside another thread"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("frontend", ["numpy", "torch"])
@pytest.mark.parametrize("operation", ["repeat", "every", "counts", "linear", "slices", "linear in 3-D"])
def test_an_interrupt_is_answered_within_half_a_second(operation, frontend, threads, busy, record_property):
    """Of a call that makes two gigabytes, which two threads may have written by the time that the signal is sent."""
    milliseconds, unwritten = interrupted(frontend, operation, threads, 2048, 0.02, *busy)
    record_property("milliseconds", milliseconds)
    print(f"{operation}, {frontend}, {threads} threads: {milliseconds:.0f} ms, {unwritten:.0%} not written")
    assert milliseconds < 500
