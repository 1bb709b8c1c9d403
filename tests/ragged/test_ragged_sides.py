"""Padding on the left of ragged rows: what `pad_sequence` gives, and masks of both sides, of bools and of integers."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

import ragged_cases as plain
from sweeps import in_one_test
from tenter import _native, ragged

RNG = np.random.default_rng(0)
LENGTHS = [[], [0], [1], [0, 0], [3, 3], [2, 0, 3], [0, 5, 1, 0], [64, 1, 0, 63], [65, 130, 2], [1] * 40, [300, 7]]
DTYPES = ["bool", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def rows_of(lengths, dtype, inner=()):
    return (RNG.standard_normal((sum(lengths), *inner)) * 50).astype(dtype)


@in_one_test("lengths", LENGTHS)
@in_one_test("side", ["left", "right"])
def test_padding_on_a_side_is_pad_sequences_and_goes_back(side, lengths):
    for k, dtype in enumerate(DTYPES):
        x = rows_of(lengths, dtype, [(), (3,), (2, 2), (0,)][k % 4])
        for make in (np.asarray, torch.from_numpy):
            n, given = make(np.array(lengths, ["int64", "int32"][k % 2])), make(x)
            for room in (None, max(lengths, default=0) + 3):
                for value in (0, 1):
                    got = ragged.pad(given, n, room, value=value, padding_side=side)
                    want = plain.padded(x, lengths, max(lengths, default=0) if room is None else room, value, side)
                    assert got.dtype == given.dtype and np.array_equal(np.asarray(got), want), dtype
                    back = ragged.unpad(got, n, padding_side=side)
                    assert type(back) is type(given) and np.array_equal(np.asarray(back), x), dtype
        if lengths:
            torchs = pad_sequence(list(given.split(lengths)), batch_first=True, padding_side=side)
            assert torch.equal(ragged.pad(given, n, padding_side=side), torchs)


@in_one_test("lengths", LENGTHS)
@in_one_test("side", ["left", "right"])
def test_a_plan_of_a_mask_has_its_side(side, lengths):
    width = 131 + 200 * (300 in lengths)
    want = np.array(plain.mask(lengths, width, side), bool).reshape(len(lengths), width)
    for k, make in enumerate((np.asarray, torch.from_numpy)):
        for dtype in ("bool", INTEGERS[len(lengths) % 8], "int32"):
            plan = ragged.Plan.from_mask(make(want.astype(dtype)))
            assert len(plan) == plan.n == len(lengths) and plan.lengths.tolist() == lengths
            assert str(plan.offsets.dtype).endswith("int32" if dtype == "int32" else "int64")
            assert plan.padding_side == (side if any(lengths) else "right")
            assert ragged.Plan.from_mask(make(want.astype(dtype)), padding_side=side).padding_side == side
        plan = ragged.Plan.from_mask(want.astype(int), padding_side=side)
        assert np.array_equal(plan.mask(width), want)
        assert np.array_equal(ragged.mask(make(np.array(lengths, np.int64)), width, padding_side=side), want)
        x = make(rows_of(lengths, "float32"))
        filled = plan.pad(x, width)
        assert np.array_equal(np.asarray(filled), plain.padded(np.asarray(x), lengths, width, 0, side))
        for room in (None, (np.empty, torch.empty)[k](len(x), dtype=x.dtype)):
            assert np.array_equal(plan.unpad(filled, out=room), x)
            assert np.array_equal(ragged.unpad(filled, plan, out=room), x)
        for function in (lambda **to: plan.pad(x, width, **to), lambda **to: ragged.pad(x, plan, width, **to)):
            room = (np.empty, torch.empty)[k](tuple(filled.shape), dtype=x.dtype)
            assert np.array_equal(function(out=room), filled) and np.array_equal(function(), filled)
        assert np.array_equal(ragged.mask(plan, width), want)
        assert np.array_equal(ragged.mask(plan, width, out=np.empty(want.shape, bool)), want)


@in_one_test("width", [0, 1, 2, 31, 63, 64, 65, 130])
def test_masks_of_every_length_at_both_sides(width):
    lengths = RNG.permutation(np.repeat(np.arange(width + 1), 2))
    right = np.arange(width) < lengths[:, None]
    assert np.array_equal(ragged.mask(lengths, width), right)
    assert np.array_equal(ragged.mask(lengths, width, padding_side="left"), right[:, ::-1])
    assert np.array_equal(ragged.Plan(lengths).mask(padding_side="left"), right[:, ::-1])


def test_a_side_that_a_call_names_is_nearer_than_the_plans():
    x, plan = np.arange(1, 6), ragged.Plan.from_mask([[0, 1, 1], [1, 1, 1]])
    for side in ("left", "right"):
        want = plain.padded(x, [2, 3], 3, 0, side)
        for made in (plan.pad(x, padding_side=side), ragged.pad(x, plan, padding_side=side)):
            assert np.array_equal(made, want)
        assert np.array_equal(plan.pad(x, padding_side=side, out=np.empty((2, 3), int)), want)
        assert np.array_equal(plan.unpad(want, padding_side=side), x)
        assert np.array_equal(plan.unpad(want, padding_side=side, out=np.empty(5, int)), x)
        assert plan.mask(padding_side=side).tolist() == plain.mask([2, 3], 3, side)
    assert ragged.Plan([2, 3]).padding_side == "right"
    assert ragged.Plan([2, 3]).pad(x, padding_side="left").tolist() == plan.pad(x).tolist()


@pytest.mark.parametrize("bytes_of_a_task", [8, 8 * 3 * 4, 8 * 50])
def test_the_left_side_is_the_same_bits_for_any_split_into_tasks(bytes_of_a_task, monkeypatch):
    """Tasks that begin and end in the padding, in a row, and at their border."""
    lengths = RNG.integers(0, 9, 40)
    x = rows_of(lengths, "float32")
    want = plain.padded(x, lengths.tolist(), 11, 7, "left")
    monkeypatch.setattr(_native.tuning, "parallel_bytes", 0)
    monkeypatch.setattr(_native.tuning, "task_bytes", bytes_of_a_task)
    padded = ragged.pad(x, lengths, 11, value=7, padding_side="left")
    assert np.array_equal(padded, want) and np.array_equal(ragged.unpad(padded, lengths, padding_side="left"), x)
    assert ragged.mask(lengths, 11, padding_side="left").tolist() == plain.mask(lengths.tolist(), 11, "left")


def test_arrays_that_lie_oddly_are_padded_on_the_left():
    lengths, x = np.array([3, 0, 2, 4]), rows_of([9], "float64", (6,))
    want = plain.padded(x, lengths.tolist(), 4, 0, "left")
    mask = np.array(plain.mask(lengths.tolist(), 4, "left"))
    for y in (
        np.asfortranarray(x),
        x[::-1].copy()[::-1],
        np.repeat(x, 2, 1)[:, ::2],
        x.astype(">f8"),
        x.astype(object),
    ):
        padded = ragged.pad(y, lengths[::-1].copy()[::-1], padding_side="left")
        assert padded.dtype == y.dtype and np.array_equal(padded, want)
        for laid in (padded, np.asfortranarray(padded), np.repeat(padded, 2, 1)[:, ::2]):
            assert np.array_equal(ragged.unpad(laid, lengths, padding_side="left"), x)
    t = torch.from_numpy(x)
    for y in (t.T.contiguous().T, t.conj(), t.repeat_interleave(2, 1)[:, ::2]):
        assert np.array_equal(ragged.pad(y, lengths, padding_side="left"), want)
    for laid in (np.asfortranarray(mask), np.repeat(mask, 2, 1)[:, ::2], mask.astype(">i8"), mask.tolist()):
        assert ragged.Plan.from_mask(laid).lengths.tolist() == lengths.tolist()
    assert ragged.Plan.from_mask(torch.from_numpy(mask).T.contiguous().T).padding_side == "left"


def test_rows_without_padding_are_padded_on_the_right_unless_their_side_is_said():
    full = np.ones((2, 3), int)
    assert ragged.Plan.from_mask(full).pad(np.ones(6, int), 4).tolist() == [[1, 1, 1, 0]] * 2
    assert ragged.Plan.from_mask(full, padding_side="left").pad(np.ones(6, int), 4).tolist() == [[0, 1, 1, 1]] * 2


@pytest.mark.parametrize("make", [np.asarray, torch.tensor])
def test_copies_of_a_plan_keep_its_side(make):
    plan = ragged.Plan.from_mask(make([[0, 1, 1], [1, 1, 1]]))
    for other in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert (other.padding_side, repr(other)) == ("left", "Plan(2 rows -> 5: lengths [2, 3], padded on the left)")
        assert np.array_equal(other.pad(make([1, 2, 3, 4, 5])), [[0, 1, 2], [3, 4, 5]])


def test_a_plan_of_tensors_moves_and_one_that_is_there_stays():
    plan = ragged.Plan.from_mask(torch.tensor([[0, 1, 1], [1, 1, 1]], dtype=torch.int32))
    assert plan.to("cpu") is plan and plan.to(torch.device("cpu")) is plan
    moved = plan.to("meta")
    assert moved.to("meta") is moved
    assert (len(moved), moved.output_size, moved.max_len, moved.padding_side) == (2, 5, 3, "left")
    assert repr(moved) == "Plan(2 rows -> 5: lengths on meta)"


@pytest.mark.slow
@pytest.mark.parametrize("side", ["left", "right"])
def test_exported_programs_pad_on_their_side(side):
    class Packed(torch.nn.Module):
        def forward(self, x, mask):
            plan = ragged.Plan.from_mask(mask, padding_side=side)
            return plan.pad(plan.unpad(x) * 2, x.shape[1], value=-1)

    mask = torch.tensor(plain.mask([2, 0, 3, 4], 4, side)).long()
    x = torch.randn(4, 4, 2)
    program = torch.export.export(Packed(), (x, mask)).module()
    want = torch.where(mask[..., None] > 0, x * 2, -1.0)
    assert torch.equal(program(x, mask), want) and torch.equal(Packed()(x, mask), want)
