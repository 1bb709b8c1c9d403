"""The arguments of the `tenter` command."""

from __future__ import annotations

import argparse
import os
from importlib import metadata
from itertools import takewhile
from typing import NoReturn

from tenter._specs.resize_arguments import MODES as FILTERS
from tenter.cli import explain
from tenter.cli.folders import SUFFIXES
from tenter.cli.options import MODES
from tenter.cli.refusal import Refusal
from tenter.conventions import PRESETS

RESIZE = """Resize a picture or an array, or many of them into a folder.

Pictures are PNG, JPEG and TIFF files of 8 or 16 bits per channel: gray, gray+alpha, RGB, RGBA; also palette (made RGB
or RGBA), black and white (made gray), CMYK, and gray TIFF of 32-bit or float samples. A file type that cannot hold
every bit of the picture is refused. Colors are premultiplied by alpha before they are mixed, which avoids fringes at
edges. The EXIF tags, the orientation, the color profile and the resolution (dpi) are kept. The output file appears
whole or not at all; a file that --force overwrites keeps its permissions.

A .npy array of shape (H, W) is resized along both axes, one of shape (H, W, C) along its first two, and one of any
shape along the axes that --axes names. From .npy to .npy, C is any number, and no channel is alpha. Between .npy and a
picture, 1, 2, 3 or 4 channels are gray, gray+alpha, RGB or RGBA. A .npy file has no orientation tag, so the pixels of a
picture are turned upright before they are written to one.

If IN is several files, a folder (its pictures) or a quoted pattern such as 'photos/**/*.jpg', OUT is a folder. It is
created if it is missing and its name ends in /. Files below a folder, or below the first wildcard of a pattern, keep
their relative path below OUT. Two inputs with the same output are refused before anything is written. If a file fails,
the others are still resized; failures are listed at the end, and the exit code is 1. --skip-existing continues a run
that was interrupted."""

REPEAT = """Repeat each element or row of a .npy array, as tenter.repeat_interleave does. With --dim, slice i along that
dim appears counts[i] times in succession; without it, the array is flattened first."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like every other error of the command."""

    def error(self, message: str) -> NoReturn:
        """Raise a Refusal instead of printing the usage and exiting."""
        raise Refusal(f"{message} (see {self.prog} --help)")


def build_parser(axes: int = 0) -> argparse.ArgumentParser:
    """Build the parser. `axes` is how many numbers follow --axes."""
    parser = Parser(prog="tenter", description="Stretch arrays and pictures along their axes.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tenter {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_resize(commands, axes)
    _add_repeat(commands)
    explain.add_arguments(_add(commands, "explain", "explain a call of the library", explain.TEXT))
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse the arguments. File names may stand before, between and after options."""
    if "--" in argv:
        # argparse would give all names after "--" to one argument. "./-a.png" cannot be mistaken for an option.
        end = argv.index("--")
        argv = argv[:end] + [name if name[:1] != "-" else os.path.join(".", name) for name in argv[end + 1 :]]
    parser = build_parser(_count_axes(argv))
    args, rest = parser.parse_known_args(argv)
    # argparse fills the list of paths from one run of names, and returns the names after later options in `rest`.
    if rest and (args.command != "resize" or any(name.startswith("-") for name in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.paths += rest
    return args


def _count_axes(argv: list[str]) -> int:
    """Count the numbers after --axes. With nargs="+", --axes and --size would take the file names after them too."""
    if "--axes" not in argv:
        return 0
    after = argv[argv.index("--axes") + 1 :]
    return max(1, len(list(takewhile(lambda text: text.lstrip("-").isdecimal(), after))))


def _add(commands: argparse._SubParsersAction[Parser], name: str, short: str, long: str) -> Parser:
    layout = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=short, description=long, formatter_class=layout, allow_abbrev=False)


def _add_resize(commands: argparse._SubParsersAction[Parser], axes: int) -> None:
    resize = _add(commands, "resize", "resize pictures or .npy arrays", RESIZE)
    resize.usage = "tenter resize IN... OUT (--size H W | --scale S) [options]"
    paths = "IN: a file, several, a folder or a quoted pattern; OUT: a folder, or a name whose ending is the file type"
    resize.add_argument("paths", nargs="+", metavar="IN... OUT", help=f"{paths}: .png .jpg .jpeg .tif .tiff .npy")
    size = resize.add_mutually_exclusive_group(required=True)
    sides, n = ("N",) * axes or ("H", "W"), axes or 2
    size.add_argument("--size", nargs=n, metavar=sides, help="new height and width of the upright picture")
    size.add_argument("--scale", metavar="S", help="fit the picture, or its --box, to floor(H * S) by floor(W * S)")
    of_arrays = "the axes of a .npy array to resize; negative ones count from the end; --size has one number for each"
    resize.add_argument("--axes", nargs=axes or 1, metavar="AXIS", help=of_arrays)
    how = resize.add_mutually_exclusive_group()
    how.add_argument("--filter", choices=FILTERS, help="interpolation (default: linear)")
    how.add_argument("--mode", choices=MODES, help="the same, by PyTorch's names")
    like = "the library whose conventions hold, antialiasing included (default: torch, but antialiased)"
    resize.add_argument("--like", choices=PRESETS, help=like)
    aliasing = "widen the filter when shrinking (default: as in --like; without --like: on, where the filter can)"
    resize.add_argument("--antialias", action=argparse.BooleanOptionalAction, default=None, help=aliasing)
    box = "the part to resize, in pixels of the upright picture, fractions allowed (default: all)"
    resize.add_argument("--box", nargs=4, metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"), help=box)
    light = "interpolate in linear light, not in sRGB values: fine bright detail stays bright"
    resize.add_argument("--linear-light", action="store_true", help=light)
    weight = "do not premultiply colors by alpha"
    resize.add_argument("--no-premultiply", action="store_false", dest="premultiply", help=weight)
    resize.add_argument("--quality", default="95", metavar="Q", help="JPEG quality, 1 to 100 (default: %(default)s)")
    existing = resize.add_mutually_exclusive_group()
    existing.add_argument("--force", action="store_true", help="overwrite existing outputs")
    existing.add_argument("--skip-existing", action="store_true", help="keep existing outputs, write the others")
    resize.add_argument("--recursive", action="store_true", help="with a folder as IN: include its subfolders")
    resize.add_argument("--format", choices=SUFFIXES, help="file type of outputs in a folder (default: the input's)")
    resize.add_argument("--jobs", metavar="N", help="number of processes (default: one per core)")


def _add_repeat(commands: argparse._SubParsersAction[Parser]) -> None:
    repeat = _add(commands, "repeat", "repeat elements or rows of a .npy array", REPEAT)
    repeat.add_argument("input", metavar="IN.npy")
    repeat.add_argument("output", metavar="OUT.npy")
    counts = "one integer for all positions, or a .npy file with one integer per position"
    repeat.add_argument("--counts", required=True, metavar="N|FILE.npy", help=counts)
    repeat.add_argument("--dim", type=int, default=None, help="the axis; a negative one counts from the end")
    repeat.add_argument("--force", action="store_true", help="overwrite OUT if it exists")


def _version() -> str:
    try:
        return metadata.version("tenter")
    except metadata.PackageNotFoundError:
        return "(not installed)"
