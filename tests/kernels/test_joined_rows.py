"""Many short rows, which are summed several at a time (native/plan/joined_rows.hpp), in layouts of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
from tenter import _native


def test_unread_ends_of_narrow_rows_stay_where_a_slower_axis_is_summed_first() -> None:
    """Without the ends, its columns would not be adjacent in memory, and would be copied."""
    x = torch.from_numpy(np.random.default_rng(0).random((2, 1, 47, 37, 13), np.float32))
    explained = tenter.explain(tenter.interpolate, x, scale_factor=0.29, mode="trilinear")
    assert [k.split(",")[0] for k in explained.kernels[:3]] == ["window"] * 3
    found = tenter.interpolate(x, scale_factor=0.29, mode="trilinear")
    torch.testing.assert_close(found, torch.nn.functional.interpolate(x, scale_factor=0.29, mode="trilinear"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("shape", [(3, 150, 40), (1, 90, 17), (70, 33, 8), (300, 2, 2), (2, 9, 512)])
@pytest.mark.parametrize("factor", [0.3, 0.8, 1.6])
@pytest.mark.parametrize("chunk_bytes", [_native.tuning.chunk_bytes, 5000])
def test_signals_with_channels_last_in_memory_have_the_bits_of_contiguous_ones(
    shape, dtype, factor, chunk_bytes, level, monkeypatch
):
    """(batch, time, channels).transpose(1, 2), as models of speech have them."""
    monkeypatch.setattr(_native.tuning, "chunk_bytes", chunk_bytes)
    rng = np.random.default_rng(3)
    x = torch.from_numpy(rng.standard_normal(shape)).to(getattr(torch, dtype)).transpose(1, 2)
    for mode in ("linear", "area"):
        size = max(1, int(factor * shape[1]))
        last, first = x.detach().requires_grad_(), x.detach().contiguous().requires_grad_()
        ours, wanted = (tenter.interpolate(one, size=size, mode=mode) for one in (last, first))
        assert torch.equal(ours, wanted) and ours.stride() == wanted.stride()
        g = torch.from_numpy(rng.standard_normal((shape[0], size, shape[2]))).to(x.dtype).transpose(1, 2)
        (want,) = torch.autograd.grad(wanted, first, g.contiguous())
        for given in (g, g.contiguous()):
            (found,) = torch.autograd.grad(ours, last, given, retain_graph=True)
            assert torch.equal(found, want)


@pytest.mark.parametrize("shape", [(4, 40), (31, 3), (32, 2), (2000, 7), (1, 64), (3, 5000)])
def test_contiguous_rows_are_not_copied_first(shape) -> None:
    x = torch.zeros(1, *shape)
    assert tenter.explain(tenter.interpolate, x, size=9, mode="linear").kernels[0].startswith("window")


def test_strided_rows_are_copied_first_where_more_are_joined() -> None:
    x = torch.zeros(8000, 4, 4)[:, 1:3, 1:3]
    kernels = tenter.explain(tenter.interpolate, x, size=99, mode="linear").kernels
    assert kernels[0].startswith("copy") and kernels[1].startswith("window")
