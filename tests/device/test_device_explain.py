"""`explain` of tensors on a device: the kernels of their plans."""

from __future__ import annotations

import pytest
import torch

import tenter

pytestmark = pytest.mark.gpu


def test_kernels_are_those_of_the_plan(on: str) -> None:
    x = torch.arange(12.0).reshape(3, 4).to(on)
    e = tenter.explain(tenter.repeat_interleave, x, torch.tensor([1, 0, 2]).to(on), 0)
    assert e.shape_out == (3, 4) and e.kernels[0].startswith("copy, compiled by Triton for ")
    assert [line.partition(",")[0] for line in tenter.explain(tenter.tile, x, 2).kernels] == ["copy"]
    e = tenter.explain(tenter.resize, x, (6, 7))
    assert all("window" in line for line in e.kernels) and "dim 1: 4 → 7" in e.text() and e.svg()
    assert "0 │  1 │" in e.text()  # the values, read on the host
