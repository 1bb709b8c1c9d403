"""Ragged arrays: every helper is its loop in plain Python, and every form of the lengths leads back to them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st

import ragged_cases as plain
import tenter
from ragged_cases import HOW, KINDS, LENGTHS, given_as, same, segment
from tenter import _native, ragged
from tenter._ragged import padded, segments

RNG = np.random.default_rng(0)
SOME = [2, 0, 3, 1, 0]
quick = settings(max_examples=40, deadline=None)


# ---- indices


@quick
@given(LENGTHS, KINDS)
def test_indices_are_those_of_loops(lengths, kind):
    found, total = given_as(kind, lengths), sum(lengths)
    for given_total in (None, total):
        same(ragged.offsets(found, output_size=given_total), plain.offsets(lengths), kind)
        same(ragged.row_ids(found, output_size=given_total), plain.row_ids(lengths), kind)
        same(ragged.positions(found, output_size=given_total), plain.positions(lengths), kind)
    assert ragged.mask(found).tolist() == plain.mask(lengths, max(lengths, default=0))
    assert ragged.mask(found, 50).tolist() == plain.mask(lengths, 50)


@quick
@given(LENGTHS, KINDS)
def test_every_form_leads_back_to_the_lengths(lengths, kind):
    plan, n = ragged.Plan(given_as(kind, lengths)), len(lengths)
    filled = [length for length in lengths if length]
    same(ragged.lengths(plan.offsets), lengths, kind)
    same(ragged.Plan.from_row_ids(plan.row_ids, n).lengths, lengths, kind)
    same(ragged.Plan.from_row_ids(plan.row_ids).lengths, lengths[: max(plan.row_ids.tolist(), default=-1) + 1], kind)
    same(ragged.Plan.from_positions(plan.positions).lengths, filled, kind)
    assert ragged.Plan.from_mask(plan.mask()).lengths.tolist() == lengths
    assert ragged.Plan.from_mask(plan.mask(60)).lengths.tolist() == lengths
    for other in (
        ragged.Plan.from_offsets(plan.offsets), ragged.Plan.from_row_ids(plan.row_ids, n), ragged.Plan.from_mask(plan.mask())
    ):  # fmt: skip
        assert (other.n, other.output_size, other.max_len) == (n, sum(lengths), max(lengths, default=0))
        assert other.lengths.tolist() == lengths and other.positions.tolist() == plain.positions(lengths)
        assert other.row_ids.tolist() == plain.row_ids(lengths) and other.offsets.tolist() == plain.offsets(lengths)
    assert ragged.Plan.from_positions(plan.positions).lengths.tolist() == filled


@quick
@given(st.data(), LENGTHS, KINDS, KINDS)
def test_ranges_are_aranges_one_after_the_other(data, lengths, kind, other):
    numbers = st.lists(st.integers(0, 100), min_size=len(lengths), max_size=len(lengths))
    starts, steps = data.draw(numbers), data.draw(numbers)
    tensors = "torch" in kind or "torch" in other
    for first, step in itertools.product((starts, 7), (steps, 3, -2)):
        got = ragged.ranges(given_as(other, first) if first is starts else first, given_as(kind, lengths),
                            given_as(other, step) if step is steps else step)  # fmt: skip
        each = [v if isinstance(v, list) else [v] * len(lengths) for v in (first, step)]
        assert got.tolist() == plain.ranges(each[0], lengths, each[1])
        arrays = first is starts or step is steps
        assert str(got.dtype).endswith("int32" if "int32" in (other if arrays else kind) else "int64")
        assert isinstance(got, torch.Tensor if (tensors if arrays else "torch" in kind) else np.ndarray)


def test_ranges_reach_the_ends_of_their_dtype_and_no_further():
    for dtype in (np.int32, np.int64):
        info = np.iinfo(dtype)
        starts = np.array([info.max - 2, info.min, info.max, info.min], dtype)
        found = ragged.ranges(starts, [3, 2, 1, 0], np.array([1, 1, 5, -1], dtype))
        assert found.dtype == dtype and found.tolist() == [
            info.max - 2,
            info.max - 1,
            info.max,
            info.min,
            info.min + 1,
            info.max,
        ]
        for wrong in ([4, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]):
            with pytest.raises(ValueError, match=f"starts: expected ranges of {np.dtype(dtype)}, got"):
                ragged.ranges(starts, wrong, np.array([1, 1, 5, -1], dtype))
    with pytest.raises(ValueError, match="in row 1"):
        ragged.ranges([0, 2**62], [1, 3], [1, 2**61])


@quick
@given(st.data(), st.integers(0, 12), st.integers(0, 6), st.sampled_from(["int64", "torch int32", "list"]))
def test_spans_cover_what_lies_between_their_ends(data, n, k, kind):
    ends = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)).map(sorted), min_size=k, max_size=k))
    first, last = [a for a, _ in ends], [b for _, b in ends]
    got = ragged.spans_to_mask(given_as(kind, first), given_as(kind, last), n)
    assert got.tolist() == [any(a <= at < b for a, b in ends) for at in range(n)]
    if kind != "list":
        apart = ragged.spans_to_mask(given_as(kind, first)[:, None], given_as(kind, last)[:, None], n)
        assert apart.tolist() == [[a <= at < b for at in range(n)] for a, b in ends]


def test_large_tables_are_numpys(monkeypatch):
    """Where tasks, staging buffers and threads begin and end."""
    for most, n in ((9, 100_000), (2, 200_000), (3000, 200), (300_000, 2)):
        lengths = RNG.integers(0, most, n)
        total = int(lengths.sum())
        starts, steps = RNG.integers(-(2**20), 2**20, n), RNG.integers(-9, 9, n)
        at = np.arange(total) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        for kind in (np.int64, np.int32):
            for least in (1, 1 << 40):
                monkeypatch.setattr(_native.tuning, "stream_bytes", least)
                for _ in range(2):  # the second time in memory that was used before
                    plan = ragged.Plan(lengths.astype(kind))
                    assert np.array_equal(plan.row_ids, np.repeat(np.arange(n), lengths)) and plan.row_ids.dtype == kind
                    assert np.array_equal(plan.positions, at) and plan.positions.dtype == kind
                    got = plan.ranges(starts.astype(kind), steps.astype(kind))
                    assert (
                        np.array_equal(got, np.repeat(starts, lengths) + at * np.repeat(steps, lengths))
                        and got.dtype == kind
                    )


def test_spans_that_overlap_little_and_a_lot():
    """By memory alone and sorted, with a length beyond which rows are Python's; in any order of the axes in memory."""
    for most, n in ((3, 50), (40, 50), (60, 3_000_000)):
        starts = RNG.integers(0, 40, (3, 30))
        ends = np.minimum(starts + RNG.integers(0, most, starts.shape), n)
        want = [[any(a <= i < b for a, b in zip(*row)) for i in range(110)] for row in zip(starts, ends)]
        for dtype, order in itertools.product((np.int64, np.int32), "CF"):
            got = ragged.spans_to_mask(starts.astype(dtype, order), ends.astype(dtype, order), n)
            assert got[:, :110].tolist() == [row[:n] for row in want] and not got[:, 110:].any()


# ---- calls that the core runs alone: from arguments to result, and the same by Python's code


LONG = np.concatenate([RNG.integers(0, 9, 3000), [5000, 0, 70], RNG.integers(0, 2, 500)])
CORE = {
    "offsets": lambda n, x: ragged.offsets(n),
    "offsets, total": lambda n, x: ragged.offsets(n, output_size=len(x)),
    "row_ids": lambda n, x: ragged.row_ids(n),
    "positions": lambda n, x: ragged.positions(n, output_size=len(x)),
    "ranges": lambda n, x: ragged.ranges(n - 4, n, n + 1),
    "ranges of one start": lambda n, x: ragged.ranges(7, n, n),
    "ranges of ints": lambda n, x: ragged.ranges(-3, n, 2),
    "mask": lambda n, x: ragged.mask(n[:40], 9000),
    "spans_to_mask": lambda n, x: ragged.spans_to_mask(n[None], n[None] + 3, 6000),
    **{f"{how} of columns": lambda n, x, f=f: f(x, n) for how, f in segment.items()},
    **{f"{how} of scalars": lambda n, x, f=f: f(x[:, 0] + 0, n) for how, f in segment.items()},
    **{f"{how} of rows": lambda n, x, f=f: f(x.T + np.zeros_like(x.T), n, -1) for how, f in segment.items()},
    "pad": lambda n, x: ragged.pad(x[: int(n[:40].sum())], n[:40]),
    "pad, max_len": lambda n, x: ragged.pad(x[: int(n[:40].sum())], n[:40], 80),
    "unpad": lambda n, x: ragged.unpad(x[:2100].reshape(70, 10, -1), n[:70]),
    "mask on the left": lambda n, x: ragged.mask(n[:40], 9000, padding_side="left"),
    "pad on the left": lambda n, x: ragged.pad(x[: int(n[:40].sum())], n[:40], 80, padding_side="left"),
    "unpad from the left": lambda n, x: ragged.unpad(x[:2100].reshape(70, 10, -1), n[:70], padding_side="left"),
}  # fmt: skip


@pytest.mark.parametrize("name", CORE)
def test_calls_of_the_core_alone_are_pythons(name, monkeypatch):
    """Of both dtypes of lengths, in arrays and tensors, on one thread and several."""
    cases = []
    for dtype, columns in (("float32", 3), ("float64", 17)):
        x = RNG.standard_normal((int(LONG.sum()), columns)).astype(dtype)
        for n in (LONG, LONG.astype(np.int32), LONG[::-1]):
            cases += [(n, x), (torch.from_numpy(n.copy()), torch.from_numpy(x))] if "rows" not in name else [(n, x)]
    found = [np.asarray(CORE[name](*case)) for case in cases]
    for small in ("parallel_bytes", "shared_counts"):
        monkeypatch.setattr(_native.tuning, small, 0)
    threaded = [np.asarray(CORE[name](*case)) for case in cases]
    with monkeypatch.context() as without:
        for module in (ragged._indices, ragged._padding, ragged._segments):
            without.setattr(module, "in_dynamo", lambda: True)  # so that no call asks the core
        want = [np.asarray(CORE[name](*case)) for case in cases]
    for a, b, c in zip(found, threaded, want):
        assert a.dtype == c.dtype and a.tobytes() == b.tobytes() == c.tobytes()


@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["array", "tensor"])
def test_the_core_alone_runs_calls_of_plain_arrays(make, monkeypatch):
    """And nothing else does, after the first call with arrays of a library: no call here reaches Python's code."""
    ragged.offsets(make(np.array([1])))
    for module, name in ((segments, "of_lengths"), (padded, "spans_to_mask")):
        monkeypatch.setattr(module, name, lambda *args: pytest.fail("Python's code is called"))
    n, x = make(np.array([2, 0, 3])), make(np.arange(10, dtype=np.float32).reshape(5, 2))
    for f in (ragged.offsets, ragged.row_ids, ragged.positions, ragged.mask):
        assert isinstance(f(n), type(n))
    assert ragged.ranges(n, n).tolist() == [2, 3, 3, 4, 5] and ragged.spans_to_mask(n, n + 1, 4).tolist()[:3] == [
        1,
        0,
        1,
    ]
    for f in (*segment.values(), ragged.pad):
        assert isinstance(f(x, n), type(x))
    assert ragged.unpad(ragged.pad(x, n), n).tolist() == x.tolist()


# ---- padding


@quick
@given(LENGTHS, KINDS, st.sampled_from(["float32", "int64", "uint8", "bool", "complex128", "float16"]),
       st.sampled_from([(), (3,), (2, 5), (0,)]))  # fmt: skip
def test_padding_fills_rows_up_and_goes_back(lengths, kind, dtype, inner):
    total, most = sum(lengths), max(lengths, default=0)
    x = (RNG.standard_normal((total, *inner)) * 50).astype(dtype)
    for value in (0, 1):
        for room in (None, most, most + 3):
            want = plain.padded(x, lengths, most if room is None else room, value)
            got = ragged.pad(x, given_as(kind, lengths), room, value=value)
            assert got.dtype == x.dtype and np.array_equal(got, want)
            assert np.array_equal(ragged.unpad(got, given_as(kind, lengths)), x)
            t = torch.from_numpy(x)
            got = ragged.pad(t, given_as(kind, lengths), room, value=value)
            assert got.dtype == t.dtype and np.array_equal(got.numpy(), want)
            assert torch.equal(ragged.unpad(got, given_as(kind, lengths), output_size=total), t)


@quick
@given(st.data(), st.integers(0, 4), st.integers(0, 5), KINDS, st.sampled_from([(), (3,)]))
def test_padded_repeats_are_rows_repeated_and_filled_up(data, batch, width, kind, inner):
    counts = [data.draw(st.lists(st.integers(0, 4), min_size=width, max_size=width)) for _ in range(batch)]
    if not batch or not width:
        kind = "int64"
    given_counts = np.array(counts, np.int64).reshape(batch, width) if kind == "int64" else given_as(kind, counts)
    x = RNG.standard_normal((batch, width, *inner))
    sums = [sum(row) for row in counts]
    for room in (None, max(sums, default=0) + 2):
        got, lengths = ragged.repeat_padded(x, given_counts, room, value=-1)
        repeated = [np.repeat(row, each, 0) for row, each in zip(x, counts)]
        size = max(sums, default=0) if room is None else room
        want = plain.padded(np.concatenate([x.reshape(-1, *inner)[:0], *repeated]), sums, size, -1)
        assert np.array_equal(got, want) and lengths.tolist() == sums
        assert lengths.dtype == ("int32" if "int32" in kind else "int64") and isinstance(lengths, np.ndarray)
        got, lengths = ragged.repeat_padded(torch.from_numpy(x), given_counts, room, value=-1)
        assert np.array_equal(got.numpy(), want) and lengths.tolist() == sums and isinstance(lengths, torch.Tensor)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex128"])
def test_a_zero_that_pads_keeps_its_sign(dtype):
    x, counts = np.ones((1, 2), dtype), np.array([[1, 1]])
    leaf = torch.ones((1, 2), dtype=getattr(torch, dtype), requires_grad=True)
    for each in (x, torch.from_numpy(x), leaf):
        for made in (ragged.pad(each[0], [2], 4, value=-0.0), ragged.repeat_padded(each, counts, 4, value=-0.0)[0]):
            last = made.detach().numpy() if isinstance(made, torch.Tensor) else made
            assert np.signbit(last.real.ravel()).tolist() == [False, False, True, True]


@pytest.mark.parametrize("chunk", [1, 3, 16])
def test_means_of_rows_in_chunks_of_any_size(chunk, monkeypatch):
    monkeypatch.setattr(_native.tuning, "runs_chunk", chunk)
    x = RNG.standard_normal((2, 60, 3))
    want = plain.reduced("mean", np.moveaxis(x, 1, 0), [5, 0, 50, 1, 4])
    np.testing.assert_allclose(
        ragged.segment_mean(x, [5, 0, 50, 1, 4], 1), np.moveaxis(want, 0, 1), rtol=1e-14, atol=1e-15
    )
    got = ragged.segment_mean(torch.from_numpy(x), [5, 0, 50, 1, 4], 1).numpy()
    np.testing.assert_allclose(got, np.moveaxis(want, 0, 1), rtol=1e-14, atol=1e-15)


def test_objects_are_padded_too():
    x = np.array(["a", None, ("b",)], object)
    y = ragged.pad(x, [2, 0, 1], value=0)
    assert y.tolist() == [["a", None], [0, 0], [("b",), 0]]
    assert ragged.repeat_padded(np.empty((1, 2, 0), object), [[2, 1]])[0].shape == (1, 3, 0)
    assert ragged.unpad(y, [2, 0, 1]).tolist() == x.tolist()


# ---- all of these


def test_the_same_bits_for_any_number_of_threads(monkeypatch):
    for name, small in (("parallel_bytes", 0), ("task_bytes", 1 << 12), ("runs_chunk", 64), ("shared_counts", 0)):
        monkeypatch.setattr(_native.tuning, name, small)
    lengths = np.concatenate([RNG.integers(0, 9, 300), [500], RNG.integers(0, 3, 50)])
    x = RNG.standard_normal((int(lengths.sum()), 3), np.float32)
    found = []
    for threads in (1, 2, 5):
        tenter.set_num_threads(threads)
        try:
            plan = ragged.Plan(lengths)
            padded = plan.pad(x)
            made = [plan.offsets, plan.row_ids, plan.positions, padded, plan.unpad(padded), plan.mask()]
            found.append([v.tobytes() for v in (*made, *(segment[how](x, plan) for how in HOW))])
        finally:
            tenter.set_num_threads(None)
    assert all(f == found[0] for f in found)
