"""The `tenter tour` command: examples, a sheet of pictures, a quick look at times."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.output import check_input, check_output, remove_leftovers, write_beside
from tenter.cli.refusal import Refusal, one_line, require

#: photographs that other packages carry, looked for without importing the package
PHOTOS = (
    ("skimage", "data/astronaut.png"),
    ("skimage", "data/chelsea.png"),
    ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg"),
)


def tour_command(args: argparse.Namespace) -> None:
    """Carry out `tenter tour`."""
    require("PIL")
    require("rich")
    from rich.console import Console

    from tenter.cli.tour_examples import show_examples
    from tenter.cli.tour_sheet import draw_sheet
    from tenter.cli.tour_times import show_times

    if Path(args.out).suffix.lower() != ".png":
        raise Refusal(f"{args.out}: the sheet is a PNG, expected a name that ends in .png")
    target = check_output(args.out, None, force=True)
    photo, origin = _photo(args.photo)
    if args.photo and target.exists() and target.samefile(args.photo):
        raise Refusal(f"{args.out}: is the photo itself; give another --out")

    console = Console(highlight=False)
    console.width = max(80, min(console.width, 100))
    show_examples(console)
    sheet = draw_sheet(photo, origin)
    remove_leftovers(target.parent)
    write_beside(target, True, lambda file: sheet.save(file, "PNG"))
    show_times(console, photo)
    console.print(f"\nThe photograph ({origin}) in each mode is on this sheet:", markup=False)
    # print, not the console, which would break a long path into two lines
    print(one_line(args.out), file=console.file)


def _photo(given: str | None) -> tuple[npt.NDArray[Any], str]:
    """Return an RGB photograph of 8 bits per channel, and a word on where it comes from."""
    if given is not None:
        return _read(check_input(given)), Path(given).name
    for package, name in PHOTOS:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            path = Path(folder) / name
            if path.is_file():
                return _read(path), f"{path.name}, from {package}"
    return _drawn(), "drawn, for want of a photograph"


def _read(path: Path) -> npt.NDArray[Any]:
    from tenter.cli.orientation import turn_upright
    from tenter.cli.pictures import read_picture

    picture = read_picture(path)
    if picture.pixels.dtype != np.uint8 or picture.kind == "CMYK":
        raise Refusal(f"{path}: the tour shows 8-bit grey or RGB pictures, this one is {picture.pixels.dtype}")
    pixels = turn_upright(picture.pixels, picture.metadata.orientation)
    if min(pixels.shape[:2]) < 64:
        raise Refusal(f"{path}: the tour needs at least 64 x 64 pixels, got {pixels.shape[0]} x {pixels.shape[1]}")
    channels = pixels[..., None] if pixels.ndim == 2 else pixels
    colour = channels[..., :3] if channels.shape[2] >= 3 else np.repeat(channels[..., :1], 3, axis=2)
    # a copy, because Pillow lends its pixels read-only and PyTorch warns about such arrays
    return np.array(colour, order="C")


def _drawn() -> npt.NDArray[Any]:
    """Draw rings that get finer outwards over a colour ramp: fine detail is where the modes differ."""
    y, x = np.mgrid[-1:1:512j, -1:1:512j]
    rings = 0.5 + 0.5 * np.cos(110 * (x * x + y * y))
    colour = np.stack((rings, 0.3 + 0.5 * rings * (x + 1) / 2, (y + 1) / 2), axis=-1)
    drawn: npt.NDArray[Any] = np.rint(255 * colour).astype(np.uint8)
    return drawn
