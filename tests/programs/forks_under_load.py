"""Children forked while threads are in calls: forks_under_load.py TIMES KIND

KIND: `calls`, by five threads, each of another size; `first`, of which each is the first on a tensor in its process, so
that imports are under way. Prints by exit status how many children ended so: 0 of those that made the same call twice,
-14 of those that hung.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter

import tenter  # isort: skip  # before PyTorch, so that the first call on a tensor imports more
import torch

PATIENCE = 20  # seconds until a child hangs


def call(n: int) -> float:
    x = torch.arange(60.0).reshape(3, 20).requires_grad_()
    tenter.resize(x, n, axes=-1, mode="linear", like="pillow").sum().backward()
    wrapped = tenter.resize(x.detach(), n + 1, axes=-1, mode="cubic", edge="wrap").sum()
    lazy = tenter.lazy.repeat_interleave(x.detach(), 3, 0).max()
    ids = tenter.ragged.row_ids(torch.tensor([1, n])).sum()
    return float(x.grad.sum() + wrapped + lazy + ids)


def ends_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def calling_child(n: int) -> int:
    if (pid := os.fork()) == 0:
        signal.alarm(PATIENCE)
        os._exit(0 if call(n) == call(n) else 1)
    return ends_of(pid)


def under_load(times: int) -> Counter[int]:
    stop = threading.Event()

    def load(first: int) -> None:
        n = first
        while not stop.is_set():
            call(n)
            n = 20 + (n + 5) % 3000

    threads = [threading.Thread(target=load, args=(20 + k,)) for k in range(5)]
    for t in threads:
        t.start()
    ends = Counter[int]()
    for k in range(times):
        time.sleep(k % 7 / 2000)
        ends[calling_child(20 + k * 7 % 3000)] += 1
    stop.set()
    for t in threads:
        t.join()
    return ends


def in_first_calls(times: int) -> Counter[int]:
    """By children of which each forks again while a thread of its own is in its first call. PyTorch's own first calls,
    which have locks too, are over by then."""
    x = torch.ones(3, 20, requires_grad=True)
    (x[0].sum() + x[:1].max() + x.max()).backward()
    float(x.grad.sum() + torch.tensor([1, 2]).sum())
    ends = Counter[int]()
    for k in range(times):
        if (pid := os.fork()) == 0:
            threading.Thread(target=call, args=(30,), daemon=True).start()
            time.sleep(k % 20 / 50)
            os._exit(abs(calling_child(40)))
        ends[-ends_of(pid)] += 1
    return ends


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(dict((under_load if sys.argv[2] == "calls" else in_first_calls)(int(sys.argv[1]))))
