"""Write GIF files: colors in palettes, and frames as they are seen over those before them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.pillow import CLEARED, image_of

if TYPE_CHECKING:
    from PIL import Image

CLEAR, HALF = 255, 128
STAYS = 1  # what becomes of a frame before the next one is drawn


def write(file: BinaryIO, pictures: list[Picture], origin: Origin) -> None:
    """Write one picture or the frames of an animation. Alpha of a half and more is opaque, as GIF has no other."""
    options: dict[str, Any] = {}
    if pictures[0].metadata.comment:
        options["comment"] = pictures[0].metadata.comment
    if len(pictures) == 1 and pictures[0].kind in ("palette", "bilevel", "gray"):
        image_of(pictures[0]).save(file, "GIF", **options)
        return
    colors, seen = zip(*(_split(picture) for picture in pictures))
    clear = not all(bool(mask.all()) for mask in seen)
    frames = [_indexed(c, mask, clear, dither=len(pictures) == 1) for c, mask in zip(colors, seen)]
    if clear:
        _mark_clear(frames)
    if len(frames) > 1:
        options |= {"save_all": True, "append_images": frames[1:], "disposal": _disposals(pictures, list(seen))}
        options["duration"] = [round(picture.duration) for picture in pictures]
        if origin.plays != 1:
            options["loop"] = max(origin.plays - 1, 0)  # GIF says how often it plays again
    frames[0].save(file, "GIF", **options)


def _split(picture: Picture) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Colors as RGB, and where they are seen."""
    rgba = np.asarray(image_of(picture).convert("RGBA"))
    seen = rgba[..., 3] >= HALF
    colors = rgba[..., :3].copy()
    if not seen.all():  # so that what is not seen needs no place in the palette
        colors[~seen] = colors[seen][0] if seen.any() else 0
    return colors, seen


def _indexed(colors: npt.NDArray[np.uint8], seen: npt.NDArray[np.bool_], clear: bool, dither: bool) -> Image.Image:
    """Colors by a palette of their own, with one place left for what is clear, if any frame has that."""
    from PIL import Image

    most = CLEAR if clear else CLEAR + 1
    image = Image.fromarray(colors)
    if image.getcolors(most) is not None:
        different, index = np.unique(colors.reshape(-1, 3), axis=0, return_inverse=True)
        indices, palette = index.reshape(colors.shape[:2]).astype(np.uint8), different.astype(np.uint8).tobytes()
    else:
        quantized = image.quantize(most, Image.Quantize.MEDIANCUT, kmeans=3, dither=Image.Dither.NONE)
        if dither:
            quantized = image.quantize(palette=quantized, dither=Image.Dither.FLOYDSTEINBERG)
        indices, palette = np.asarray(quantized).copy(), bytes(quantized.getpalette() or ())[: 3 * most]
    indices[~seen] = CLEAR
    frame = Image.frombytes("P", image.size, indices.tobytes())
    frame.putpalette(palette.ljust(3 * (CLEAR + 1), b"\0") if clear else palette)
    return frame


def _mark_clear(frames: list[Image.Image]) -> None:
    """Give what is clear a color that no frame has: Pillow compares frames by colors."""
    palettes = [bytes(frame.getpalette() or ()) for frame in frames]
    used = {palette[at : at + 3] for palette in palettes for at in range(0, 3 * CLEAR, 3)}
    color = next(c for n in range(1 << 24) if (c := n.to_bytes(3, "big")) not in used)
    for frame, palette in zip(frames, palettes):
        frame.putpalette(palette[: 3 * CLEAR] + color)
        frame.info["transparency"] = CLEAR


def _disposals(pictures: list[Picture], seen: list[npt.NDArray[np.bool_]]) -> list[int]:
    """As they were, but a frame is cleared if the next one is clear where it is seen, and none goes back to the frame
    before it, as each is written as it is seen."""
    kept = [STAYS if picture.disposal == 3 else picture.disposal for picture in pictures]
    for n, (mask, after) in enumerate(pairwise(seen)):
        if bool((mask & ~after).any()):
            kept[n] = CLEARED
    return kept
