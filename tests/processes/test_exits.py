"""The end of a process, and of its children, while calls run: nothing hangs or aborts, and the bits stay the same."""

from __future__ import annotations

import importlib.util
import itertools
import os

import pytest

from program_helpers import run_program
from sweeps import sampled

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_subinterpreters = pytest.mark.skipif(
    importlib.util.find_spec("_xxsubinterpreters") is None and importlib.util.find_spec("_interpreters") is None,
    reason="this Python does not let its code make subinterpreters",
)
FRONTENDS = pytest.mark.parametrize("frontend", ["numpy", "torch"])
SOME = pytest.mark.parametrize("frontend", sampled(["numpy", "torch"], 2))


def ends(scenario, frontend, code, says, timeout=60):
    done = run_program("exits.py", scenario, frontend, timeout=timeout)
    assert (done.returncode, done.stdout, done.stderr) == (code, says, ""), (done.returncode, done.stdout, done.stderr)


DAEMONS = ["daemons", "daemons_of_many_kinds", "daemons_in_long_calls"]


@pytest.mark.slow  # `test_memory_processes.test_the_end_of_a_process_that_holds_results` has the default end
@pytest.mark.parametrize("frontend, scenario", itertools.product(["torch", "numpy"], DAEMONS))
def test_daemon_threads_inside_of_calls_when_the_interpreter_ends(scenario, frontend):
    ends(scenario, frontend, 0, "ends\n")


@pytest.mark.slow
@FRONTENDS
@pytest.mark.parametrize("scenario", DAEMONS)
def test_daemon_threads_many_times(scenario, frontend):
    for _ in range(40):
        ends(scenario, frontend, 0, "ends\n")


@SOME
def test_a_process_that_leaves_while_threads_call(frontend):
    ends("leaves", frontend, 3, "ends\n")


@SOME
def test_an_exit_waits_for_threads_that_are_no_daemons(frontend):
    ends("waits", frontend, 5, "True\nTrue\n")


@pytest.mark.slow
@needs_fork
@SOME
def test_children_that_are_forked_while_threads_call(frontend):
    ends("forks", frontend, 0, "[0, 0, 0, 0, 0, 0, 0, 0]\n")


@pytest.mark.slow
@needs_fork
def test_pools_of_processes():
    ends("processes", "numpy", 0, "fork True\nspawn True\n")


@needs_subinterpreters
@pytest.mark.parametrize("main", ["tenter", "numpy", "nothing"])
def test_a_subinterpreter_is_refused(main):
    """Whatever the main interpreter has imported before; its own calls go on, and every interpreter ends."""
    done = run_program("subinterpreters.py", main, timeout=60)
    *refused, last = done.stdout.splitlines()
    assert (done.returncode, last, done.stderr) == (0, "[1.0, 1.25, 1.75, 2.0]", ""), (done.stdout, done.stderr)
    assert len(refused) == 3
    for line in refused:  # the latter in Python's own words, since 3.12
        assert "ImportError" in line and "tenter" in line, line
        assert "main interpreter" in line or "does not support loading in subinterpreters" in line, line
    assert "main interpreter" in refused[1]


@pytest.mark.slow
@SOME
def test_settings_that_change_while_eight_threads_call(frontend):
    ends("settings", frontend, 0, "[] 0 0 True True\n")
