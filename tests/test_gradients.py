"""Gradients of eager calls, whoever asks for them: batches, conj bits, modes, forward over reverse, compiled autograd."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad
from torch.utils.flop_counter import FlopCounterMode

import tenter

COUNTS = torch.tensor([1, 0, 2, 1])
CASES = {
    "repeat": (lambda x: tenter.repeat(x, 2, 3), lambda x: x.repeat(2, 3)),
    "tile": (lambda x: tenter.tile(x, (2,)), lambda x: torch.tile(x, (2,))),
    "one count": (lambda x: tenter.repeat_interleave(x, 3, 1), lambda x: x.repeat_interleave(3, 1)),
    "flat": (lambda x: tenter.repeat_interleave(x, 3), lambda x: x.repeat_interleave(3)),
    "counts": (lambda x: tenter.repeat_interleave(x, COUNTS, 0), lambda x: x.repeat_interleave(COUNTS, 0)),
    "many counts": (
        lambda x: tenter.repeat_interleave(x, COUNTS.tolist(), 0),
        lambda x: x.repeat_interleave(COUNTS, 0),
    ),
    "linear": (
        lambda x: tenter.interpolate(x[None], 7, mode="linear"),
        lambda x: F.interpolate(x[None], 7, mode="linear"),
    ),
    "nearest": (lambda x: tenter.interpolate(x[None], 7), lambda x: F.interpolate(x[None], 7)),
}
cases = pytest.mark.parametrize("name", CASES)


def twice(f, dtype=torch.float64, around=None, end=lambda g: g.sum()):
    """Second derivatives, the second backward under a context."""
    torch.manual_seed(0)
    x = torch.randn(4, 3, dtype=dtype, requires_grad=True)
    y = f(x)
    loss = (y * y * y).sum()
    (g,) = torch.autograd.grad(loss.real if dtype.is_complex else loss, x, create_graph=True)
    with around or torch.enable_grad():
        return torch.autograd.grad(end(g), x)[0]


@cases
def test_batched(name):
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(CASES[name][0], (x,), check_batched_grad=True, check_fwd_over_rev=True)
    hessians = [
        torch.autograd.functional.hessian(lambda x, f=f: (f(x) ** 3).sum(), x.detach(), vectorize=True)
        for f in CASES[name]
    ]
    torch.testing.assert_close(*hessians)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("linear", "nearest")])  # which PyTorch refuses
def test_conj_bits(name):
    got, want = (twice(f, torch.complex128, end=lambda g: g.conj().abs().sum()) for f in CASES[name])
    torch.testing.assert_close(got, want)


@cases
def test_under_modes(name):
    ours, theirs = CASES[name]
    torch.testing.assert_close(twice(ours, around=FlopCounterMode(display=False)), twice(theirs))


@cases
def test_forward_over_reverse(name):
    def tangent(f):
        torch.manual_seed(0)
        x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        y = f(x)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(torch.ones_like(y), torch.randn_like(y))
            return forward_ad.unpack_dual(torch.autograd.grad(y, x, dual)[0]).tangent

    torch.testing.assert_close(*[tangent(f) for f in CASES[name]])


@cases
def test_compiled_autograd(name):
    """A backward that is compiled, for several calls of other shapes each."""
    import torch._dynamo.compiled_autograd as compiled_autograd

    torch._dynamo.reset()
    for rows in (4, 4, 8):
        grads = []
        for f, compiled in ((CASES[name][0], True), (CASES[name][1], False)):
            torch.manual_seed(rows)
            x = torch.randn(4, rows, dtype=torch.float64, requires_grad=True)
            loss = f(x).sin().sum()
            if compiled:
                with compiled_autograd._enable(torch.compile(backend="eager")):
                    loss.backward()
            else:
                loss.backward()
            grads.append(x.grad)
        torch.testing.assert_close(*grads)


def test_maps_by_themselves():
    x = torch.rand(3, dtype=torch.complex128, requires_grad=True)
    tenter.maps.Copy.counts([1, 3, 2]).apply(x, axis=0).conj().abs().sum().backward()
    want = torch.autograd.grad(x.repeat_interleave(torch.tensor([1, 3, 2])).conj().abs().sum(), x)[0]
    torch.testing.assert_close(x.grad, want)


def test_counts_changed_before_backward():
    for n in (4, 30_000):
        counts = torch.arange(n) % 3
        x = torch.rand(n, requires_grad=True)
        y = tenter.repeat_interleave(x, counts, 0)
        want = counts.float().clone()
        counts.fill_(7)
        y.sum().backward()
        assert torch.equal(x.grad, want)
