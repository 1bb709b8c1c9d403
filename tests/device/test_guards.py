"""Whatever counts on a device say, nothing is read or written outside what a call was given."""

from __future__ import annotations

import shutil

import pytest
import torch
from cuda_helpers import in_process, settle, some
from test_deferred import call, expected

from tenter._plans import plan as plans
from tenter._specs.repeat import RepeatCounts

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]

ZONE = 1 << 12
OFFSETS = {
    "descending": [9, 6, 3, 2, 0],
    "negative": [0, -5, 2, -(2**62), 6],
    "huge": [0, 2**40, 2**62, 2**63 - 1, 2**63 - 1],
    "none": [0, 0, 0, 0, 0],
    "from past the end": [100, 200, 300, 400, 500],
    "wrapped": [0, 2**62, -(2**63), -(2**62), 0],
}


INSIDE = [(k % 3 == j, name, inner) for k, name in enumerate(OFFSETS) for j, inner in enumerate((1, 3, 40))]


@pytest.mark.parametrize("case", some(INSIDE, 1, lambda c: f"{c[2]}-{c[1]}", lambda c: c[1] == "wrapped"))
def test_any_offsets_stay_in_bounds(case, device):
    """Running totals of no counts at all, which a graph's author may pass: inputs are views in the middle of NaN,
    results of a pattern."""
    _, name, inner = case
    offsets = torch.tensor(OFFSETS[name], device=device)
    for n_in, n_out, adjoint in ((4, 6, False), (6, 4, True)):
        room = torch.full((2 * ZONE + n_in * inner,), float("nan"), device=device)
        x = room[ZONE:-ZONE].view(n_in, inner).copy_(torch.randn(n_in, inner))
        held = torch.full((2 * ZONE + n_out * inner,), 7.0, device=device)
        does = RepeatCounts(offsets, 0, n_in if adjoint else n_out)
        planned = plans.plan(x, does)
        if adjoint:
            planned = plans.adjoint(plans.plan(x.new_empty(n_out, inner), does), x)
        y = held[ZONE:-ZONE].view(n_out, inner)
        planned.steps.run(x, y, offsets)
        assert (held[:ZONE] == 7).all() and (held[-ZONE:] == 7).all()
        assert y.isfinite().all(), "read past its input"
        if not adjoint:
            assert all((row == 0).all() or (row == x).all(1).any() for row in y)


def test_counts_that_are_views(device):
    """A stride, an offset: what lies between is no count."""
    room = torch.full((64,), -(2**40), dtype=torch.int64, device=device)
    counts = room[10:26:4].copy_(torch.tensor([1, 2, 0, 3]))
    x = torch.randn(4, 3, device=device)
    assert torch.equal(call(x, counts, 6), expected(x, [1, 2, 0, 3], 6)) and settle() == []


def test_under_compute_sanitizer(cuda):
    program = shutil.which("compute-sanitizer")
    if program is None:
        pytest.skip("no compute-sanitizer")
    # Without PyTorch's cache each tensor is an allocation of its own, past whose end is an error.
    before = [program, "--tool", "memcheck", "--error-exitcode", "99"]
    done = in_process("wrong_counts_on_a_device.py", before=before, PYTORCH_NO_CUDA_MEMORY_CACHING="1")
    assert done.returncode == 0 and "done" in done.stdout, (done.stdout + done.stderr)[-2000:]
