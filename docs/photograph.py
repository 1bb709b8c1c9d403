"""Draws docs/tutorials/photo.png, a photograph shrunk with and without antialias: `python docs/photograph.py`.

The photograph is scikit-image's `coffee`, by Rachel Michetti, CC0. Pixels of the results are drawn four by four. The
background is transparent, for light pages and for dark ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F  # noqa: N812
from PIL import Image, ImageDraw, ImageFont
from skimage import data

import tenter

Pixels = npt.NDArray[Any]

TO, EACH, GAP, LABEL = (60, 60), 4, 12, 26
GRAY = "#768390"  # which is read on white and on black


def by_pytorch(x: Pixels, antialias: bool) -> Pixels:
    planes = torch.from_numpy(x).permute(2, 0, 1)[None]
    made = F.interpolate(planes, TO, mode="bilinear", antialias=antialias)
    return made[0].permute(1, 2, 0).numpy()


def shrunk() -> dict[str, Pixels]:
    """What is drawn, by its label, in two rows of three."""
    x = np.ascontiguousarray(data.coffee()[95:395, 40:340])
    return {
        "tenter, antialias=False": tenter.resize(x, TO, axes=(0, 1), antialias=False),
        "PyTorch": by_pytorch(x, False),
        "OpenCV, INTER_LINEAR": cv2.resize(x, TO, interpolation=cv2.INTER_LINEAR),
        "tenter": tenter.resize(x, TO, axes=(0, 1)),
        "PyTorch, antialias=True": by_pytorch(x, True),
        "OpenCV, INTER_AREA": cv2.resize(x, TO, interpolation=cv2.INTER_AREA),
    }


def drawn() -> Image.Image:
    side = TO[0] * EACH
    sheet = Image.new("RGBA", (3 * side + 2 * GAP, 2 * (side + LABEL) + GAP))
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(15)
    for k, (label, pixels) in enumerate(shrunk().items()):
        x, y = k % 3 * (side + GAP), k // 3 * (side + LABEL + GAP)
        pen.text((x, y), label, GRAY, font)
        sheet.paste(Image.fromarray(pixels).resize((side, side), Image.Resampling.NEAREST), (x, y + LABEL))
    return sheet


if __name__ == "__main__":
    drawn().save(Path(__file__).with_name("tutorials") / "photo.png", optimize=True)
