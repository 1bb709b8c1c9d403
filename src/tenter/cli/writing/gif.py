"""Write GIF files: colors in palettes, and frames as they are seen over those before them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

import tenter
from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.pillow import CLEARED, image_of

if TYPE_CHECKING:
    from PIL import Image

CLEAR, HALF = 255, 128
STAYS = 1  # what becomes of a frame before the next one is drawn
#: At most this many pixels determine the palette. More make it hardly better and take much more time.
SAMPLE = 1 << 14
#: The means of a palette's colors are improved until no more than one pixel in so many changes its color.
SETTLED = 100
#: Red, green, blue and zero as one little-endian number.
NUMBER, WHITE = "<u4", 0xFFFFFF
#: Pixels for which a table of all colors does not pay.
FEW = 1 << 17
#: Pixels looked up at a time.
CHUNK = 1 << 18

Mask = npt.NDArray[np.bool_]
Colors = npt.NDArray[np.uint32]


class Frame(NamedTuple):
    """A frame as it is seen. seen: where its colors are; what is not seen has color 0. duration: rounded, in ms."""

    colors: Colors
    seen: Mask
    duration: int
    disposal: int


def write(file: BinaryIO, pictures: list[Picture], origin: Origin) -> None:
    """Write one image or the frames of an animation. Alpha of a half and more is opaque, as GIF has no other."""
    options: dict[str, Any] = {}
    if pictures[0].metadata.comment:
        options["comment"] = pictures[0].metadata.comment
    if len(pictures) == 1 and pictures[0].kind in ("palette", "bilevel", "gray"):
        image_of(_with_one_clear(pictures[0])).save(file, "GIF", **options)
        return
    frames = _merged([_frame(picture) for picture in pictures])
    disposals = _disposals(frames)
    clear = not all(bool(frame.seen.all()) for frame in frames)
    same = [None, *(_unchanged(a, b, how) for (a, b), how in zip(pairwise(frames), disposals))]
    # Pillow lets other threads run while it quantizes. A process of several has one thread.
    with ThreadPoolExecutor(max(1, min(len(frames), tenter.get_num_threads()))) as threads:
        images = list(threads.map(lambda frame, unchanged: _indexed(frame, unchanged, clear), frames, same))
    _mark_clear(images)
    if len(images) > 1:
        options |= {"save_all": True, "append_images": images[1:], "disposal": disposals}
        options["duration"] = [frame.duration for frame in frames]
        if origin.plays != 1:
            options["loop"] = max(origin.plays - 1, 0)  # GIF says how often it plays again
    elif len(pictures) > 1:
        options["duration"] = frames[0].duration
    images[0].save(file, "GIF", **options)


def _with_one_clear(picture: Picture) -> Picture:
    """An image whose palette has one clear color at most: PNG has an alpha for each, GIF the number of one."""
    colors, alphas = picture.palette or (b"", None)
    if not isinstance(alphas, bytes):
        return picture
    clear = np.flatnonzero(np.frombuffer(alphas, np.uint8) < HALF)
    if not len(clear):
        return replace(picture, palette=(colors, None))
    first = int(clear[0])
    pixels = np.where(np.isin(picture.pixels, clear), np.uint8(first), picture.pixels)
    return replace(picture, pixels=pixels, palette=(colors, first))


def _frame(picture: Picture) -> Frame:
    rgba = np.array(image_of(picture).convert("RGBA"))
    seen = rgba[..., 3] >= HALF
    colors: Colors = rgba.view(NUMBER)[..., 0]
    colors &= WHITE
    colors[~seen] = 0
    # As each frame is written as it is seen, none goes back to the one before it.
    return Frame(colors, seen, round(picture.duration), STAYS if picture.disposal == 3 else picture.disposal)


def _merged(frames: list[Frame]) -> list[Frame]:
    """Equal frames that follow each other as one, as long as both."""
    kept = frames[:1]
    for frame in frames[1:]:
        last = kept[-1]
        if np.array_equal(last.colors, frame.colors) and np.array_equal(last.seen, frame.seen):
            kept[-1] = frame._replace(duration=last.duration + frame.duration)
        else:
            kept.append(frame)
    return kept


def _disposals(frames: list[Frame]) -> list[int]:
    """As they were, except that a frame is cleared if the next one is clear where it is seen."""
    kept = [frame.disposal for frame in frames]
    for n, (before, after) in enumerate(pairwise(frames)):
        if bool((before.seen & ~after.seen).any()):
            kept[n] = CLEARED
    return kept


def _unchanged(before: Frame, after: Frame, disposal: int) -> Mask | None:
    """Where a frame has the color of the one before it, which is still there. None: nowhere."""
    if disposal == CLEARED:
        return None
    same: Mask = (before.colors == after.colors) & before.seen & after.seen
    return same if same.any() else None


def _indexed(frame: Frame, same: Mask | None, clear: bool) -> Image.Image:
    """A frame with its palette: all its colors if they fit, else those of the pixels that have changed, as unchanged
    pixels would flicker. One place of the palette is left for what is clear, if any frame has that."""
    found = _exactly(frame.colors, frame.seen, clear)
    if found is not None:
        return found
    drawn = frame.seen if same is None else frame.seen & ~same
    clear = clear or same is not None
    return _exactly(frame.colors, drawn, clear) or _dithered(frame.colors, drawn, clear)


def _exactly(colors: Colors, drawn: Mask, clear: bool) -> Image.Image | None:
    """All colors as they are; None if there are too many."""
    most = CLEAR if clear else CLEAR + 1
    different = _image(_with_drawn_alone(colors, drawn)).getcolors(most)
    if different is None:
        return None
    palette = np.array(sorted(color for _, color in different), np.uint8)
    indices = np.zeros(colors.shape, np.uint8)
    _set_exact(indices, colors, palette)
    return _paletted(indices, palette, drawn, clear)


def _dithered(colors: Colors, drawn: Mask, clear: bool) -> Image.Image:
    """The nearest colors of a palette, their errors spread to the pixels around. Colors of large areas are exact."""
    from PIL import Image

    some = _sample(colors[drawn])
    sample, most = _image(some[None]), CLEAR if clear else CLEAR + 1
    found = sample.quantize(most, Image.Quantize.MEDIANCUT, kmeans=max(1, len(some) // SETTLED)).getpalette() or []
    palette = np.array(found[: 3 * most], np.uint8).reshape(-1, 3)
    frequent = _frequent(some, len(palette))
    for color in frequent:
        distance = np.abs(palette.astype(int) - color).sum(1)
        palette[np.argmin(distance)] = color
    of = Image.new("P", (1, 1))
    of.putpalette(palette.tobytes())
    quantized = _image(_with_drawn_alone(colors, drawn)).quantize(palette=of, dither=Image.Dither.FLOYDSTEINBERG)
    indices = np.array(quantized)
    _set_exact(indices, colors, palette)  # Pillow takes colors for equal that differ in their last two bits
    return _paletted(indices, palette, drawn, clear)


def _sample(colors: Colors) -> Colors:
    """Some of the pixels, evenly taken."""
    return colors[:: max(2 if len(colors) > 2 * CLEAR else 1, -(-len(colors) // SAMPLE))]


def _frequent(colors: Colors, most: int) -> npt.NDArray[np.uint8]:
    """Colors of more pixels than there are for each place of a palette, the most frequent last."""
    different, counts = np.unique(colors, return_counts=True)
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] * most > len(colors)]
    return different[order].astype(NUMBER)[:, None].view(np.uint8)[:, :3]


def _set_exact(indices: npt.NDArray[np.uint8], colors: Colors, palette: npt.NDArray[np.uint8]) -> None:
    """Gives pixels whose color is in the palette its number."""
    keys = palette.astype(np.uint32) @ (1, 1 << 8, 1 << 16)
    if colors.size < FEW:
        order = np.argsort(keys)
        nearest = order[np.minimum(np.searchsorted(keys[order], colors), len(keys) - 1)]
        np.copyto(indices, nearest, casting="unsafe", where=keys[nearest] == colors)
        return
    places = np.zeros(WHITE + 1, np.uint16)  # of all colors; its memory is taken where it is touched
    places[keys] = 1 + np.arange(len(keys))
    rows = max(1, CHUNK // colors.shape[1])
    for top in range(0, len(colors), rows):
        found = places[colors[top : top + rows]]
        np.copyto(indices[top : top + rows], found - 1, casting="unsafe", where=found > 0)


def _with_drawn_alone(colors: Colors, drawn: Mask) -> Colors:
    """What is not drawn needs no place in the palette."""
    if drawn.all():
        return colors
    some = colors[np.unravel_index(np.argmax(drawn), drawn.shape)]
    return np.where(drawn, colors, some)


def _image(colors: Colors) -> Image.Image:
    from PIL import Image

    data = np.ascontiguousarray(colors, NUMBER).reshape(-1).view(np.uint8)
    return Image.frombytes("RGB", colors.shape[::-1], data.data, "raw", "RGBX")


def _paletted(indices: npt.NDArray[np.uint8], palette: npt.NDArray[np.uint8], drawn: Mask, clear: bool) -> Image.Image:
    from PIL import Image

    if clear:
        indices[~drawn] = CLEAR
    frame = Image.frombytes("P", indices.shape[::-1], indices.tobytes())
    frame.putpalette(palette.tobytes().ljust(3 * (CLEAR + 1) if clear else 0, b"\0"))
    if clear:
        frame.info["transparency"] = CLEAR
    return frame


def _mark_clear(frames: list[Image.Image]) -> None:
    """Give what is clear a color that no frame has: Pillow compares frames by colors."""
    palettes = [bytes(frame.getpalette() or ()) for frame in frames]
    used = {palette[at : at + 3] for palette in palettes for at in range(0, len(palette), 3)}
    color = next(c for n in range(1 << 24) if (c := n.to_bytes(3, "big")) not in used)
    for frame, palette in zip(frames, palettes):
        if "transparency" in frame.info:
            frame.putpalette(palette[: 3 * CLEAR] + color)
            frame.info["transparency"] = CLEAR
