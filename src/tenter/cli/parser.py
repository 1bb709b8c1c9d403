"""The arguments of the `tenter` command."""

from __future__ import annotations

import argparse
import os
import shutil
import textwrap
from typing import NoReturn

from tenter._specs.modes import MODES as FILTERS
from tenter._specs.picture_arguments import usual_mode
from tenter._specs.placement import GRAVITIES
from tenter.cli import explain
from tenter.cli.folders import SUFFIXES
from tenter.cli.formats import FORMATS
from tenter.cli.help import SHORT
from tenter.cli.naming import FIELDS
from tenter.cli.options import MODES, SAMPLES
from tenter.cli.refusal import Refusal
from tenter.cli.spelling import check_choice, check_words, unknown_value
from tenter.cli.volumes.parser import (
    PYRAMID,
    add_bounds,
    add_gaps,
    add_pyramid,
    add_reports,
    add_voxels,
    join_lists,
    split_axes,
)
from tenter.cli.words import check_single, check_sized, count_words
from tenter.configuration import configuration
from tenter.conventions import PRESETS

FIELDS_IN_WORDS = "; ".join(f"{{{name}}} is {text}" for name, text in FIELDS.items())

TENTER = """Faster resize, repeat and tile on the CPU, in place of PyTorch's, Pillow's and NumPy's, whose
results it can match, with exact gradients.

This command resizes images and arrays in files, and explains calls."""

RESIZE = f"""Resize an image or an array, or many of them into a folder.

Sizes of images are WIDTHxHEIGHT: --size 640x480 is 640 wide and 480 high. With --axes, --size has one number per axis,
in their order. Sizes refer to the upright image. Only --size can distort an image.

Images are files of PNG, JPEG, TIFF, WebP, AVIF, JPEG 2000, GIF, BMP, PNM, PCX, SGI, TGA, QOI, DDS and ICO, including
animations and multi-page TIFF. Palettes become RGB or RGBA, black and white becomes gray, except with --labels and the
nearest modes. 16 bits per channel are kept in PNG, TIFF and JPEG 2000. A file type that cannot hold every channel and
bit of the image raises an error. Colors are weighted by alpha, which avoids fringes at edges. EXIF, XMP, IPTC,
comments, the color profile and the resolution are kept and updated; what the new type cannot hold is listed at the
end. The output file appears complete or not at all; a file that --force overwrites keeps its permissions and owner.

A .npy array of shape (H, W) is resized along both axes, one of shape (H, W, C) with up to 4 channels along its first
two, and one of any shape along the axes that --axes names. From .npy to .npy, no channel is alpha. Between .npy and an
image, 1, 2, 3 or 4 channels are gray, gray with alpha, RGB or RGBA. Pixels are turned upright before they are written
to a .npy file, as it has no orientation tag.

If IN is several files, a folder (its images) or a quoted pattern such as 'photos/**/*.jpg', OUT is a folder, which is
created if it is missing. For one file, OUT is a folder if it exists as one or its name ends in /. Files below a folder,
or below the first wildcard of a pattern, keep their relative path below OUT. If a file fails, the others are still
resized; failures are listed at the end. Inputs with the same output fail. --skip-existing continues an interrupted run,
--update makes outputs again whose input or size has changed.

--fit, --fill, --width and --height take several sizes, and --format several types, with commas between them. The names
of outputs are then given by fields in OUT, such as 'web/{{stem}}-{{size}}.{{format}}'. {FIELDS_IN_WORDS}. The folder
of an input below IN goes before the part with {{stem}}.

IN or OUT may be -, standard input or output. The type of the output is then that of the input, or --format."""

REPEAT = """Repeat each element or row of a .npy array, as tenter.repeat_interleave does. With --dim, slice i along that
dim appears counts[i] times in a row; without it, the array is flattened first. IN or OUT may be -, standard input or
output."""

EXITS = """Exit codes: 0 success; 1 some of many files failed, the others are done; 2 bad arguments, or the one file
failed; 130 interrupted. Every failure is one line on stderr."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like every other error of the command, and name the closest known word."""

    def error(self, message: str) -> NoReturn:
        """Raise a Refusal instead of printing the usage and exiting."""
        raise Refusal(f"{message} (see {self.prog} --help-all)")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        check_choice(action, value)

    def format_help(self) -> str:
        """Fill paragraphs to the width of the terminal, which argparse does only without paragraphs."""
        width = max(shutil.get_terminal_size().columns - 2, 40)
        self.description, self.epilog = (
            "\n\n".join(part if part.startswith(" ") else textwrap.fill(part, width) for part in text.split("\n\n"))
            for text in (self.description or "", self.epilog or "")
        )
        return super().format_help()


class Version(argparse.Action):
    """Print the version and what else a report of a defect needs."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Exit after it."""
        print(configuration())
        raise SystemExit(0)


class Help(argparse.Action):
    """Print the short help of a command that has one, else all of it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Exit after it."""
        print(SHORT.get(parser.prog.partition(" ")[2]) or parser.format_help(), end="")
        raise SystemExit(0)


def build_parser(axes: int = 0, sizes: int = 1) -> tuple[Parser, dict[str, Parser]]:
    """Build the parser, and those of the commands. `axes` and `sizes` are how many words follow --axes and --size."""
    parser = _parser(Parser(prog="tenter", add_help=False), TENTER)
    parser.add_argument(
        "--version",
        action=Version,
        nargs=0,
        help="show the version, the instruction set, threads and libraries, and exit",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    by_name = {
        "resize": commands.add_parser("resize", help="resize images, .npy arrays or zarr arrays", add_help=False),
        "repeat": commands.add_parser("repeat", help="repeat elements or rows of an array", add_help=False),
        "pyramid": commands.add_parser("pyramid", help="make the levels of a multiscale zarr array", add_help=False),
        "explain": commands.add_parser("explain", help="explain a call of the library", add_help=False),
    }
    _add_resize(_parser(by_name["resize"], RESIZE), axes, sizes)
    _add_repeat(_parser(by_name["repeat"], REPEAT))
    add_pyramid(_parser(by_name["pyramid"], PYRAMID), axes)
    explain.add_arguments(_parser(by_name["explain"], explain.TEXT))
    return parser, by_name


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse the arguments. File names may stand before, between and after options."""
    if "--" in argv:
        # argparse would give all names after "--" to one argument. "./-a.png" cannot be mistaken for an option.
        end = argv.index("--")
        argv = argv[:end] + [name if name[:1] != "-" else os.path.join(".", name) for name in argv[end + 1 :]]
    argv, named = split_axes(join_lists(argv))
    check_single(argv)
    axes, sizes = count_words(argv, named)
    parser, commands = build_parser(axes, sizes)
    if not argv:
        parser.parse_args(["--help"])
    check_words(argv, _options(parser), {name: _options(one) for name, one in commands.items()}, parser.prog)
    check_sized(argv)
    args, rest = parser.parse_known_args(argv)
    # argparse fills the list of paths from one run of names, and returns the names after later options in `rest`.
    if rest and args.command != "resize":
        parser.error(f"expected two names, got more: {' '.join(rest)}")
    if args.command == "resize":
        args.paths += [*rest, *filter(None, [args.output])]
    return args


def _options(parser: Parser) -> list[str]:
    return list(parser._option_string_actions)


def _parser(parser: Parser, description: str) -> Parser:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = description, EXITS
    parser.allow_abbrev = False
    parser.add_argument("-h", "--help", action=Help, nargs=0, help="show examples and common options, and exit")
    parser.add_argument("--help-all", action="help", help="show all options, and exit")
    return parser


def _add_resize(resize: Parser, axes: int, sizes: int) -> None:
    resize.usage = "tenter resize IN... OUT SIZE [options]"
    paths = "IN: a file, several, a folder, a quoted pattern or -; OUT: a folder, -, or a name whose ending is the type"
    resize.add_argument("paths", nargs="+", metavar="IN... OUT", help=f"{paths}: {' '.join(FORMATS)} .npy .zarr")
    resize.add_argument("-o", "--output", metavar="OUT", help="OUT, if it is not the last name")
    _add_sizes(resize.add_argument_group("SIZE, one of"), axes, sizes)
    part = resize.add_argument_group("what is resized")
    box = "the part to resize: its width and height, and how far it is from the left and the top, in pixels of the "
    box += "upright image, fractions allowed (default: all)"
    part.add_argument("--box", metavar="WxH+X+Y", help=box)
    of_arrays = "the axes of an array, a zarr array or a TIFF stack to resize, by number or by name, such as z,y,x; "
    of_arrays += "--size then has one number per axis"
    part.add_argument("--axes", nargs=axes or 1, metavar="AXIS", help=of_arrays)
    add_voxels(part)
    add_gaps(part)
    frame = "which image of a file with several: 0 is the first, -1 the last (default: all)"
    part.add_argument("--frame", metavar="N", help=frame)
    limit = "the most pixels that an image may have (default: 178956970; a small file can claim any number)"
    part.add_argument("--max-pixels", metavar="N", help=limit)
    _add_filters(resize.add_argument_group("how"))
    _add_outputs(resize.add_argument_group("what is written"))


def _add_sizes(group: argparse._ArgumentGroup, axes: int, sizes: int) -> None:
    size = group.add_mutually_exclusive_group(required=True)
    both = "this width and height, regardless of the ratio of the sides; with --axes one number for each axis"
    size.add_argument("--size", nargs=sizes, metavar=("N",) * sizes if axes else ("WxH",) * sizes, help=both)
    size.add_argument(
        "--fit",
        metavar="WxH,...",
        help="the largest size within this width and height, or N for both; see --enlarge and --pad",
    )
    size.add_argument(
        "--fill", metavar="WxH,...", help="this width and height, cut where the ratio differs; see --gravity"
    )
    size.add_argument("-w", "--width", metavar="N,...", help="this width; the height follows")
    size.add_argument("--height", metavar="N,...", help="this height; the width follows")
    scale = "multiply the sides of the image or its --box by S, such as 0.5 or 50%%, and round down; with --axes also "
    scale += "one number per axis, such as 1,0.5,0.5"
    size.add_argument("--scale", metavar="S", help=scale)
    spacing = "with --axes: the size of the new voxels, one number for each axis, such as 1,1,1; see --voxel-size"
    size.add_argument("--spacing", metavar="N,N,...", help=spacing)
    group.add_argument("--enlarge", action="store_true", help="let --fit enlarge smaller images")
    bars = "pad what --fit makes to its width and height, with the color of --background (default: transparent, black "
    bars += "or 0)"
    group.add_argument("--pad", action="store_true", help=bars)
    kept = f"the part that --fill keeps, or where the image lies in --pad: {', '.join(GRAVITIES)} (default: center)"
    group.add_argument("--gravity", choices=GRAVITIES, metavar="WHERE", help=kept)


def _add_filters(group: argparse._ArgumentGroup) -> None:
    names = (*FILTERS, *(name for name in MODES if name not in FILTERS))
    usual = f"(default: {usual_mode(None)} for images; {SAMPLES} for arrays and stacks, and with --like)"
    near = "; nearest takes the pixel at an output's corner, as OpenCV, and nearest-exact that at its center, as Pillow"
    group.add_argument("--mode", choices=names, metavar="NAME", help=f"{', '.join(names)} {usual}{near}")
    labels = "values are labels, which are not averaged: choose the nearest, or with --mode the one that has most of "
    labels += "what an output reads; keep palettes and black and white"
    group.add_argument("--labels", action="store_true", help=labels)
    libraries = ", ".join(PRESETS)
    like = f"follow the conventions of a library, antialiasing included: {libraries} (default: tenter's own)"
    group.add_argument("--like", choices=PRESETS, metavar="LIBRARY", help=like)
    aliasing = "widen the filter when shrinking (default: on, and with --like as that library does)"
    group.add_argument("--antialias", action=argparse.BooleanOptionalAction, default=None, help=aliasing)
    light = "average in linear light instead of sRGB values: fine bright detail stays bright"
    group.add_argument("--linear-light", action="store_true", help=light)
    weight = "do not weight colors by alpha"
    group.add_argument("--no-premultiply", action="store_false", dest="premultiply", help=weight)
    decoding = group.add_mutually_exclusive_group()
    fast = "decode JPEGs at a reduced scale also where that may be visible: when images shrink to a quarter or less"
    decoding.add_argument("--fast", action="store_true", help=fast)
    exact = "decode JPEGs in full (default: at a reduced scale where that is not visible, when images shrink to an "
    exact += "eighth or less)"
    decoding.add_argument("--exact", action="store_true", help=exact)


def _add_outputs(group: argparse._ArgumentGroup) -> None:
    color = "put a color behind transparent pixels before resizing, and around the image with --pad: white, #ffcc00"
    group.add_argument("--background", metavar="COLOR", help=color)
    quality = "1 to 100 (default: 80 for JPEG, or that of a coarser input JPEG; 80 for WebP, 65 for AVIF)"
    group.add_argument("--quality", metavar="Q", help=quality)
    shared = "chroma subsampling of JPEG and AVIF: 4:4:4 (none), 4:2:2 or 4:2:0 (default: 4:2:0, and 4:4:4 in "
    shared += "JPEG from quality 90 on)"
    group.add_argument("--subsampling", choices=("4:4:4", "4:2:2", "4:2:0"), metavar="S", help=shared)
    passes = "write progressive JPEG (default: like the input)"
    group.add_argument("--progressive", action=argparse.BooleanOptionalAction, default=None, help=passes)
    bits = "round 16 bits per channel to 8, which every type of file holds (default: keep the depth)"
    group.add_argument("--depth", choices=("8",), metavar="8", help=bits)
    colors = "convert colors to sRGB by the color profile of the image, and drop the profile"
    group.add_argument("--profile", choices=("srgb",), metavar="srgb", help=colors)
    strip = "convert colors to sRGB, and drop all metadata"
    group.add_argument("--strip", action="store_true", help=strip)
    stored = "keep stored pixels and EXIF orientation of JPEG and TIFF "
    stored += "(default: pixels are turned upright, and the orientation is 1)"
    group.add_argument("--keep-orientation", action="store_true", help=stored)
    types = f"file type of outputs in a folder, or of -: {', '.join(SUFFIXES)} (default: the input's)"
    group.add_argument("--format", type=_formats, metavar="TYPE,...", help=types)
    existing = group.add_mutually_exclusive_group()
    existing.add_argument("--force", action="store_true", help="overwrite existing outputs")
    existing.add_argument("--skip-existing", action="store_true", help="keep existing outputs, write the others")
    newer = "write outputs that are missing, older than their input, or of another width and height than they would "
    newer += "get; keep the others"
    existing.add_argument("--update", action="store_true", help=newer)
    _add_follow_links(group)
    group.add_argument("--recursive", action="store_true", help="with a folder as IN: include its subfolders")
    group.add_argument("--jobs", metavar="N", help="number of processes (default: one per core)")
    add_reports(group)
    add_bounds(group)


def _formats(text: str) -> tuple[str, ...]:
    """Parse the types of `--format`."""
    found = tuple(dict.fromkeys(part.strip().lower().removeprefix(".") for part in text.split(",")))
    for each in found:
        if (said := unknown_value(each, SUFFIXES)) is not None:
            raise argparse.ArgumentTypeError(said)
    return found


def _add_follow_links(group: argparse._ActionsContainer) -> None:
    links = "write through links that lead out of the output folder"
    group.add_argument("--follow-links", action="store_true", help=links)


def _add_repeat(repeat: Parser) -> None:
    repeat.add_argument("input", metavar="IN.npy")
    repeat.add_argument("output", metavar="OUT.npy")
    repeats = "one integer for all positions, one for each with commas between them, or a .npy file of these"
    repeat.add_argument("--repeats", required=True, metavar="N|N,N,...|FILE.npy", help=repeats)
    repeat.add_argument("--dim", type=int, default=None, help="the axis; a negative one counts from the end")
    repeat.add_argument("--force", action="store_true", help="overwrite OUT if it exists")
    _add_follow_links(repeat)
    add_bounds(repeat)
