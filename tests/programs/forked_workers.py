"""Children that are forked while a thread calls, after parallel work: forked_workers.py FRONTEND CALLS

CALLS: of each operation. Prints the exit statuses of four children, 0 of those whose results are the parent's.
"""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
from random_calls import OPERATIONS, digest

import tenter

if __name__ == "__main__":
    frontend, n_calls = sys.argv[1], int(sys.argv[2])
    if frontend == "torch":
        import torch

        torch.set_num_threads(2)
        torch.randn(2000, 2000) @ torch.randn(2000, 2000)  # PyTorch's own pool has run
    tenter.set_num_threads(2)
    big = np.ones((1, 8, 600, 600), np.float32)
    tenter.interpolate(big, (900, 900), mode="bilinear")  # and tenter's
    stop = threading.Event()

    def busy() -> None:  # and runs while forking
        while not stop.is_set():
            tenter.interpolate(big, (700, 700), mode="bilinear")

    thread = threading.Thread(target=busy)
    thread.start()
    want = {op: [digest(op, seed) for seed in range(n_calls)] for op in OPERATIONS}
    children = []
    for worker in range(4):
        pid = os.fork()
        if pid == 0:
            ok = all(digest(op, seed) == want[op][seed] for op in OPERATIONS for seed in range(worker, n_calls, 4))
            tenter.set_num_threads(2)  # a child may ask for threads of its own
            ok = ok and tenter.interpolate(big, (900, 900), mode="bilinear").min() == 1
            os._exit(0 if ok else 1)
        children.append(pid)
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    stop.set()
    thread.join()
    print(codes)
