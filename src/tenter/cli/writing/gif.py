"""Write GIF files: colors in palettes, and frames as they are seen over those before them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

import tenter
from tenter.cli.picture import Origin, Picture
from tenter.cli.writing.frames import box_of, in_order, merged, with_next
from tenter.cli.writing.pillow import CLEARED, image_of

if TYPE_CHECKING:
    from PIL import Image

MOST, HALF = 256, 128  # colors of a palette; alpha that is opaque
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


def write(file: BinaryIO, pictures: Iterator[Picture], origin: Origin) -> None:
    """Write one image or the frames of an animation. Alpha of a half and more is opaque, as GIF has no other."""
    first = next(pictures)
    comment = first.metadata.comment
    if origin.frames == 1 and first.kind in ("palette", "bilevel", "gray"):
        image_of(_with_one_clear(first)).save(file, "GIF", **({"comment": comment} if comment else {}))
        return
    frames = merged((_frame(picture) for picture in chain([first], pictures)), _equal, _longer)
    # Pillow lets other threads run while it quantizes. A process of several has one thread.
    drawn = in_order(_drawn, _planned(frames), max(1, min(origin.frames, tenter.get_num_threads())))
    height, width = first.pixels.shape[:2]
    table, parts_of_first = next(drawn)
    bits = max(1, (len(table) // 3 - 1).bit_length())
    file.write(b"GIF89a" + struct.pack("<HHBBB", width, height, 0x7F + bits, 0, 0) + table.ljust(3 << bits, b"\0"))
    if origin.frames > 1 and origin.plays != 1:  # GIF says how often it plays again
        file.write(b"!\xff\x0bNETSCAPE2.0\3\1" + struct.pack("<HB", max(origin.plays - 1, 0), 0))
    if comment:
        parts = [comment[at : at + 255] for at in range(0, len(comment), 255)]
        file.write(b"!\xfe" + b"".join(bytes([len(part)]) + part for part in parts) + b"\0")
    file.writelines(parts_of_first)
    for _, parts_of_frame in drawn:
        file.writelines(parts_of_frame)
    file.write(b";")


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


def _equal(a: Frame, b: Frame) -> bool:
    return np.array_equal(a.colors, b.colors) and np.array_equal(a.seen, b.seen)


def _longer(a: Frame, b: Frame) -> Frame:
    return b._replace(duration=a.duration + b.duration, disposal=a.disposal)


def _planned(frames: Iterator[Frame]) -> Iterator[tuple[Frame, Mask | None, bool]]:
    """Each frame, where it is what the one before it leaves, and whether it is the first. A frame is cleared if the
    next one is clear where it is seen; its place is then the whole image."""
    before = None
    for frame, after in with_next(frames):
        if after is not None and bool((frame.seen & ~after.seen).any()):
            frame = frame._replace(disposal=CLEARED)
        yield frame, None if before is None else _unchanged(before, frame), before is None
        before = frame


def _unchanged(before: Frame, after: Frame) -> Mask | None:
    """Where a frame has the color of the one before it, which is still there. None: nowhere."""
    if before.disposal == CLEARED:
        return None
    same: Mask = (before.colors == after.colors) & before.seen & after.seen
    return same if same.any() else None


def _drawn(planned: tuple[Frame, Mask | None, bool]) -> tuple[bytes, list[bytes]]:
    """The palette of a frame, and the frame as a GIF has it: what of it is drawn over the one before, with its palette;
    that of the first frame is the file's, as some decoders expect one there."""
    from PIL.GifImagePlugin import getdata

    frame, same, is_first = planned
    image = _indexed(frame, same)
    height, width = frame.seen.shape
    box = (0, 0, width, height)
    if same is not None and frame.disposal != CLEARED:
        drawn = frame.seen & ~same
        box = box_of(drawn.any(1), drawn.any(0))
        image = image.crop(box)
    how: dict[str, Any] = {"duration": frame.duration, "disposal": frame.disposal, "include_color_table": not is_first}
    if "transparency" in image.info:
        how["transparency"] = image.info["transparency"]
    return bytes(image.getpalette() or ()), getdata(image, box[:2], **how)


def _indexed(frame: Frame, same: Mask | None) -> Image.Image:
    """A frame with its palette: all its colors if they fit, else those of the pixels that have changed, as unchanged
    pixels would flicker. What is clear or unchanged needs a place in the palette too."""
    drawn = frame.seen if same is None else frame.seen & ~same
    return _exactly(frame.colors, drawn) or _exactly(frame.colors, frame.seen) or _dithered(frame.colors, drawn)


def _exactly(colors: Colors, drawn: Mask) -> Image.Image | None:
    """All colors as they are; None if there are too many."""
    most = MOST - (not drawn.all())
    different = _image(_with_drawn_alone(colors, drawn)).getcolors(most)
    if different is None:
        return None
    palette = np.array(sorted(color for _, color in different), np.uint8)
    indices = np.zeros(colors.shape, np.uint8)
    _set_exact(indices, colors, palette)
    return _paletted(indices, palette, drawn)


def _dithered(colors: Colors, drawn: Mask) -> Image.Image:
    """The nearest colors of a palette, their errors spread to the pixels around. Colors of large areas are exact."""
    from PIL import Image

    some = _sample(colors[drawn])
    sample, most = _image(some[None]), MOST - (not drawn.all())
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
    return _paletted(indices, palette, drawn)


def _sample(colors: Colors) -> Colors:
    """Some of the pixels, evenly taken."""
    return colors[:: max(2 if len(colors) > 2 * (MOST - 1) else 1, -(-len(colors) // SAMPLE))]


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


def _paletted(indices: npt.NDArray[np.uint8], palette: npt.NDArray[np.uint8], drawn: Mask) -> Image.Image:
    """The number after the palette's last is what is not drawn."""
    from PIL import Image

    clear = None if drawn.all() else len(palette)
    if clear is not None:
        indices[~drawn] = clear
    frame = Image.frombytes("P", indices.shape[::-1], indices.tobytes())
    frame.putpalette(palette.tobytes() + (b"" if clear is None else bytes(3)))
    if clear is not None:
        frame.info["transparency"] = clear
    return frame
