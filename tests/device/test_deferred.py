"""Counts on a device are verified there: whatever they are, nothing out of bounds is touched, and what is wrong with them
is raised by a later call."""

from __future__ import annotations

import contextlib
import itertools
import threading

import pytest
import torch
from cuda_helpers import INTERPRETED, LONG, settle, some

import tenter
import tenter.torch
from tenter._torch import device as device_calls

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]

# Counts, output_size, what the message says.
WRONG = {
    "negative": ([1, -2, 0, 3], 6, "non-negative counts, got one at position 1"),
    "negative, of the right sum": ([4, -1, 1, 3], 7, "non-negative counts, got one at position 1"),
    "all negative": ([-1, -2, -3, -4], 4, "non-negative counts, got one at position 0"),
    "too small an output_size": ([1, 2, 0, 3], 5, "expected 6, the sum of the counts"),
    "an output_size of 0": ([1, 2, 0, 3], 0, "expected 6, the sum of the counts"),
    "too large an output_size": ([1, 2, 0, 3], 9, "expected 6, the sum of the counts"),
    "none": ([0, 0, 0, 0], 3, "expected 0, the sum of the counts"),
    "past int64": ([2**62] * 4, 6, r"below 2\*\*63"),
    "far too many": ([2**40, 0, 2**40, 1], 6, f"expected {2**41 + 1}, the sum of the counts"),
}


def call(x, counts, total, dim=0):
    return tenter.repeat_interleave(x, counts, dim, output_size=total)


@contextlib.contextmanager
def before_the_device():
    """Calls in here look for what was found before there is any; a call may come late enough to find its own counts
    wrong, in the interpreter always."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_calls, "raise_found", lambda device: None)
        yield


def wrong_call(where, name="too large an output_size"):
    counts, total, _ = WRONG[name]
    with before_the_device():
        return call(torch.ones(4, 3, device=where), torch.tensor(counts, device=where), total)


def finish(where):
    if where == "cuda":
        torch.cuda.synchronize()


def expected(x, counts, total):
    """Rows up to the counts' sum, negative ones counting as none; zeros after them."""
    found = x.repeat_interleave(torch.tensor([max(0, min(c, total)) for c in counts], device=x.device), 0)[:total]
    return torch.cat([found, x.new_zeros(total - len(found), *x.shape[1:])])


@pytest.mark.parametrize("case", some(itertools.product([1, 3, 64], [torch.int64, torch.int32], WRONG), 8))
def test_wrong_counts_surface_and_do_no_harm(case, device):
    inner, dtype, name = case
    counts, total, says = WRONG[name]
    if max(counts) >= 2**31 and dtype == torch.int32:
        pytest.skip("not a number of 32 bits")
    x = torch.randn(4, inner, device=device)
    there = torch.tensor(counts, dtype=dtype, device=device)
    with before_the_device():
        y = call(x, there, total)
    assert y.shape == (total, inner)
    if name != "past int64":  # the sums have wrapped: any rows of x, or zeros
        assert torch.equal(y, expected(x, counts, total))
    with pytest.raises(ValueError, match=says) as caught:
        tenter.torch.synchronize()
    words = f"repeat_interleave(repeats: {str(dtype).removeprefix('torch.')}[4], output_size={total})"
    assert words in str(caught.value), caught.value
    assert settle() == []  # told once
    right = torch.tensor([1, 2, 0, 3], dtype=dtype, device=device)
    assert torch.equal(call(x, right, 6), expected(x, [1, 2, 0, 3], 6)) and settle() == []


@pytest.mark.parametrize("name", some(WRONG, 1))
def test_gradients_of_wrong_counts(name, device):
    """Of what was copied, and of nothing else."""
    counts, total, says = WRONG[name]
    x = torch.randn(4, 3, device=device, requires_grad=True)
    v = torch.randn(total, 3, device=device)
    with before_the_device():
        y = call(x, torch.tensor(counts, device=device), total)
        (g,) = torch.autograd.grad(y, x, v)
    with pytest.raises(ValueError, match=says):
        tenter.torch.synchronize()
    if name != "past int64":
        z = x.detach().clone().requires_grad_()
        torch.testing.assert_close(g, torch.autograd.grad(expected(z, counts, total), z, v)[0])


LATER = {
    "repeat": lambda x: tenter.repeat(x, 2, 1),
    "bilinear": lambda x: tenter.interpolate(x[None, None], (7, 5), mode="bilinear"),
    "counts": lambda x: call(x, torch.tensor([1, 0, 2, 1], device=x.device), 4),
    "counts without their sum": lambda x: tenter.repeat_interleave(x, torch.ones(4, dtype=torch.int64, device=x.device), 0),
    "counts in a list": lambda x: tenter.repeat_interleave(x, [1, 0, 2, 1], 0),
    "grad": lambda x: torch.func.grad(lambda x: tenter.tile(x, 2).sum())(x),
}  # fmt: skip


# torch.func takes seconds to load.
@pytest.mark.parametrize("later", some(LATER, 1, always=lambda later: later != "grad"))
def test_the_next_call_raises(later, device):
    x = torch.randn(4, 3, device=device)
    want = LATER[later](x)
    wrong_call(device)
    finish(device)
    with pytest.raises(ValueError, match="expected 6, the sum of the counts"):
        LATER[later](x)
    assert torch.equal(LATER[later](x), want) and settle() == []


def test_counts_without_their_sum_raise_at_once(device):
    for counts, says in (([1, -2, 0, 3], "position 1"), ([2**62] * 4, r"below 2\*\*63")):
        for f in (
            lambda c: tenter.repeat_interleave(torch.ones(4, 3, device=device), c, 0),
            lambda c: tenter.repeat_interleave(c),
        ):
            with pytest.raises(ValueError, match=says):
                f(torch.tensor(counts, device=device))
            assert settle() == []


def test_threads_tell_each_other(device):
    """A wrong call in one surfaces in another's next call, and in synchronize anywhere."""
    thread = threading.Thread(target=wrong_call, args=(device,))
    thread.start()
    thread.join()
    assert len(settle()) == 1
    wrong_call(device)
    finish(device)
    raised = []

    def next_call():
        try:
            tenter.repeat(torch.ones(4, 3, device=device), 2, 1)
        except ValueError as error:
            raised.append(str(error))

    thread = threading.Thread(target=next_call)
    thread.start()
    thread.join()
    assert len(raised) == 1 and "expected 6" in raised[0] and settle() == []


@pytest.mark.slow
def test_many_calls_in_between(device):
    """However long ago the wrong call was, it is told of once: by one of the calls since then, or in the end."""
    x, counts = torch.randn(4, 3, device=device), torch.tensor([1, 2, 0, 3], device=device)
    call(x, counts, 6)
    if device == "cuda":
        torch.cuda._sleep(LONG)
    wrong_call(device)
    told = []
    for _ in range(12 if INTERPRETED else 5000):
        try:
            call(x, counts, 6)
        except ValueError as error:
            told.append(str(error).splitlines()[0])
    told += settle()
    assert len(told) == 1 and "expected 6" in told[0]


@pytest.mark.slow
def test_many_wrong_calls_are_told_of(device):
    for _ in range(20):
        wrong_call(device)
    assert settle()


def test_a_wrong_call_raises_itself_or_later(device):
    """As the device is fast or slow; once, in the end."""
    x, counts = torch.randn(4, 3, device=device), torch.tensor([1, -2, 0, 3], device=device)
    told = []
    try:
        call(x, counts, 6)
    except ValueError as error:
        told.append(str(error).splitlines()[0])
    told += settle()
    assert len(told) == 1 and "position 1" in told[0]


def test_reports_are_made_for_each_device(device):
    wrong_call(device)
    settle()
    assert set(device_calls._reports) and all(
        report.view.tolist() == [0] * 4 for report in device_calls._reports.values()
    )
