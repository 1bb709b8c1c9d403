"""CUDA tensors under PyTorch's compiler and transforms: one graph, PyTorch's results, CUDA graphs of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from cuda_helpers import (
    EVERY,
    INTERPRETED,
    KNOWN,
    RESIZES,
    UNKNOWN,
    both_ways,
    by_name,
    on,
    some,
    waits,
    waits_are,
)
from torch.autograd import gradcheck, gradgradcheck

import tenter
import tenter.torch
import transforms
from torch_cases import CASES, COUNTS, Case, same

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed", "fresh_compiler")]
pytestmark += [pytest.mark.slow] * INTERPRETED  # the compiler takes longer than the kernels
# Those that every case goes through; the others a few, as what they test is above the device.
ALWAYS = (
    "backward", "double backward", "forward mode", "grad", "jvp", "vmap", "vmap over counts", "compile",
    "compile dynamic backward", "export", "autocast", "checkpoint", "wrong output_size",
)  # fmt: skip
SOME = ("counts", "counts total", "list", "tile", "nearest", "bilinear")
FEW = ("counts", "counts total", "bilinear")
if INTERPRETED:
    CHECKS = [(name, case) for name, case in transforms.CHECKS if name in ALWAYS[:9] and case.name in FEW[1:]]
else:
    CHECKS = [(name, case) for name, case in transforms.CHECKS if name in ALWAYS or case.name in SOME]


@pytest.mark.parametrize("check", some(CHECKS, 14, lambda check: f"{check[0]}-{check[1].name}"))
def test_transforms(check: tuple[str, Case], device):
    """Wrong output sizes are found when the device comes to them, which compiled code does not wait for."""
    name, case = check
    case = case._replace(device=device)
    if name == "wrong output_size":
        surfaces(case)
    elif (name, case.name) not in transforms.EXCEPTIONS:
        transforms.run(name, case, case.ours)


def surfaces(case: Case) -> None:
    s = on(case, case.device)
    counts = case.tensor(case.counts)
    f = torch.compile(lambda x, c, n: s.by_counts(x, c, n).sin(), backend="aot_eager", fullgraph=True)
    for n in (sum(case.counts) - 1, sum(case.counts) + 2):
        with pytest.raises(ValueError, match=f"output_size: expected {sum(case.counts)}"):
            f(s.x, counts, n)
            tenter.torch.synchronize()


@pytest.mark.parametrize("case", EVERY, ids=by_name)
def test_inductor(case: Case, cuda):
    """One graph of the call among others, sizes that change, and its gradient."""
    s = on(case, cuda)
    compiled = torch.compile(lambda x: s.f(x.sin()).cos(), fullgraph=True, dynamic=True)
    for x in (s.x, s.other):
        want = s.truth(x.sin()).cos()
        v = s.randn(*want.shape)
        got = both_ways(compiled, x, v)
        for ours, theirs in zip(got, both_ways(lambda x: s.truth(x.sin()).cos(), x, v)):
            same(ours, theirs)


@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_reduce_overhead(case: Case, cuda):
    """The compiler captures what it can in CUDA graphs: first calls warm up, the second is recorded, others replay."""
    s = on(case, cuda)
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: s.f(x.sin()).cos(), fullgraph=True, mode="reduce-overhead")
    v = s.cotangent()
    for k in range(5):
        torch.compiler.cudagraph_mark_step_begin()
        x = s.x * (k + 1)
        leaf = x.clone().requires_grad_()
        y = compiled(leaf)
        y_now = y.detach().clone()
        (g,) = torch.autograd.grad(y, leaf, v)
        g = g.clone()
        for got, want in zip((y_now, g), both_ways(lambda x: s.truth(x.sin()).cos(), x, v)):
            same(got, want)


def test_reduce_overhead_with_counts_that_change(cuda):
    n = sum(COUNTS)
    f = lambda x, c: tenter.repeat_interleave(x.sin(), c, 0, output_size=n).cos()
    compiled = torch.compile(f, fullgraph=True, mode="reduce-overhead")
    for k in range(6):
        torch.compiler.cudagraph_mark_step_begin()
        x, counts = torch.randn(5, 3, device=cuda), torch.tensor(COUNTS, device=cuda).roll(k)
        with torch.no_grad():
            got = compiled(x, counts).clone()
        same(got, x.sin().repeat_interleave(counts, 0).cos(), 1e-5)
    counts[0] += 1
    torch.compiler.cudagraph_mark_step_begin()
    with pytest.raises(ValueError, match=f"expected {n + 1}, the sum of the counts"), torch.no_grad():
        compiled(x, counts)
        tenter.torch.synchronize()


def warm(case: Case, cuda: str) -> Callable[[], Any]:
    """A compiled call and its gradient, made twice before."""
    s = on(case, cuda)
    compiled = torch.compile(lambda x: s.f(x.sin()), fullgraph=True, dynamic=False, backend="aot_eager")
    v = s.cotangent()
    call = lambda: both_ways(compiled, s.x, v)
    for _ in range(2):
        call()
    return call


@pytest.mark.parametrize("case", KNOWN, ids=by_name)
def test_compiled_calls_do_not_wait(case: Case, cuda):
    call = warm(case, cuda)
    with waits_are("error"):
        call()


@pytest.mark.parametrize("case", UNKNOWN, ids=by_name)
def test_compiled_counts_without_their_sum_wait_once(case: Case, cuda):
    assert waits(warm(case, cuda)) == 1


@pytest.mark.slow
def test_an_exported_program_runs_there(device):
    class Stretch(torch.nn.Module):
        def forward(self, x, counts):
            return tenter.interpolate(tenter.repeat_interleave(x, counts, 2), 9, mode="linear")

    x, counts = torch.randn(2, 2, 4, device=device), torch.tensor([1, 2, 0, 3], device=device)
    batch = {0: torch.export.Dim("batch")}
    program = torch.export.export(Stretch(), (x, counts), dynamic_shapes=(batch, None)).module()
    for now in (counts, counts.flip(0) * 2):
        y = program(torch.cat([x, x]), now)
        assert y.shape == (4, 2, 9) and torch.equal(y, Stretch()(torch.cat([x, x]), now))
    with pytest.raises(ValueError, match="non-negative"):
        program(x, -counts)
        tenter.torch.synchronize()


GRADCHECKED = [case for case in (*CASES, *RESIZES) if not INTERPRETED or case.name in FEW[1:]]


@pytest.mark.parametrize("case", some(GRADCHECKED, 4, by_name))
def test_gradcheck(case: Case, device):
    """Of both orders and both modes; the same bits at each call, which gradcheck asks for with a tolerance of 0."""
    s = on(case, device)
    x = s.x.requires_grad_()
    assert gradcheck(s.f, (x,), fast_mode=True, check_forward_ad=True, nondet_tol=0.0)
    assert gradgradcheck(lambda x: s.f(x).square(), (x,), fast_mode=True, nondet_tol=0.0)


HALVES = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("given", [*HALVES, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_autocast(case: Case, given, cuda):
    """PyTorch's CUDA autocast computes some resizing in float32, and gives that; under either of its dtypes."""
    s = on(case, cuda)
    x = s.x.to(given)
    for dtype in HALVES:
        with torch.autocast("cuda", dtype=dtype):
            got, want = s.f(x), s.truth(x)
            inside = torch.compile(s.f, backend="aot_eager", fullgraph=True)(x) if case.name in SOME else got
        assert got.dtype == want.dtype == inside.dtype, f"{got.dtype}, {inside.dtype} of {given}, not {want.dtype}"
        torch.testing.assert_close(got, want, rtol=1e-2, atol=1e-2)
        leaf = x.clone().requires_grad_()
        with torch.autocast("cuda", dtype=dtype):
            y = s.f(leaf)
        (g,) = torch.autograd.grad(y, leaf, torch.ones_like(y))
        assert g.dtype == given
    assert s.f(x).dtype == given  # and nothing of it stays


def on_cpu_or_meta(f: Callable[[Any], Any], x: torch.Tensor) -> tuple[int, ...]:
    return tuple(f(x.to("meta")).shape)


@pytest.mark.parametrize("case", [case for case in CASES if case.counts is None and case.name != "list"], ids=by_name)
def test_fake_and_meta_tensors_of_the_device(case: Case, device):
    """What is told of results while tracing is what they are: shape, dtype, strides and device."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    s = on(case, device)
    want = s.f(s.x)
    with FakeTensorMode() as mode:
        fake = s.f(mode.from_tensor(s.x))
    assert (fake.shape, fake.dtype, fake.stride(), fake.device) == (want.shape, want.dtype, want.stride(), want.device)
    assert on_cpu_or_meta(s.f, s.x) == tuple(want.shape)
