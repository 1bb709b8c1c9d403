"""Ctrl-C in a long native call: interrupt.py FRONTEND OPERATION THREADS MIB SECONDS

Prints how many milliseconds after the signal KeyboardInterrupt came, and the part of the result that was not written, nan
where the core makes the result's memory itself.
MIB: of the result. SECONDS: from the call to the signal, "busy" after them for another Python thread that computes.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

import tenter
from tenter import memory
from tenter._arrays import blocks as memory_blocks
from tenter.maps import Window

MARK = 0x5A  # which no operation below writes, as x is ones

signaled: list[float] = []
blocks: list[Any] = []
fresh_block = memory_blocks.block
timer = threading.Timer(0, int)


def marked(n_bytes: int) -> Any:
    held = fresh_block(n_bytes)
    if held is not None:
        timer.cancel()  # marking it takes a while
        ctypes.memset(held.address, MARK, n_bytes)
        blocks.append((held, n_bytes))
        interrupt_later()
    return held


def send() -> None:
    signaled.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


def interrupt_later() -> None:
    """From the call on, or from when Python has memory for its result."""
    global timer
    timer = threading.Timer(float(seconds), send)
    timer.start()


def unwritten() -> float:
    """Of the last block, its part that still holds the mark."""
    if not blocks:
        return float("nan")
    held, n_bytes = blocks[-1]
    bytes_ = np.frombuffer((ctypes.c_ubyte * n_bytes).from_address(held.address), np.uint8)
    return float(np.mean(bytes_[:: max(1, n_bytes >> 24)] == MARK))


def wide_sums(n_bytes: int) -> Any:
    """Sums of 1024 inputs each: seconds of arithmetic for few bytes."""
    n, taps = 2048, 1024
    start = np.clip(np.arange(n) - taps // 2, 0, n - taps)
    sums = Window(n, n, start, np.arange(n + 1) * taps, np.full(n * taps, 1 / taps))
    x = np.ones((n_bytes // 4 // n, n), np.float32)
    return lambda x, out=None: sums.apply(x, 1, out=out), x


def slices(n_bytes: int) -> Any:
    """The same image again and again, of which a result of 256 KiB each is made, a few at a time."""
    image = np.ones((8, 64, 4096), np.int8)
    return np.lib.stride_tricks.as_strided(image, (n_bytes >> 18, *image.shape), (0, *image.strides))


def operations(n_bytes: int) -> dict[str, Any]:
    x = np.ones((n_bytes >> 23, 1 << 20), np.int8) if n_bytes >= 1 << 27 else np.ones((16, n_bytes >> 7), np.int8)
    image = x.reshape(1, 1, -1, 1 << 10)
    height, width = image.shape[2:]
    return {
        "repeat": (lambda x: tenter.repeat(x, 8, 1), x),
        "every": (lambda x: tenter.repeat_interleave(x, 8, 0), x),
        "counts": (lambda x: tenter.repeat_interleave(x, np.full(len(x), 8), 0), x),
        "linear": (lambda x: tenter.interpolate(x, (2 * height, 4 * width), mode="bilinear"), image),
        "slices": (lambda x: tenter.resize(x, (4, 1024), axes=(1, 3), antialias=True), slices(n_bytes)),
        "linear in 3-D": (
            lambda x: tenter.interpolate(x.reshape(1, 1, 64, -1, width), (128, height // 32, 2 * width), mode="trilinear"), image
        ),
    }  # fmt: skip


def other_thread(stop: threading.Event) -> None:
    small = np.ones((1, 1, 100, 100), np.float32)  # whose result needs no block
    while not stop.is_set():
        assert tenter.interpolate(small, (150, 150), mode="bilinear").min() == 1
        sum(range(1000))


if __name__ == "__main__":
    frontend, operation, n_threads, mib, seconds, *busy = sys.argv[1:]
    tenter.set_num_threads(int(n_threads))
    call, x = wide_sums(int(mib) << 20) if operation.startswith("sums") else operations(int(mib) << 20)[operation]
    if frontend == "torch":
        import torch

        x = torch.from_numpy(x)
    small = x[:16] if x.shape[0] > 1 else x[:, :, :64]
    call(small)  # plans, tables and threads
    stop = threading.Event()
    if busy:
        threading.Thread(target=other_thread, args=(stop,), daemon=True).start()
    out = x * 0 - 7 if operation == "sums into out" else None
    before = call
    if out is not None:
        call = lambda x: before(x, out)

    memory_blocks.block = marked
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupt_later()
        call(x)
        answer = "ended"
    except KeyboardInterrupt:
        answer = f"{1e3 * (time.perf_counter() - signaled[0]):.0f} {unwritten() if out is None else 0:.3f}"
    stop.set()
    timer.cancel()
    memory_blocks.block = fresh_block
    if out is not None:
        assert np.allclose(np.asarray(out), 1), "out is written in part"
    y = np.asarray(before(small) if out is not None else call(small))
    right = np.allclose(y, 1) if y.dtype.kind == "f" else (y == 1).all()  # floats of all of it would fill the memory
    assert right, f"the next call is wrong: {y}"
    blocks.clear()
    del y
    assert memory.stats().used_bytes == 0, memory.stats()
    print(answer)
