"""What the configuration of an image processor of transformers says, as arguments of `Patches`."""

from collections.abc import Callable
from typing import Any

from tenter._arrays.arguments import describe
from tenter._arrays.errors import refuse
from tenter._specs.model_sizes import Budget, LongerSide, ShorterSide, Tiles


def configured(processor: Any) -> dict[str, Any]:
    names = [kind.__name__ for kind in type(processor).__mro__]
    read = next((READ[name] for name in READ if any(n.startswith(name) for n in names)), None)
    if read is None:
        hint = " (of a processor with a tokenizer: processor.image_processor)" * hasattr(processor, "image_processor")
        refuse(TypeError, "processor", f"one of {', '.join(READ)}{hint}", describe(type(processor).__name__))
    rescales = processor.do_rescale and abs(processor.rescale_factor * 255 - 1) < 1e-6
    if not (processor.do_resize and rescales):
        what = f"do_resize={processor.do_resize}, do_rescale={processor.do_rescale} by {processor.rescale_factor}"
        refuse(ValueError, "processor", "one that resizes, and rescales by 1 / 255", what)
    how: dict[str, Any] = {"interpolation": int(processor.resample)}
    if processor.do_normalize:
        how |= {"mean": tuple(processor.image_mean), "std": tuple(processor.image_std)}
    return how | read(processor)


def _qwen2_vl(processor: Any) -> dict[str, Any]:
    patch, merge, size = int(processor.patch_size), processor.merge_size, processor.size
    budget = Budget(int(size["longest_edge"]), int(size["shortest_edge"]), patch * merge)
    return {"size": budget, "patch": patch, "merge": merge, "frames": processor.temporal_patch_size}


def _siglip2(processor: Any) -> dict[str, Any]:
    patch = int(processor.patch_size)
    budget = Budget(int(processor.max_num_patches) * patch**2, multiple=patch, enlarge=True)
    return {"size": budget, "patch": patch, "channels_last": True}


def _llava_next(processor: Any) -> dict[str, Any]:
    side = _get(processor.size, "shortest_edge")
    tile = (side, side) if side else _pair(processor.size)
    if processor.do_center_crop and _pair(processor.crop_size) != tile:
        refuse(
            ValueError, "processor", f"one whose crop_size is its size, {tile}", describe(_pair(processor.crop_size))
        )
    grids = [(int(height), int(width)) for height, width in processor.image_grid_pinpoints]
    if any(n % m for each in grids for n, m in zip(each, tile)):
        refuse(ValueError, "processor", f"image_grid_pinpoints that are multiples of {tile}", describe(grids))
    tiles = Tiles(tile, [(height // tile[0], width // tile[1]) for height, width in grids], pad=0)
    return {"size": tiles, "patch": tile, "overview": "first"}


def _got_ocr2(processor: Any) -> dict[str, Any]:
    tile = _pair(processor.size)
    if not (processor.crop_to_patches and processor.max_patches > 1):
        return {"size": tile, "patch": tile}
    tiles = Tiles(tile, int(processor.max_patches))
    if processor.min_patches > 1:
        tiles = Tiles(tile, [each for each in tiles.allowed() if each[0] * each[1] >= processor.min_patches])
    return {"size": tiles, "patch": tile, "overview": "last"}


def _pixtral(processor: Any) -> dict[str, Any]:
    side = _get(processor.size, "longest_edge")
    patch = processor.patch_size
    each = (int(patch), int(patch)) if isinstance(patch, int) else _pair(patch)
    return {"size": LongerSide((side, side) if side else _pair(processor.size), each), "patch": each}


def _whole(processor: Any) -> dict[str, Any]:
    """Those whose images have one size: each is one patch."""
    if getattr(processor, "do_pan_and_scan", False):
        refuse(
            ValueError, "processor", "one without do_pan_and_scan (its crops are images of their own)", "one with it"
        )
    side = _get(processor.size, "shortest_edge")
    size = None if side else _pair(processor.size)
    if getattr(processor, "do_center_crop", False):
        crop = _pair(processor.crop_size)
        if side is not None and max(crop) <= side:
            return {"size": ShorterSide(side, crop), "patch": crop}
        if size != crop:
            expected = "one whose crop_size is at most the shortest_edge of its size, or its size"
            refuse(ValueError, "processor", expected, f"crop_size={crop}, size={side or size}")
    if size is None:
        refuse(ValueError, "processor", "one whose images have one size", f"shortest_edge={side} without a crop")
    return {"size": size, "patch": size}


def _get(size: Any, name: str) -> int | None:
    """A side that transformers keeps in a dict or in an object."""
    found = size.get(name) if isinstance(size, dict) else getattr(size, name, None)
    return None if found is None else int(found)


def _pair(size: Any) -> tuple[int, int]:
    found = _get(size, "height"), _get(size, "width")
    if None in found:
        refuse(ValueError, "processor", "one whose size has a height and a width", describe(size))
    return found  # type: ignore[return-value]


#: Classes of transformers, without the name of a backend at their end.
READ: dict[str, Callable[[Any], dict[str, Any]]] = {
    "Qwen2VLImageProcessor": _qwen2_vl,
    "Siglip2ImageProcessor": _siglip2,
    "LlavaNextImageProcessor": _llava_next,
    "GotOcr2ImageProcessor": _got_ocr2,
    "PixtralImageProcessor": _pixtral,
    "Gemma3ImageProcessor": _whole,
    "SiglipImageProcessor": _whole,
    "CLIPImageProcessor": _whole,
}
