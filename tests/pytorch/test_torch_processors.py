"""Processors of transformers, read as transforms; and tiles, whose sizes are theirs."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import tenter
from roots import DOCS
from tenter.image import Budget, Tiles, resize
from tenter.torch.processors import READ
from tenter.torch.transforms import Letterbox, Patches, Resize

Image = pytest.importorskip("PIL.Image")
MEAN, STD = (0.48, 0.45, 0.4), (0.26, 0.25, 0.28)
RANDOM = np.random.default_rng(0)


def noise(height, width):
    return RANDOM.integers(0, 256, (height, width, 3), np.uint8)


def configured(name, **other):
    """A processor of that name with a configuration as transformers has it."""
    how = {"patch_size": 8, "resample": 3, "image_mean": [0.5] * 3, "image_std": [0.2] * 3, "rescale_factor": 1 / 255}
    return type(name, (), {**how, **dict.fromkeys(("do_resize", "do_rescale", "do_normalize"), True), **other})()


def sides(height, width):
    return {"height": height, "width": width}


def test_a_processors_configuration_says_all_arguments():
    size = {"shortest_edge": 1000, "longest_edge": 4000}
    qwen = configured("Qwen2VLImageProcessorPil", merge_size=2, temporal_patch_size=3, size=size)
    want = Patches(Budget(4000, 1000, 16), 8, merge=2, frames=3, mean=(0.5,) * 3, std=(0.2,) * 3)
    assert repr(Patches.of(qwen)) == repr(want)
    siglip = configured("Siglip2ImageProcessor", max_num_patches=40, do_normalize=False, resample=2)
    want = Patches(Budget(2560, multiple=8, enlarge=True), 8, channels_last=True, interpolation="bilinear")
    assert repr(Patches.of(siglip)) == repr(want)
    whole = {"mean": (0.5,) * 3, "std": (0.2,) * 3}
    cropped = {"do_center_crop": True, "crop_size": sides(6, 6)}
    pinpoints = [[6, 12], [18, 6]]
    llava = configured(
        "LlavaNextImageProcessorPil", size={"shortest_edge": 6}, image_grid_pinpoints=pinpoints, **cropped
    )
    tiles = Tiles(6, [(1, 2), (3, 1)], pad=0)
    assert Patches.of(llava).size.place(40, 52) == tiles.place(40, 52)
    assert Patches.of(llava).overview == "first" and Patches.of(llava).patch == (6, 6)
    intern = configured("GotOcr2ImageProcessor", size=sides(6, 8), crop_to_patches=True, min_patches=1, max_patches=5)
    assert repr(Patches.of(intern)) == repr(Patches(Tiles((6, 8), 5), (6, 8), overview="last", **whole))
    intern.min_patches = 4
    assert Patches.of(intern).size.grids == ((4, 1), (2, 2), (1, 4), (5, 1), (1, 5))
    intern.crop_to_patches = False
    assert repr(Patches.of(intern)) == repr(Patches((6, 8), (6, 8), **whole))
    for name in ("Gemma3ImageProcessor", "SiglipImageProcessor"):
        assert repr(Patches.of(configured(name, size=sides(6, 8)))) == repr(Patches((6, 8), (6, 8), **whole))
    pixtral = Patches.of(configured("PixtralImageProcessor", size={"longest_edge": 32}, patch_size=sides(4, 8)))
    assert pixtral.patch == (4, 8) and pixtral(noise(50, 90)).grid.tolist() == [[1, 5, 4]]
    clip = Patches.of(configured("CLIPImageProcessor", size={"shortest_edge": 8}, **cropped))
    assert clip(noise(20, 30)).patches.shape == (1, 108)


def test_the_page_names_the_processors_that_are_read():
    page = (DOCS / "vision-language.md").read_text().split("## Processors")[1]
    assert set(re.findall(r"`(\w+ImageProcessor)`", page)) == set(READ)


def test_tiles_are_those_of_the_resized_image_beside_an_overview():
    for x in (noise(40, 52), noise(90, 20), noise(7, 6)):
        stretched, padded = Tiles((6, 8), 4), Tiles(8, [(1, 2), (2, 1), (2, 2)], pad=7)
        for size, overview in ((stretched, "last"), (padded, "first"), (stretched, None)):
            patch = (6, 8) if size is stretched else (8, 8)
            patches, grid, ends = Patches(size, patch, overview=overview, mean=MEAN, std=STD)([x, x])
            (rows, columns), y = grid[0, 1:].tolist(), resize(x, size, mode="cubic")
            assert y.shape[:2] == (rows * patch[0], columns * patch[1])
            floats = Resize(y.shape[:2], mean=MEAN, std=STD)(y)
            tiles = [t.flatten() for row in floats.split(patch[0], 1) for t in row.split(patch[1], 2)]
            whole = [Resize(patch, "bicubic", mean=MEAN, std=STD)(x).flatten()]
            if overview == "first":
                tiles = whole + tiles
            elif overview == "last" and len(tiles) > 1:
                tiles += whole
            assert torch.equal(patches, torch.stack(tiles + tiles)), (x.shape, overview)
            assert ends.tolist() == [0, len(tiles), 2 * len(tiles)]


def test_tiles_suit_the_ratio():
    assert Tiles(448, 12).place(1512, 2016).size == (1344, 1792)
    assert Tiles(448, np.int64(12)) == Tiles(448, 12)
    sizes = [Tiles(10, 6).place(height, 60).size for height in (10, 20, 60, 500)]
    assert sizes == [(10, 60), (10, 30), (20, 20), (60, 10)]
    place = Tiles(8, [(1, 2), (2, 2)], pad=0).place(40, 52)
    assert place.size == (16, 16) and place.inside == ((1, 14), (0, 16))
    assert Tiles(8, 3).allowed() == [(1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]
    transform = Letterbox((16, 16), "bicubic", pad=0)
    assert transform.fit.place(40, 52).resized == (12, 16)  # the nearest int, where LLaVA-NeXT rounds up


SMALL = torch.zeros(3, 20, 20)
WRONG = [
    (lambda: Tiles(0, 4), ValueError, "tile: expected sizes that are ints >= 1, got 0"),
    (lambda: Tiles(8, 0), ValueError, "grids: expected"),
    (lambda: Tiles(8, []), TypeError, "grids: expected the most tiles, or pairs (rows, columns), got []"),
    (lambda: Tiles(8, [(1, 2, 3)]), TypeError, "grids: expected the most tiles"),
    (lambda: Tiles(8, [(1, 0)]), ValueError, "grids: expected sizes that are ints >= 1"),
    (lambda: Tiles(8, 4, pad="white"), TypeError, "pad: expected a number or None"),
    (lambda: Patches(Tiles(8, 4), 8, overview="middle"), ValueError, "overview: expected"),
    (lambda: Patches(Tiles(8, 4), 9)(SMALL), ValueError, "images: expected a height and a width that are multiples"),
    (lambda: Patches(Tiles(8, [(1, 2)], pad=300), 8)([SMALL.byte()] * 2), ValueError, "pad: expected values of uint8, got 300 (of images[0])"),
    (lambda: Patches((8, 16), 8, overview="last")([SMALL, SMALL[None]]), ValueError, "images[1]: expected images where there is an overview, got a video"),
    (lambda: Patches.of(Resize(8)), TypeError, "processor: expected one of Qwen2VLImageProcessor, Siglip2ImageProcessor, LlavaNextImageProcessor"),
    (lambda: Patches.of(configured("Siglip2ImageProcessor", rescale_factor=1 / 127.5)), ValueError, "processor: expected one that resizes, and rescales by 1 / 255, got do_resize=True"),
    (lambda: Patches.of(configured("Gemma3ImageProcessor", size=sides(8, 8), do_pan_and_scan=True)), ValueError, "processor: expected one without do_pan_and_scan"),
    (lambda: Patches.of(configured("CLIPImageProcessor", size={"shortest_edge": 8}, do_center_crop=False)), ValueError, "processor: expected one whose images have one size"),
    (lambda: Patches.of(configured("CLIPImageProcessor", size={"shortest_edge": 8}, do_center_crop=True, crop_size=sides(9, 8))), ValueError, "processor: expected one whose crop_size is at most"),
    (lambda: Patches.of(configured("LlavaNextImageProcessor", size={"shortest_edge": 8}, do_center_crop=True, crop_size=sides(9, 9))), ValueError, "processor: expected one whose crop_size is its size"),
    (lambda: Patches.of(configured("LlavaNextImageProcessor", size=sides(8, 8), do_center_crop=False, image_grid_pinpoints=[[8, 20]])), ValueError, "processor: expected image_grid_pinpoints that are multiples"),
    (lambda: Patches.of(configured("SiglipImageProcessor", size={"width": 8})), ValueError, "processor: expected one whose size has a height and a width"),
]  # fmt: skip


def test_wrong_calls_name_the_argument_or_the_image():
    for k, (call, kind, says) in enumerate(WRONG):
        with pytest.raises(kind) as caught:
            call()
        assert says in str(caught.value), (k, str(caught.value))


# ---- transformers itself: `pip install ".[models]"`, and no torchvision, as its processors for tensors are others


def made(model, name, **how):
    module = pytest.importorskip(f"transformers.models.{model}.image_processing_pil_{model}")
    return getattr(module, name + "ImageProcessorPil")(**how)


CONFIGURATIONS = {
    "Qwen2-VL": ("qwen2_vl", "Qwen2VL", {}),
    "Qwen3-VL": ("qwen2_vl", "Qwen2VL", {"patch_size": 16, "size": {"shortest_edge": 64**2, "longest_edge": 300**2}, "image_mean": MEAN, "resample": 2}),
    "SigLIP 2": ("siglip2", "Siglip2", {}),
    "SigLIP 2, small": ("siglip2", "Siglip2", {"patch_size": 8, "max_num_patches": 900, "do_normalize": False, "resample": 1}),
    "LLaVA-NeXT": ("llava_next", "LlavaNext", {"size": {"shortest_edge": 336}, "crop_size": sides(336, 336)}),
    "LLaVA-NeXT, small": ("llava_next", "LlavaNext", {"size": sides(48, 48), "crop_size": sides(48, 48), "image_grid_pinpoints": [[48, 96], [96, 96], [144, 48]], "resample": 2, "do_normalize": False}),
    "InternVL": ("got_ocr2", "GotOcr2", {"size": sides(448, 448), "crop_to_patches": True}),
    "InternVL, few tiles": ("got_ocr2", "GotOcr2", {"size": sides(64, 48), "crop_to_patches": True, "min_patches": 3, "max_patches": 7}),
    "InternVL, no tiles": ("got_ocr2", "GotOcr2", {}),
    "Pixtral": ("pixtral", "Pixtral", {}),
    "Pixtral, small": ("pixtral", "Pixtral", {"patch_size": sides(14, 14), "size": {"longest_edge": 300}}),
    "Gemma 3": ("gemma3", "Gemma3", {"size": sides(896, 896)}),
    "SigLIP": ("siglip", "Siglip", {}),
    "CLIP": ("clip", "CLIP", {}),
    "CLIP, uneven": ("clip", "CLIP", {"size": {"shortest_edge": 70}, "crop_size": sides(64, 48)}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_patches_are_those_of_the_processor(name):
    model, kind, how = CONFIGURATIONS[name]
    pytest.importorskip("transformers")
    processor = made(model, kind, **how)
    ours = Patches.of(processor)
    for _ in range(12):
        each = [tuple(map(int, RANDOM.integers(3, 1200, 2))) for _ in range(3)]
        images = [Image.fromarray(noise(*s)) for s in each if max(s) <= 100 * min(s)]
        if not images:
            continue
        want, got = processor(images, return_tensors="pt"), ours(images)
        counts = torch.diff(got.cu_seqlens).long()
        assert torch.equal(got.patches, laid_out(want, ours, counts, name)), (name, each)


def laid_out(want, ours, counts, name):
    """pixel_values of transformers as patches, one image after the other; its counts are those of `counts`."""
    values = want["pixel_values"]
    if "image_grid_thw" in want:
        assert torch.equal(want["image_grid_thw"].prod(1), counts)
        return values
    if "spatial_shapes" in want:
        assert torch.equal(torch.as_tensor(want["spatial_shapes"]).prod(1), counts)
        return tenter.ragged.unpad(values, counts)
    if name.startswith("LLaVA"):  # padded to the most tiles
        assert all(not values[k, n:].any() for k, n in enumerate(counts.tolist()))
        return tenter.ragged.unpad(values, counts).flatten(1)
    if name.startswith("Pixtral"):  # padded to the largest image
        (h, w), found = ours.patch, []
        for x, (height, width) in zip(values, want["image_sizes"].tolist()):
            cut = x[:, :height, :width].reshape(3, height // h, h, width // w, w)
            found.append(cut.permute(1, 3, 0, 2, 4).reshape(-1, 3 * h * w))
        return torch.cat(found)
    if "num_patches" in want:
        assert torch.equal(torch.as_tensor(want["num_patches"]), counts)
    return values.flatten(1)
