"""The side of a mask that is not said, where code is traced: it is found in the graph, or the mask is refused."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import ragged_cases as plain
from sweeps import sampled
from tenter import ragged
from tenter._torch import traced_segments

X = torch.arange(1.0, 13.0).reshape(6, 2)
LENGTHS = [[2, 3, 1], [3, 3, 0], [0, 3, 3], [1, 1, 4]]  # of the same sum, of which one mask has no padding within
WIDTH = 4
SIDES = ["left", "right"]


def masks(side):
    return [torch.tensor(plain.mask(lengths, WIDTH, side)).long() for lengths in LENGTHS]


def used(mask):
    """What follows from the side, wider than the mask too."""
    plan = ragged.Plan.from_mask(mask)
    padded = plan.pad(X, WIDTH + 2, value=-1)
    return plan.mask(WIDTH + 1), padded, plan.unpad(padded), plan.lengths


def compiled(function, example, **how):
    torch._dynamo.reset()
    return torch.compile(function, **how)


def exported(function, example):
    class Module(torch.nn.Module):
        def forward(self, mask):
            return function(mask)

    return torch.export.export(Module(), (example,)).module()


WAYS = {
    "compiled": lambda f, example: compiled(f, example, fullgraph=True, backend="eager"),
    "compiled with breaks": lambda f, example: compiled(broken(f), example, backend="eager"),
    "vmap": lambda f, example: lambda mask: each(torch.vmap(f)(mask[None])),
    "make_fx": lambda f, example: make_fx(f)(example),
    "compiled by AOT": lambda f, example: compiled(f, example, fullgraph=True, backend="aot_eager"),
    "compiled by Inductor": lambda f, example: compiled(f, example, fullgraph=True, backend="inductor"),
    "compiled for any lengths": lambda f, example: compiled(f, example, fullgraph=True, dynamic=True, backend="eager"),
    "compiled vmap": lambda f, example: compiled(
        lambda mask: each(torch.vmap(f)(mask[None])), example, fullgraph=True, backend="eager"
    ),
    "exported": exported,
    "jit.trace": lambda f, example: torch.jit.trace(f, (example,), check_trace=False),
}


def broken(function):
    def called(mask):
        torch._dynamo.graph_break()
        return function(mask)

    return called


def each(results):
    return tuple(r[0] for r in results)


@pytest.fixture(params=["verified", "unverified"])
def on(request, monkeypatch):
    """Where masks are verified by the host, or not, as on a device."""
    if request.param == "unverified":
        monkeypatch.setattr(traced_segments, "verifies", lambda values: False)
        monkeypatch.setattr(traced_segments, "verified", lambda name, values, *rest: values)
    return request.param


DAILY = sampled(WAYS, len(WAYS), always=lambda way: way in ("vmap", "make_fx"))


@pytest.mark.parametrize("way", DAILY)
def test_traced_code_has_the_side_of_each_mask_it_is_given(way, on):
    """One graph takes masks of both sides."""
    call = WAYS[way](used, masks("right")[0])
    for side in SIDES:
        for mask in masks(side):
            for got, want in zip(call(mask), used(mask)):
                assert got.dtype == want.dtype and torch.equal(got, want), (side, mask)


WRONG = [[[0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 1, 1]], [[0, 1, 0], [1, 1, 1]], [[0, 1, 2], [1, 1, 1]]]


@pytest.mark.parametrize("way", DAILY)
def test_traced_code_refuses_what_is_no_mask_of_one_side(way, on):
    def lengths(mask):
        return (ragged.Plan.from_mask(mask).mask(3),)

    call = WAYS[way](lengths, torch.tensor([[1, 1, 0], [1, 1, 1]]))
    for mask in WRONG:
        with pytest.raises((ValueError, RuntimeError), match=r"mask: expected (padding at|0 )"):
            call(torch.tensor(mask))


def test_vmap_pads_on_the_side_of_each_mask_it_maps_over():
    given = torch.stack([*masks("left"), *masks("right")])
    for got, want in zip(torch.vmap(used)(given), zip(*map(used, given))):
        assert torch.equal(got, torch.stack(want))


def test_a_plan_from_compiled_code_knows_its_side():
    torch._dynamo.reset()
    plans = torch.compile(lambda mask: ragged.Plan.from_mask(mask), backend="eager")
    for side in SIDES:
        mask = masks(side)[0]
        plan, want = plans(mask), ragged.Plan.from_mask(mask)
        assert plan.padding_side == want.padding_side == side
        room = torch.empty(3, WIDTH, 2)
        for pad in (plan.pad, lambda x, *rest, **named: ragged.pad(x, plan, *rest, **named)):
            assert torch.equal(pad(X, WIDTH), want.pad(X, WIDTH))
            assert torch.equal(pad(X, WIDTH, out=room), want.pad(X, WIDTH))
        assert plan.to("cpu").padding_side == side and plan.to("meta").offsets.is_meta
