"""Writes the table of docs/file-formats.md that says how far JPEGs decoded at a reduced scale are from a full decode.

`python docs/reduced_jpegs.py` runs the command on photographs, text and lines at several qualities, in each filter and
at each reduction. `--check` says whether the page has the table. Nothing is timed.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import marks
import numpy as np
from PIL import Image, ImageDraw
from skimage import data

import tenter
from tenter.cli.main import main as command

PAGE = Path(__file__).with_name("file-formats.md")
BEGIN, END = "<!-- reduced_jpegs.py writes this table -->\n", "<!-- end of the table -->\n"
SIDE = 400
FILTERS = ("linear", "cubic", "lanczos")
#: heights of results at which the decoder shrinks by 2, 4 and 8, and the filter by no more than it has to
HEIGHTS = (SIDE // 8, SIDE // 16, SIDE // 32)
QUALITIES = (40, 75, 92)
WORDS = "The quick brown fox jumps over the lazy dog 0123456789 " * 2


def text() -> Any:
    """Black letters of a screen on white."""
    image = Image.new("L", (SIDE, SIDE), 255)
    pen = ImageDraw.Draw(image)
    for y in range(0, SIDE, 12):
        pen.text((2, y), WORDS, fill=0)
    return np.asarray(image)


def lines() -> Any:
    """Lines of one pixel, black and red, on white."""
    pixels = np.full((SIDE, SIDE, 3), 255, np.uint8)
    pixels[::9], pixels[:, ::13] = 0, (200, 0, 0)
    return pixels


def contents() -> dict[str, Any]:
    page = np.pad(data.page(), ((0, 209), (0, 16)), mode="wrap")[:SIDE, :SIDE]
    return {
        "photograph: face": data.astronaut()[:SIDE, :SIDE],
        "photograph: cup": data.coffee()[:, 100 : 100 + SIDE],
        "photograph: stars": data.hubble_deep_field()[:SIDE, :SIDE],
        "scanned text": page,
        "text of a screen": text(),
        "thin black and red lines": lines(),
    }


def decoded(height: int, mode: str, *options: str) -> Any:
    with contextlib.redirect_stdout(io.StringIO()):
        assert (
            command(["resize", "in.jpg", "out.npy", "--height", str(height), "--mode", mode, "--force", *options]) == 0
        )
    return np.load("out.npy").astype(float)


def rms(difference: Any) -> float:
    return float(np.sqrt(np.mean(difference**2)))


def measured(pixels: Any, quality: int) -> tuple[float, float, float, float]:
    """The largest difference between both ways of decoding, and the largest root mean square of one result; of that
    filter and reduction, how far the reduced and the full decode are from the image before it became a JPEG."""
    Image.fromarray(np.ascontiguousarray(pixels)).save("in.jpg", quality=quality, subsampling=2)
    most, found = 0.0, (-1.0, 0.0, 0.0)
    for mode in FILTERS:
        for height in HEIGHTS:
            full, reduced = decoded(height, mode, "--exact"), decoded(height, mode)
            before = tenter.image.resize(pixels, (height, None), mode=mode).astype(float)
            most = max(most, float(np.abs(reduced - full).max()))
            found = max(found, (rms(reduced - full), rms(reduced - before), rms(full - before)))
    return (most, *found)


def table() -> str:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            rows = [[name, *(_cell(measured(pixels, q)) for q in QUALITIES)] for name, pixels in contents().items()]
        finally:
            os.chdir(before)
    head = ["", *(f"quality {q}" for q in QUALITIES)]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def _cell(figures: tuple[float, float, float, float]) -> str:
    most, rms_, reduced, full = figures
    return f"{most:.0f}, {rms_:.1f} ({reduced:.1f}, {full:.1f})"


if __name__ == "__main__":
    sys.exit(marks.write(PAGE, BEGIN, END, table))
