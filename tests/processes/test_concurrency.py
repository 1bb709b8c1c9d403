"""Threads and forks: the same bits from many threads at once and from forked workers, and no hang."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from programs.random_calls import OPERATIONS, arguments, digest

import tenter
from program_helpers import run_program
from sweeps import sampled
from tenter._plans import plan, reference


def reference_digest(op, seed):
    """The same call by the reference kernel where it is exact (copies), else on one thread."""
    args, kwargs = arguments(op, seed)
    nearest = kwargs.get("mode", "nearest").startswith("nearest")
    compiled, plan._is_compiled = plan._is_compiled, (lambda x, maps: False) if nearest else plan._is_compiled
    run, reference.run = reference.run, lambda x, maps: np.ascontiguousarray(run(x, maps))
    tenter.set_num_threads(1)
    try:
        return zlib.crc32(np.ascontiguousarray(getattr(tenter, op)(*args, **kwargs)))
    finally:
        plan._is_compiled, reference.run = compiled, run
        tenter.set_num_threads(None)


@pytest.mark.parametrize("op", sampled(OPERATIONS, 3))
def test_a_thousand_calls_from_eight_threads(op):
    want = [reference_digest(op, seed) for seed in range(1000)]
    tenter.set_num_threads(4)
    try:
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda seed: digest(op, seed), range(1000)))
    finally:
        tenter.set_num_threads(None)
    assert got == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("frontend, n_calls", sampled(itertools.product(["numpy", "torch"], [200, 1000]), 4))
def test_forked_workers(frontend, n_calls):
    done = run_program("forked_workers.py", frontend, n_calls, timeout=240)
    assert done.stdout.strip() == "[0, 0, 0, 0]", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 3])
def test_data_loader_workers_after_parallel_work(rounds):
    done = run_program("data_loader.py", rounds, timeout=240)
    assert done.stdout.strip() == "done", done.stderr


def test_number_of_threads():
    default = tenter.get_num_threads()
    tenter.set_num_threads(3)
    assert tenter.get_num_threads() == 3
    tenter.set_num_threads(None)
    assert tenter.get_num_threads() == default
    for bad in (0, -1, 1.5, True, "2"):
        with pytest.raises((TypeError, ValueError), match="n: expected"):
            tenter.set_num_threads(bad)
    code = "import tenter; print(tenter.get_num_threads())"
    got = subprocess.check_output([sys.executable, "-c", code], text=True, env={**os.environ, "OMP_NUM_THREADS": "5"})
    assert got == "5\n"


@pytest.mark.slow
def test_pytorchs_number_of_threads_is_ours():
    code = "import tenter, torch; torch.set_num_threads(1); print(tenter.get_num_threads())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "1\n"


def test_scratch_that_cannot_be_had_is_a_memory_error():
    """An exception in a worker thread comes back to the caller, and the pool goes on."""
    done = run_program("scratch.py")
    assert done.stdout.split() == ["MemoryError", "1.0"], done.stderr


def test_a_forked_child_has_one_thread():
    code = (
        "import os, tenter\npid = os.fork()\n"
        "if pid == 0: os._exit(tenter.get_num_threads())\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), tenter.get_num_threads())"
    )
    env = {**os.environ, "OMP_NUM_THREADS": "5"}
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=env) == "1 5\n"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("kind, times", [("first", 200), ("calls", 500)])
def test_no_child_hangs_that_is_forked_under_load(kind, times):
    done = run_program("forks_under_load.py", times, kind, timeout=600)
    assert done.stdout.strip() == f"{{0: {times}}}", (done.stdout, done.stderr)
