"""Ragged arrays: plans, lazy arrays among them, lengths in other objects."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

import ragged_cases as plain
import tenter
from ragged_cases import HOW, segment
from tenter import ragged
from tenter._ragged import reduced

RNG = np.random.default_rng(0)
SOME = [2, 0, 3, 1, 0]

# ---- plans


def test_a_plan_keeps_what_it_computed_and_its_own_offsets():
    for lengths in (np.array(SOME), torch.tensor(SOME)):
        plan = ragged.Plan(lengths)
        lengths[0] = 77  # read when the plan was made
        for name in ("lengths", "offsets", "row_ids", "positions", "map"):
            assert getattr(plan, name) is getattr(plan, name)
        assert plan.mask() is plan.mask() and plan.mask(9).shape == (5, 9)
        if isinstance(lengths, torch.Tensor):  # what a user may do
            plan.offsets[...] = 10**9
            plan.lengths[...] = -1
        x = np.arange(6.0)
        assert plan.sum(x).tolist() == [1, 0, 9, 5, 0] and plan.repeat(np.arange(5)).tolist() == [0, 0, 2, 2, 2, 3]
        assert plan.unpad(plan.pad(x)).tolist() == x.tolist() and plan.map == tenter.maps.Copy.repeats(SOME)


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_copies_and_pickles_of_a_plan(make):
    plan = ragged.Plan(make(SOME))
    plan.row_ids  # what it keeps
    for other in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert type(other.lengths) is type(plan.lengths) and other.lengths.tolist() == SOME
        assert other.sum(np.arange(6.0)).tolist() == [1, 0, 9, 5, 0]


def test_a_plan_is_its_axis_map():
    plan, x = ragged.Plan(SOME), RNG.standard_normal((5, 4))
    assert np.array_equal(plan.repeat(x), plan.map.apply(x, 0)) and np.array_equal(
        plan.repeat(x.T, 1), plan.repeat(x).T
    )
    y = plan.repeat(x)
    assert np.array_equal(plan.sum(y), plan.map.T.apply(y, 0)) and np.allclose(plan.map.dense() @ x, y)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0, 0], [4]])
def test_nothing_and_single_rows(lengths):
    n, total = len(lengths), sum(lengths)
    for library in (np.asarray, torch.as_tensor):
        x = library(np.arange(total * 2.0).reshape(total, 2))
        plan = ragged.Plan(library(np.array(lengths, np.int64)))
        for how in HOW:
            y = getattr(plan, how)(x)
            assert tuple(y.shape) == ((total, 2) if how == "softmax" else (n, 2))
        assert plan.repeat(library(np.ones((n, 3)))).shape == (total, 3)
        assert plan.pad(x).shape == (n, max(lengths, default=0), 2) and plan.unpad(plan.pad(x)).shape == x.shape
        if library is torch.as_tensor:
            leaf = x.clone().requires_grad_()
            for how in HOW:
                (g,) = torch.autograd.grad(getattr(plan, how)(leaf).sum(), leaf)
                assert g.shape == x.shape
    assert ragged.Plan(lengths).mask().shape == (n, max(lengths, default=0))


def test_arrays_that_lie_oddly():
    lengths, total = np.array([3, 0, 2, 4]), 9
    x = RNG.standard_normal((total, 6))
    readonly = lengths.copy()
    readonly.flags.writeable = False
    odd = [np.repeat(lengths, 2)[::2], lengths[::-1].copy()[::-1], lengths.astype(">i8"), readonly, tuple(lengths)]
    laid = [np.asfortranarray(x), x[::-1].copy()[::-1], np.repeat(x, 2, 1)[:, ::2], x.astype(">f8")]
    for counts in odd:
        assert ragged.positions(counts).tolist() == plain.positions(lengths.tolist())
    for y in laid:
        for how in HOW:
            assert np.allclose(segment[how](y, lengths), segment[how](x, lengths), 1e-14)
            assert segment[how](y, lengths).dtype == y.dtype or how in ("mean", "softmax")
        assert np.array_equal(ragged.pad(y, lengths), ragged.pad(x, lengths))
    t = torch.from_numpy(x)
    for y in (t.T.contiguous().T, t.conj(), t.repeat_interleave(2, 1)[:, ::2]):
        assert torch.equal(ragged.pad(y, lengths), ragged.pad(t, lengths))
        assert torch.equal(ragged.segment_max(y, lengths), ragged.segment_max(t, lengths))


# ---- beside lazy arrays and other packages


@pytest.mark.parametrize("make", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("how", HOW)
def test_lazy_arrays_are_reduced_as_what_they_stand_for(how, make):
    x = make(RNG.normal(size=(len(SOME), 3)))
    lazily = tenter.lazy.repeat_interleave(x, SOME, dim=0)
    plan = ragged.Plan(SOME)
    wanted = segment[how](lazily.materialize(), SOME)
    for lengths in (SOME, plan):
        np.testing.assert_allclose(np.asarray(segment[how](lazily, lengths)), np.asarray(wanted), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(getattr(plan, how)(lazily)), np.asarray(wanted), rtol=1e-12)


def test_sums_of_lazy_arrays_by_their_own_counts_make_no_copy(monkeypatch):
    lazily = tenter.lazy.repeat_interleave(np.ones(3), [10**6, 0, 2], dim=0)
    monkeypatch.setattr(type(lazily), "materialize", None)
    assert ragged.segment_sum(lazily, ragged.Plan([10**6, 0, 2])).tolist() == [10**6, 0, 2]


def test_a_plan_shows_itself_in_notebooks():
    shown = ragged.Plan(SOME)._repr_html_()
    assert "<td" in shown and "<svg" in shown and "positions" in shown


def test_lengths_in_whatever_holds_integers():
    import array

    import pandas as pd

    for lengths in (pd.Series(SOME), array.array("q", SOME), range(3)):
        wanted = list(lengths)
        assert ragged.offsets(lengths).tolist() == plain.offsets(wanted)
        assert ragged.row_ids(lengths).tolist() == plain.row_ids(wanted)


def test_arrays_of_other_libraries_are_refused():
    strict = pytest.importorskip("array_api_strict")
    x = strict.asarray([1.0, 2.0, 3.0])
    for call in (
        lambda: ragged.segment_sum(x, [1, 2]),
        lambda: ragged.pad(x, [1, 2]),
        lambda: ragged.offsets(strict.asarray([1, 2])),
        lambda: tenter.lazy.repeat(x, 2),
    ):
        with pytest.raises(TypeError, match=r"expected a NumPy array or a tensor \(np.asarray"):
            call()


def test_a_plan_keeps_few_masks():
    plan = ragged.Plan([2, 0, 3])
    for width in range(3, 60):
        for side in (None, "left", "right"):
            mask = plan.mask(width, padding_side=side)
            assert mask is plan.mask(width, padding_side=side) and mask.shape == (3, width) and mask.sum() == 5
            assert len(plan._cached) <= 16
    assert plan.mask(59).tolist() == plan.mask(59, padding_side="right").tolist()


def test_a_plan_of_rows_is_found_although_another_thread_drops_all_meanwhile(monkeypatch):
    """Between the making of a plan and its use."""
    rows, x = ragged.Plan([2, 0, 3]), np.arange(5.0)[:, None].repeat(3, 1)

    class Dropped(dict):
        def __setitem__(self, key, value):
            self.clear()

        def setdefault(self, key, value):
            return value

    rows._segments = rows._segments.changed(cached=Dropped())
    assert reduced._cached_plan("sum", x, rows._segments, 0) is not None
