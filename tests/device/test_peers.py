"""CUDA tensors beside PyTorch's own kernels there: nearest kinds and copies bit for bit, sums within their rounding."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F
from cuda_helpers import INTERPRETED, both_ways, some

import tenter
from torch_cases import same

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("nothing_owed")]


# ---- nearest kinds

NEAREST = ["nearest", "nearest-exact"]
SIZES = [1, 2, 3, 5, 7, 8, 11, 16, 24, 31, 33, 48, 57, 64, 100, 127, 129, 200, 255, 480, 641, 1000, 1023, 1920]
PAIRS = [(a, b) for a in SIZES for b in SIZES]
SCALES = [0.1, 0.3, 0.5, 0.77, 0.999, 1.0, 1.05, 1.3, 1.7, 2.0, 2.05, 2.5, 3.0, 3.3, 7.1]
if INTERPRETED:
    PAIRS, SCALES = PAIRS[::47], SCALES[1::5]


@pytest.mark.parametrize(
    "dtype", some([torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8], 1, str)
)
@pytest.mark.parametrize("mode", NEAREST)
def test_nearest_signals(mode, dtype, device):
    """Every pair of sizes: the pixels are PyTorch's."""
    wrong = []
    for n_in, n_out in PAIRS if dtype == torch.float32 else PAIRS[::7]:
        x = torch.randint(0, 255, (2, 3, n_in), device=device).to(dtype)
        if not torch.equal(tenter.interpolate(x, n_out, mode=mode), F.interpolate(x, n_out, mode=mode)):
            wrong.append((n_in, n_out))
    assert not wrong


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode", NEAREST)
@pytest.mark.parametrize("recompute", [False, True], ids=["", "recompute"])
def test_nearest_by_scale(mode, rank, recompute, cuda):
    """Also where a scale is given and the size stays, which PyTorch's kernels on the CPU have other rules for."""
    wrong = []
    for n in (9, 10, 20, 41):
        for scale in SCALES:
            if int(n * scale) < 1:
                continue
            sizes = (n, n + 3, n + 1)[:rank]
            x = torch.randn(1, 2, *sizes, device=cuda)
            kwargs = {"scale_factor": scale, "mode": mode, "recompute_scale_factor": recompute or None}
            if not torch.equal(tenter.interpolate(x, **kwargs), F.interpolate(x, **kwargs)):
                wrong.append((sizes, scale))
    assert not wrong


@pytest.mark.parametrize("dtype", some([torch.float32, torch.float64, torch.uint8], 1, str))
@pytest.mark.parametrize("channels_last", [False, True], ids=["", "channels_last"])
@pytest.mark.parametrize("mode", NEAREST)
def test_nearest_images(mode, channels_last, dtype, device):
    """Of few and many channels, small and large: PyTorch's kernels on the CPU round each in another way."""
    pairs = [((h, w), (a, b)) for (h, a), (w, b) in zip(PAIRS[::11], PAIRS[5::11])]
    wrong = []
    for size, out in pairs:
        for channels in (1, 3, 4, 5):
            x = torch.randint(0, 255, (1, channels, *size), device=device).to(dtype)
            x = x.contiguous(memory_format=torch.channels_last) if channels_last else x
            got, want = (f(x, out, mode=mode) for f in (tenter.interpolate, F.interpolate))
            if not torch.equal(got, want) or (channels_last and channels > 1 and got.stride() != want.stride()):
                wrong.append((size, out, channels))
    assert not wrong


@pytest.mark.parametrize("case", some(itertools.product(NEAREST, ["", "channels_last"]), 4))
def test_nearest_volumes(case, device):
    mode, channels_last = case
    for size, out in [
        ((3, 7, 9), (5, 20, 4)),
        ((8, 6, 5), (6, 8, 17)),
        ((2, 33, 31), (3, 57, 64)),
        ((5, 5, 5), (5, 9, 5)),
    ]:
        for channels in (2,) if INTERPRETED else (2, 5):
            x = torch.randn(2, channels, *size, device=device)
            x = x.contiguous(memory_format=torch.channels_last_3d) if channels_last else x
            assert torch.equal(tenter.interpolate(x, out, mode=mode), F.interpolate(x, out, mode=mode))


@pytest.mark.parametrize("mode", NEAREST)
def test_gradients_of_nearest_are_its_transpose(mode, device):
    """To the pixels that forward read, which PyTorch's CUDA backward finds by a rounding of its own."""
    for n_in, n_out in PAIRS[::13]:
        x, v = torch.randn(2, 3, n_in, device=device), torch.randn(2, 3, n_out, device=device)
        index = F.interpolate(torch.arange(float(n_in), device=device)[None, None], n_out, mode=mode)[0, 0].long()
        want = torch.zeros(2, 3, n_in, device=device, dtype=torch.float64).index_add_(2, index, v.double())
        same(both_ways(lambda x, n=n_out: tenter.interpolate(x, n, mode=mode), x, v)[1], want.float(), 1e-5)


# ---- PyTorch's samples


def opinfo():
    import test_opinfo as t

    return t


def sampled(name: str, dtype: torch.dtype, where: str, gradients: bool):
    t = opinfo()
    for op in t.ops().values():
        if op.name != name or dtype not in op.supported_dtypes(where):
            continue
        if gradients and dtype not in op.supported_backward_dtypes(where):
            continue
        make = op.sample_inputs if gradients or INTERPRETED else op.reference_inputs
        samples = list(make(where, dtype, requires_grad=gradients))
        for sample in samples[:: max(1, len(samples) // 3)] if INTERPRETED else samples:
            if INTERPRETED and t.evaluate(op, sample, sample.input.detach().float()).numel() > 10_000:
                continue
            if t.evaluate(t.OURS[op.name], sample, sample.input.detach()) is not NotImplemented:
                yield op, sample


NAMES = [
    "repeat", "repeat_interleave", "tile", "nn.functional.interpolate", "nn.functional.upsample_nearest",
    "nn.functional.upsample_bilinear", "_upsample_bilinear2d_aa",
]  # fmt: skip
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", FLOATS if not INTERPRETED else FLOATS[2:3], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow  # PyTorch's test package takes seconds to import
def test_samples(name, dtype, device):
    """Values beside PyTorch in float64 on the same device; layouts as they come and strided."""
    t, checked = opinfo(), 0
    torch.manual_seed(0)
    for op, sample in sampled(name, dtype, device, False):
        for s in (sample, sample.noncontiguous(), sample.transform(t.channels_last)):
            ours = t.evaluate(t.OURS[op.name], s, s.input)
            if t.short(op) in t.COPIES:
                t.assert_same_bits(ours, t.evaluate(op, s, s.input))
            else:
                truth = t.evaluate(op, s, s.input.double())
                t.assert_near_truth(ours, None, truth, s.input.double().abs().max())
            checked += 1
    assert checked or INTERPRETED


@pytest.mark.parametrize("dtype", FLOATS if not INTERPRETED else FLOATS[:1], ids=str)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow  # PyTorch's test package takes seconds to import
def test_gradients_of_samples(name, dtype, device):
    t, checked = opinfo(), 0
    torch.manual_seed(0)
    for op, sample in sampled(name, dtype, device, True):
        if "nearest" in t.short(op):
            continue  # see above: PyTorch's is another pixel's, now and then
        ours = t.evaluate(t.OURS[op.name], sample, sample.input)
        x = t.wide(sample.input.detach()).requires_grad_()
        theirs = t.evaluate(op, sample, x)
        v = torch.randn(ours.shape, dtype=theirs.dtype, device=device).to(dtype)
        (g,) = torch.autograd.grad(ours, sample.input, v)
        (truth,) = torch.autograd.grad(theirs, x, t.wide(v), retain_graph=True)
        (size,) = torch.autograd.grad(theirs, x, t.wide(v).abs().to(theirs.dtype))
        assert (g.shape, g.dtype) == (truth.shape, dtype)
        if g.numel():
            excess = ((t.wide(g) - truth).abs() - t.allowed_error(truth, dtype, size.abs().max().item())).max().item()
            assert excess <= 0, f"{t.short(op)} {sample.args} {sample.kwargs}: {excess:.1e} beyond the tolerance"
        checked += 1
    assert checked or "nearest" in name or INTERPRETED
