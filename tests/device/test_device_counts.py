"""Counts on a device: any number and length of runs, forwards and back, and what they may not be."""

from __future__ import annotations

import itertools

import pytest
import torch
from cuda_helpers import INTERPRETED, some
from on_host import close, on_host, values

import tenter
from sweeps import sampled
from tenter._plans import cache
from tenter._plans.plan import CallPlan
from tenter._specs.repeat import RepeatCounts
from tenter._torch import device, operators
from tenter._torch.counted import by_counts
from tenter._triton import copies

pytestmark = pytest.mark.gpu
assert operators  # which registers them

COUNTS = {
    "few": [1, 3, 0, 2],
    "none": [],
    "zeros": [0, 0, 0],
    "one": [5],
    "as many": [0, 2, 1],
    "many": [(7 * i) % 5 for i in range(700)],
    "long": [0, 200, 1, 65, 64, 63, 0, 3000, 2],
}


GIVEN = ["device", "device with total", "host"]


AROUND = [((), ()), ((2,), ()), ((), (3,)), ((2,), (40,))]


@pytest.mark.parametrize("case", some(itertools.product(GIVEN, COUNTS, AROUND), 26))
def test_runs_of_any_length(case: tuple[str, str, tuple[tuple[int, ...], tuple[int, ...]]], on: str) -> None:
    given, name, (before, after) = case
    counts = torch.tensor(COUNTS[name], dtype=torch.int64)
    total, dim = int(counts.sum()), len(before)
    x = values((*before, len(counts), *after), torch.float32)
    g = values((*before, total, *after), torch.float32, 1)
    moved = x.to(on).clone().requires_grad_()
    repeats = counts.tolist() if given == "host" else counts.to(on)
    y = tenter.repeat_interleave(moved, repeats, dim, output_size=total if given == "device with total" else None)
    y.backward(g.to(on))
    with on_host():
        here = x.detach().clone().requires_grad_()
        want = tenter.repeat_interleave(here, counts, dim)
        want.backward(g)
    close(y, want, bits=True)
    assert moved.grad is not None and here.grad is not None
    close(moved.grad, here.grad, scale=30)


TILE = copies.RUNS_TILE
CUT = {
    "a run of several tiles": [1, 3 * TILE, 2],
    "runs from a tile's first output": [TILE, TILE, 0, 5],
    "runs to a tile's first output": [TILE + 1, TILE - 1, 1, TILE],
    "thousands of empty runs in a tile": [3, *[0] * 5000, 2, *[0] * 3000, TILE],
    "thousands of empty runs between tiles": [TILE, *[0] * 5000, TILE, *[0] * 5000],
    "short runs": [(5 * k) % 4 for k in range(2 * TILE)],
    "single outputs between empty runs": [(k % 9 == 4) + 40 * (k % 999 == 7) for k in range(9 * TILE)],
}


@pytest.mark.parametrize("inner", [3, pytest.param(1, marks=[pytest.mark.slow] * INTERPRETED)])
@pytest.mark.parametrize("name", sampled(CUT, 3 if INTERPRETED else 1))
def test_runs_that_tiles_cut(name: str, inner: int, on: str) -> None:
    counts = torch.tensor(CUT[name])
    x = values((len(counts), inner), torch.float32)
    y = tenter.repeat_interleave(x.to(on), counts.to(on), 0)
    assert torch.equal(y.cpu(), torch.repeat_interleave(x, counts, 0))


def test_calls_that_share_a_plan_have_counts_of_their_own(on: str) -> None:
    """Of equal number and sum; one call's gradient may be taken after the next one's forward."""
    given = [torch.tensor(counts, device=on) for counts in ([3, 0, 2], [1, 1, 3])]
    xs = [torch.arange(3.0, device=on).requires_grad_() for _ in given]
    ys = [tenter.repeat_interleave(x, counts, output_size=5) for x, counts in zip(xs, given)]
    for y in ys:
        y.sum().backward()
    assert [x.grad.tolist() for x in xs if x.grad is not None] == [counts.tolist() for counts in given]


def test_no_cached_plan_keeps_the_offsets_of_a_call(on: str) -> None:
    """It would keep their memory, which the graph of a compiled call may own."""
    x = torch.arange(13.0, device=on, requires_grad=True)
    tenter.repeat_interleave(x, torch.arange(13, device=on), output_size=78).sum().backward()
    kept = [made.spec for made in cache.plans.values() if isinstance(made, CallPlan) and made.device is not None]
    counted = [spec for spec in kept if isinstance(spec, RepeatCounts)]
    assert len(counted) >= 2 and all(spec.offsets is None for spec in counted)


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint64], ids=str
)
def test_counts_of_every_integer_dtype(dtype: torch.dtype, on: str) -> None:
    counts = torch.tensor([2, 0, 3], dtype=dtype, device=on)
    assert tenter.repeat_interleave(torch.arange(3, device=on), counts).tolist() == [0, 0, 2, 2, 2]
    positions = tenter.repeat_interleave(counts)
    assert positions.tolist() == [0, 0, 2, 2, 2]
    assert positions.dtype == (torch.int32 if dtype == torch.int32 else torch.int64)


def test_strided_counts_and_one_for_all(on: str) -> None:
    counts = torch.tensor([1, 9, 2, 9, 3, 9], device=on)[::2]
    assert tenter.repeat_interleave(torch.arange(3, device=on), counts).tolist() == [0, 1, 1, 2, 2, 2]
    one = torch.tensor([2], device=on)
    assert tenter.repeat_interleave(torch.arange(3, device=on), one).tolist() == [0, 0, 1, 1, 2, 2]


def test_ordinary_calls_need_no_operator(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do their gradients: PyTorch's dispatcher takes longer than the launches."""
    called: list[str] = []
    monkeypatch.setattr(operators, "watch", lambda name, args: called.append(name))
    x, counts = torch.arange(3.0, device=on).requires_grad_(), torch.tensor([2, 0, 3], device=on)
    for dim, total in ((0, 5), (-1, None), (None, 5), (None, None)):
        y = tenter.repeat_interleave(x, counts, dim, output_size=total)
        y.sum().backward()
        assert y.tolist() == [0, 0, 2, 2, 2]
    assert x.grad is not None and x.grad.tolist() == [8, 0, 12]
    assert called == []
    assert tenter.repeat_interleave(x, counts[:1], 0).tolist() == [0, 0, 1, 1, 2, 2]
    assert called == ["offsets", "total"]


OTHERS = {
    "floats": (torch.ones(3), 0, 3), "2-D": (torch.tensor([[1, 1, 1]]), 0, 3), "too few": (torch.tensor([1, 1]), 0, 2),
    "a list": ([1, 1, 1], 0, 3), "no such dim": (torch.tensor([1, 1, 1]), 2, 3), "flat": (torch.tensor([1, 1, 1]), None, 3),
    "a bool": (torch.tensor([1, 1, 1]), False, 3), "negative": (torch.tensor([1, 1, 1]), 0, -1),
    "huge": (torch.tensor([1, 1, 1]), 0, 2**63), "a float": (torch.tensor([1, 1, 1]), 0, 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_other_calls_are_left_to_the_general_way(name: str, on: str) -> None:
    counts, dim, output_size = OTHERS[name]
    moved = counts.to(on) if isinstance(counts, torch.Tensor) else counts
    assert by_counts(torch.ones(3, 2, device=on), moved, dim, output_size) is None


@pytest.mark.slow
def test_totals_of_many_blocks(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenter._triton import prefix_sum

    monkeypatch.setattr(prefix_sum, "BLOCK", 16)  # so that a block's totals are totals of blocks, twice
    counts = torch.tensor([(5 * i) % 7 for i in range(600)])
    assert torch.equal(
        tenter.repeat_interleave(counts.to(on)).cpu(), torch.repeat_interleave(torch.arange(600), counts)
    )
    for n in (31, 32):  # of two blocks, whose last one knows the total
        ones = torch.ones(n, dtype=torch.int64, device=on)
        assert tenter.repeat_interleave(ones, output_size=n).tolist() == list(range(n))
        tenter.torch.synchronize()
        with pytest.raises(ValueError, match=f"output_size: expected {n}"):
            tenter.repeat_interleave(ones, output_size=n + 1)
            tenter.torch.synchronize()


WRONG = [
    ([1, 2, 0, 3], 7, "output_size: expected 6, the sum of the counts"),
    ([1, 2, 0, 3], 5, "output_size: expected 6, the sum of the counts"),
    ([1, 2, 0, 3], 0, "output_size: expected 6, the sum of the counts"),
    ([1, -2, 0, 3], 4, "repeats: expected non-negative counts, got one at position 1"),
    ([2**62] * 4, 6, r"repeats: expected counts whose sum is below 2\*\*63"),
]


@pytest.mark.parametrize("counts, total, message", WRONG)
def test_what_is_wrong_is_raised_later(counts: list[int], total: int, message: str, on: str) -> None:
    """At once where kernels are interpreted, which are done when their launch returns."""
    x, made = torch.arange(1.0, 5.0, device=on), []
    with pytest.raises(ValueError, match=message) as raised:
        made.append(tenter.repeat_interleave(x, torch.tensor(counts, device=on), output_size=total))
        tenter.torch.synchronize()
    assert f"repeat_interleave(repeats: int64[4], output_size={total})" in str(raised.value)
    tenter.torch.synchronize()  # it is raised once
    assert tenter.repeat_interleave(x, 2).shape == (8,)
    if made:
        assert made[0].shape == (total,)
        assert total <= 6 or made[0][6:].eq(0).all()


def test_what_lies_past_the_sum_is_zero(on: str) -> None:
    x, counts = torch.arange(1.0, 5.0, device=on), torch.tensor([1, 0, 2, 0], device=on)
    offsets = torch.ops.tenter.offsets(counts, 4, 3)
    y = torch.ops.tenter.repeat_counts(x, offsets, 0, 7)
    assert y.tolist() == [1, 3, 3, 0, 0, 0, 0]


def test_a_sum_of_more_than_32_bits_ends_no_shorter_result(on: str) -> None:
    offsets = torch.tensor([0, 1, 2, 2**32], device=on)
    for shape, dim in [((3,), 0), ((3, 64), 0)]:
        x = values(shape, torch.float32).to(on)
        y = torch.ops.tenter.repeat_counts(x, offsets, dim, 5)
        assert torch.equal(y, x[torch.tensor([0, 1, 2, 2, 2], device=on)])


@pytest.mark.parametrize("counts", [[1, -2, 0, 3], [2**62] * 4])
def test_what_is_wrong_is_raised_at_once_without_a_total(counts: list[int], on: str) -> None:
    with pytest.raises(ValueError, match=r"repeats: expected (non-negative )?counts"):
        tenter.repeat_interleave(torch.arange(4, device=on), torch.tensor(counts, device=on))
    offsets = torch.ops.tenter.offsets(torch.tensor(counts, device=on), 4, None)
    with pytest.raises(ValueError, match=r"repeats: expected (non-negative )?counts"):
        torch.ops.tenter.total(offsets)


def test_wrong_offsets_in_a_graph_stay_in_bounds(on: str) -> None:
    """Anything may be passed to the operators: on a device it is not checked."""
    x = torch.arange(6.0, device=on).reshape(3, 2)
    for offsets in ([0, 9, -5, 2], [-(2**62), 2**62, 0, 5], [7, 7, 7, 7], [0, 1, 2, 2**63 - 1]):
        bad = torch.tensor(offsets, device=on)
        assert torch.ops.tenter.repeat_counts(x, bad, 0, 5).shape == (5, 2)
        assert torch.ops.tenter.repeat_counts_adjoint(torch.ones(5, 2, device=on), bad, 0).shape == (3, 2)
    nothing = torch.ops.tenter.repeat_counts(x[:0].clone(), torch.tensor([5], device=on), 0, 5)
    assert nothing.tolist() == [[0, 0]] * 5


def test_what_lies_past_the_sum_is_zero_in_every_layout(on: str) -> None:
    """Runs are found along a tile's columns or along any of its rows' dims."""
    offsets = torch.tensor([0, 1, 1, 3], device=on)
    for shape, dim in [((3, 64), 0), ((3, 2, 64), 0), ((3, 2, 3, 64), 0), ((3, 2, 3, 4, 64), 0), ((2, 3), 1)]:
        x = values(shape, torch.float32).to(on)
        # No two dims inside are one, and rows are whole 16 bytes.
        room = torch.zeros([n + 4 * (d > dim) for d, n in enumerate(shape)], device=on)
        x = room[tuple(slice(0, n) for n in shape)].copy_(x)
        y = torch.ops.tenter.repeat_counts(x, offsets, dim, 5)
        assert torch.equal(y.narrow(dim, 0, 3), x.index_select(dim, torch.tensor([0, 2, 2], device=on)))
        assert y.narrow(dim, 3, 2).eq(0).all()


def test_replays_of_what_is_wrong_are_named(on: str) -> None:
    """A graph's kernels have the ticket of the call that was captured each time."""
    from tenter._triton import prefix_sum

    counts = torch.tensor([1, -2], device=on)
    try:
        torch.ops.tenter.offsets(counts, 2, 1)
        tenter.torch.synchronize()
    except tenter.torch.DeferredError:
        pass
    ticket = next(reversed(device._calls))
    for _ in range(2):
        prefix_sum.offsets(counts, 1, device._reports[counts.device].words, ticket)
        with pytest.raises(
            tenter.torch.DeferredError, match=r"repeat_interleave\(repeats: int64\[2\], output_size=1\)"
        ):
            tenter.torch.synchronize()


def test_accelerated_code_hears_of_it_too(on: str) -> None:
    """What tenter refuses PyTorch is asked; what a call before did is nothing to ask PyTorch about."""
    wrong = torch.tensor([1, -2], device=on)
    with tenter.torch.accelerate(), pytest.raises(tenter.torch.DeferredError, match="non-negative"):
        torch.repeat_interleave(torch.arange(2, device=on), wrong, output_size=1)
        for _ in range(10_000):  # until the device has come to it
            torch.tile(torch.arange(2, device=on), (2,))
