"""Blocks under transforms and modes, in many threads, in forked children and when memory is short: nothing shared, nothing
lost."""

from __future__ import annotations

import gc
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import tenter
from cases import values
from memory_helpers import LARGE, PAGE, T, X, block_of, garbage, needs_fork, needs_linux, poison, recycler  # noqa: F401
from program_helpers import prints, run_program
from sweeps import sampled
from tenter import memory

# ---- transforms, modes and other processes


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_transforms_and_modes():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.checkpoint import checkpoint

    class Function(TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            return f(*args, **(kwargs or {}))

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(self, f, types, args=(), kwargs=None):
            return f(*args, **(kwargs or {}))

    def f(x):
        return tenter.interpolate(x, (701, 803), mode="bilinear")

    def within(mode):
        with mode:
            return f(x)

    x = torch.from_numpy(values((1, 1, 150, 190), "float32"))
    leaf = x.clone().requires_grad_()
    memory.set_limit(0)
    want = f(x)
    memory.set_limit(256 << 20)
    for call in (
        lambda: torch.func.functionalize(f)(x),
        lambda: torch.vmap(f)(x[None])[0],
        lambda: torch.func.vjp(f, x)[0],
        lambda: torch.func.jvp(f, (x,), (x,))[1],
        lambda: torch.compile(f, backend="aot_eager", fullgraph=True)(x),
        lambda: torch.compile(lambda x: f(x).relu_() + f(x) - f(x).relu(), backend="aot_eager")(x),
        lambda: torch.jit.trace(f, x)(x),
        lambda: checkpoint(f, leaf, use_reentrant=False).detach(),
        lambda: within(torch.device("meta")),
        lambda: within(torch.inference_mode()),
        lambda: within(Function()),
        lambda: within(Dispatch()),
    ):
        for _ in range(2):
            made = memory.stats()
            y = call()
            now = memory.stats()
            assert now.fresh + now.reused > made.fresh + made.reused and torch.allclose(y, want, atol=1e-6)
            if block_of(y):
                poison(y)
            del y


@pytest.mark.slow
@needs_fork
def test_forked_children_share_nothing():
    assert prints("block_forks.py") == "0\n0\n"


@pytest.mark.slow
@needs_fork
def test_forks_while_other_threads_are_busy():
    assert prints("block_forks_while_busy.py") == "fine\n"


@needs_fork
def test_forks_while_a_map_is_used_for_the_first_time():
    assert prints("fork_in_a_first_call.py") == "fine\n"


@pytest.mark.slow
@needs_fork
def test_results_from_other_processes():
    assert run_program("blocks_of_workers.py").stdout == "done\n"


@pytest.mark.parametrize("n_calls", sampled([20, 60], 2))
def test_eight_threads_while_another_clears_and_limits(n_calls):
    want, wrong, stop = {n: np.repeat(X[:300], n, 0) for n in (3, 4, 6, 9, 13)}, [], threading.Event()
    in_use = memory.stats().used_bytes, memory.stats().used_blocks

    def work(seed):
        rng, held = random.Random(seed), []
        for _ in range(n_calls):
            n, x = rng.choice(list(want)), rng.choice([X[:300], T[:300]])
            y = tenter.repeat_interleave(x, n, 0)
            # Before NumPy looks at it: one of 64 tensors in PyTorch's own memory begins at a page.
            held.append((n, y, block_of(y)))
            if len(held) > 3:
                n, y, block = held.pop(rng.randrange(3))
                if not np.array_equal(y, want[n]):
                    wrong.append(n)
                if block:
                    poison(y)

    def disturb():
        while not stop.is_set():
            for n in (None, 0, 6 * PAGE, 256 << 20):
                memory.clear() if n is None else memory.set_limit(n)
                now = memory.stats()
                if not (0 <= now.idle_bytes <= now.limit and now.used_bytes >= now.used_blocks * LARGE):
                    wrong.append(now)

    other = threading.Thread(target=disturb)
    other.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    finally:
        stop.set()
        other.join()
    gc.collect()
    assert wrong == []
    assert (memory.stats().used_bytes, memory.stats().used_blocks) == in_use


@pytest.mark.slow
@needs_linux
def test_memory_that_cannot_be_had():
    said = prints("memory_scarce.py").splitlines()
    assert len(said) == 4 and all(line.startswith("result: ") and "419430400 bytes" in line for line in said), said


@needs_linux
def test_a_thread_that_begins_when_memory_is_short():
    said = prints("memory_scarce_in_a_thread.py").split()
    assert said in (["2097152", "2097152"], ["MemoryError", "2097152"])


@needs_linux
def test_ragged_sums_take_little_scratch():
    right, mebibytes = prints("ragged_sums.py").split()
    assert right == "True" and int(mebibytes) < 32


def test_the_end_of_a_process_that_holds_results():
    assert prints("results_at_the_end.py") == "560000\n"
