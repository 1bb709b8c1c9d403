"""A tour of tenter: every operation with its result, a sheet of pictures, and times beside other libraries.

    pip install ".[tour]"
    python examples/tour.py [--photo FILE] [--out FILE.png]

The sheet shows one photograph, enlarged and shrunk in each mode of `tenter.interpolate`. The times compare tenter with
NumPy and Pillow, and with PyTorch and OpenCV where they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from functools import partial
from statistics import median
from typing import Any

try:
    import numpy as np
    from PIL import Image, ImageDraw, ImageFont, ImageOps

    import tenter
except ModuleNotFoundError as missing:
    sys.exit(f'tour.py: {missing.name} is not installed: pip install ".[tour]"')

INPUTS = """\
import numpy as np
from tenter import *

x = np.array([10, 20, 30])
y = np.array([[1, 2], [3, 4]])
signal = np.array([0.0, 10.0, 20.0])
s = signal[None, None]  # batch, channel, width
photo = np.zeros((480, 640, 3), np.uint8)
A = maps.Copy.repeats([1, 3, 2])"""

EXAMPLES = {
    "Each element several times: repeat_interleave": [
        "repeat_interleave(x, 2)",
        "repeat_interleave(x, [1, 3, 2])",
        "repeat_interleave(y, 3, dim=1)",
        "repeat_interleave(y, [2, 0], dim=0)",
    ],
    "The whole array several times: repeat, tile": ["repeat(x, 2)", "repeat(x, 2, 1)", "tile(y, 2)"],
    "A read-only view, which takes no memory: expand": ["expand(x, 2, 3)", "expand(x, 1000, 3).strides"],
    "Another size for signals, images and volumes in batches: interpolate": [
        "interpolate(s, 6)",
        "interpolate(s, 6, mode='linear')",
        "interpolate(s, 5, mode='linear', align_corners=True)",
        "interpolate(s, 2, mode='linear', antialias=True)",
    ],
    "Another size along any axes, by the rules of any of eight libraries: resize": [
        "resize(photo, (224, 224), axes=(0, 1)).shape",
        "resize(signal, 2, like='torch')",
        "resize(signal, 2, like='pillow')",
        "resize(signal, 2, like='scipy')",
        "image.resize(photo, (224, 224), linear_light=True).shape",
    ],
    "Values at given coordinates, read at other positions: interp": ["interp(signal, [0.5, 2.0], [0.0, 1.0, 5.0])"],
    "Every operation is a sparse matrix along an axis; its gradient is the transpose": [
        "A.dense()",
        "A.apply(x, axis=0)",
        "A.T.apply(np.arange(1, 7), axis=0)",
    ],
    "Bad input is refused": ["repeat_interleave(x, [1, -3, 2])", "repeat(y, 2)"],
}

# The tiles of the sheet and their labels: a mode of tenter.interpolate, and the options that are on.
ENLARGED = ["nearest", "nearest-exact", "area", "bilinear", "bilinear, align_corners", "bicubic", "lanczos, antialias"]
SHRUNK = ["nearest", "nearest-exact", "bilinear", "bicubic",
          "area", "bilinear, antialias", "bicubic, antialias", "lanczos, antialias"]  # fmt: skip
# In pixels. 264 / 46 is not an integer: at integer scales, nearest and nearest-exact give the same picture.
DETAIL, TILE, SMALL = 46, 264, 88
GAP, LABEL, HEADING = 20, 34, 56
INK, PAPER, MARK = (28, 30, 34), (250, 250, 248), (0, 230, 255)

LIBRARIES = ("tenter", "NumPy", "Pillow", "PyTorch", "OpenCV")
# What is timed on the photograph: mode and options, scale, Pillow's filter, OpenCV's flag.
TIMED = [
    ("bilinear, antialias", 0.5, "BILINEAR", None),
    ("bicubic, antialias", 0.5, "BICUBIC", None),
    ("nearest-exact", 2, "NEAREST", "INTER_NEAREST_EXACT"),
    ("bicubic", 2, None, "INTER_CUBIC"),
]


def show_examples() -> None:
    names: dict[str, Any] = {}
    exec(INPUTS, names)
    print(INPUTS)
    for title, calls in EXAMPLES.items():
        print(f"\n{title}\n")
        for call in calls:
            try:
                print(f">>> {call}\n{eval(call, names)}")
            except ValueError as error:
                print(f">>> {call}\nValueError: {error}")


def options(how: str) -> dict[str, Any]:
    """Keyword arguments of `interpolate`, tenter's and PyTorch's."""
    mode, *switches = how.split(", ")
    return {"mode": mode, **dict.fromkeys(switches, True)}


def resampled(pixels: np.ndarray, size: int, how: str) -> np.ndarray:
    planes = tenter.interpolate(pixels.transpose(2, 0, 1)[None], size, **options(how))
    return planes[0].transpose(1, 2, 0)


def draw_sheet(photo: np.ndarray) -> Image.Image:
    side = min(photo.shape[:2])
    square = photo[:side, (photo.shape[1] - side) // 2 :][:, :side]
    # The detail is the cell of a grid in which neighbors differ most: there the modes differ most.
    contrast = tenter.resize(np.abs(np.diff(square.mean(2))), (side // DETAIL,) * 2, mode="area")
    top, left = (int(k) * DETAIL for k in np.unravel_index(contrast.argmax(), contrast.shape))
    detail = square[top : top + DETAIL, left : left + DETAIL]
    overview = Image.fromarray(resampled(square, TILE, "lanczos, antialias"))
    box = [edge * TILE / side for edge in (left, top, left + DETAIL, top + DETAIL)]
    ImageDraw.Draw(overview).rectangle(box, outline=MARK, width=2)
    enlarged = [(how, Image.fromarray(resampled(detail, TILE, how))) for how in ENLARGED]
    # Each pixel of a small picture is drawn 3 x 3: the sheet shows these pixels, without a second filter.
    shrunk = [(how, Image.fromarray(resampled(square, SMALL, how).repeat(3, 0).repeat(3, 1))) for how in SHRUNK]
    blocks = {
        f"Enlarged: {DETAIL} x {DETAIL} pixels to {TILE} x {TILE}": [("the photograph, marked", overview), *enlarged],
        f"Shrunk: {side} x {side} pixels to {SMALL} x {SMALL}. The first row skips pixels, the second does not": shrunk,
    }
    sheet = Image.new("RGB", (4 * TILE + 5 * GAP, 2 * (HEADING + 2 * (TILE + LABEL)) + GAP), PAPER)
    pen = ImageDraw.Draw(sheet)
    for b, (title, tiles) in enumerate(blocks.items()):
        y = b * (HEADING + 2 * (TILE + LABEL))
        pen.text((GAP, y + 18), title, INK, ImageFont.load_default(22))
        for k, (how, tile) in enumerate(tiles):
            place = GAP + k % 4 * (TILE + GAP), y + HEADING + k // 4 * (TILE + LABEL)
            sheet.paste(tile, place)
            pen.text((place[0], place[1] + TILE + 4), how, INK, ImageFont.load_default(16))
    return sheet


def timed(photo: np.ndarray) -> dict[str, dict[str, partial]]:
    """The rows of the table of times: a name, and the call of each library that has such a function."""
    torch, cv2 = installed("torch"), installed("cv2")
    rng = np.random.default_rng(0)
    x, counts = rng.random(1_000_000, np.float32), rng.integers(0, 9, 1_000_000)
    repeat = {"tenter": partial(tenter.repeat_interleave, x, counts), "NumPy": partial(np.repeat, x, counts)}
    if torch:
        repeat["PyTorch"] = partial(torch.repeat_interleave, torch.from_numpy(x), torch.from_numpy(counts))
    rows = {"repeat_interleave: 1,000,000 counts": repeat}
    planes, picture = photo.transpose(2, 0, 1)[None], Image.fromarray(photo)
    for how, scale, filter_name, flag_name in TIMED:
        height, width = (int(n * scale) for n in photo.shape[:2])
        given = {"size": (height, width), **options(how)}
        calls = rows[f"photo to {width} x {height}, {how}"] = {"tenter": partial(tenter.interpolate, planes, **given)}
        if filter_name:
            calls["Pillow"] = partial(picture.resize, (width, height), Image.Resampling[filter_name])
        if torch:
            calls["PyTorch"] = partial(torch.nn.functional.interpolate, torch.from_numpy(planes), **given)
        if cv2 and flag_name:
            calls["OpenCV"] = partial(cv2.resize, photo, (width, height), interpolation=getattr(cv2, flag_name))
    return rows


def installed(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def show_times(photo: np.ndarray) -> None:
    print(f"\n{'Milliseconds per call (median)':40}" + "".join(f"{p:>8}" for p in LIBRARIES))
    for row, calls in timed(photo).items():
        times: dict[str, list[float]] = {library: [] for library in calls}
        end = time.perf_counter() + 0.15
        while len(times["tenter"]) < 3 or time.perf_counter() < end:
            for library, call in calls.items():  # in turns, so that a busy moment slows all of them
                start = time.perf_counter()
                call()
                times[library].append(1e3 * (time.perf_counter() - start))
        cells = [f"{median(times[p]):8.2f}" if p in times else f"{'-':>8}" for p in LIBRARIES]
        print(f"{row:40}" + "".join(cells))
    print("A dash: not installed, or without such a function.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--photo", metavar="FILE", help="the photograph (default: one that matplotlib brings)")
    parser.add_argument("--out", default="tenter-tour.png", metavar="FILE.png", help="default: %(default)s")
    given = parser.parse_args()
    source = given.photo
    if source is None and (cbook := installed("matplotlib.cbook")) is None:
        parser.error('--photo: matplotlib, which brings a photograph, is not installed: pip install ".[tour]"')
    source = source or cbook.get_sample_data("grace_hopper.jpg")
    with Image.open(source) as image:
        photo = np.array(ImageOps.exif_transpose(image).convert("RGB"))
    if min(photo.shape[:2]) < SMALL:
        parser.error(f"--photo: expected at least {SMALL} x {SMALL} pixels, got {photo.shape[1]} x {photo.shape[0]}")
    show_examples()
    draw_sheet(photo).save(given.out)
    show_times(photo)
    print(f"\nThe photograph in each mode: {given.out}")


if __name__ == "__main__":
    main()
