"""Images that a transform normalizes have the bits of the same steps one after the other."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sweeps import in_one_test
from tenter._specs.resize_arguments import Arguments
from tenter.torch import normalized, pixels, transforms

Image = pytest.importorskip("PIL.Image")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PHOTO = np.random.default_rng(0).integers(0, 256, (61, 83, 4), np.uint8).repeat(2, 0).repeat(2, 1)
TENSOR = torch.from_numpy(PHOTO[..., :3]).permute(2, 0, 1).contiguous()
SAMPLES = {
    "tensor": TENSOR,
    "channels last": torch.from_numpy(PHOTO[..., :3].copy()).permute(2, 0, 1),
    "batch": TENSOR.expand(2, 3, 122, 166).clone(),
    "batch, channels last": TENSOR.expand(2, 3, 122, 166).contiguous(memory_format=torch.channels_last),
    "video": TENSOR.expand(2, 2, 3, 122, 166),
    "part": TENSOR[:, 3:, 1:-7],
    "turned": TENSOR.transpose(1, 2),
    "gray": TENSOR[:1],
    "five channels": torch.cat([TENSOR, TENSOR[:2]]),
    "array": PHOTO[..., :3],
    "array of four": PHOTO,
    "gray array": PHOTO[..., 0],
    "array, flipped": PHOTO[::-1, ::-1, :3],
}
FORMS = ("L", "RGB", "RGBA", "LA", "P", "1", "CMYK")
HOW = {
    "shrunk": lambda **by: transforms.Resize((33, 47), **by),
    "grown": lambda **by: transforms.Resize((130, 301), "bicubic", **by),
    "not antialiased": lambda **by: transforms.Resize((33, 47), antialias=False, **by),
    "nearest": lambda **by: transforms.Resize((33, 47), "nearest-exact", **by),
    "as it is": lambda **by: transforms.Thumbnail(999, **by),
    "centered": lambda **by: transforms.ResizeCenterCrop((24, 31), 35, **by),
    "a part": lambda **by: transforms.RandomResizedCrop(32, flip=0.5, **by),
    "rows alone": lambda **by: transforms.Resize((33, 166), **by),
    "columns alone": lambda **by: transforms.Resize((122, 47), **by),
    "one column": lambda **by: transforms.Resize((33, 1), **by),
}
how = in_one_test("make", HOW.values(), ids=HOW)


def channels(sample):
    if isinstance(sample, torch.Tensor):
        return sample.shape[-3]
    return len(sample.getbands()) if isinstance(sample, Image.Image) else 1 if sample.ndim == 2 else sample.shape[2]


def steps(pixels, mean, std, dtype=torch.float32):
    """Resized pixels, normalized by PyTorch."""
    if isinstance(pixels, Image.Image):
        pixels = np.asarray(pixels) * np.uint8(255 if pixels.mode == "1" else 1)
    if isinstance(pixels, np.ndarray):
        pixels = torch.from_numpy(np.atleast_3d(pixels).transpose(2, 0, 1).copy())
    x = pixels.to(dtype) if pixels.is_floating_point() else pixels.to(dtype).div_(255)
    return x.sub_(torch.tensor(mean, dtype=dtype)[:, None, None]).div_(torch.tensor(std, dtype=dtype)[:, None, None])


def same_bits(make, sample):
    n = channels(sample)
    mean, std = (MEAN * 2)[:n], (STD * 2)[:n]
    for seed in range(3):  # the first call, one of its specialization, and a cached one
        torch.manual_seed(seed)
        want = steps(make()(sample), mean, std)
        torch.manual_seed(seed)
        made = make(mean=mean, std=std)(sample)
        assert made.dtype == torch.float32 and made.is_contiguous() and torch.equal(made, want)


@how
@in_one_test("sample", SAMPLES.values(), ids=SAMPLES)
def test_arrays_and_tensors_of_8_bits_are_rounded_then_normalized(make, sample):
    same_bits(make, sample)


@how
@in_one_test("form", FORMS)
def test_images_of_pillow_are_rounded_then_normalized(make, form):
    same_bits(make, Image.fromarray(PHOTO).convert(form))


@how
@in_one_test("name", ["tensor", "batch, channels last", "part", "turned", "gray", "five channels", "array"])
def test_floats_are_resized_then_normalized(make, name):
    sample = SAMPLES[name]
    same_bits(make, sample / 255 if isinstance(sample, torch.Tensor) else (sample / 255).astype(np.float32))


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "video"])
def test_the_core_normalizes_where_it_resizes(name, monkeypatch):
    transform = HOW["shrunk"](mean=(0.5,), std=(0.25,))
    want = transform(SAMPLES[name])
    monkeypatch.setattr(pixels, "_floats", None)
    assert torch.equal(transform(SAMPLES[name]), want)


def test_every_instruction_set_gives_the_same_bits(level):
    for name in ("tensor", "channels last", "array", "gray", "five channels", "part"):
        same_bits(HOW["shrunk"], SAMPLES[name])
    same_bits(HOW["shrunk"], TENSOR / 255)


def test_every_value_is_divided_as_pytorch_divides():
    rng, values = np.random.default_rng(0), torch.arange(256, dtype=torch.uint8).expand(1, 3, 256)
    for low, high in ((0.01, 1.0), (1e-30, 1e-20), (1e20, 1e38), (0.5, 0.50001)):
        mean, std = rng.uniform(0, 1, 3).tolist(), rng.uniform(low, high, 3).tolist()
        made = transforms.Resize((3, 256), mean=mean, std=std)(values.expand(3, 3, 256))
        assert torch.equal(made, steps(values.expand(3, 3, 256), mean, std))
    assert torch.equal(transforms.Resize((3, 256), dtype=torch.float32)(values), values / 255)


def test_floats_are_divided_as_pytorch_divides(level):
    """Of every mantissa, of any bits, and of divisors and means for which the core does divide."""
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2**32, 3 * 2**12, np.uint32).view(np.float32)
    mantissas = (rng.integers(0, 2**23, 3 * 2**12, np.uint32) | (127 << 23)).view(np.float32)
    for mean, std in (
        (0.485, 0.229),
        (0.0, 0.225),
        (-0.0, 1.5),
        (1e-30, 1.0),
        (0.5, 1e-30),
        (-3e4, 0.3333),
        (0.4, 1.9999999),
    ):
        for values in (
            bits,
            mantissas,
            mantissas * np.float32(2.0**-100),
            np.array([0, -0.0, np.inf, -np.inf] * 6, np.float32),
        ):
            x = torch.from_numpy(values).reshape(3, 2, -1)
            made = transforms.Resize(x.shape[1:], mean=(mean,) * 3, std=(std,) * 3)(x)
            want = steps(x.clone(), (mean,) * 3, (std,) * 3)
            same = made.view(torch.int32) == want.view(torch.int32)
            assert bool((same | (made.isnan() & want.isnan())).all()), (mean, std)


def test_quotients_that_differ_are_found_by_dividing():
    each = np.frombuffer(normalized.native((0.5, 0.5), (0.25, 1e-39), 2, True), np.float32).reshape(2, 4)
    assert each[0, :2].tolist() == [0.5, 0.25] and each[0, 2:].astype(np.float64).sum() == 4 and each[1, 2] == 0
    for mean, std in ((0.0, 0.25), (1e-9, 0.25), (0.5, 1e9)):  # nothing is known of floats near what underflows
        assert np.frombuffer(normalized.native((mean,), (std,), 1, False), np.float32)[2] == 0


@pytest.mark.parametrize("std", [0.229, 1 / 3, 58.395, 0.5, 0.2023, 0.0889248475432396])
def test_floats_of_every_mantissa_are_divided_as_pytorch_divides(std):
    mean = 2.0**-20  # the differences from it are floats of nearly all mantissas
    x = (1 + torch.arange(2**23, dtype=torch.float64) / 2**23).float().reshape(1, 2048, 4096)
    made = transforms.Resize(x.shape[1:], mean=(mean,), std=(std,))(x)
    assert torch.equal(made, steps(x.clone(), (mean,), (std,)))


def test_threads_do_not_change_bits():
    eight_bits = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (3, 900, 1100), np.uint8))
    transform = transforms.Resize((700, 801), mean=MEAN, std=STD)
    before = torch.get_num_threads()
    for image in (eight_bits, eight_bits / 255, (eight_bits / 255).permute(1, 2, 0).contiguous().permute(2, 0, 1)):
        made = []
        for n in (1, 2):
            torch.set_num_threads(n)
            made.append(transform(image))
        torch.set_num_threads(before)
        assert torch.equal(*made) and torch.equal(made[0], steps(transforms.Resize((700, 801))(image), MEAN, STD))


def test_half_types_are_rounded_once():
    for dtype in (torch.float16, torch.bfloat16):
        made = transforms.Resize((33, 47), dtype=dtype, mean=MEAN, std=STD)(TENSOR)
        assert torch.equal(made, steps(transforms.Resize((33, 47))(TENSOR), MEAN, STD).to(dtype))


def test_gradients_pass_through_the_normalization():
    x = torch.rand(3, 20, 30, requires_grad=True)
    transforms.Resize((20, 30), mean=MEAN, std=STD)(x).sum().backward()
    assert torch.allclose(x.grad, (1 / torch.tensor(STD))[:, None, None].expand(3, 20, 30))


def test_calls_have_the_arguments_of_resize_in_their_order():
    """The core knows a call by all of its arguments: with one too few, it would not find what `resize` has stored."""
    given = normalized.Call._fields
    assert given == ("x", *Arguments._fields)[: len(given)]
    assert len(given) + len(normalized.REST) == 1 + len(Arguments._fields)
