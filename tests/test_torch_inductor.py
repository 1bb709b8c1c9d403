"""The operators in Inductor's code: which are expressions there, and that these are what the kernels compute."""

from __future__ import annotations

import pytest
import torch
from torch._inductor.utils import run_and_get_code

from daily import daily
from torch_cases import CASES, subject

pytestmark = pytest.mark.usefixtures("fresh_compiler", "fresh_code")
# What reads too much for an expression, or counts.
KERNELS = {"area": 0}


@pytest.fixture
def fresh_code():
    """Code that this version of tenter makes, and not what an earlier one has left on disk."""
    with torch._inductor.config.patch(force_disable_caches=True):
        yield


def compiled(f, x, g=None, **options):
    """Result, gradient and Inductor's code for both; f has neighbors that expressions are fused with."""
    x = x.detach().requires_grad_()
    graph = torch.compile(lambda x: f(x * 2), fullgraph=True, **options)

    def both():
        y = graph(x)
        return y.detach(), torch.autograd.grad(y, x, torch.ones_like(y) if g is None else g)[0]

    (y, gradient), code = run_and_get_code(both)
    return y, gradient, "\n".join(code)


def operators(code):
    return sorted(
        line.split("torch.ops.tenter.")[1].split(".")[0] for line in code.splitlines() if " = torch.ops.tenter." in line
    )


@pytest.mark.parametrize("case", daily(CASES, 8, ids=lambda case: case.name))
def test_compiled_equals_eager(case):
    """Copies bit for bit; sums to a few units in the last place, as kernels may sum the axes in another order."""
    s = subject(case, case.ours)
    want = s.f(s.x.requires_grad_() * 2)
    g = s.randn(*want.shape)
    y, gradient, code = compiled(s.f, s.x, g, dynamic=False)
    print(
        case.name,
        operators(code),
        (y - want).abs().max().item(),
        (gradient - torch.autograd.grad(want, s.x, g)[0]).abs().max().item(),
    )
    assert y.stride() == want.stride()
