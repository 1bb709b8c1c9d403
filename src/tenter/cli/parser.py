"""The arguments of the `tenter` command."""

from __future__ import annotations

import argparse
import os
from importlib import metadata
from itertools import takewhile
from typing import NoReturn

from tenter.cli.folders import SUFFIXES
from tenter.cli.options import FILTERS, MODES
from tenter.cli.refusal import Refusal
from tenter.conventions import PRESETS

RESIZE = """Resize a picture or an array, or many of them into a folder.

Pictures are PNG, JPEG and TIFF files of 8 or 16 bits per channel: grey, grey+alpha, RGB, RGBA; also palette (made RGB
or RGBA), black and white (made grey), CMYK, and grey TIFF of 32-bit or float samples. No bit is dropped to make a
picture fit a file type: that is refused. Colours are weighted by alpha while mixing, so edges get no fringe. EXIF, its
orientation, the colour profile and dpi are kept. The result is one file, whole or not at all; what --force overwrites
keeps its permissions.

A .npy array of shape (H, W) is resized along both axes; (H, W, C) along its first two, each channel by itself, from
.npy to .npy with any C and no channel taken for alpha; one of any shape along --axes. Between .npy and a picture, 1, 2,
3, 4 channels are grey, grey+alpha, RGB, RGBA; a picture's orientation tag cannot go into .npy, so its pixels are turned
upright.

Of several files, a folder (its pictures) or a quoted pattern such as 'photos/**/*.jpg', OUT is a folder, made if it
ends in / and is missing. What is below a folder, or below a pattern's first wildcard, keeps its place below OUT. Two
inputs for one output are refused before anything is written. A file that fails does not stop the others: it is listed
at the end, and the exit code is 1. One that was interrupted goes on with --skip-existing."""

REPEAT = """Repeat each element or row of a .npy array, as tenter.repeat_interleave: with --dim, row i along that dim
appears counts[i] times in a row; without it the array is flattened first."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other complaint of the command."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise Refusal(f"{message} (see {self.prog} --help)")


def build_parser(axes: int = 0) -> argparse.ArgumentParser:
    """Describe the command line; `axes` says how many numbers follow --axes."""
    parser = Parser(prog="tenter", description="Stretch arrays and pictures along their axes.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tenter {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_resize(commands, axes)
    _add_repeat(commands)
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the arguments; file names may stand before, between and after options."""
    if "--" in argv:
        # argparse gives what follows to one argument only; a name that begins otherwise than an option needs no mark
        place = argv.index("--")
        argv = argv[:place] + [name if name[:1] != "-" else os.path.join(".", name) for name in argv[place + 1 :]]
    parser = build_parser(_count_axes(argv))
    args, rest = parser.parse_known_args(argv)
    # argparse gives a list of names what stands in one place, and leaves the others over
    if rest and (args.command != "resize" or any(name.startswith("-") for name in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        args.paths += rest
    return args


def _count_axes(argv: list[str]) -> int:
    """Count the numbers after --axes, for as many follow --size: of any number, it would take file names too."""
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
    size.add_argument("--size", nargs=n, metavar=sides, help="new height and width, of the picture as it is seen")
    size.add_argument(
        "--scale", metavar="S", help="the whole picture, or its box, is fitted to floor(H * S) by floor(W * S)"
    )
    of_arrays = "of a .npy array, the axes to resize, from 0 or (negative) from the end; --size has one number for each"
    resize.add_argument("--axes", nargs=axes or 1, metavar="AXIS", help=of_arrays)
    mix = resize.add_mutually_exclusive_group()
    mix.add_argument("--filter", choices=FILTERS, help="how pixels mix (default: linear)")
    mix.add_argument("--mode", choices=MODES, help="the same by PyTorch's names")
    like = "a library whose rules hold, shrinking blurred as there (default: torch, antialiased, which is near Pillow)"
    resize.add_argument("--like", choices=PRESETS, help=like)
    aliasing = "widen the filter when shrinking (default: as --like has it, without it on for filters that have it)"
    resize.add_argument("--antialias", action=argparse.BooleanOptionalAction, default=None, help=aliasing)
    box = "the part to resize, in pixels of the picture as it is seen, fractions allowed (default: all)"
    resize.add_argument("--box", nargs=4, metavar=("TOP", "LEFT", "BOTTOM", "RIGHT"), help=box)
    light = "mix light, not sRGB's steps: fine bright detail stays bright"
    resize.add_argument("--linear-light", action="store_true", help=light)
    weight = "do not weight colours by alpha"
    resize.add_argument("--no-premultiply", action="store_false", dest="premultiply", help=weight)
    resize.add_argument("--quality", default="95", metavar="Q", help="of a JPEG, 1 to 100 (default: %(default)s)")
    there = resize.add_mutually_exclusive_group()
    there.add_argument("--force", action="store_true", help="overwrite what exists")
    there.add_argument("--skip-existing", action="store_true", help="leave outputs that exist, and make the others")
    resize.add_argument("--recursive", action="store_true", help="with a folder as IN, its folders too")
    resize.add_argument("--format", choices=SUFFIXES, help="file type in a folder (default: the input's)")
    resize.add_argument("--jobs", metavar="N", help="processes for many files (default: one per core)")


def _add_repeat(commands: argparse._SubParsersAction[Parser]) -> None:
    repeat = _add(commands, "repeat", "repeat elements or rows of a .npy array", REPEAT)
    repeat.add_argument("input", metavar="IN.npy")
    repeat.add_argument("output", metavar="OUT.npy")
    counts = "one whole number for all, or a .npy file of whole numbers, one per position"
    repeat.add_argument("--counts", required=True, metavar="N|FILE.npy", help=counts)
    repeat.add_argument("--dim", type=int, default=None, help="the axis, from 0 or (negative) from the end")
    repeat.add_argument("--force", action="store_true", help="overwrite OUT if it exists")


def _version() -> str:
    try:
        return metadata.version("tenter")
    except metadata.PackageNotFoundError:
        return "(not installed)"
