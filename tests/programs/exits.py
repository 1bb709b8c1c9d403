"""Ends of a process while calls run: exits.py SCENARIO FRONTEND. FRONTEND: numpy or torch, whose threads the core uses."""

from __future__ import annotations

import os
import sys
import threading
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import tenter

x = np.arange(4 * 300 * 300, dtype=np.float32).reshape(1, 4, 300, 300)


def call(n: int = 500) -> int:
    return zlib.crc32(np.asarray(tenter.interpolate(x, (n, n), mode="bilinear")))


def started(n: int, work: Callable[[], Any], daemon: bool) -> list[threading.Thread]:
    """Threads that call for ever, or as often as work does, each of which has made a call."""
    ready = [threading.Event() for _ in range(n)]

    def run(event: threading.Event) -> None:
        call()
        event.set()
        work()

    threads = [threading.Thread(target=run, args=(event,), daemon=daemon) for event in ready]
    for thread in threads:
        thread.start()
    for event in ready:
        assert event.wait(60)
    return threads


def for_ever() -> None:
    while True:
        call()


def daemons() -> None:
    """The interpreter goes while many threads are inside of calls."""
    started(6, for_ever, True)
    print("ends")


def daemons_of_many_kinds() -> None:
    """The same, where threads also make plans, blocks and tables, and wait for the interpreter in between."""
    big, counts = np.ones((1 << 20,), np.float32), np.full(1 << 20, 2)
    n = iter(range(10**9))
    started(2, for_ever, True)
    for work in (
        lambda: tenter.repeat_interleave(big, counts),
        lambda: tenter.resize(x[0, 0], (50 + next(n) % 50, 60), mode="cubic", edge="wrap"),
        lambda: tenter.memory.clear(),
        lambda: [tenter.set_num_threads(k) for k in (1, 2, 3)],
    ):
        started(1, lambda work=work: [work() for _ in iter(int, 1)], True)  # type: ignore[misc]
    print("ends")


def daemons_in_long_calls() -> None:
    """The same in calls so long that each asks for signals, and waits for the interpreter's lock to do so."""
    from tenter.maps import Window

    n, taps = 2048, 1024
    start = np.clip(np.arange(n) - taps // 2, 0, n - taps)
    sums, rows = Window(n, n, start, np.arange(n + 1) * taps, np.ones(n * taps)), np.ones((4096, n), np.float32)
    sums.apply(rows[:16], 1)
    started(4, lambda: [sums.apply(rows, 1) for _ in iter(int, 1)], True)
    started(6, lambda: [sum(range(1000)) for _ in iter(int, 1)], True)
    threading.Event().wait(0.2)
    print("ends")


def leaves() -> None:
    """os._exit while threads are inside of calls."""
    started(4, for_ever, True)
    print("ends", flush=True)
    os._exit(3)


def waits() -> None:
    """sys.exit waits for a thread that is no daemon, whose calls go on."""
    want, got = call(), []
    started(1, lambda: got.extend(call() for _ in range(20)), False)
    threading._register_atexit(lambda: print(len(got) < 20))  # type: ignore[attr-defined]  # before it is waited for

    import atexit

    atexit.register(lambda: print(got == [want] * 20))
    sys.exit(5)


def forks() -> None:
    """Children forked while other threads are inside of calls make their own and end in every way."""
    want = call()
    started(3, for_ever, True)
    codes = []
    for k in range(8):
        pid = os.fork()
        if pid == 0:
            if k % 2:
                tenter.set_num_threads(2)
            code = 0 if call() == want else 1
            if k < 4:
                os._exit(code)
            sys.exit(code)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    print(codes)
    os._exit(0)


def processes() -> None:
    """Pools of processes, started in each way that the system has."""
    import multiprocessing

    want = call()
    started(1, for_ever, True)
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(call, [500] * 6) == [want] * 6, flush=True)


def settings() -> None:
    """Calls from eight threads while others change every setting: the same bits, nothing kept past the limit."""
    want = {n: call(n) for n in (310, 400, 500)}
    stop, wrong = threading.Event(), []

    def calls(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(12):
            n = int(rng.choice(list(want)))
            if call(n) != want[n]:
                wrong.append(n)

    def changes(change: Callable[[int], Any]) -> None:
        k = 0
        while not stop.is_set():
            change(k)
            k += 1

    others = [
        threading.Thread(target=changes, args=(change,), daemon=True)
        for change in (
            lambda k: tenter.set_num_threads((None, 1, 2, 5)[k % 4]),
            lambda k: tenter.memory.set_limit((0, 1 << 20, 8 << 20, 1 << 30)[k % 4]),
            lambda k: (tenter.memory.clear(), tenter.memory.stats()),
        )
    ]
    threads = [threading.Thread(target=calls, args=(seed,)) for seed in range(8)]
    for thread in others + threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    for thread in others:
        thread.join()
    tenter.set_num_threads(2)
    stats = tenter.memory.stats()
    print(wrong, stats.used_bytes, stats.used_blocks, stats.idle_bytes <= stats.limit, call(400) == want[400])


if __name__ == "__main__":
    scenario, frontend = sys.argv[1:]
    if frontend == "torch":
        import torch

        if not scenario.startswith("daemons"):  # PyTorch itself aborts where a daemon thread is inside of its functions
            x = torch.from_numpy(x)  # type: ignore[assignment]
        torch.set_num_threads(2)
        torch.randn(600, 600) @ torch.randn(600, 600)
    tenter.set_num_threads(2)
    globals()[scenario]()
