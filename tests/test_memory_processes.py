"""Blocks under transforms and modes, in many threads, in forked children and when memory is short: nothing shared, nothing
lost."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import tenter
from cases import values
from daily import daily
from memory_helpers import LARGE, PAGE, T, X, block_of, garbage, needs_fork, needs_linux, poison, prints, recycler  # noqa: F401
from tenter import memory

# ---- transforms, modes and other processes


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
    memory.limit(0)
    want = f(x)
    memory.limit(256 << 20)
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


FORKS = """
import gc, os, sys, numpy as np, tenter, torch
from tenter import _native, memory
memory.limit(256 << 20)
torch.set_num_threads(1)                                   # its own threads would hang the children
x = np.ones((700, 400), np.float32)
def child(body):
    pid = os.fork()
    if pid == 0:
        code = 1
        try: code = 0 if body() else 2
        finally: os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
array, tensor = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(torch.from_numpy(x), 2, 0)
early = [tenter.repeat_interleave(x, 2, 0) for _ in range(3)]
del early[2]
assert memory.stats().idle_blocks == 1
def in_child():
    global array, tensor, early
    assert memory.stats().idle == 0 and not _native.recycles()
    assert (array == 1).all() and (tensor == 1).all()
    made = memory.stats()
    for t in (x, torch.from_numpy(x)):
        for _ in range(3): y = tenter.repeat_interleave(t, 2, 0)
        assert bool((y == 1).all())
        assert type(getattr(y, "base", None)) is not _native.Block
        assert t is x or y.untyped_storage().resizable()
    now = memory.stats()
    assert (now.fresh, now.reused) == (made.fresh, made.reused)
    array[...] = 5; tensor.fill_(6)
    del array, tensor, early; gc.collect()
    assert memory.stats().idle == 0 and memory.stats().blocks_in_use == made.blocks_in_use - 4
    memory.clear(); memory.limit(0); memory.limit(1 << 30)
    assert not _native.recycles()
    return child(lambda: not _native.recycles() and bool((tenter.repeat_interleave(x, 3, 0) == 1).all())) == 0
print(child(in_child))
assert (array == 1).all() and (tensor == 1).all()          # the child's writes are its own
assert memory.stats().idle == 0                            # given back before the fork
made = memory.stats()
del early; gc.collect()
assert memory.stats().idle == 0                            # from before the fork: not kept
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused and memory.stats().fresh == made.fresh + 1
del y
y = tenter.repeat_interleave(x, 2, 0)
assert memory.stats().reused == made.reused + 1            # from after it: kept again
r, w = os.pipe()
pid = os.fork()
if pid == 0:                                               # nor does the child see what the parent writes
    os.read(r, 1)
    os._exit(0 if (array == 1).all() and (tensor == 1).all() else 1)
array[...] = 3; tensor.fill_(4); os.write(w, b"x")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@needs_fork
def test_forked_children_share_nothing():
    assert prints(FORKS) == "0\n0\n"


FORK_LOOP = """
import os, random, signal, sys, threading, time, numpy as np, tenter
from maps_of import resample
from tenter import memory
from maps_of import planned
tenter.set_num_threads(2)
x, image, stop = np.ones((700, 400), np.float32), np.ones((1, 1, 300, 300), np.float32), threading.Event()
def busy(k):
    while not stop.is_set():
        tenter.repeat_interleave(x, 2, 0)
        tenter.interpolate(image, (600, 600), mode="bilinear")
        if k == 0: memory.clear()
threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
for t in threads: t.start()
def children(n, body, wait):
    for k in range(n):
        time.sleep(wait(k))
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)                               # ends a child that hangs
            body(k); os._exit(0)
        if os.waitpid(pid, 0)[1]: return f"child {k} failed"
    return "fine"
def results(k):
    assert (tenter.repeat_interleave(x, 2, 0) == 1).all() and memory.stats().idle == 0
    assert abs(tenter.interpolate(image, (600, 600), mode="bilinear") - 1).max() < 1e-6
print(children(40, results, lambda k: random.random() / 500))
stop.set()
for t in threads: t.join()
"""


@needs_fork
def test_forks_while_other_threads_are_busy():
    assert prints(FORK_LOOP) == "fine\n"


# Each child is forked in the middle of another thread's first call of a map, which the child then calls.
FORK_IN_MAP = """
import os, signal, sys, threading, time, numpy as np, tenter
from maps_of import resample
from maps_of import planned
tenter.set_num_threads(1)
x = np.ones((2, 100000), np.float32)
for k in range(12):
    how = planned(x, ((1, resample("linear", 100000, 200000 + k)),))
    t = threading.Thread(target=how.run, args=(x,)); t.start()
    time.sleep(k / 4000)
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)
        os._exit(0 if abs(how.run(x) - 1).max() < 1e-6 else 1)
    t.join()
    if os.waitpid(pid, 0)[1]: print(f"child {k} failed"); break
else: print("fine")
"""


@needs_fork
def test_forks_while_a_map_is_used_for_the_first_time():
    assert prints(FORK_IN_MAP) == "fine\n"


WORKERS = """
import numpy as np, torch, tenter, torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset
x = torch.arange(280000.).reshape(700, 400)
class Large(Dataset):
    def __len__(self): return 6
    def __getitem__(self, i): return tenter.repeat_interleave(x + i, 2, 0), tenter.repeat_interleave(x.numpy() + i, 2, 0)
def put(queue, n, fetched):
    for i in range(n): queue.put(tenter.repeat_interleave(x + i, 2, 0))
    fetched.wait()
def want(i): return (x + i).repeat_interleave(2, 0)
if __name__ == "__main__":
    torch.set_num_threads(1)
    for workers in (0, 2):
        for i, (tensor, array) in enumerate(DataLoader(Large(), batch_size=None, num_workers=workers, timeout=60 if workers else 0)):
            assert torch.equal(tensor, want(i)) and torch.equal(torch.as_tensor(array), want(i))
            tenter.repeat_interleave(x * 0 - 1, 2, 0)
    queue = mp.get_context("fork").SimpleQueue()
    held = [tenter.repeat_interleave(x + i, 2, 0) for i in range(3)]
    for y in held: queue.put(y)                            # the parent's own results, moved to shared memory
    del y, held
    for _ in range(3): tenter.repeat_interleave(x * 0 - 1, 2, 0)
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    process = mp.get_context("fork").Process(target=put, args=(queue, 3, fetched := mp.get_context("fork").Event()))
    process.start()
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    fetched.set(); process.join()
    print("done")
"""


@needs_fork
def test_results_from_other_processes(tmp_path):
    file = tmp_path / "workers.py"
    file.write_text(WORKERS)
    done = subprocess.run([sys.executable, "-W", "ignore", file], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("n_calls", daily([20, 60], 2))
def test_eight_threads_while_another_clears_and_limits(n_calls):
    want, wrong, stop = {n: np.repeat(X[:300], n, 0) for n in (3, 4, 6, 9, 13)}, [], threading.Event()
    in_use = memory.stats().in_use, memory.stats().blocks_in_use

    def work(seed):
        rng, held = random.Random(seed), []
        for _ in range(n_calls):
            n, x = rng.choice(list(want)), rng.choice([X[:300], T[:300]])
            held.append((n, tenter.repeat_interleave(x, n, 0)))
            if len(held) > 3:
                n, y = held.pop(rng.randrange(3))
                if not np.array_equal(y, want[n]):
                    wrong.append(n)
                if block_of(y):
                    poison(y)

    def disturb():
        while not stop.is_set():
            for n in (None, 0, 6 * PAGE, 256 << 20):
                memory.clear() if n is None else memory.limit(n)
                now = memory.stats()
                if not (0 <= now.idle <= now.limit and now.in_use >= now.blocks_in_use * LARGE):
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
    assert (memory.stats().in_use, memory.stats().blocks_in_use) == in_use


SCARCE = """
import resource, numpy as np, torch, tenter
from tenter import memory
memory.limit(64 << 20)
tenter.set_num_threads(1)
x = np.ones((4, 1024, 1024), np.uint8)
kept = tenter.repeat_interleave(x, 4, 0)
for _ in range(2): tenter.repeat_interleave(x, 10, 0)                   # 40 MiB idle
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (30 << 20), -1))
before = memory.stats()
assert before.idle == 40 << 20 and before.blocks_in_use == 1
for t in (x, torch.from_numpy(x)):
    for _ in range(2):
        try: tenter.repeat_interleave(t, 100, 0)
        except MemoryError as error: print(error)
    now = memory.stats()
    assert now == before._replace(idle=0, idle_blocks=0), now              # idle memory went first
for t in (x, torch.from_numpy(x)):
    y = tenter.repeat_interleave(t, 15, 0)                                # fits where the idle memory was
    assert y.min() == y.max() == 1
    del y
assert kept.min() == kept.max() == 1
resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
assert (tenter.repeat_interleave(x, 30, 0) == 1).all() and memory.stats().blocks_in_use == 1
"""


@needs_linux
def test_memory_that_cannot_be_had():
    said = prints(SCARCE).splitlines()
    assert len(said) == 4 and all(line.startswith("result: ") and "419430400 bytes" in line for line in said), said


# A thread whose first call comes when memory is short.
SCARCE_IN_A_THREAD = """
import resource, threading, numpy as np, tenter
tenter._native.tuning.stream_bytes = 0
tenter.set_num_threads(1)
x = np.ones((1, 1024, 1024), np.float32)
for n in (1, 2): tenter.repeat_interleave(x, 2, 2)
def late():
    hog, used = [], int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used, -1))
    for n in (1 << 16, 1 << 15, 1 << 14, 1 << 13):
        try:
            while True: hog.append(bytearray(n))
        except MemoryError: pass
    try: said = int(tenter.repeat_interleave(x, 2, 2).sum())
    except MemoryError: said = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(said, int(tenter.repeat_interleave(x, 2, 2).sum()))
thread = threading.Thread(target=late); thread.start(); thread.join()
"""


@needs_linux
def test_a_thread_that_begins_when_memory_is_short():
    said = prints(SCARCE_IN_A_THREAD).split()
    assert said in (["2097152", "2097152"], ["MemoryError", "2097152"])


# Ragged sums: one short segment, then all the rest, of rows that lie side by side.
RAGGED = """
import resource, numpy as np, tenter
x = np.ones((2, 16_000_000), np.int8)
A = tenter.maps.Copy.counts([1, x.shape[1] - 1]).T
tenter.set_num_threads(1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = A.apply(x, 1)
print(y.tolist() == [[1, 127]] * 2, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@needs_linux
def test_ragged_sums_take_little_scratch():
    right, mebibytes = prints(RAGGED).split()
    assert right == "True" and int(mebibytes) < 32


ENDS = """
import atexit, builtins, sys, threading, numpy as np, torch, tenter
x = torch.ones(700, 400)
tensor, array = tenter.repeat_interleave(x, 2, 0), tenter.repeat_interleave(x.numpy(), 2, 0)
class Node: pass
class Late:
    def __del__(self, x=x, repeat=tenter.repeat_interleave): repeat(x, 2, 0)
node = Node(); node.node, node.tensor, node.array = node, tensor, array
class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", tenter.repeat_interleave(x, 2, 0))
        self.weight = torch.nn.Parameter(tenter.repeat_interleave(x, 2, 0))
    def forward(self, y): return y + self.held * self.weight
module = Module()
scripted = torch.jit.script(Module())
frozen = torch.jit.freeze(torch.jit.script(Module().eval())); frozen(tensor)
traced = torch.jit.trace(lambda t: t + tenter.repeat_interleave(x, 2, 0), tensor)
leaf = x.clone().requires_grad_()
graph = (tenter.repeat_interleave(leaf, 2, 0) ** 2).sum()
leaf.register_hook(lambda g, y=tensor: g)
capsule = torch.utils.dlpack.to_dlpack(tenter.repeat_interleave(x, 2, 0))
future = torch.futures.Future(); future.set_result(tenter.repeat_interleave(x, 2, 0))
library = torch.library.Library("tenter_ends", "DEF"); library.define("f(Tensor x) -> Tensor")
library.impl("f", lambda t: t + tensor, "CPU")
builtins.held, sys.modules["held"], local = tenter.repeat_interleave(x, 2, 0), array, threading.local()
local.held, builtins.late, late = tenter.repeat_interleave(x, 2, 0), Late(), Late()
def wait():
    held = tenter.repeat_interleave(x, 2, 0); ready.set(); threading.Event().wait()
ready = threading.Event(); threading.Thread(target=wait, daemon=True).start(); ready.wait()
atexit.register(lambda: print(int(tenter.repeat_interleave(x, 2, 0).sum())))
"""


def test_the_end_of_a_process_that_holds_results(tmp_path):
    file = tmp_path / "ends.py"  # PyTorch scripts only what it can read
    file.write_text(ENDS)
    done = subprocess.run([sys.executable, "-W", "ignore", file], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "560000\n", "")
