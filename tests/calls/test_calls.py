"""Remembered calls: told apart by all that matters, kept no longer than they should, the same for all threads."""

from __future__ import annotations

import pickle
import sys
import threading
import weakref

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from fuzz.caches import forget

import tenter
from tenter import _native
from tenter._execution import calls
from tenter._plans import cache
from tenter._plans.plan import plan as make_plan
from thread_helpers import in_threads


def remembered():
    return len(cache.plans)


ONCE = [
    lambda x: tenter.repeat(x, 2, 5),
    lambda x: tenter.tile(x, (3,)),
    lambda x: tenter.repeat_interleave(x, 2, dim=1),
    lambda x: tenter.repeat_interleave(x, 3),
    lambda x: tenter.interpolate(x.reshape(1, 2, 3), (7,), mode="linear"),
]


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("n", range(len(ONCE)))
def test_a_call_is_planned_once(make, n, monkeypatch):
    cache.plans.clear()
    monkeypatch.setattr(_native.tuning, "seldom_calls", 0)
    x = make(np.arange(6.0).reshape(2, 3))
    first = ONCE[n](x)
    assert remembered() == 1
    monkeypatch.setattr(calls, "plan", None)
    again = ONCE[n](x + 1)
    assert remembered() == 1
    np.testing.assert_allclose(np.asarray(again), np.asarray(first) + 1)


def test_equal_arguments_of_unlike_types_are_told_apart():
    """1 == True == 1.0: what is refused the first time is refused the second."""
    for x in (np.arange(3.0), torch.arange(3.0)):
        for good, bad in [(1, True), (2, 2.0), ((1,), (True,)), ((2,), (2.0,)), (0, False)]:
            tenter.repeat_interleave(x, good, 0)
            with pytest.raises(TypeError):
                tenter.repeat_interleave(x, bad, 0)
        tenter.repeat(x, 1), tenter.tile(x, (1,)), tenter.repeat_interleave(x, 2, 0)
        for call in (
            lambda x=x: tenter.repeat(x, True),
            lambda x=x: tenter.tile(x, (True,)),
            lambda x=x: tenter.repeat_interleave(x, 2, False),
        ):
            with pytest.raises(TypeError):
                call()
        image = x.reshape(1, 1, 3)
        tenter.interpolate(image, (4,)), tenter.interpolate(image, 1)
        for size in ((4.0,), True):
            with pytest.raises(TypeError):
                tenter.interpolate(image, size)


def test_counts_are_values_and_not_remembered():
    x, counts = torch.arange(3.0), torch.tensor(2)
    for repeats in (counts, (counts,), counts.reshape(1)):
        counts.fill_(2)
        assert tenter.repeat_interleave(x, repeats, 0).shape == (6,)
        counts.fill_(3)
        assert tenter.repeat_interleave(x, repeats, 0).shape == (9,)
    assert tenter.repeat_interleave(np.arange(3.0), (np.array(2),), 0).shape == (6,)


def test_layouts_and_dtypes_are_told_apart():
    base = torch.arange(24.0).reshape(4, 6)
    for x in (base, base.T.contiguous().T, base[:, ::2], base[::2], base.double(), base.int(), base[:1].expand(4, 6)):
        for _ in range(2):
            assert torch.equal(tenter.repeat(x, 2, 3), x.repeat(2, 3))
            assert torch.equal(tenter.repeat_interleave(x, 2), x.repeat_interleave(2))
    swapped = np.arange(3, dtype=">i4")
    assert tenter.repeat(swapped.astype("<i4"), 2).tolist() == tenter.repeat(swapped, 2).tolist() == [0, 1, 2] * 2


def test_a_storage_that_has_shrunk_is_refused_each_time():
    x = torch.rand(1, 1, 6)
    tenter.repeat(x, 1, 1, 2), tenter.interpolate(x, 9)
    x.untyped_storage().resize_(8)
    for _ in range(2):
        for call in (lambda: tenter.repeat(x, 1, 1, 2), lambda: tenter.interpolate(x, 9)):
            with pytest.raises(ValueError, match="storage is too small"):
                call()


def test_nothing_is_kept_alive():
    x = torch.rand(100, requires_grad=True)
    y = tenter.tile(x, 3)
    y.sum().backward()
    kept = [weakref.ref(x), weakref.ref(y)]
    del x, y
    assert [k() for k in kept] == [None, None]
    array = np.ones(100)
    kept_array = weakref.ref(array)
    tenter.tile(array, 3)
    del array
    assert kept_array() is None


def test_what_is_kept_has_a_bound():
    for n in range(1, 3000):
        tenter.repeat(np.empty((n, 0)), 1, 2)
    assert remembered() <= cache.MOST
    for n in range(1, 60):
        tenter.interpolate(np.ones((1, 1, 1, 15_000 + n), np.float32), (1, 16_000), mode="bilinear")
    assert cache._positions <= cache.MOST_POSITIONS


def test_plans_for_gradients_have_a_bound():
    """Slices of arrays of ever new widths."""
    x = torch.rand(1, 1, 4, 4, requires_grad=True)
    for width in range(50):
        y = tenter.interpolate(x, (8, 8), mode="bilinear")
        torch.cat([y, torch.empty(1, 1, 8, 1 + width)], 3).backward(torch.ones(1, 1, 8, 9 + width))
    assert 30 < len(cache.plans) <= cache.MOST


def test_threads_meet_at_the_first_call():
    """A plan is whole before others find it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(barrier, n):
        x = torch.ones(4, n, requires_grad=True)
        barrier.wait()
        tenter.repeat_interleave(x, 2).sum().backward()
        assert x.grad.eq(2).all()

    try:
        for n in range(1, 120):
            barrier = threading.Barrier(4)
            in_threads(work, [(barrier, n)] * 4, barrier)
    finally:
        sys.setswitchinterval(interval)


def test_large_inputs_of_small_results_use_the_threads():
    """Work is judged by what is read too."""
    plan = make_plan(np.ones((1, 1, 2048, 2048), np.float32), calls_of_area(32))
    assert not plan.steps.small
    assert make_plan(np.ones((1, 1, 64, 64), np.float32), calls_of_area(32)).steps.small


def calls_of_area(n):
    from tenter._specs.resize import Interpolate

    return Interpolate((n, n), None, "area", False, False, False)


def test_remembered_results_equal_pytorchs():
    torch.manual_seed(0)
    for shape in ((1, 3, 8, 8), (2, 1, 5, 7)):
        for kw in (
            {"size": (3, 11)},
            {"scale_factor": (1.3, 2)},
            {"size": 6, "mode": "bicubic", "align_corners": True},
        ):
            for _ in range(3):
                x = torch.randn(shape, dtype=torch.float64)
                torch.testing.assert_close(tenter.interpolate(x, **kw), F.interpolate(x, **kw), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex128"])
def test_arrays_that_were_pickled_are_planned_in_the_core(dtype, monkeypatch):
    """Their dtype is equal to NumPy's own and another object."""
    x = np.arange(24).reshape(4, 6).astype(dtype)
    y = pickle.loads(pickle.dumps(x))
    assert y.dtype == x.dtype and y.dtype is not x.dtype
    wanted = [call(x) for call in CORE]
    monkeypatch.setattr(calls, "plan", None)
    for call, want in zip(CORE, wanted):
        found = call(y)
        np.testing.assert_array_equal(found, want)
        assert found.dtype == want.dtype


CORE = [
    lambda x: tenter.resize(x, (3, 5), mode="nearest"),
    lambda x: tenter.repeat_interleave(x, 3, 1),
    lambda x: tenter.repeat(x, 2, 1),
    lambda x: tenter.repeat_interleave(x, np.array([1, 0, 2, 1]), 0),
    lambda x: tenter.numpy.tile(x, 2),
]


def test_metadata_of_a_dtype_is_kept():
    x = np.ones(3, np.dtype("float32", metadata={"unit": "m"}))
    for call in (lambda: tenter.repeat(x, 2), lambda: tenter.resize(x, 2), lambda: tenter.repeat_interleave(x, 2)):
        for _ in range(3):
            assert call().dtype.metadata == {"unit": "m"}


def test_the_oldest_plans_make_room_for_new_ones(monkeypatch):
    """By number and by the positions of their tables."""
    monkeypatch.setattr(_native.tuning, "seldom_calls", 0)
    x = np.ones(5, np.float32)
    for most, positions in ((64, 1 << 20), (1 << 20, 2000)):
        forget()
        monkeypatch.setattr(cache, "MOST", most), monkeypatch.setattr(cache, "MOST_POSITIONS", positions)
        for n in range(6, 300):
            tenter.resize(x, n)
            kept = list(cache.plans)
            assert len(kept) <= most and sum([cache.plans[key].positions for key in kept]) <= positions
        last = kept[-1]
        tenter.resize(x, 299)
        assert list(cache.plans)[-1] == last and len(kept) > 1
