"""Threads that share plans, maps, scratch, blocks and the pool on the paths of large arrays: the same bits. What
ThreadSanitizer looks at (python -m tests.sanitize thread), so nothing here imports PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
import zlib

import numpy as np
import pytest
from fuzz.caches import forget, forget_plans
from programs.small import lowered

import tenter
from tenter import _native, memory, ragged
from tenter.maps import Copy, Gather, Window
from thread_helpers import in_threads

x = (np.arange(9 * 33 * 20) % 251).astype(np.float32).reshape(1, 9, 33, 20)
counts = np.arange(33) % 5


@pytest.fixture
def small():
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


def ragged_calls(plan):
    positions = np.ascontiguousarray(x[0, 0].T.repeat(8, 0))[: plan.output_size]
    return [
        lambda: plan.repeat(x[0, 0]),
        lambda: plan.row_ids,
        lambda: plan.positions,
        lambda: plan.pad(positions),
        lambda: plan.unpad(plan.pad(positions)),
        lambda: ragged.ranges(np.arange(33), plan, 2),
        *[lambda how=how: getattr(plan, how)(positions) for how in ("sum", "mean", "max", "min", "softmax")],
    ]


def long_and_byte_calls(shrinks, grows):
    """Of maps that no call has made tables of, on signals and pictures."""
    signals = np.ascontiguousarray(x.reshape(9, -1))
    photo = np.ascontiguousarray((x[0, :, :, :4] * 3).astype(np.uint8))
    applied = [
        lambda: shrinks.apply(signals, 1),
        lambda: shrinks.T.apply(signals[:, :500], 1),
        lambda: grows.apply(signals, 1),
        lambda: grows.T.apply(np.tile(signals, 2)[:, :900], 1),
    ]
    return [
        *applied * 6,  # some are made tables of after sixteen uses
        lambda: grows.apply(np.ascontiguousarray(signals.T), 0),  # and all for an axis of columns
        lambda: tenter.image.resize(photo, (20, 50), alpha=True),
        lambda: tenter.image.resize(photo[:, :, :3], (5, 70), like="pillow"),
        lambda: tenter.resize(photo, (20, 21), axes=(0, 1), box=((1, 8), (30.5, 2))),
    ]


def forms_of_maps():
    """Of maps that are new: threads ask at once for each form that a plan makes of a map when it first needs it."""
    photo, image = (x[0, :, :, :3] * 3).astype(np.uint8), np.ascontiguousarray(x[0, 0])
    maps = [
        Copy.from_index(np.repeat(np.arange(33), counts), 33),
        Gather(33, 70, np.arange(71) * 2, np.arange(140) * 7 % 33, np.arange(140) / 16),
        Window(33, 16, np.full(16, 12), np.arange(17) * 3, np.full(48, 0.3)),  # reads a few inputs, which are cropped
        tenter.axis_map(33, 71, "nearest"),
        tenter.axis_map(33, 700, "cubic", edge="wrap"),
        tenter.axis_map(700, 33, "cubic", edge="reflect", antialias=True),
    ]
    applied = [(m, axis) for one in maps for m in (one, one.T) for axis in (0, 1)]
    return [
        *[lambda m=m, a=a: m.apply(np.take(image, np.arange(m.n_in) % image.shape[a], a), a) for m, a in applied],
        lambda: tenter.image.resize(photo, (7, 5), like="pillow", box=((3, 6), (2, 9))),
        lambda: tenter.resize(image, (30, 9), axes=(0, 1), box=((10, 14), (3, 5)), antialias=True),
    ]


def unlike_axes():
    return [tenter.axis_map(660, 500, "area"), tenter.axis_map(660, 900, "cubic", antialias=True)]


FRESH = {
    "operations": lambda: operations(Window(33, 16, np.arange(16) * 2, np.arange(17) * 3, np.ones(48))),
    "forms of maps": forms_of_maps,
    "ragged": lambda: ragged_calls(ragged.Plan(counts)),
    "signals and bytes": lambda: long_and_byte_calls(*unlike_axes()),
}


@pytest.mark.parametrize("kind", FRESH)
def test_threads_share_what_calls_make_and_keep(small, kind):
    fresh = FRESH[kind]
    want = [zlib.crc32(np.ascontiguousarray(call())) for call in fresh()]
    wrong, barrier = [], threading.Barrier(4)

    def work(seed):
        for turn in range(6):
            barrier.wait()
            if seed == 0:  # maps that were never applied, and no plans
                shared[:] = fresh()
                forget_plans()
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
                forget_plans()
                if turn % 2:
                    forget()
            barrier.wait()
            for at in np.random.default_rng([seed, turn]).permutation(len(want)):
                k, n = list(want)[at]
                if zlib.crc32(np.ascontiguousarray(calls[k](n))) != want[k, n]:
                    wrong.append((k, n))

    in_threads(work, [(seed,) for seed in range(4)], barrier)
    assert wrong == []


@pytest.fixture
def often_switched():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_first_cached_and_new_calls_of_many_threads_have_the_bits_of_one_thread(small, often_switched):
    """Also without the interpreter's lock; with it, threads take turns as often as Python lets them."""
    shared = Window(33, 16, np.arange(16) * 2, np.arange(17) * 3, np.ones(48))
    calls = [*operations(shared), *[lambda call=call, n=n: call(n) for call in sized() for n in range(3)]]
    want = [zlib.crc32(np.ascontiguousarray(call())) for call in calls]
    forget_plans()
    forget()
    wrong, barrier = [], threading.Barrier(8)

    def work(seed):
        order = np.random.default_rng(seed)
        barrier.wait()
        for _ in range(3):  # the first call of each kind, then calls that are cached or differ by sizes
            for k in order.permutation(len(calls)):
                if zlib.crc32(np.ascontiguousarray(calls[k]())) != want[k]:
                    wrong.append(int(k))

    in_threads(work, [(seed,) for seed in range(8)], barrier)
    assert wrong == []


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the interpreter's lock")
def test_the_core_does_not_switch_the_interpreters_lock_on():
    """For a module that does not say that it can do without, Python does so and warns."""
    code = "import sys, tenter; print(sys._is_gil_enabled())"
    without = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    said = subprocess.check_output([sys.executable, "-W", "error", "-c", code], text=True, env=without)
    assert said == "False\n"


def test_a_thread_that_fails_keeps_no_other_waiting():
    barrier = threading.Barrier(2)

    def work(fails):
        if fails:
            raise ArithmeticError("of one thread")
        barrier.wait(60)

    with pytest.raises(ArithmeticError, match="of one thread"):
        in_threads(work, [(True,), (False,)], barrier)
