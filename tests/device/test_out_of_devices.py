"""`out=` on a device: the bits of a fresh result, in memory that the caller gives."""

from __future__ import annotations

import pytest
import torch

import tenter
from tenter._plans.plan import plan
from tenter._specs.repeat import Repeat
from tenter._torch import run

pytestmark = pytest.mark.gpu
CALLS = {
    "repeat": lambda x, **to: tenter.repeat(x, 2, 1, 3, **to),
    "counts": lambda x, **to: tenter.repeat_interleave(
        x, torch.tensor([1, 0, 3], device=x.device), 1, output_size=4, **to
    ),
    "interpolate": lambda x, **to: tenter.interpolate(x, 7, mode="linear", **to),
    "resize": lambda x, **to: tenter.resize(x, (5, 3), axes=(0, 2), mode="cubic", **to),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_a_fresh_result(name: str, on: str, device: str) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4).to(on)
    want = CALLS[name](x)
    whole = torch.full((3, *want.shape), 77.0, device=on)
    for out in (torch.empty_like(want), whole[1], torch.empty(want.shape[::-1], device=on).permute(2, 1, 0)):
        version = out._version
        assert CALLS[name](x, out=out) is out and torch.equal(out, want) and out._version > version
    assert bool((whole[::2] == 77).all())
    if on != "cpu":
        with pytest.raises(TypeError, match=r"out: expected one on cuda:\d, got one on cpu"):
            CALLS[name](x, out=want.cpu())


def test_an_out_that_begins_within_16_bytes_gets_a_copy(on: str, device: str) -> None:
    """Kernels write whole vectors to it."""
    x = torch.arange(256.0).reshape(4, 64).to(on)
    out = torch.empty(513, device=on)[1:].view(8, 64)
    planned = plan(x, Repeat((2, 1), True))
    assert planned.device is not None and not run.write(x, planned, out)
    assert tenter.repeat(x, 2, 1, out=out) is out and torch.equal(out.cpu(), x.cpu().repeat(2, 1))
