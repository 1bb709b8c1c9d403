"""Forty children, forked while three threads call and clear the recycler: each makes its own results."""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import numpy as np

import tenter
from tenter import memory

tenter.set_num_threads(2)
x, image, stop = np.ones((700, 400), np.float32), np.ones((1, 1, 300, 300), np.float32), threading.Event()


def busy(k: int) -> None:
    while not stop.is_set():
        tenter.repeat_interleave(x, 2, 0)
        tenter.interpolate(image, (600, 600), mode="bilinear")
        if k == 0:
            memory.clear()


def results() -> None:
    assert (tenter.repeat_interleave(x, 2, 0) == 1).all() and memory.stats().idle_bytes == 0
    assert abs(tenter.interpolate(image, (600, 600), mode="bilinear") - 1).max() < 1e-6


def children() -> str:
    for k in range(40):
        time.sleep(random.random() / 500)
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # ends a child that hangs
            results()
            os._exit(0)
        if os.waitpid(pid, 0)[1]:
            return f"child {k} failed"
    return "fine"


threads = [threading.Thread(target=busy, args=(k,)) for k in range(3)]
for t in threads:
    t.start()
print(children())
stop.set()
for t in threads:
    t.join()
