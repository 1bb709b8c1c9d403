"""Threads that share plans, maps, scratch, blocks and the pool on the paths of large arrays: the same bits. What
ThreadSanitizer looks at (python -m tests.sanitize thread), so nothing here imports PyTorch."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pytest

import tenter
from programs.small import lowered
from tenter import _native, memory
from tenter._kernels import steps
from tenter._plans import cache, families
from tenter.maps import Window
from thread_helpers import in_threads

x = (np.arange(9 * 33 * 20) % 251).astype(np.float32).reshape(1, 9, 33, 20)
counts = np.arange(33) % 5


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(_native, "LARGE", _native.LARGE)
    monkeypatch.setattr(steps, "SMALL_BYTES", steps.SMALL_BYTES)
    lowered(3)
    yield
    _native.tuning.reset()
    tenter.set_num_threads(None)
    memory.clear()


def operations(shared):
    return [
        lambda: tenter.interpolate(x, (60, 41), mode="bicubic"),
        lambda: tenter.interpolate(x, (11, 7), mode="bilinear", antialias=True),
        lambda: tenter.interpolate(x[None], (5, 40, 30), mode="trilinear"),
        lambda: tenter.resize(x[0].astype(np.int32), (50, 33), axes=(1, 2), mode="linear"),
        lambda: tenter.repeat_interleave(x, counts, 2),
        lambda: tenter.repeat_interleave(np.arange(2000), np.arange(2000) % 4),
        lambda: tenter.repeat(x, 1, 2, 1, 3),
        lambda: shared.apply(x, 2),
        lambda: shared.T.apply(x[:, :, :16], 2),
    ]


def test_threads_share_what_calls_make_and_keep(small):
    def fresh():
        return operations(Window(33, 16, np.arange(16) * 2, np.arange(17) * 3, np.ones(48)))

    want = [zlib.crc32(np.ascontiguousarray(call())) for call in fresh()]
    wrong, barrier = [], threading.Barrier(4)

    def work(seed):
        for turn in range(6):
            barrier.wait()
            if seed == 0:  # maps that were never applied, and no plans
                shared[:] = fresh()
                cache.plans.clear()
                memory.clear()
            barrier.wait()
            for k in np.random.default_rng([seed, turn]).permutation(len(shared)):
                if zlib.crc32(np.ascontiguousarray(shared[k]())) != want[k]:
                    wrong.append(int(k))

    shared = fresh()
    in_threads(work, [(seed,) for seed in range(4)], barrier)
    assert wrong == []


def sized():
    """Calls that the core plans where they differ from an earlier one by sizes alone."""
    photo, signals = (x[0, :, :, :3] * 3).astype(np.uint8), np.ascontiguousarray(x.reshape(9, -1))
    return [
        lambda n: tenter.interpolate(x, (20 + n, 41), mode="bicubic", antialias=True),
        lambda n: tenter.interpolate(x[None], (5, 20 + n, 30), mode="trilinear"),
        lambda n: tenter.interpolate(x[0], 20 + n, mode="nearest"),
        lambda n: tenter.resize(x.transpose(0, 2, 3, 1), (20 + n, 9), axes=(1, 2), antialias=True),
        lambda n: tenter.resize(photo, (20 + n, 21), axes=(0, 1), like="pillow", antialias=True),
        lambda n: tenter.resize(signals, 500 + n, axes=1, mode="area"),
    ]


def test_threads_plan_new_sizes_in_the_core(small):
    calls = sized()
    want = {(k, n): zlib.crc32(np.ascontiguousarray(call(n))) for k, call in enumerate(calls) for n in range(8)}
    wrong, barrier = [], threading.Barrier(4)

    def work(seed):
        for turn in range(4):
            barrier.wait()
            if seed == 0:  # as many that are new, of kinds that are known or, every other time, are not
                cache.plans.clear(), cache._noted.clear()
                if turn % 2:
                    families.families.clear(), families.native.clear()
            barrier.wait()
            for at in np.random.default_rng([seed, turn]).permutation(len(want)):
                k, n = list(want)[at]
                if zlib.crc32(np.ascontiguousarray(calls[k](n))) != want[k, n]:
                    wrong.append((k, n))

    in_threads(work, [(seed,) for seed in range(4)], barrier)
    assert wrong == []
