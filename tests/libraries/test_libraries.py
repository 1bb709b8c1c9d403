"""Libraries that resize by PyTorch's functions or by OpenCV's give the same results with tenter in their place, and
those that resize by other means are left alone."""

from __future__ import annotations

import importlib
import itertools
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tenter.torch  # noqa: E402

torch.manual_seed(0)
IMAGE = torch.rand(2, 3, 24, 32)
BYTES = (IMAGE[0] * 255).to(torch.uint8)
VOLUME = torch.rand(1, 12, 16, 20)


def library(name):
    """Of libraries that cannot be imported, as their builds are for another PyTorch, tests are skipped too."""
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError) as missing:
        pytest.skip(f"{name}: {missing}")


def torchvision_v2(mode):
    v2 = library("torchvision.transforms.v2")
    return v2.Resize((17, 41), v2.InterpolationMode(mode), antialias=True)


def torchvision_v1():
    return library("torchvision.transforms").Resize(19, antialias=True)


def kornia_resize(interpolation, antialias=False):
    return lambda x: library("kornia.geometry").resize(x, (30, 19), interpolation, antialias=antialias)


def positions_of_timm(x):
    embed = library("timm.layers").resample_abs_pos_embed
    return embed(x.reshape(1, -1, 8)[:, :50], [11, 13], num_prefix_tokens=1)


def layer_of_diffusers(name):
    torch.manual_seed(0)
    return getattr(library("diffusers.models.upsampling"), name)(3, use_conv=name == "Upsample2D")


def segmentation_model(name):
    make = getattr(library("segmentation_models_pytorch"), name)
    torch.manual_seed(0)
    model = make("resnet18", encoder_weights=None, classes=2).eval()
    return lambda x: model(torch.nn.functional.pad(x, (0, 32, 0, 40)))


def of_monai(name, *args, **kwargs):
    transforms = library("monai.transforms")
    return lambda x: getattr(transforms, name)(*args, **kwargs)(x).as_tensor()


def of_torchio(name, *args):
    torchio = library("torchio")
    return lambda x: getattr(torchio, name)(*args)(x)


# What is called, its input, how far results may differ, and whether tenter computes in it.
CALLS = {
    "torchvision v2, floats": (lambda: torchvision_v2("bilinear"), IMAGE, 1e-5, True),
    "torchvision v2, bytes": (lambda: torchvision_v2("bilinear"), BYTES, 1, True),
    "torchvision v2, nearest": (lambda: torchvision_v2("nearest-exact"), BYTES, 0, True),
    "torchvision v2, bicubic": (lambda: torchvision_v2("bicubic"), IMAGE, 1e-5, True),
    "torchvision v1": (torchvision_v1, IMAGE, 1e-5, True),
    "kornia, bilinear": (lambda: kornia_resize("bilinear"), IMAGE, 1e-5, True),
    "kornia, bicubic": (lambda: kornia_resize("bicubic"), IMAGE, 1e-5, True),
    "kornia, antialias": (lambda: kornia_resize("bilinear", True), IMAGE, 1e-5, True),
    "timm": (lambda: positions_of_timm, IMAGE, 1e-5, True),
    "diffusers, Upsample2D": (lambda: layer_of_diffusers("Upsample2D"), IMAGE, 1e-5, True),
    "segmentation models, Unet": (lambda: segmentation_model("Unet"), IMAGE, 1e-4, True),
    "segmentation models, FPN": (lambda: segmentation_model("FPN"), IMAGE, 1e-4, True),
    "segmentation models, DeepLabV3Plus": (lambda: segmentation_model("DeepLabV3Plus"), IMAGE, 1e-4, True),
    "MONAI, Resize": (lambda: of_monai("Resize", (7, 18, 25), mode="trilinear"), VOLUME, 1e-5, True),
    "MONAI, Resize of labels": (lambda: of_monai("Resize", (7, 18, 25), mode="nearest"), (VOLUME * 9).round(), 0, True),
    # of a MetaTensor, which overrides __torch_function__
    "MONAI, Zoom": (lambda: of_monai("Zoom", 1.3, mode="bilinear", keep_size=False), IMAGE[0], 0, False),
    "MONAI, Spacing": (lambda: of_monai("Spacing", (0.7, 1.0, 2.0)), VOLUME, 0, False),  # by grid_sample
    "TorchIO, Resize": (lambda: of_torchio("Resize", (10, 18, 25)), VOLUME, 0, False),  # by ITK
    "TorchIO, Resample": (lambda: of_torchio("Resample", 0.8), VOLUME, 0, False),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_library_gives_the_same_with_tenter_in_the_place_of_pytorch(name):
    make, x, room, ours = CALLS[name]
    call = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(1)
        want = call(x).detach()
        with tenter.torch.accelerate() as report:
            torch.manual_seed(1)
            made = call(x).detach()
    assert made.shape == want.shape and made.dtype == want.dtype
    assert (made.double() - want.double()).abs().max() <= room
    assert bool(report.computed.get("interpolate")) == ours and not (ours and report.passed)


PROCESSORS = ("ViT", "CLIP", "Siglip", "Bit", "Sam", "Qwen2VL", "Llava")  # DINOv2's is Bit's


@pytest.mark.parametrize("name", PROCESSORS)
def test_an_image_processor_of_transformers_gives_the_same_within_what_8_bits_round(name):
    library("torchvision")
    processor = getattr(library("transformers"), f"{name}ImageProcessor")()
    x = torch.nn.functional.interpolate(IMAGE[:1], (300, 400), mode="bicubic").clamp(0, 1)
    image = (x[0] * 255).to(torch.uint8)
    want = processor(images=image, return_tensors="pt")["pixel_values"]
    with tenter.torch.accelerate() as report:
        made = processor(images=image, return_tensors="pt")["pixel_values"]
    unit = 1 / 255 / (min(processor.image_std) if processor.do_normalize else 1)
    assert made.shape == want.shape and (made - want).abs().max() <= (2.01 if processor.resample == 3 else 1.01) * unit
    assert report.computed and not report.fallbacks


def test_arrays_of_mlx_give_what_numpy_gives():
    mx = library("mlx.core")
    x = np.random.default_rng(0).integers(0, 256, (12, 16), np.uint8)
    for dtype, call in itertools.product(
        ("float32", "uint8", "int16", "int64", "uint64", "complex64"),
        (
            lambda x: tenter.repeat_interleave(x, [2, 0] * 6, dim=0),
            lambda x: tenter.tile(x, (2, 3)),
            lambda x: tenter.resize(x, (7, 21)),
            lambda x: tenter.resize(x, (7, 21), mode="nearest"),
            lambda x: tenter.resize(x, (5, 4), mode="area"),
            lambda x: tenter.interpolate(x[None, None], scale_factor=1.5, mode="bicubic"),
        ),
    ):
        made, want = call(mx.array(x.astype(dtype))), call(x.astype(dtype))
        assert isinstance(made, mx.array) and made.dtype == getattr(mx, dtype)
        assert np.abs(np.array(made).astype(complex) - want).max() <= (1 if "int" in dtype else 1e-3)


@pytest.mark.parametrize("dtype", [np.uint8, np.float32], ids=["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 7])
def test_albumentations_gives_the_same_with_tenter_in_the_place_of_opencv(monkeypatch, channels, dtype):
    a, cv2 = library("albumentations"), library("cv2")
    functional = library("albumentations.augmentations.geometric.functional")
    x = np.random.default_rng(0).integers(0, 256, (61, 83, channels), np.uint8).astype(dtype)
    x = x / np.float32(255) if dtype is np.float32 else x
    modes = {cv2.INTER_NEAREST: "nearest", cv2.INTER_LINEAR: "linear", cv2.INTER_CUBIC: "cubic", cv2.INTER_AREA: "area"}
    calls = []

    def resize(image, size, interpolation):
        calls.append(size)
        return tenter.resize(image, size, axes=(0, 1), mode=modes[interpolation], like="opencv")

    made_by = ((a.Resize, (30, 41)), (a.LongestMaxSize, (40,)), (a.RandomResizedCrop, ((30, 41),)))
    for flag, (make, sizes) in itertools.product(modes, made_by):
        if make is not a.RandomResizedCrop or flag != cv2.INTER_AREA:  # docs/differences.md: where one axis grows
            results = []
            for ours in (False, True):
                with monkeypatch.context() as patched:
                    if ours:
                        patched.setattr(functional, "resize", resize)
                    results.append(
                        a.Compose([make(*sizes, interpolation=flag)], seed=7)(image=x, mask=x[..., 0].copy())
                    )
            for name in ("image", "mask"):
                theirs, made = (result[name] for result in results)
                assert made.shape == theirs.shape and made.dtype == theirs.dtype
                assert np.abs(made.astype(float) - theirs).max() <= (1 if dtype is np.uint8 else 1e-5)
    assert calls
