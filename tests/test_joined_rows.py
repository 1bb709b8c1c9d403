"""Many short rows are summed several at a time (native/plan/joined_rows.hpp), with the bits of a few rows alone."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
from maps_of import planned, resample
from tenter import _native
from tenter.maps import Copy

FEW = 63  # rows that are never joined
RNG = np.random.default_rng(20)


def windows(n_in, n_out):
    """Weighted sums, growing and shrinking, with rows of equal and of different lengths; and sums of copies."""
    yield resample("linear", n_in, n_out)
    yield resample("linear", n_in, n_out, antialias=True)
    yield resample("cubic", n_out, n_in).T
    yield resample("area", n_in, n_out)
    yield Copy.repeats(RNG.multinomial(n_in, np.full(n_out, 1 / n_out))).T


def layouts(x):
    """The rows of x (batch, rows, columns, inner), evenly spaced or not, next to each other or not."""
    yield "contiguous", x
    padded = np.zeros((*x.shape[:2], x.shape[2] + 3, x.shape[3]), x.dtype)
    padded[:, :, 1:-2] = x
    yield "cropped columns", padded[:, :, 1:-2]
    padded = np.zeros((x.shape[0], x.shape[1] + 2, *x.shape[2:]), x.dtype)
    padded[:, 1:-1] = x
    yield "cropped rows", padded[:, 1:-1]
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 3, x.shape[3]), x.dtype)
    padded[:, 1:-1, 1:-2] = x
    yield "cropped rows and columns", padded[:, 1:-1, 1:-2]
    yield "columns far apart", np.ascontiguousarray(x.transpose(2, 0, 1, 3)).transpose(1, 2, 0, 3)
    yield "reversed rows", x[:, ::-1].copy()[:, ::-1]
    wide = np.repeat(x, 2, 2)
    yield "every other column", wide[:, :, ::2]
    odd = np.zeros((*x.shape[:2], x.shape[2] * x.shape[3] + 1), x.dtype)
    odd[:, :, :-1] = x.reshape(*x.shape[:2], -1)
    yield "rows not whole columns apart", odd[:, :, :-1].reshape(x.shape, copy=None)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "complex64"])
@pytest.mark.parametrize("batch, rows", [(1, 64), (1, 331), (9, 37), (70, 2)])
def test_many_short_rows_have_the_bits_of_few(batch, rows, dtype, level):
    for n_in, n_out, inner in [
        (5, 9, 1),
        (13, 4, 1),
        (1, 3, 1),
        (3, 1, 2),
        (40, 27, 1),
        (6, 11, 3),
        (9, 7, 6),
        (4, 5, 17),
    ]:
        x = RNG.normal(50, 20, (batch, rows, n_in, inner)).astype(dtype)
        if x.dtype.kind in "fc":
            x.reshape(-1)[:: 7 * x.size // 16 + 1] = np.inf
        for name, laid_out in layouts(x):
            for m in windows(n_in, n_out):
                with np.errstate(all="ignore"):
                    got = planned(laid_out, ((2, m),)).run(laid_out)
                    for b in range(0, batch, max(1, FEW // rows)):
                        for r in range(0, rows, FEW):
                            some = x[b : b + max(1, FEW // rows), r : r + FEW].copy()
                            want = planned(some, ((2, m),)).run(some)
                            part = got[b : b + max(1, FEW // rows), r : r + FEW]
                            assert part.tobytes() == want.tobytes(), (name, m, inner, b, r)


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
