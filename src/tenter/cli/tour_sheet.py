"""The tour's sheet: one photograph made smaller and larger in each mode, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tenter.cli.options import MODES

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

Pixels = npt.NDArray[Any]

TILE, GAP, MARGIN, COLUMNS = 264, 20, 40, 4
LABEL = 60
INK, FAINT, PAPER, MARK = (28, 30, 34), (96, 100, 108), (250, 250, 248), (0, 230, 255)

#: mode and antialias of each tile
SMALLER = (
    ("nearest", False),
    ("nearest-exact", False),
    ("bilinear", False),
    ("bicubic", False),
    ("area", False),
    ("bilinear", True),
    ("bicubic", True),
    ("lanczos", True),
)
LARGER = (
    ("nearest", False),
    ("nearest-exact", False),
    ("area", False),
    ("bilinear", False),
    ("bicubic", False),
    ("lanczos", True),
)
# the enlargement is no whole number, for else nearest and nearest-exact would be the same
DETAIL, SHRUNK = 46, 88


def draw_sheet(photo: Pixels, origin: str) -> Image.Image:
    """Draw the photograph, then the detail larger in each mode, then the whole smaller in each mode."""
    from PIL import Image, ImageDraw

    square = _square(photo)
    side = square.shape[0]
    detail = min(DETAIL, side // 2)
    top, left = _detail_corner(square, detail)
    shrunk = min(SHRUNK, side // 2)
    whole = (TILE, TILE)
    overview = _resized(square, whole, "lanczos", True)
    crop = square[top : top + detail, left : left + detail]

    rows = -(-(len(LARGER) + 2) // COLUMNS) + -(-len(SMALLER) // COLUMNS)
    width = 2 * MARGIN + COLUMNS * TILE + (COLUMNS - 1) * GAP
    height = 2 * MARGIN + 72 + 2 * 58 + rows * (TILE + LABEL)
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN), "tenter: one photograph, every mode", INK, _font(30))
    size = f"{photo.shape[1]} x {photo.shape[0]} pixels"
    pen.text((MARGIN, MARGIN + 40), f"{origin}, {size}", FAINT, _font(16))

    y = _heading(pen, MARGIN + 72, f"Larger: {detail} x {detail} pixels to {TILE} x {TILE}")
    scale = TILE / side
    box = [round(edge * scale) for edge in (left, top, left + detail, top + detail)]
    tiles = [(overview, "the photograph", "marked: the detail that is enlarged")]
    tiles += [(_resized(crop, whole, mode, smooth), mode, _note(mode, smooth)) for mode, smooth in LARGER]
    corners = _align_corners(crop)
    tiles.insert(5, (corners, "bilinear, align_corners", "centres of the outer pixels at the edge"))
    bottom = _place(sheet, pen, tiles, y)
    # bright inside dark, to be seen on any photograph
    for grow, colour in ((1, MARK), (2, MARK), (3, INK)):
        frame = (MARGIN + box[0] - grow, y + box[1] - grow, MARGIN + box[2] + grow, y + box[3] + grow)
        pen.rectangle(frame, outline=colour)

    factor = max(1, TILE // shrunk)
    y = _heading(
        pen, bottom, f"Smaller: {side} x {side} pixels to {shrunk} x {shrunk}, pixels drawn {factor} x {factor}"
    )
    tiles = []
    for mode, smooth in SMALLER:
        small = _resized(square, (shrunk, shrunk), mode, smooth)
        # whole pixels, so that what is seen is the small picture and not a second filter
        tiles.append((small.repeat(factor, 0).repeat(factor, 1), mode, _note(mode, smooth, smaller=True)))
    _place(sheet, pen, tiles, y)
    return sheet


def _resized(pixels: Pixels, size: tuple[int, int], mode: str, antialias: bool) -> Pixels:
    import tenter

    result: Pixels = tenter.resize(pixels, size, axes=(0, 1), mode=MODES[mode], antialias=antialias)
    return result


def _align_corners(crop: Pixels) -> Pixels:
    import tenter

    planes = crop.transpose(2, 0, 1)[None]
    large: Pixels = tenter.interpolate(planes, size=(TILE, TILE), mode="bilinear", align_corners=True)
    return np.ascontiguousarray(large[0].transpose(1, 2, 0))


def _place(sheet: Image.Image, pen: ImageDraw.ImageDraw, tiles: list[tuple[Pixels, str, str]], y: int) -> int:
    """Paste tiles row by row with their labels; return where the next thing may begin."""
    from PIL import Image

    for index, (pixels, name, note) in enumerate(tiles):
        x = MARGIN + (index % COLUMNS) * (TILE + GAP)
        top = y + (index // COLUMNS) * (TILE + LABEL)
        sheet.paste(Image.fromarray(pixels), (x, top))
        pen.text((x, top + TILE + 4), name, INK, _font(16))
        pen.text((x, top + TILE + 23), note, FAINT, _font(13))
    return y + -(-len(tiles) // COLUMNS) * (TILE + LABEL)


def _heading(pen: ImageDraw.ImageDraw, y: int, text: str) -> int:
    pen.text((MARGIN, y + 16), text, INK, _font(21))
    return y + 58


def _note(mode: str, smooth: bool, smaller: bool = False) -> str:
    """Say in a few words what a mode does."""
    if mode == "area":
        return "mean of the pixels under the new one"
    if mode in ("nearest", "nearest-exact"):
        return "counts from the corner (OpenCV)" if mode == "nearest" else "counts from pixel centres (Pillow)"
    reach = {"bilinear": 2, "bicubic": 4, "lanczos": 6}[mode]
    if not smaller:
        return f"mixes {reach} x {reach} pixels"
    return "antialias: nothing is skipped" if smooth else "no antialias: skips pixels between"


def _square(photo: Pixels) -> Pixels:
    """Cut the largest square: from the middle of a wide picture, from the top of a tall one, where faces are."""
    side = min(photo.shape[:2])
    left = (photo.shape[1] - side) // 2
    return np.ascontiguousarray(photo[:side, left : left + side])


def _detail_corner(square: Pixels, detail: int) -> tuple[int, int]:
    """Find the window with the most contrast between neighbours: there the modes differ most."""
    grey = square.mean(axis=2)
    edges = np.zeros_like(grey)
    edges[1:] += np.abs(np.diff(grey, axis=0))
    edges[:, 1:] += np.abs(np.diff(grey, axis=1))
    sums = np.pad(edges.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    windows = sums[detail:, detail:] - sums[:-detail, detail:] - sums[detail:, :-detail] + sums[:-detail, :-detail]
    top, left = np.unravel_index(int(windows.argmax()), windows.shape)
    return int(top), int(left)


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size=size)
