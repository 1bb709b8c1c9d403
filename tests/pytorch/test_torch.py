"""PyTorch tensors: equality with PyTorch, closeness to the float64 truth, layouts, gradients."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import tenter
from cases import MODES, OPS, values
from program_helpers import prints
from sweeps import in_one_test, sampled
from tenter._specs.resize import KINDS as KIND_OF_MODE

TORCH = {
    "repeat_interleave": lambda x, r, dim=None: torch.repeat_interleave(
        x if x.ndim else x.reshape(1), torch.tensor(r, dtype=torch.int64), dim
    ),
    "repeat": lambda x, *sizes: x.repeat(*sizes) if sizes else x.repeat(()),
    "tile": lambda x, dims: torch.tile(x, dims),
    "expand": lambda x, *sizes: x.expand(*sizes) if sizes else x.expand(()),
    "interpolate": lambda x, **kw: F.interpolate(x, **kw),
}


def served_by_torch(case) -> bool:
    kw = case.kwargs
    return not (kw.get("antialias") and (len(case.shape) != 4 or torch_width_one(case)))


def torch_width_one(case) -> bool:
    """PyTorch 2.13 with antialias returns its first row in every row where the output is one pixel wide."""
    return len(case.shape) == 4 and case.kwargs.get("size", (0, int(case.shape[-1] * 1.7)))[-1] == 1


def label(case) -> str:
    return f"{case.op}-{case.shape}-{case.args}-{'-'.join(f'{k}={v}' for k, v in case.kwargs.items())}".replace(" ", "")


@in_one_test("case", sampled((c for c in OPS if served_by_torch(c)), 2, label))
def test_equals_torch_in_float64(case):
    """What PyTorch does not compute, test_antialias_of_every_rank checks against the matrix."""
    x = torch.from_numpy(values(case.shape, "float64"))
    got, want = getattr(tenter, case.op)(x, *case.args, **case.kwargs), TORCH[case.op](x, *case.args, **case.kwargs)
    assert got.shape == want.shape and got.dtype == want.dtype
    if case.op != "interpolate" or case.kwargs["mode"].startswith("nearest"):
        assert torch.equal(got, want)
    else:
        assert (got - want).abs().max() < 1e-12


@in_one_test("case", sampled(OPS, 2, label))
def test_numpy_equals_tensor(case):
    x = values(case.shape, "float32")
    a = getattr(tenter, case.op)(x, *case.args, **case.kwargs)
    b = getattr(tenter, case.op)(torch.from_numpy(x), *case.args, **case.kwargs)
    assert isinstance(a, np.ndarray) and isinstance(b, torch.Tensor)
    assert a.tobytes() == b.contiguous().numpy().tobytes()


@in_one_test("case", [c for c in OPS if c.op == "interpolate" and c.kwargs["antialias"]], ids=label)
def test_antialias_of_every_rank(case):
    """Against the matrices, applied by NumPy."""
    from maps_of import resample

    x = values(case.shape, "float64")
    want = x
    for axis in range(2, x.ndim):
        size, scale = case.kwargs.get("size"), case.kwargs.get("scale_factor")
        n_out = size[axis - 2] if size else int(x.shape[axis] * scale)
        m = resample(
            KIND_OF_MODE[case.kwargs["mode"]], x.shape[axis], n_out, scale, bool(case.kwargs.get("align_corners")), True
        )
        want = np.moveaxis(np.tensordot(m.dense(), want, (1, axis)), 0, axis)
    got = tenter.interpolate(x, **case.kwargs)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


def nearest_sweep(pairs):
    """Every pair in one 1-D call each; positions are the values, so indices are compared."""
    for n_in, n_out, scale in pairs:
        x = torch.arange(n_in, dtype=torch.float64).reshape(1, 1, -1)
        for mode in ("nearest", "nearest-exact"):
            kw = {"size": n_out} if scale is None else {"scale_factor": scale}
            assert torch.equal(tenter.interpolate(x, mode=mode, **kw), F.interpolate(x, mode=mode, **kw)), (
                mode,
                n_in,
                kw,
            )


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_nearest_kinds_equal_torch_bit_for_bit(share):
    """20,000 sizes and scales, for both kinds, ratios that are no integers among them; 2-d and 3-d by a sample. A share
    of them by default."""
    rng = np.random.default_rng(0)
    pairs = [(a, b, None) for a in range(1, 101) for b in range(1, 131)]
    pairs += [(int(a), int(b), None) for a, b in rng.integers(1, 5000, (3000, 2))]
    pairs += [
        (int(n), 0, float(s)) for n, s in zip(rng.integers(1, 800, 4500), rng.uniform(0.05, 6, 4500)) if int(n * s) > 0
    ]
    assert len(pairs) >= 20_000
    nearest_sweep(pairs[::share])
    for dtype, rank, channels in itertools.product((torch.float32, torch.uint8, torch.float64), (1, 2, 3), (1, 3, 4)):
        for _ in range(120 // share):
            top = 90 if rank < 3 else 25
            shape = rng.integers(1, top, rank).tolist()
            kw = (
                {"size": rng.integers(1, top + 20, rank).tolist()}
                if rng.random() < 0.5
                else {"scale_factor": [max(float(s), 1.01 / n) for s, n in zip(rng.uniform(0.2, 3, rank), shape)]}
            )
            x = torch.randint(0, 255, (1, channels, *shape)).to(dtype)
            if rank > 1 and rng.random() < 0.5:
                x = x.contiguous(memory_format=torch.channels_last if rank == 2 else torch.channels_last_3d)
            for mode in ("nearest", "nearest-exact"):
                got, want = tenter.interpolate(x, mode=mode, **kw), F.interpolate(x, mode=mode, **kw)
                assert torch.equal(got, want) and got.stride() == want.stride(), (shape, kw)


@pytest.mark.parametrize("mode, corners, antialias", [m for m in MODES if m[0] in ("linear", "cubic", "area")])
def test_nearer_to_the_truth_than_torch_in_float32(mode, corners, antialias, level):
    """The truth is PyTorch in float64; both take the same float32 input. PyTorch divides the sum of an area once. tenter
    multiplies by weights along each axis: without fused multiply-add these products are rounded too."""
    name = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    kw = {"mode": name, "antialias": antialias} | ({"align_corners": True} if corners else {})
    ours, theirs = [], []
    for shape, size in [
        ((300, 217), (211, 650)),
        ((97, 1000), (970, 333)),
        ((640, 480), (224, 224)),
        ((33, 31), (500, 700)),
    ]:
        x = torch.from_numpy(values((1, 3, *shape), "float32"))
        truth = F.interpolate(x.double(), size, **kw)
        ours.append((tenter.interpolate(x, size, **kw).double() - truth).abs().max().item())
        theirs.append((F.interpolate(x, size, **kw).double() - truth).abs().max().item())
    assert max(ours) < 2e-6
    rounds_products = mode == "area" and level in ("portable", "v2")
    assert np.mean(ours) <= np.mean(theirs) * (1.1 if rounds_products else 1)


@pytest.mark.parametrize("dtype, bits", [(torch.bfloat16, 8), (torch.float16, 11)])
def test_half_types_are_rounded_once(dtype, bits):
    for mode in ("bilinear", "bicubic", "area"):
        x = torch.from_numpy(values((2, 5, 37, 41), "float32")).to(dtype)
        truth = F.interpolate(x.double(), (80, 23), mode=mode)
        got = tenter.interpolate(x, (80, 23), mode=mode)
        assert got.dtype == dtype
        assert ((got.double() - truth).abs() <= truth.abs() * 2.0**-bits * 1.01 + 1e-6).all()


def test_the_gradient_of_a_call_that_repeats_nothing_is_a_copy_of_its_results():
    x = torch.rand(3, 4, requires_grad=True)
    for g in (torch.rand(3, 4), torch.rand(4, 3).T, torch.ones(()).expand(3, 4)):
        for y in (tenter.repeat_interleave(x, 1, dim=0), tenter.repeat(x, 1, 1), tenter.tile(x, (1, 1))):
            (found,) = torch.autograd.grad(y, x, g)
            assert torch.equal(found, g) and found.is_contiguous()
            assert found.untyped_storage().data_ptr() != g.untyped_storage().data_ptr()


def test_half_precision_gradient_sums():
    """The gradient of 16384 outputs from one pixel: 16384, where PyTorch's CUDA kernel has returned 2048."""
    x = torch.zeros(1, 1, 1, 1, dtype=torch.float16, requires_grad=True)
    y = tenter.interpolate(x, (128, 128), mode="bicubic")
    assert torch.autograd.grad(y, x, torch.ones_like(y))[0].item() == 16384


GRADIENTS = [c for c in OPS if 0 < np.prod(c.shape) <= 120 and c.op != "expand"]


@pytest.mark.parametrize("case", sampled(GRADIENTS, 12, label))
def test_gradcheck(case):
    x = torch.from_numpy(values(case.shape, "float64")).requires_grad_()
    f = lambda x: getattr(tenter, case.op)(x, *case.args, **case.kwargs)
    assert torch.autograd.gradcheck(f, (x,))
    if case.kwargs.get("size"):
        assert torch.autograd.gradgradcheck(f, (x,))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.complex128])
def test_gradients_equal_torch(dtype):
    for case in GRADIENTS[:: 7 if dtype == torch.float32 else 23]:
        if not served_by_torch(case) or (dtype.is_complex and case.op == "interpolate"):
            continue
        wide = torch.complex128 if dtype.is_complex else torch.float64
        x = torch.randn(case.shape, dtype=wide).to(dtype)
        a, b = x.clone().requires_grad_(), x.to(wide).requires_grad_()
        y, z = getattr(tenter, case.op)(a, *case.args, **case.kwargs), TORCH[case.op](b, *case.args, **case.kwargs)
        if not y.numel():
            continue
        g = torch.randn(y.shape, dtype=wide).to(dtype)
        ga, gb = torch.autograd.grad(y, a, g)[0], torch.autograd.grad(z, b, g.to(wide))[0]
        tolerance = {torch.bfloat16: 2e-2, torch.complex128: 1e-12}.get(dtype, 1e-5)
        assert ga.dtype == dtype and torch.allclose(ga.to(wide), gb, rtol=tolerance, atol=tolerance), label(case)


def test_results_are_fresh_memory():
    x = torch.randn(2, 3, 4)
    for y in (
        tenter.repeat_interleave(x, 1, 0),
        tenter.repeat(x, 1, 1, 1),
        tenter.tile(x, (1,)),
        tenter.interpolate(x, 4),
        tenter.repeat_interleave(x, 1),
    ):
        assert y.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
        y.add_(1)
    assert tenter.expand(x, 2, 3, 4).data_ptr() == x.data_ptr()


def test_forward_mode_keeps_tangents():
    from torch.autograd import forward_ad

    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.arange(4.0).reshape(1, 1, 4), torch.ones(1, 1, 4))
        for y in (tenter.interpolate(x, 7, mode="linear"), tenter.repeat_interleave(x, 2, 2), tenter.tile(x, 3)):
            assert torch.equal(forward_ad.unpack_dual(y).tangent, torch.ones(y.shape))


def test_compiled_code_may_call_through_disable():
    f = torch.compile(
        lambda x: torch.compiler.disable(tenter.interpolate)(x * 2, 7, mode="linear") + 1, backend="eager"
    )
    x = torch.randn(1, 2, 4)
    assert torch.equal(f(x), tenter.interpolate(x * 2, 7, mode="linear") + 1)


def test_the_default_device_is_not_taken_for_the_tensors():
    with torch.device("meta"):
        assert tenter.repeat_interleave(torch.arange(2, device="cpu"), 2).tolist() == [0, 0, 1, 1]


def test_the_default_dtype_is_not_taken_for_results():
    """Whatever it becomes between calls: they ask for x's own only where PyTorch would make another."""
    counts = torch.tensor([1, 0, 2])
    before = torch.get_default_dtype()
    try:
        for default in (torch.float64, torch.float64, torch.bfloat16, torch.float32):
            torch.set_default_dtype(default)
            for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64):
                x = torch.arange(3, dtype=dtype)
                for y in (tenter.repeat_interleave(x, counts, 0), tenter.repeat_interleave(x, counts)):
                    assert y.dtype == dtype and y.tolist() == [0, 2, 2]
                assert tenter.tile(x, 2).dtype == dtype
                if dtype.is_floating_point:
                    x.requires_grad_()
                    (g,) = torch.autograd.grad(tenter.repeat_interleave(x, counts, 0).sum(), x)
                    assert g.dtype == dtype and g.tolist() == [1, 0, 2]
    finally:
        torch.set_default_dtype(before)


def test_one_argument():
    assert torch.equal(tenter.repeat_interleave(torch.tensor([1, 2, 3])), torch.tensor([0, 1, 1, 2, 2, 2]))
    assert tenter.repeat_interleave(torch.tensor([1, 0], dtype=torch.int32)).dtype == torch.int32
    assert tenter.repeat_interleave([1, 2, 3]).tolist() == [0, 1, 1, 2, 2, 2]
    assert tenter.repeat_interleave([]).dtype == np.int64
    assert tenter.repeat_interleave(np.array([2, 1], np.uint8), output_size=3).tolist() == [0, 0, 1]


def test_counts_of_every_kind():
    x = torch.arange(3)
    for r in (
        [1, 3, 2],
        (1, 3, 2),
        np.array([1, 3, 2], np.int8),
        np.array([1, 3, 2], np.uint64),
        torch.tensor([1, 3, 2], dtype=torch.int16),
        torch.tensor([1, 9, 3, 9, 2])[::2],
        np.array([2, 3, 1])[::-1],
        np.array([1, 3, 2], ">i4"),
    ):
        assert tenter.repeat_interleave(x, r).tolist() == [0, 1, 1, 1, 2, 2]
        assert tenter.repeat_interleave(x.numpy(), r).tolist() == [0, 1, 1, 1, 2, 2]
    for r in (2, np.int64(2), np.array(2), [2], torch.tensor(2), torch.tensor([2]), np.array([2], np.uint8)):
        assert tenter.repeat_interleave(x, r).tolist() == [0, 0, 1, 1, 2, 2]


def test_nothing_is_imported_that_the_caller_has_not():
    code = (
        "import tenter, sys; tenter.interpolate([[[1.0, 2.0]]], 4); tenter.repeat_interleave([1], 2); "
        "loaded = {'torch', 'PIL', 'rich', 'cv2', 'scipy'} & set(sys.modules); assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_a_pytorch_without_the_private_names_has_the_same_results():
    """Every call then goes the long way."""
    assert prints("without_private_names.py") == "right\n"


@pytest.mark.slow
def test_a_pytorch_without_dlpacks_exchange_has_the_same_results():
    assert prints("without_exchange_api.py") == "right\n"


def test_nearest_positions_of_devices() -> None:
    """PyTorch's CUDA kernels in their own words: float32 all along; of images, an axis that keeps its length is left
    alone."""
    from maps_of import resample
    from tenter._rules.rounding import ONCE
    from tenter._specs.axis_maps import settled
    from tenter._specs.resize import interpolation_rules

    def theirs(n_in: int, n_out: int, scale: float | None, exact: bool, image: bool) -> list[int]:
        if image and n_in == n_out:
            return list(range(n_in))
        step = np.float32(1 / scale) if scale is not None else np.float32(n_in) / np.float32(n_out)
        half = np.float32(0.5 if exact else 0)
        return [min(int(np.floor((np.float32(o) + half) * step)), n_in - 1) for o in range(n_out)]

    def index(n_in: int, n_out: int, scale: float | None, exact: bool, kernel: str) -> list[int]:
        return resample("nearest-exact" if exact else "nearest", n_in, n_out, scale, kernel=kernel).index().tolist()

    differ = 0
    for n_in in (1, 2, 5, 7, 10, 64, 101):
        for scale in (None, 0.3, 0.99, 1.0, 1.05, 2.05, 3.3):
            n_out = max(int(n_in * (scale or 1.7)), 1)
            for exact in (False, True):
                for rank in (1, 2, 3):
                    kind = "nearest-exact" if exact else "nearest"
                    rules, sizes = interpolation_rules(rank, None, kind, False, False, False), (n_out,) * rank
                    device, host = (
                        settled(rules, (n_in,) * rank, sizes, "float32", on_device, ONCE)[0].arithmetic
                        for on_device in (True, False)
                    )
                    got = index(n_in, n_out, scale, exact, device)
                    assert got == theirs(n_in, n_out, scale, exact, rank == 2)
                    differ += got != index(n_in, n_out, scale, exact, host)
    assert differ  # or there would be no need for a rule of their own


def test_scales_of_devices() -> None:
    """PyTorch's CUDA kernels: where a scale is given, linear and cubic kinds copy what keeps all its sizes, and use the
    scale on every axis else."""
    from tenter._specs.resize import Interpolate

    def maps(kind: str, size: tuple[int, ...], scales: tuple[float, ...], antialias: bool = False, device: bool = True):
        does = Interpolate(size, scales, kind, False, antialias, False)
        return [m for _, m in does.maps((1, 1, 10, 10), "float32", device)]

    for kind in ("linear", "cubic"):
        stays, grows = maps(kind, (10, 20), (1.05, 2.0))
        assert stays != tenter.maps.Copy.repeat_each(10, 1) and grows.n_out == 20
        assert maps(kind, (10, 10), (1.05, 1.05)) == [tenter.maps.Copy.repeat_each(10, 1)] * 2
    assert maps("linear", (10, 10), (1.05, 1.05), antialias=True)[0] != tenter.maps.Copy.repeat_each(10, 1)
    assert maps("linear", (10, 20), (1.05, 2.0), device=False)[0] == tenter.maps.Copy.repeat_each(10, 1)
