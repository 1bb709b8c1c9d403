"""Filters made by users: one name for each, also for threads that ask at once, and none kept that is no longer used."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tenter
from error_helpers import refused
from sweeps import in_one_test, sampled
from tenter._plans import specializations
from tenter._rules import filters
from tenter._specs import axis_maps, modes
from tenter.filters import Filter

ROW = np.arange(9.0) ** 2


class Held:
    """What a filter closes over."""


def hat(height=1.0, held=None):
    return Filter(lambda x: np.maximum(0.0, height - np.abs(x)) + 0 * len(str(held)), 2.0)


def known():
    gc.collect()
    return len(filters._made), len(filters._names), len(filters._alive)


def test_threads_that_use_new_filters_at_once_get_their_own():
    heights = [1 + k / 7 for k in range(8)]
    want = [tenter.resize(ROW, 5, mode=hat(h)) for h in heights]
    for _ in range(50):
        start = threading.Barrier(len(heights))
        made = [hat(h) for h in heights]

        def work(k, made=made, start=start):
            start.wait()
            name = filters.named(*made[k])
            return name, tenter.resize(ROW, 5, mode=made[k])

        with ThreadPoolExecutor(len(heights)) as pool:
            found = list(pool.map(work, range(len(heights))))
        assert len({name for name, _ in found}) == len(heights)
        assert all(np.array_equal(y, w) for (_, y), w in zip(found, want))


def test_threads_that_use_one_new_filter_get_one_name():
    for _ in range(50):
        start, m = threading.Barrier(8), hat()

        def work(_, m=m, start=start):
            start.wait()
            return filters.named(*m)

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(work, range(8)))) == 1


def test_a_name_is_given_while_another_thread_is_naming(monkeypatch):
    """Between a look at how many there are and taking a number."""
    other = hat(2.0)
    names = []

    class Numbers:
        def __next__(self):
            number = next(numbers)
            if not names:
                names.append(None)
                names[0] = filters.named(*other)
            return number

    numbers = filters._numbers
    monkeypatch.setattr(filters, "_numbers", Numbers())
    mine = hat(3.0)
    assert filters.named(*mine) != names[0]
    assert filters.by_name(names[0]).f(np.zeros(1)) == 2 and filters.by_name(filters.named(*mine)).f(np.zeros(1)) == 3


@pytest.mark.parametrize("mode", sampled([lambda m: m, lambda m: (m,), lambda m: [m], lambda m: (m, "linear")], 3))
def test_a_dropped_filter_is_freed(mode):
    before = known()
    held = Held()
    ref, m = weakref.ref(held), hat(1.0, held)
    x = np.ones((7, 5)) if type(mode(m)) is tuple and len(mode(m)) == 2 else ROW
    for size in ((5,) * x.ndim, (20,) * x.ndim):
        tenter.resize(x, size, mode=mode(m), antialias=True)
        tenter.resize(x, size, mode=mode(m), edge="constant", value=2)
    tenter.axis_map(9, 4, m)
    with pytest.raises(ValueError):
        tenter.resize(x, (2, 2, 2), mode=m)
    del m, held
    assert known() == before
    assert ref() is None


def test_many_filters_leave_nothing():
    before = known()
    for k in range(300):
        tenter.resize(ROW, 5, mode=hat(1 + k))
    assert known() == before


def test_functions_without_weak_references_are_kept_as_far_as_there_is_room():
    class Slots:
        __slots__ = ("height",)

        def __call__(self, x):
            return np.maximum(0.0, self.height - np.abs(x))

    assert np.array_equal(
        tenter.resize(ROW, 5, mode=Filter(np.abs, 1.0)), tenter.resize(ROW, 5, mode=Filter(np.abs, 1.0))
    )
    made = []
    for k in range(3 * filters.MOST_ALIVE):
        f = Slots()
        f.height = 1.0 + k
        made.append(Filter(f, 2.0))
        assert np.array_equal(tenter.resize(ROW, 5, mode=made[-1]), tenter.resize(ROW, 5, mode=hat(1.0 + k)))
        assert len(filters._alive) <= filters.MOST_ALIVE
    for k, m in enumerate(made):  # forgotten ones get a new name
        assert np.array_equal(tenter.resize(ROW, 5, mode=m), tenter.resize(ROW, 5, mode=hat(1.0 + k)))
    assert set(filters._alive) <= set(filters._made)


def test_methods_and_equal_functions():
    class Hat:
        def __init__(self, height):
            self.height = height

        def weigh(self, x):
            return np.maximum(0.0, self.height - np.abs(x))

        __call__ = weigh
        __eq__ = lambda self, other: isinstance(other, Hat)
        __hash__ = lambda self: 0

    for height in (1.0, 1.5, 1.0):
        h = Hat(height)
        for f in (h.weigh, h):  # equal, but not the same
            assert np.array_equal(tenter.resize(ROW, 5, mode=Filter(f, 2.0)), tenter.resize(ROW, 5, mode=hat(height)))


def test_a_name_is_never_used_again():
    names = [filters.named(*hat(1.0 + k)) for k in range(100)]
    assert len(set(names)) == 100
    for name in names:
        with pytest.raises(Exception, match="gone"):
            filters.by_name(name)


BELL = lambda d: np.exp(-(d**2))
CALLS = {
    "table": lambda m: tenter.resize(ROW, 5, mode=m, antialias=True),
    "enlarged": lambda m: tenter.resize(ROW, 30, mode=m, edge="constant", value=3),
    "renormalized": lambda m: tenter.resize(ROW, 7, mode=m, edge="renormalize", box=[(-2, 8)]),
    "two axes": lambda m: tenter.resize(np.outer(ROW, ROW), (5, 12), mode=m),
    "bytes": lambda m: tenter.resize(ROW.astype(np.uint8), 5, mode=m),
    "a long axis": lambda m: tenter.resize(np.arange(9000.0), 6000, mode=m),
    "long rows": lambda m: tenter.resize(np.arange(200_000.0), 1, mode=m, antialias=True),
    "map": lambda m: np.asarray(tenter.axis_map(9, 5, m).dense()),
    "lazy": lambda m: np.asarray(tenter.lazy.resize(ROW, 30, mode=m)[7:9]),
}  # fmt: skip


@in_one_test("scale", [2.0**-1060, 2.0**-43, 2.0**-11, -(2.0**-500), 2.0**1023, -(2.0**1023), 2.0**9, -0.5])
def test_a_filter_times_a_power_of_two_is_the_same_filter(scale):
    for name, call in CALLS.items():
        # cut, so that no weight is below the least normal float but 0
        bell = Filter(lambda d: np.where(np.abs(d) < 2, np.round(BELL(d) * 1024) / 1024, 0.0), 2.0)
        scaled = Filter(lambda d: bell.f(d) * scale, 2.0)
        assert np.array_equal(call(scaled), call(bell)), name


def test_a_filter_of_any_magnitude_averages():
    for scale in (1e-13, -1e-13, 1e-300, 1e-320, 1e308, -1e308, 1.7e308):
        made = CALLS["map"](Filter(lambda d, scale=scale: scale * BELL(d), 3.0))
        assert np.allclose(made, CALLS["map"](Filter(BELL, 3.0)), atol=1e-3), scale  # 1e-320 has 11 bits
        spike = Filter(lambda d, scale=scale: np.where(np.abs(d) < 1e-3, scale, 0.0), 2.0)
        assert np.array_equal(tenter.resize(ROW, 9, mode=spike), ROW), scale


def test_weights_whose_sum_would_overflow_by_their_differences_are_refused():
    steep = Filter(lambda d: np.where(d == 0, 1e300, 1e-300), 2.0)
    refused(lambda: tenter.resize(ROW, 9, mode=steep), "mode", ValueError, ["about one magnitude"])


def test_weights_that_cancel_make_zeros():
    for scale in (1.0, 2.0**-100, 2.0**1000):
        cancels = Filter(lambda d, scale=scale: np.where(np.abs(d) < 0.5, scale, -scale / 2), 1.5)
        assert np.array_equal(tenter.resize(ROW, 9, mode=cancels, edge="replicate"), np.zeros(9)), scale
        inner = tenter.resize(ROW, 9, mode=cancels)[1:-1]  # at the ends one weight of three is left out
        assert np.array_equal(inner, np.zeros(7)), scale


@pytest.mark.parametrize("stands_in_source", [False, True])
def test_a_named_filter_may_be_a_function_in_python(monkeypatch, stands_in_source):
    """Kernels call no Python from their threads: its long axes have tables, and its calls are not planned in the core."""
    name = f"quadratic {stands_in_source}"  # of its own, as kinds of calls are cached by names
    quadratic = Filter(lambda x: np.clip(1.5 - np.abs(x), 0, 1) ** 2, 1.5)
    monkeypatch.setitem(filters.NAMED, name, quadratic)
    monkeypatch.setattr(modes, "MODES", (*modes.MODES, name))
    if stands_in_source:  # the modules that read the names when they are imported
        for module in (axis_maps, specializations):
            monkeypatch.setattr(module, "KINDS", module.KINDS | {name})
    assert not tenter.axis_map(100_000, 150_000, name)._is_computed
    x = np.random.default_rng(0).random(100_000, np.float32)
    for n in (7, 8, 9, 100_000):  # the last ones as calls of one specialization
        for size in (5, 150_000):
            got, want = (tenter.resize(x[:n], size, mode=mode) for mode in (name, quadratic))
            assert np.array_equal(got, want)
