"""Entry of the `tenter` command: read the arguments, run one command, turn any failure into one line."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import metadata
from typing import NoReturn

from tenter.cli.refusal import Refusal, first_line

RESIZE = """Resize a picture or an array.

Pictures are PNG, JPEG and TIFF files of 8 or 16 bits per channel: grey, grey+alpha, RGB, RGBA; also palette (made RGB
or RGBA), black and white (made grey), CMYK, and grey TIFF of 32-bit or float samples. No bit is dropped to make a
picture fit a file type: that is refused. Colours are weighted by alpha while mixing, so edges get no fringe. EXIF, its
orientation, the colour profile and dpi are kept. The result is one file, whole or not at all.

A .npy array of shape (H, W) is resized along both axes; (H, W, C) along its first two, each channel by itself, from
.npy to .npy with any C and no channel taken for alpha. Between .npy and a picture, 1, 2, 3, 4 channels are grey,
grey+alpha, RGB, RGBA; a picture's orientation tag cannot go into .npy, so its pixels are turned upright."""

REPEAT = """Repeat each element or row of a .npy array, as tenter.repeat_interleave: with --dim, row i along that dim
appears counts[i] times in a row; without it the array is flattened first."""

TOUR = """Show every kind of call with its result as computed now, resize a photograph in each mode onto one sheet
(PNG), and time a few calls beside NumPy, Pillow, PyTorch and OpenCV where they are installed."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, like every other complaint of the command."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and exiting."""
        raise Refusal(f"{message} (see {self.prog} --help)")


def build_parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    parser = Parser(prog="tenter", description="Stretch arrays and pictures along their axes.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tenter {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_resize(commands)
    _add_repeat(commands)
    tour = _add(commands, "tour", "see what the library does, on this computer", TOUR)
    tour.add_argument("--out", default="tenter-tour.png", metavar="FILE.png", help="the sheet (default: %(default)s)")
    tour.add_argument("--photo", metavar="FILE", help="a PNG, JPEG or TIFF to show instead of the one found")
    return parser


def _add(commands: argparse._SubParsersAction[Parser], name: str, short: str, long: str) -> Parser:
    layout = argparse.RawDescriptionHelpFormatter
    return commands.add_parser(name, help=short, description=long, formatter_class=layout, allow_abbrev=False)


def _add_resize(commands: argparse._SubParsersAction[Parser]) -> None:
    from tenter.cli.resample import MODES

    resize = _add(commands, "resize", "resize a picture or a .npy array", RESIZE)
    resize.add_argument("input", metavar="IN")
    resize.add_argument("output", metavar="OUT", help="its ending says the file type: .png .jpg .jpeg .tif .tiff .npy")
    size = resize.add_mutually_exclusive_group(required=True)
    size.add_argument("--size", nargs=2, metavar=("H", "W"), help="new height and width, of the picture as it is seen")
    size.add_argument("--scale", metavar="S", help="the whole picture is fitted to floor(H * S) by floor(W * S)")
    resize.add_argument("--mode", default="bilinear", choices=MODES, help="how pixels mix (default: %(default)s)")
    aliasing = "widen the filter when shrinking (default: on for bilinear, bicubic and lanczos, which have it)"
    resize.add_argument("--antialias", action=argparse.BooleanOptionalAction, default=None, help=aliasing)
    resize.add_argument("--quality", default="95", metavar="Q", help="of a JPEG, 1 to 100 (default: %(default)s)")
    resize.add_argument("--force", action="store_true", help="overwrite OUT if it exists")


def _add_repeat(commands: argparse._SubParsersAction[Parser]) -> None:
    repeat = _add(commands, "repeat", "repeat elements or rows of a .npy array", REPEAT)
    repeat.add_argument("input", metavar="IN.npy")
    repeat.add_argument("output", metavar="OUT.npy")
    counts = "one whole number for all, or a .npy file of whole numbers, one per position"
    repeat.add_argument("--counts", required=True, metavar="N|FILE.npy", help=counts)
    repeat.add_argument("--dim", type=int, default=None, help="the axis, from 0 or (negative) from the end")
    repeat.add_argument("--force", action="store_true", help="overwrite OUT if it exists")


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0 done, 2 refused, 130 interrupted."""
    try:
        args = build_parser().parse_args(argv)
        _run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader (head, less) has gone; without this Python complains once more on exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("tenter: interrupted", file=sys.stderr)
        return 130
    except (Refusal, OSError, TypeError, ValueError, IndexError, MemoryError) as error:
        print(f"tenter: {first_line(error)}", file=sys.stderr)
        return 2
    return 0


def _run(args: argparse.Namespace) -> None:
    # imported here so that --help and --version answer at once
    if args.command == "resize":
        from tenter.cli.resize import resize_command

        resize_command(args)
    elif args.command == "repeat":
        from tenter.cli.arrays import repeat_command

        repeat_command(args)
    else:
        from tenter.cli.tour import tour_command

        tour_command(args)


def _version() -> str:
    try:
        return metadata.version("tenter")
    except metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
