"""Layouts: strided, transposed, expanded and channels-last tensors, and how results lie; as PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tenter
from sweeps import sampled
from tenter.maps import Copy


@pytest.mark.parametrize("part", sampled(range(4), 4))
def test_nearest_of_a_transposed_signal(part):
    for n_in in range(2 + part, 200, 4):
        x = torch.arange(n_in, dtype=torch.float32)[None, :, None].repeat(1, 1, 5).transpose(1, 2)
        for n_out in range(3, 260, 7):
            for mode in ("nearest", "nearest-exact"):
                assert torch.equal(tenter.interpolate(x, n_out, mode=mode), F.interpolate(x, n_out, mode=mode))


def test_copies_of_channels_last_are_contiguous():
    x = torch.rand(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    for y in (
        tenter.repeat(x, 1, 2, 1, 1),
        tenter.tile(x, 2),
        tenter.repeat_interleave(x, 2, 2),
        Copy.repeat_each(5, 2).apply(x, 3),
    ):
        assert y.is_contiguous()


def odd_layouts():
    """Tensors that look like channels-last ones, or are some with dims of length 1, or of expanded and cut memory."""
    cl = torch.channels_last
    return [
        torch.rand(2, 1, 4, 5).contiguous(memory_format=cl),
        torch.rand(2, 4, 5, 3).permute(0, 3, 2, 1),
        torch.rand(3, 1, 1, 3).permute(0, 3, 1, 2).expand(3, 3, 4, 5),
        torch.rand(1, 3, 1, 1).expand(2, 3, 4, 5),
        torch.rand(2, 1, 5, 3).expand(2, 4, 5, 3),
        torch.rand(2, 1, 5, 3).expand(2, 4, 5, 3).permute(0, 3, 1, 2),
        torch.rand(2, 8, 9, 6).contiguous(memory_format=cl)[:, :3, ::2, 1:5],
        torch.rand(2, 3, 1, 1).contiguous(memory_format=cl),
        torch.rand(2, 4, 1, 5).contiguous(memory_format=cl),
        torch.rand(2, 4, 5, 1).contiguous(memory_format=cl),
    ]


@pytest.mark.parametrize("size", [(6, 7), (99, 77)])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear"])
def test_values_and_strides_of_odd_layouts_are_pytorchs(mode, size):
    for x in odd_layouts():
        got, want = tenter.interpolate(x, size, mode=mode), F.interpolate(x, size, mode=mode)
        assert torch.equal(got, want) if mode != "bilinear" else torch.allclose(got, want, atol=1e-6)
        assert got.stride() == want.stride(), (x.shape, x.stride())


@pytest.mark.parametrize("part", sampled(range(4), 4))
def test_strides_of_dims_of_length_one_mean_nothing(part):
    for h in range(20 + part, 60, 4):
        x = torch.rand(3, 4, h, h + 5).contiguous(memory_format=torch.channels_last)[::2][:1]
        for n in range(70, 110):
            for mode in ("nearest", "nearest-exact"):
                assert torch.equal(
                    tenter.interpolate(x, (n, n + 1), mode=mode), F.interpolate(x, (n, n + 1), mode=mode)
                )


def test_channels_last_stays_channels_last():
    for dtype in (torch.float32, torch.uint8, torch.float16):
        for channels in (2, 3, 4, 20, 64):
            x = (torch.rand(2, channels, 9, 14) * 255).to(dtype).contiguous(memory_format=torch.channels_last)
            for mode in ("nearest", "bilinear", "area"):
                y = tenter.interpolate(x, (13, 6), mode=mode)
                assert y.is_contiguous(memory_format=torch.channels_last)
                assert torch.equal(y, tenter.interpolate(x.contiguous(), (13, 6), mode=mode))
    assert tenter.interpolate(torch.rand(2, 3, 9, 14), (3, 4)).is_contiguous()
    hwc = np.random.default_rng(0).random((9, 14, 3), np.float32)
    y = tenter.interpolate(hwc.transpose(2, 0, 1)[None], (5, 4), mode="bilinear", antialias=True)
    assert y[0].transpose(1, 2, 0).flags.c_contiguous


def test_results_lie_as_pytorchs():
    """Code goes on to view them. Strides in every permutation and cut; area is in docs/differences.md."""
    rng, checked = np.random.default_rng(0), 0
    for _ in range(1500):
        rank = int(rng.integers(1, 4))
        shape = rng.choice([1, 1, 2, 3, 5], rank + 2).tolist()
        order = rng.permutation(rank + 2).tolist()
        x = torch.randn([shape[d] + int(rng.integers(0, 2)) for d in order]).permute(np.argsort(order).tolist())
        x = x[tuple(slice(0, n) for n in shape)]
        if rng.random() < 0.3:  # images made of tokens
            x = torch.randn(shape[0], int(np.prod(shape[2:])), shape[1]).transpose(1, 2).reshape(shape)
        size = rng.choice([1, 2, 4, 7], rank).tolist()
        for mode in ("nearest", "nearest-exact", *[["linear"], ["bilinear", "bicubic"], ["trilinear"]][rank - 1]):
            assert tenter.interpolate(x, size, mode=mode).stride() == F.interpolate(x, size, mode=mode).stride(), (
                x.shape,
                x.stride(),
                size,
            )
            checked += 1
    assert checked > 4000


def test_every_torch_layout():
    base = torch.randn(6, 5, 8, 9)
    for x in (
        base[::2],
        base[:, :, 1:7, 2:8],
        base.flip(3),
        base.transpose(2, 3),
        base.permute(3, 1, 0, 2),
        base[:, :1].expand(6, 3, 8, 9),
        torch.randn(6, 5, 8, 9, dtype=torch.complex64).conj(),
        torch.randn(6, 5, 8, 9, dtype=torch.complex64).conj().imag,
    ):
        y = x.clone(memory_format=torch.contiguous_format).resolve_conj().resolve_neg()
        for f in (
            lambda t: tenter.repeat_interleave(t, 3, 2),
            lambda t: tenter.repeat(t, 2, 1, 3, 1),
            lambda t: tenter.tile(t, (2,)),
            lambda t: tenter.repeat_interleave(t, list(range(t.shape[1])), 1),
            lambda t: tenter.interpolate(t, (5, 11), mode="bilinear"),
        ):
            assert torch.equal(f(x), f(y))


def test_pictures_with_channels_inside_shrink_to_the_same_bits():
    """Resampled as they lie, and put in the order of the result at the end."""
    for dtype in (torch.uint8, torch.float16, torch.float32, torch.int64, torch.complex64):
        for shape, size in [
            ((40, 50, 3), (17, 23)),
            ((40, 9, 2), (7, 9)),
            ((12, 30, 9, 4), (5, 7, 4)),
            ((90, 5), (31,)),
        ]:
            x = (torch.randn(2, *shape) * 50).to(dtype).movedim(-1, 1)
            for part in (x, x[:1], x[1][None], x[..., 1:]):
                for kw in (
                    {"mode": "area"},
                    {"mode": {1: "linear", 2: "bicubic", 3: "trilinear"}[len(size)], "antialias": True},
                ):
                    small = tuple(min(a, b) for a, b in zip(size, part.shape[2:]))
                    got = tenter.interpolate(part, small, **kw)
                    want = tenter.interpolate(part.clone(memory_format=torch.contiguous_format), small, **kw)
                    assert torch.equal(got, want), (dtype, part.shape, kw)
