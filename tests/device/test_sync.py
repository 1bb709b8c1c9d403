"""No call on a CUDA device waits for it, but for counts there whose sum was not given: once."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cuda_helpers import (
    EVERY,
    KNOWN,
    LONG,
    SECOND,
    UNKNOWN,
    both_ways,
    by_name,
    on,
    waits,
    waits_are,
)

import tenter
from torch_cases import COUNTS, Case, same

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]


def test_a_wait_is_found(cuda):
    x = torch.ones(3, device=cuda)
    with waits_are("error"), pytest.raises(RuntimeError, match="synchronizing"):
        x.sum().item()
    assert waits(lambda: x.sum().item()) == 1 and waits(lambda: x + 1) == 0
    assert torch.cuda.get_sync_debug_mode() == 0


@pytest.mark.parametrize("case", KNOWN, ids=by_name)
def test_no_call_waits(case: Case, cuda):
    """The first call, forward and back, compiles kernels and sends tables; PyTorch does not wait then either, but the
    driver may."""
    s = on(case, cuda)
    v = s.cotangent()
    both_ways(s.f, s.x, v)
    with waits_are("error"):
        y, g = both_ways(s.f, s.x, v)
    wants = both_ways(s.truth, s.x, v)
    for got, want in zip((y, g), wants):
        same(got, want)


@pytest.mark.parametrize("case", KNOWN, ids=by_name)
def test_fresh_shapes_do_not_wait_either(case: Case, cuda):
    """Their tables are sent without waiting until they are there."""
    s = on(case, cuda)
    both_ways(s.f, s.x, s.cotangent())
    v = s.randn(*s.truth(s.other).shape)
    with waits_are("error"):
        y, g = both_ways(s.f, s.other, v)
    for got, want in zip((y, g), both_ways(s.truth, s.other, v)):
        same(got, want)


HOSTS = {
    "list": lambda counts: list(counts),
    "tuple": lambda counts: tuple(counts),
    "array": lambda counts: np.array(counts),
    "tensor": lambda counts: torch.tensor(counts),
    "int32": lambda counts: torch.tensor(counts, dtype=torch.int32),
    "pinned": lambda counts: torch.tensor(counts).pin_memory(),
}


@pytest.mark.parametrize("kind", HOSTS)
@pytest.mark.parametrize("given", [False, True], ids=["", "output_size"])
def test_counts_on_the_host_do_not_wait(kind, given, cuda):
    """Each call has counts that no call had before."""
    x = torch.randn(5, 3, device=cuda)
    for shift in range(4):
        counts = [*COUNTS[shift:], *COUNTS[:shift]]
        counts[0] += shift
        n, v = sum(counts), torch.randn(sum(counts), 3, device=cuda)
        on_host = HOSTS[kind](counts)
        f = lambda x, c=on_host, n=n: tenter.repeat_interleave(x, c, 0, output_size=n if given else None)
        with waits_are("error"):
            y, g = both_ways(f, x, v)
        there = torch.tensor(counts, device=cuda)
        for got, want in zip((y, g), both_ways(lambda x: x.repeat_interleave(there, 0), x, v)):
            same(got, want, 1e-5)


@pytest.mark.parametrize("kind", ["list", "tensor"])
def test_counts_on_the_host_do_not_wait_under_transforms(kind, cuda):
    counts = HOSTS[kind](COUNTS)
    x = torch.randn(5, 3, device=cuda)
    f = lambda x: tenter.repeat_interleave(x, counts, 0).square().sum()
    with waits_are("error"):
        g = torch.func.grad(f)(x)
    same(g, 2 * x * torch.tensor(COUNTS, device=cuda)[:, None], 1e-5)


@pytest.mark.parametrize("case", UNKNOWN, ids=by_name)
def test_counts_without_their_sum_wait_once(case: Case, cuda):
    s = on(case, cuda)
    v = s.cotangent()
    for _ in range(2):
        assert waits(lambda: both_ways(s.f, s.x, v)) == 1


def test_positions_wait_once_or_never(cuda):
    """repeat_interleave of one argument."""
    for dtype in (torch.int64, torch.int32):
        counts = torch.tensor(COUNTS, dtype=dtype, device=cuda)
        assert waits(lambda: tenter.repeat_interleave(counts)) == 1
        assert waits(lambda: tenter.repeat_interleave(counts, output_size=sum(COUNTS))) == 0
        assert torch.equal(tenter.repeat_interleave(counts), torch.repeat_interleave(counts))


@pytest.mark.parametrize("case", KNOWN, ids=by_name)
def test_calls_return_while_the_device_is_busy(case: Case, cuda):
    """Whatever PyTorch's mode does not know of: the call is back long before the device comes to it."""
    s = on(case, cuda)
    v = s.cotangent()
    for _ in range(3):
        both_ways(s.f, s.x, v)
    torch.cuda.synchronize()
    done = torch.cuda.Event()
    torch.cuda._sleep(SECOND)
    done.record()
    y, g = both_ways(s.f, s.x, v)
    assert not done.query(), "the call waited"
    for got, want in zip((y, g), both_ways(s.truth, s.x, v)):
        same(got, want)


def test_a_busy_device_is_waited_for_by_counts_without_their_sum(cuda):
    """That the test before this one finds what waits."""
    s = on(UNKNOWN[0], cuda)
    s.f(s.x)
    done = torch.cuda.Event()
    torch.cuda._sleep(LONG)
    done.record()
    s.f(s.x)
    assert done.query()


def test_there_are_calls():
    assert len(KNOWN) + len(UNKNOWN) == len(EVERY) >= 25 and len(UNKNOWN) == 3
