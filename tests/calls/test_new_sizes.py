"""Calls that differ from an earlier one by sizes alone: resize remembers what the other arguments meant, and nothing
else."""

from __future__ import annotations

import gc

import numpy as np
import pytest
import torch
from fuzz.caches import forget

import tenter
from planned_calls import by_python
from sweeps import in_one_test
from tenter import _native
from tenter._execution import calls
from tenter._plans import cache, specializations
from tenter._specs import resize_arguments
from tenter.conventions import Convention

PICTURE = np.random.default_rng(0).integers(0, 255, (9, 7, 3), np.uint8)
NOT_LARGER = Convention.of("torch", aspect_ratio="not_larger")
# Two calls each that differ by sizes, or by what follows from sizes.
PAIRS = {
    "one size": ((5, {"axes": 0}), (6, {"axes": 0})),
    "one axis of a tuple": ((5, {"axes": (1,)}), (11, {"axes": (1,)})),
    "one each": (((4, 5), {"axes": (0, 1)}), ((12, 3), {"axes": (0, 1)})),
    "from the end": (((4, 5), {"axes": (-3, -2)}), ((12, 3), {"axes": (-3, -2)})),
    "all axes": (((4, 5, 3), {}), ((12, 3, 3), {})),
    "axes descend": (((4, 4), {"axes": (1, 0)}), ((12, 3), {"axes": (1, 0)})),
    "a tuple of one": (((4,), {"axes": 0}), ((7,), {"axes": 0})),
    "modes": (((4, 5), {"axes": (0, 1), "mode": ("cubic", "nearest")}), ((12, 3), {"axes": (0, 1), "mode": ("cubic", "nearest")})),
    "Pillow's": (((4, 5), {"axes": (0, 1), "mode": "cubic", "like": "pillow"}), ((12, 3), {"axes": (0, 1), "mode": "cubic", "like": "pillow"})),
    "a whole box": (((9, 7), {"axes": (0, 1), "box": ((0, 9), None)}), ((4, 7), {"axes": (0, 1), "box": ((0, 8), None)})),
    "a policy": (((4, 5), {"axes": (0, 1), "like": NOT_LARGER}), ((12, 3), {"axes": (0, 1), "like": NOT_LARGER})),
    "nothing left": ((0, {"axes": 0}), (4, {"axes": 0})),
    "a value outside": (((4, 5), {"axes": (0, 1), "edge": "constant", "value": 9}), ((12, 3), {"axes": (0, 1), "edge": "constant", "value": 9})),
    "words that differ": (((4, 5), {"axes": (0, 1), "align": "align_corners"}), ((4, 5), {"axes": (0, 1), "align": "half_pixel"})),
    "flags that differ": (((4, 5), {"axes": (0, 1), "antialias": True}), ((4, 5), {"axes": (0, 1), "antialias": False})),
}  # fmt: skip


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_second_call_is_what_it_would_have_been_first(name, make):
    x = make(PICTURE)
    (first, how), (second, how2) = PAIRS[name]
    for one, other in (((first, how), (second, how2)), ((second, how2), (first, how))):
        with by_python():
            fresh = tenter.resize(x, other[0], **other[1])
        forget()
        tenter.resize(x, one[0], **one[1])
        np.testing.assert_array_equal(np.asarray(tenter.resize(x, other[0], **other[1])), np.asarray(fresh))


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_sizes_alone_are_checked_again_and_only_they(make, monkeypatch):
    x = make(PICTURE)
    forget()
    tenter.resize(x, (4, 5), axes=(0, 1))
    for size, kind in (
        ((4, -1), ValueError), ((4, 2**63), ValueError), ((True, 5), TypeError), ((4.0, 5), TypeError), ((4, 5, 6), ValueError),
    ):  # fmt: skip
        with pytest.raises(kind, match="size"):
            tenter.resize(x, size, axes=(0, 1))
    with pytest.raises(ValueError, match="at least 1"):
        tenter.resize(x[:0], (4, 6), axes=(0, 1))
    with pytest.raises(TypeError, match="axes"):
        tenter.resize(x, (4, 6), axes=(False, 1))
    monkeypatch.setattr(resize_arguments, "checked", None)
    assert tenter.resize(x[1:], (7, 6), axes=(0, 1)).shape == (7, 6, 3)


def test_what_may_change_is_not_remembered():
    axes, x = torch.tensor([0, 1]), np.arange(24.0).reshape(2, 3, 4)
    forget()
    tenter.resize(x, (4, 5), axes=axes)
    axes[1] = 2
    assert tenter.resize(x, (4, 5), axes=axes).shape == (4, 3, 5)


CALLS = {
    "resize": lambda x, n: tenter.resize(x, (n, 5), axes=(0, 1)),
    "resize of one axis": lambda x, n: tenter.resize(x, n, axes=1, mode="cubic", antialias=True),
    "interpolate": lambda x, n: tenter.interpolate(x[None], (n, 5), mode="bilinear"),
}


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("name", CALLS)
def test_plans_of_sizes_that_are_used_once_are_not_kept(name, make, monkeypatch):
    x, call = make(PICTURE), CALLS[name]
    forget()
    monkeypatch.setattr(_native.tuning, "seldom_calls", 2)
    first = call(x, 4)
    for n in range(20, 50):
        call(x, n)
    assert not cache.plans
    again = [call(x, 20), call(x, 20)][1]
    assert len(cache.plans) == 1
    monkeypatch.setattr(calls, "plan", None)  # Python plans neither the first call again nor one that was made often
    np.testing.assert_array_equal(call(x, 20), again)
    np.testing.assert_array_equal(call(x, 4), first)


GRADIENTS = {
    "repeat": lambda x: tenter.repeat(x, 3, 2),
    "nearest": lambda x: tenter.interpolate(x[None, None], scale_factor=1.7, mode="nearest"),
    "linear": lambda x: tenter.resize(x, (9, 8), axes=(0, 1)),
    "a flipped box": lambda x: tenter.resize(x, (9, 8), axes=(0, 1), box=((4, 0), (0, 5))),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_plans_of_gradients_are_kept_from_the_ninth_on_although_the_call_was_made_once(name):
    x = torch.tensor(PICTURE[:6, :5, 0], dtype=torch.float32, requires_grad=True)
    (y := GRADIENTS[name](x)).backward(torch.ones_like(y))  # Python makes a specialization of the first
    cache.plans.clear()
    _native.testing.forget_calls()
    y = GRADIENTS[name](x)
    g = torch.rand_like(y)
    first = torch.autograd.grad(y, x, g, retain_graph=True)[0]
    for n in range(2, _native.tuning.seldom_calls + 4):
        assert torch.equal(torch.autograd.grad(y, x, g, retain_graph=True)[0], first)
        assert len(cache.plans) == (n > _native.tuning.seldom_calls and name != "a flipped box")


def test_a_plan_is_kept_of_a_call_that_is_made_often_among_others():
    forget()
    tenter.resize(PICTURE, (4, 5), axes=(0, 1))
    before = len(cache.plans)
    for n in range(1, _native.tuning.seldom_calls + 2):
        tenter.resize(PICTURE, (20, 21), axes=(0, 1))
        for other in range(8 * n, 8 * n + 8):
            tenter.resize(PICTURE, (5, 30 + other), axes=(0, 1))
    assert len(cache.plans) == before + 1


SIZES = ((9, 7), (9, 3), (4, 7), (1, 1), (30, 2), (3, 30))


MODES = {
    "torch": ("linear", "cubic", "area", "nearest", "hamming"),
    "pillow": ("linear", "cubic", "box", "nearest", "hamming"),
    "opencv": ("linear", "cubic", "area", "nearest"),
    "skimage": ("linear", "nearest"),
}


@in_one_test("like, mode", [(like, mode) for like in MODES for mode in MODES[like]])
@in_one_test("dtype", ["uint8", "int16", "float32"])
def test_every_size_is_what_it_would_have_been_first(like, mode, dtype):
    x = PICTURE.astype(dtype)
    for edge in (None, "wrap"):
        wanted = []
        for size in SIZES:
            with by_python():
                wanted.append(tenter.resize(x, size, axes=(0, 1), mode=mode, like=like, edge=edge))
        forget()
        for size, fresh in zip(SIZES, wanted):
            cache.plans.clear()
            np.testing.assert_array_equal(tenter.resize(x, size, axes=(0, 1), mode=mode, like=like, edge=edge), fresh)


def test_what_is_remembered_has_a_bound(monkeypatch):
    specializations.native.clear()
    monkeypatch.setattr(specializations, "MOST", 8)
    for value in range(20):
        tenter.resize(PICTURE, (4, 5), axes=(0, 1), edge="constant", value=value)
        assert len(specializations.native) == min(value + 1, 8)


def test_a_call_that_the_core_plans_leaves_nothing_for_the_collector():
    x = np.zeros((90, 80, 3), np.float32)
    for n in range(3):
        tenter.resize(x, (30 + n, 40), axes=(0, 1))
    gc.collect()
    gc.disable()
    try:
        before = gc.get_count()[0]
        for n in range(50):
            tenter.resize(x, (40 + n, 40), axes=(0, 1))
        assert gc.get_count()[0] - before < 10
    finally:
        gc.enable()
