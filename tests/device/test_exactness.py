"""What PyTorch's kernels on CUDA devices cannot: the same bits every time, half types added in float32, every dtype, NaN and
infinity where they are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from cuda_helpers import EVERY, INTERPRETED, both_ways, by_name, on, some

import tenter
from maps_of import resample
from tenter.maps import Window
from torch_cases import Case

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]


def bits(x: torch.Tensor) -> torch.Tensor:
    return (torch.view_as_real(x) if x.is_complex() else x).contiguous().view(torch.uint8)


def same_bits(got: torch.Tensor, want: torch.Tensor) -> None:
    assert (got.shape, got.dtype, got.device) == (want.shape, want.dtype, want.device)
    assert torch.equal(bits(got), bits(want))


def test_half_gradients_are_added_in_float32(device):
    """A column of the matrix that sums to 16384, or to 2304: added one by one in float16 it ends at 2048."""
    n = 48 if INTERPRETED else 128
    for dtype in (torch.float16,) if INTERPRETED else (torch.float16, torch.bfloat16):
        x = torch.ones(1, 1, 1, 1, dtype=dtype, device=device)
        for mode in ("bicubic",) if INTERPRETED else ("bicubic", "bilinear", "nearest", "area"):
            v = torch.ones(1, 1, n, n, dtype=dtype, device=device)
            g = both_ways(lambda x, m=mode: tenter.interpolate(x, (n, n), mode=m), x, v)[1]
            assert g.item() == n * n, (mode, dtype, g.item())
        for f in (lambda x: tenter.tile(x, (n, n)), lambda x: tenter.repeat_interleave(x, n * n, 2)):
            y = f(x)
            assert both_ways(f, x, torch.ones_like(y))[1].item() == n * n


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_bicubic_gradients_of_half_types_are_rounded_once(dtype, device):
    if INTERPRETED and dtype == torch.bfloat16:
        pytest.skip("Triton's interpreter cuts bfloat16 off where devices round")
    x = torch.randn(1, 2, 8, 8, device=device).to(dtype)
    size = (40, 40) if INTERPRETED else (256, 256)
    v = torch.ones(1, 2, *size, dtype=dtype, device=device)
    g = both_ways(lambda x: tenter.interpolate(x, size, mode="bicubic"), x, v)[1].double()
    truth = both_ways(lambda x: F.interpolate(x, size, mode="bicubic"), x.double(), v.double())[1]
    assert ((g - truth).abs() <= torch.finfo(dtype).eps / 2 * truth.abs() * 1.01).all()


@pytest.mark.parametrize("deterministic", [False, True], ids=["", "deterministic"])
@pytest.mark.parametrize("case", some(EVERY, 10, by_name))
def test_the_same_bits_every_time(case: Case, deterministic, device):
    """PyTorch's deterministic mode refuses nothing and changes nothing; memory that is not written is NaN in it."""
    s = on(case, device)
    x, v = s.x.float(), s.cotangent().float()
    first = both_ways(s.f, x, v)
    # torch.use_deterministic_algorithms also loads the compiler, which takes seconds.
    torch._C._set_deterministic_algorithms(deterministic)
    try:
        for _ in range(1 if INTERPRETED else 3):
            for got, want in zip(both_ways(s.f, x, v), first):
                same_bits(got, want)
    finally:
        torch._C._set_deterministic_algorithms(False)


@pytest.mark.parametrize("shape, size", [((4, 16, 64, 64), (200, 200)), ((2, 3, 200, 200), (64, 64))])
@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic", "area"])
def test_the_same_bits_of_large_gradients(mode, shape, size, cuda):
    x, v = torch.randn(shape, device=cuda), torch.randn(*shape[:2], *size, device=cuda)
    f = lambda x: tenter.interpolate(x, size, mode=mode)
    first = both_ways(f, x, v)[1]
    for _ in range(10):
        same_bits(both_ways(f, x, v)[1], first)


MOVED = [
    torch.bool, torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
]  # fmt: skip
COPYING = {
    "int": lambda x: tenter.repeat_interleave(x, 3),
    "counts": lambda x: tenter.repeat_interleave(x, (torch.arange(len(x), device=x.device) * 7) % 4, 0),
    "tile": lambda x: tenter.tile(x, 5),
    "nearest": lambda x: tenter.interpolate(x[None, None], 100, mode="nearest")[0, 0],
    "nearest-exact": lambda x: tenter.interpolate(x[None, None], 7, mode="nearest-exact")[0, 0],
}


@pytest.mark.parametrize("case", some(itertools.product(COPYING, MOVED), 6))
def test_every_dtype_is_copied(case, device):
    """Whatever bits: NaN with a payload, negative zeros."""
    name, dtype = case
    n, f = 41, COPYING[name]
    raw = torch.randint(0, 256, (n, dtype.itemsize), dtype=torch.uint8, device=device)
    raw = raw % 2 if dtype == torch.bool else raw
    x = raw.view(dtype).view(n)
    index = f(torch.arange(n, device=device, dtype=torch.int32)).long()
    got = f(x)
    assert got.dtype == dtype and torch.equal(got.contiguous().view(torch.uint8).view(-1, dtype.itemsize), raw[index])
    apart = raw.repeat_interleave(2, 0).view(dtype).view(-1)[::2]
    assert torch.equal(f(apart).contiguous().view(torch.uint8), got.contiguous().view(torch.uint8))


SUMMED = [torch.complex64, torch.complex128, torch.int8, torch.uint16, torch.int32, torch.uint32, torch.int16]


SUMS = [(k % 3 == m, d, mode) for k, d in enumerate(SUMMED) for m, mode in enumerate(("bilinear", "area", "bicubic"))]


@pytest.mark.parametrize("case", some(SUMS, 1, lambda c: f"{c[1]}-{c[2]}", lambda c: c[0]))
def test_every_dtype_is_summed(case, device):
    """PyTorch refuses these: the truth is its float64, rounded half to even and cut to the dtype."""
    _, dtype, mode = case
    f = lambda x: F.interpolate(x, (7, 12), mode=mode)
    if dtype.is_complex:
        x = torch.randn(2, 3, 9, 5, dtype=torch.complex128, device=device).to(dtype)
        truth = torch.complex(f(x.real.double()), f(x.imag.double()))
        got = tenter.interpolate(x, (7, 12), mode=mode)
        torch.testing.assert_close(got.to(torch.complex128), truth, rtol=0, atol=1e-6)
        return
    info = torch.iinfo(dtype)
    x = torch.randint(info.min, info.max + 1, (2, 3, 9, 5), device=device).to(dtype)
    truth = f(x.double()).round().clamp(info.min, info.max)
    got = tenter.interpolate(x, (7, 12), mode=mode)
    assert got.dtype == dtype and (got.double() - truth).abs().max() <= (1 if dtype.itemsize < 4 else 2)


def reads(kind: str, n_in: int, n_out: int) -> torch.Tensor:
    """Which inputs an output has a weight for."""
    m = resample(kind, n_in, n_out)
    if not isinstance(m, Window):
        return torch.from_numpy(np.asarray(m.dense()) != 0)
    row, column, _ = m.taps()
    found = torch.zeros(n_out, n_in, dtype=torch.bool)
    found[torch.from_numpy(np.array(row)), torch.from_numpy(np.array(column))] = True
    return found


KINDS = {"bilinear": "linear", "bicubic": "cubic", "area": "area", "nearest": "nearest"}
NOT_FINITE = itertools.product(KINDS, ["", "channels_last"], [float("nan"), float("inf"), float("-inf")])


@pytest.mark.parametrize("case", some(NOT_FINITE, 10))
def test_nan_and_infinity_stay_where_they_are(case, device):
    """An output that has no weight for them does not know of them; others have not become finite."""
    mode, channels_last, bad = case
    sizes = [((11, 70), (30, 150)), ((40, 90), (12, 70)), ((9, 8), (9, 17))]
    for size, out in sizes[:: 2 if INTERPRETED else 1]:
        x = torch.randn(1, 3, *size, device=device)
        at = torch.zeros(size, dtype=torch.bool)
        at[0, 0] = at[size[0] // 2, size[1] // 3] = at[-1, -1] = True
        x[..., at.to(device)] = bad
        x = x.contiguous(memory_format=torch.channels_last) if channels_last else x
        down, across = (reads(KINDS[mode], n, m).double() for n, m in zip(size, out))
        touched = (down @ at.double() @ across.T > 0).to(device)
        y = tenter.interpolate(x, out, mode=mode)
        assert torch.equal(~y.isfinite(), touched.expand_as(y))


def test_empty_tensors(device):
    for shape in ((0, 3), (3, 0)):
        x = torch.randn(shape, device=device, requires_grad=True)
        for y in (
            tenter.repeat_interleave(x, 2, 0),
            tenter.tile(x, (2, 2)),
            tenter.repeat_interleave(
                x, torch.ones(shape[0], dtype=torch.int64, device=device), 0, output_size=shape[0]
            ),
        ):
            assert y.numel() == 0 and torch.autograd.grad(y.sum(), x)[0].shape == shape
    x = torch.randn(0, 3, 4, 5, device=device)
    assert tenter.interpolate(x, (7, 3), mode="bilinear").shape == (0, 3, 7, 3)
    nothing = torch.zeros(4, dtype=torch.int64, device=device)
    assert tenter.repeat_interleave(torch.ones(4, 3, device=device), nothing, 0, output_size=0).shape == (0, 3)
