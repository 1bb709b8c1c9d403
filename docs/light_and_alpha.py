"""Draws docs/operations/light-and-alpha.png: `python docs/light_and_alpha.py`.

Each tile shows the pixels of a result of `tenter.image.resize`, enlarged without a filter.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

import tenter

Pixels = npt.NDArray[Any]

TILE, GAP, MARGIN, HEAD, LABEL = 480, 32, 40, 64, 56
GRAY, CARD = "#768390", (222, 235, 247)  # gray is read on white and on black; the background is transparent
SIDE, SMALL = 160, (40, 40)
AMBER = (245, 166, 35)


def star() -> Pixels:
    """A star with smooth edges on transparent black, as most programs store a transparent background."""
    angle = np.arange(10) * np.pi / 5
    reach = SIDE * 4 * np.where(np.arange(10) % 2, 0.2, 0.47)
    corners = np.stack([SIDE * 2 + reach * np.sin(angle), SIDE * 2.1 - reach * np.cos(angle)], 1)
    mask = Image.new("L", (SIDE * 4, SIDE * 4))
    ImageDraw.Draw(mask).polygon(corners.ravel().tolist(), 255)
    alpha = np.asarray(mask.reduce(4))
    color = np.where(alpha[..., None] > 0, np.array(AMBER, np.uint8), np.uint8(0))
    return np.concatenate([color, alpha[..., None]], -1)


def night() -> Pixels:
    """Lines one pixel wide on black."""
    image = Image.new("RGB", (SIDE, SIDE))
    pen = ImageDraw.Draw(image)
    middle = SIDE // 2
    for k, color in enumerate(((255, 255, 255), (255, 120, 0), (0, 200, 255), (255, 255, 255))):
        radius = 22 + 16 * k
        pen.ellipse((middle - radius, middle - radius, middle + radius, middle + radius), outline=color)
    for turn in np.arange(12) * np.pi / 6:
        pen.line([round(middle + r * f(turn)) for r in (22, 76) for f in (np.cos, np.sin)], fill=(255, 255, 255))
    return np.asarray(image)


def on_card(pixels: Pixels) -> Pixels:
    """The pixels, composited with alpha on a pale blue page."""
    alpha = pixels[..., 3:] / 255
    return np.rint(pixels[..., :3] * alpha + np.array(CARD) * (1 - alpha)).astype(np.uint8)


def larger(pixels: Pixels) -> Image.Image:
    factor = TILE // len(pixels)
    return Image.fromarray(pixels.repeat(factor, 0).repeat(factor, 1))


def drawn() -> Image.Image:
    icon, lines, how = star(), night(), {"mode": "linear"}
    rows = [
        ("Alpha: a star on transparent black, 160 x 160 to 40 x 40", [
            (on_card(icon)[:60, 50:110], "the star's tip, before: enlarged"),
            (on_card(tenter.image.resize(icon, SMALL, alpha=False)), "alpha=False: a dark seam"),
            (on_card(tenter.image.resize(icon, SMALL, alpha=True)), "alpha=True: no seam"),
        ]),
        ("Light: lines of one pixel on black, 160 x 160 to 40 x 40", [
            (lines[:60, 50:110], "a part of it, before: enlarged"),
            (tenter.image.resize(lines, SMALL, **how), "by default: fainter than before"),
            (tenter.image.resize(lines, SMALL, **how, linear_light=True), "linear_light=True: as bright as before"),
        ]),
    ]  # fmt: skip
    height = 2 * MARGIN + len(rows) * (HEAD + TILE + LABEL) - 10
    sheet = Image.new("RGBA", (2 * MARGIN + 3 * TILE + 2 * GAP, height))
    pen = ImageDraw.Draw(sheet)
    for r, (heading, tiles) in enumerate(rows):
        top = MARGIN + r * (HEAD + TILE + LABEL)
        pen.text((MARGIN, top + 30), heading, GRAY, ImageFont.load_default(34), "ls")
        for k, (pixels, label) in enumerate(tiles):
            left = MARGIN + k * (TILE + GAP)
            sheet.paste(larger(pixels), (left, top + HEAD - 10))
            pen.text((left, top + HEAD + TILE + 24), label, GRAY, ImageFont.load_default(27), "ls")
    return sheet


def main() -> None:
    drawn().save(Path(__file__).with_name("operations") / "light-and-alpha.png", optimize=True)


if __name__ == "__main__":
    main()
