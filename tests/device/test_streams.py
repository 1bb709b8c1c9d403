"""Calls run on the stream and the device that are current where they are made, after what was queued there."""

from __future__ import annotations

import pytest
import torch
from cuda_helpers import EVERY, LONG, both_ways, by_name, on

import tenter
from thread_helpers import in_threads
from torch_cases import Case, same

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]


@pytest.mark.parametrize("case", EVERY, ids=by_name)
def test_calls_come_after_what_makes_their_input(case: Case, cuda):
    """x is written late, by the stream that the call is made on."""
    s = on(case, cuda)
    v = s.cotangent()
    both_ways(s.f, s.x, v)
    x = torch.full_like(s.x, float("nan"))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG)
        x.copy_(s.x)
        y, g = both_ways(s.f, x, v)
        assert torch.cuda.current_stream() == side
    torch.cuda.current_stream().wait_stream(side)
    for got, want in zip((y, g), both_ways(s.truth, s.x, v)):
        same(got, want)


def test_backward_runs_on_the_stream_of_forward(cuda):
    """As PyTorch's own: a gradient that is made late, on another stream, is waited for."""
    x = torch.randn(2, 3, 5, 6, device=cuda, requires_grad=True)
    f = lambda x: tenter.interpolate(x, (9, 11), mode="bicubic")
    v = torch.randn(2, 3, 9, 11, device=cuda)
    want = both_ways(f, x, v)[1]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = f(x)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda._sleep(LONG)
    late = torch.zeros_like(v)
    late += v
    assert torch.equal(torch.autograd.grad(y, x, late)[0], want)


FRESH = {
    "bilinear": (lambda x, n: tenter.interpolate(x, (n, n + 1), mode="bilinear"), (1, 2, 40, 40)),
    "bicubic, antialias": (lambda x, n: tenter.interpolate(x, (n, n + 1), mode="bicubic", antialias=True), (1, 2, 40, 40)),
    "nearest": (lambda x, n: tenter.interpolate(x, (n, n + 1), mode="nearest"), (1, 2, 40, 40)),
    "counts in a list": (lambda x, n: tenter.repeat_interleave(x, [n, 1] * 20, 2), (1, 2, 40, 40)),
}  # fmt: skip


@pytest.mark.parametrize("name", FRESH)
def test_tables_sent_on_one_stream_are_right_on_another(name, cuda):
    """The first call, which sends them, is on streams that are busy; the second on one that is not."""
    f, shape = FRESH[name]
    x = torch.randn(shape, device=cuda)
    for n in (23, 24):  # compiles the kernels
        f(x, n)
    torch.cuda.synchronize()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for stream in (torch.cuda.default_stream(), first):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(LONG)
    with torch.cuda.stream(first):
        a = f(x, 29)
    with torch.cuda.stream(second):
        b = f(x, 29)
    torch.cuda.synchronize()
    assert torch.equal(a, f(x, 29)) and torch.equal(b, a)


def test_threads_with_streams_of_their_own(cuda):
    """The same calls from several threads, the first of each shape among them."""
    wrong = []

    def work(k: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            for n in range(30, 42):
                x = torch.full((2, 3, 33, 34), float(k), device=cuda)
                y = tenter.interpolate(x, (n, n + 2), mode="bilinear")
                z = tenter.repeat_interleave(x, torch.arange(3, device=cuda), 1, output_size=3)
                if not (torch.allclose(y, x.new_full((), k)) and torch.equal(z, x)):
                    wrong.append((k, n))

    in_threads(work, [(k,) for k in range(4)])
    assert not wrong


# ---- several devices


@pytest.fixture
def other(cuda):
    if torch.cuda.device_count() < 2:
        pytest.skip("one CUDA device")
    return "cuda:1"


@pytest.mark.parametrize("case", EVERY, ids=by_name)
def test_tensors_of_another_device(case: Case, other):
    """The current device stays the current one."""
    with torch.cuda.device(0):
        s = on(case, other)
        v = s.cotangent()
        for _ in range(2):
            y, g = both_ways(s.f, s.x, v)
            assert y.device == g.device == torch.device(other) and torch.cuda.current_device() == 0
        for got, want in zip((y, g), both_ways(s.truth, s.x, v)):
            same(got, want)


def test_plans_are_of_a_device(other):
    """The same call on both: tables and kernels are each one's own."""
    x = torch.randn(2, 3, 8, 9)
    f = lambda x: tenter.interpolate(x, (11, 5), mode="bicubic", antialias=True)
    a, b = f(x.to("cuda:0")), f(x.to(other))
    assert torch.equal(a.cpu(), b.cpu())


def test_counts_and_values_on_different_devices_are_refused(other):
    with pytest.raises((TypeError, RuntimeError, ValueError)):
        counts = torch.tensor([1, 2], device="cuda:0")
        tenter.repeat_interleave(torch.ones(2, device=other), counts, 0, output_size=3)
    assert torch.ones(2, device=other).sum() == 2
