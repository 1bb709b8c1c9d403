"""CUDA tensors past 2**31 elements, in and out: `pytest -m gpu` runs these too; the largest takes about 50 GiB."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
import tenter.torch
from maps_of import resample

pytestmark = [pytest.mark.gpu, pytest.mark.slow, pytest.mark.usefixtures("nothing_owed")]

PAST = 2**31


@pytest.fixture(autouse=True)
def room(cuda):
    free, _ = torch.cuda.mem_get_info()
    if free < 60 << 30:
        pytest.skip(f"{free >> 30} GiB of memory, 60 are needed")
    yield
    torch.cuda.empty_cache()


def places(n: int) -> torch.Tensor:
    """Of n elements, some on either side of what 31 and 32 bits number."""
    at = [0, 1, PAST - 1, PAST, PAST + 1, 2 * PAST - 1, 2 * PAST, n // 2, n - 2, n - 1]
    return torch.tensor([k for k in at if k < n], device="cuda")


@pytest.mark.parametrize("times", [45_000, 90_000])
def test_copies(times):
    x = torch.arange(50_000, device="cuda").to(torch.int16)
    y = tenter.repeat_interleave(x, times)
    at = places(y.numel())
    assert y.numel() > PAST and torch.equal(y[at], (at // times).to(torch.int16))
    del y
    z = tenter.tile(x, times)
    assert torch.equal(z[at], (at % 50_000).to(torch.int16))


def test_sums_of_copies():
    x = torch.arange(50_000.0, device="cuda", requires_grad=True)
    for f, times in ((tenter.repeat_interleave, 45_000), (tenter.tile, 45_000)):
        y = f(x, times)
        g = torch.ones_like(y)
        g[-1] = 2
        (got,) = torch.autograd.grad(y, x, g)
        assert got[-1] == times + 1 and (got[:-1] == times).all()
        del y, g


def test_counts_of_long_runs():
    counts = torch.full((1000,), 2_200_000, device="cuda")
    x = torch.arange(1000.0, device="cuda", requires_grad=True)
    total = 1000 * 2_200_000
    y = tenter.repeat_interleave(x, counts, output_size=total)
    at = places(total)
    assert total > PAST and torch.equal(y.detach()[at], (at // 2_200_000).float())
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y))
    assert (g == 2_200_000).all()
    tenter.torch.synchronize()


def test_more_counts_than_31_bits_number():
    n = PAST + 1000
    counts = torch.ones(n, dtype=torch.uint8, device="cuda")
    counts[-1], counts[7] = 3, 0
    x = (torch.arange(n, dtype=torch.int32, device="cuda") % 251).to(torch.uint8)
    y = tenter.repeat_interleave(x, counts, output_size=n + 1)
    assert torch.equal(y[:7], x[:7]) and torch.equal(y[7:-3], x[8:-1]) and (y[-3:] == x[-1]).all()
    tenter.torch.synchronize()


def test_rows_past_two_to_the_31():
    """Few wide rows, and counts on the device."""
    x = torch.arange(3, device="cuda", dtype=torch.uint8)[:, None].expand(3, 1 << 29).contiguous()
    y = tenter.repeat_interleave(x, torch.tensor([1, 3, 2], device="cuda"), 0, output_size=6)
    assert y.numel() > PAST
    for row, value in zip(y, (0, 1, 1, 1, 2, 2)):
        assert (row == value).all()


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
def test_images_grow_and_shrink(mode):
    x = torch.zeros(1, 1, 100, 100, dtype=torch.uint8, device="cuda")
    x[..., -1, -1] = 255
    y = tenter.interpolate(x, (46_500, 46_500), mode=mode)
    assert y.numel() > PAST and y[0, 0, -1, -1] == 255 and y[0, 0, 0, 0] == 0 and y[0, 0, -1, 0] == 0
    assert y[0, 0, :40_000].max() == 0 and y[0, 0, -40:, -40:].min() > 200
    back = tenter.interpolate(y, (100, 100), mode="area")
    assert back[0, 0, -1, -1] > 100 and back[0, 0, :-3].max() == 0


@pytest.mark.parametrize("mode, kind", [("nearest", "nearest"), ("bilinear", "linear"), ("bicubic", "cubic")])
@pytest.mark.parametrize("channels_last", [False, True], ids=["", "channels_last"])
def test_gradients_of_images(mode, kind, channels_last):
    """Of a constant: each input's weights, which are those of its row times those of its column."""
    n, channels = 64, 4 if channels_last else 1
    size = 46_400 if channels == 1 else 23_300
    layout = torch.channels_last if channels_last else torch.contiguous_format
    x = torch.randn(1, channels, n, n, device="cuda").to(memory_format=layout).requires_grad_()
    y = tenter.interpolate(x, (size, size), mode=mode)
    assert y.numel() > PAST and y.is_contiguous(memory_format=layout)
    (g,) = torch.autograd.grad(y, x, torch.ones_like(y))
    m = resample(kind, n, size, None, False, False)
    sums = torch.from_numpy(np.asarray(m.dense()).sum(0)).to("cuda")
    torch.testing.assert_close(g.double(), (sums[:, None] * sums).expand_as(g), rtol=1e-3, atol=0.0)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float16])
def test_strides_past_two_to_the_31(dtype):
    """A few rows, far from each other."""
    far = (1 << 31) + 16
    room = torch.zeros(3 * far + 64, dtype=dtype, device="cuda")
    x = room.as_strided((4, 40), (far, 1))
    x.copy_(torch.arange(160, device="cuda").view(4, 40))
    packed = x.clone(memory_format=torch.contiguous_format)
    for f in (
        lambda x: tenter.repeat_interleave(x, 3, 0),
        lambda x: tenter.tile(x, (2, 3)),
        lambda x: tenter.repeat_interleave(x, torch.tensor([1, 0, 2, 1], device="cuda"), 0, output_size=4),
        lambda x: tenter.interpolate(x[None, None], (9, 57), mode="bilinear"),
        lambda x: tenter.interpolate(x[None, None], (3, 17), mode="area"),
        lambda x: tenter.interpolate(x[None], 91, mode="nearest"),
    ):
        assert torch.equal(f(x), f(packed))
