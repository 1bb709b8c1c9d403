"""Calls captured in a CUDA graph, forward and back, do their work anew at each replay."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from cuda_helpers import KNOWN, both_ways, by_name, in_process, on

import tenter
import tenter.torch
from tenter._plans import cache
from tenter._specs import axis_maps
from torch_cases import Case, same

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]


def capture(f: Callable[[], Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
    """As PyTorch's notes have it: first calls on a stream beside, then the capture."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            f()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        results = f()
    return graph, results


# Counts on the host are tables of one call: no capture can have them, see below.
CAPTURED = [case for case in KNOWN if case.name != "list"]


@pytest.mark.parametrize("case", CAPTURED, ids=by_name)
def test_replays_see_changed_inputs(case: Case, cuda):
    s = on(case, cuda)
    x, v = s.x.clone().requires_grad_(), s.cotangent()

    def step():
        y = s.f(x)
        return y, torch.autograd.grad(y, x, v)[0]

    graph, (y, g) = capture(step)
    for change in (torch.cos, torch.exp, torch.neg):
        with torch.no_grad():
            x.copy_(change(x))
            v.copy_(change(v))
        for result in (g,) if case.row == "expand" else (y.detach(), g):  # the former is a view of x
            result.fill_(7)
        graph.replay()
        for got, want in zip((y, g), both_ways(s.truth, x, v)):
            same(got, want)


@pytest.mark.parametrize("dim", [0, 1, None], ids=str)
@pytest.mark.parametrize("n", [6, 9000], ids=["few", "many"])
def test_replays_see_changed_counts(dim, n, cuda):
    """Counts of the same sum: few are one kernel's, many take sums of blocks first."""
    shape = (n, 3) if dim == 0 else (3, n) if dim == 1 else (n,)
    generator = torch.Generator().manual_seed(0)
    first = torch.randint(0, 4, (n,), generator=generator)
    counts, x = first.to(cuda), torch.randn(shape, device=cuda, requires_grad=True)
    total = int(first.sum())
    out = [total if d == (dim or 0) else k for d, k in enumerate(shape)]
    v = torch.randn(out, device=cuda)

    def step():
        y = tenter.repeat_interleave(x, counts, dim, output_size=total)
        return y, torch.autograd.grad(y, x, v)[0]

    graph, (y, g) = capture(step)
    lumped = torch.zeros_like(first)
    lumped[n // 2] = total
    for now in (first.flip(0), first[torch.randperm(n, generator=generator)], lumped, first):
        counts.copy_(now)
        graph.replay()
        for got, want in zip((y, g), both_ways(lambda x: x.repeat_interleave(counts, dim, output_size=total), x, v)):
            same(got, want, 1e-3 if now is lumped else 1e-5)  # one sum of all, in float32
    tenter.torch.synchronize()


def test_wrong_counts_in_a_replay_surface(cuda):
    counts, x = torch.tensor([1, 2, 0, 3], device=cuda), torch.randn(4, 3, device=cuda)
    graph, y = capture(lambda: tenter.repeat_interleave(x, counts, 0, output_size=6))
    for now, says in (([1, 1, 0, 3], "expected 5"), ([1, -1, 3, 3], "position 1"), ([9, 9, 9, 9], "expected 36")):
        counts.copy_(torch.tensor(now))
        graph.replay()
        with pytest.raises(ValueError, match=says):
            tenter.torch.synchronize()
    counts.copy_(torch.tensor([0, 0, 6, 0]))
    graph.replay()
    tenter.torch.synchronize()
    assert torch.equal(y, x[2].expand(6, 3))


def test_graphed_callables(cuda):
    """PyTorch's own way to graph a part of a training step, with its backward."""

    class Part(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(()))

        def forward(self, x):
            return tenter.interpolate(x * self.weight, (9, 11), mode="bicubic").sin()

    part, whole = Part().to(cuda), Part().to(cuda)
    graphed = torch.cuda.make_graphed_callables(part, (torch.randn(2, 3, 5, 6, device=cuda, requires_grad=True),))
    for _ in range(3):
        part.zero_grad(), whole.zero_grad()
        x = torch.randn(2, 3, 5, 6, device=cuda, requires_grad=True)
        z = x.detach().clone().requires_grad_()
        y, want = graphed(x), whole(z)
        same(y, want, 1e-6)
        y.square().sum().backward()
        want.square().sum().backward()
        same(x.grad, z.grad, 1e-5)
        torch.testing.assert_close(part.weight.grad, whole.weight.grad, rtol=1e-4, atol=1e-4)


def test_several_graphs_of_one_call(cuda):
    """Tables are shared; results are not."""
    xs = [torch.randn(1, 2, 6, 7, device=cuda) for _ in range(3)]
    f = lambda x: tenter.interpolate(x, (13, 5), mode="bilinear", antialias=True)
    made = [capture(lambda x=x: f(x)) for x in xs]
    for x in xs:
        x.neg_()
    for graph, _ in made:
        graph.replay()
    for x, (_, y) in zip(xs, made):
        assert torch.equal(y, f(x))


def test_graphs_outlive_what_is_remembered_of_their_calls(cuda):
    """Plans and maps are forgotten some day; the tables that a graph reads are not."""
    x = torch.randn(1, 2, 33, 34, device=cuda)
    f = lambda: tenter.interpolate(x, (57, 41), mode="bicubic", antialias=True)
    want = f()
    graph, y = capture(f)
    cache.plans.clear()
    axis_maps.cached_axis_map.cache_clear()
    gc.collect()
    torch.cuda.synchronize()
    poison = [
        torch.full((n,), -1, dtype=torch.int32, device=cuda) for n in (16, 64, 128, 512, 1024) for _ in range(200)
    ]
    y.zero_()
    graph.replay()
    assert torch.equal(y, want) and len(poison) == 1000


@pytest.mark.parametrize(
    "function, kept",
    [
        ("tenter.interpolate(x, (13, 5), mode='bilinear')", True),
        ("tenter.interpolate(x, (13, 5), mode='nearest')", True),
        ("tenter.repeat_interleave(x, [1, 2], 1)", False),  # counts on the host are tables of one call
    ],
)
def test_a_first_call_in_a_capture_is_refused(function, kept, cuda):
    """A process of its own, whose first call it is; all it does afterwards goes well."""
    done = in_process("first_capture.py", [function, str(kept)])
    assert done.returncode == 0, done.stderr[-2000:]
    says, works = done.stdout.splitlines()
    assert "capture" in says and says.startswith("x: expected") and works == "0.0"
