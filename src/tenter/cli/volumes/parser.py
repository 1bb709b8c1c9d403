"""The options of arrays on disk."""

from __future__ import annotations

import argparse
import os
import re

from tenter.cli.volumes.axes import split

#: Options of one number for each axis, and those without which --scale has one for all.
LISTS, AXES = ("--scale", "--factor", "--voxel-size", "--spacing"), {"--axes"}

PYRAMID = """Make smaller and smaller levels of an array, as OME-Zarr, which viewers of large volumes read.

IN is an OME-Zarr group: levels 1, 2 and so on are added to it, and the metadata of its axes, units and voxel sizes is
kept. Or IN is a zarr array, a .npy file or a TIFF stack of ImageJ, OME or plain pages: OUT is a new group of the array
and its levels. Each level is computed from the one before. Its metadata has the exact place of its voxels, so that
viewers line the levels up. Zarr format 2 gets OME-Zarr 0.4 metadata, format 3 gets 0.5.

Axes of space become smaller, those of time and channels do not. Labels (by OME-Zarr's metadata) and masks are never
averaged.

Without --factor, each level halves the axes along which voxels are short, until voxels are isotropic, and then all
axes. Voxel sizes are those of IN, or --voxel-size; without either, voxels are cubes.

Arrays may be larger than memory. The same command continues an interrupted run."""


def add_voxels(parser: argparse._ActionsContainer) -> None:
    """Add how large voxels are."""
    sizes = "the size of IN's voxels, one number per axis, such as 2,0.5,0.5 (default: from the metadata of IN)"
    parser.add_argument("--voxel-size", metavar="N,N,...", help=sizes)
    parser.add_argument("--unit", metavar="UNIT", help="the unit of --voxel-size, such as micrometer or nm")
    names = (
        "the names of IN's dims, one for each, such as t,z,y,x or y,x,c (default: its own, or the last of t,c,z,y,x); "
    )
    names += "for arrays in blocks"
    parser.add_argument("--names", metavar="N,N,...", help=names)
    averaged = "average the values of labels and masks, which IN says that they are; for arrays in blocks"
    parser.add_argument("--no-labels", action="store_true", help=averaged)


def add_gaps(parser: argparse._ActionsContainer) -> None:
    """Add which values of an array are missing."""
    mask = "with --axes: a .npy or zarr array that is 0 where a value is missing; it broadcasts against IN"
    parser.add_argument("--mask", metavar="FILE", help=mask)
    add_nan(parser, "with --axes: ")


def add_nan(parser: argparse._ActionsContainer, where: str = "") -> None:
    """Add whether NaN is left out. where: of which calls."""
    nan = f"{where}leave NaN out, so that weights are normalized over the other values"
    parser.add_argument("--skip-nan", action="store_true", help=nan)
    share = "the least share of an output's weight that values must have, from 0 to 1; other outputs are NaN, or 0 in "
    share += "integers (default: any; 0.5 in modes with negative weights)"
    parser.add_argument("--min-valid", metavar="S", help=share)


def add_reports(parser: argparse._ActionsContainer) -> None:
    """Add what is said of a run."""
    parser.add_argument("--dry-run", action="store_true", help="print what would be written, write nothing")
    parser.add_argument("--json", action="store_true", help="print the summary as a JSON object")


def add_bounds(parser: argparse._ActionsContainer) -> None:
    """Add what bounds work block by block."""
    limit = "memory to use at most, such as 2GiB (default: half of the machine's); for arrays in blocks"
    parser.add_argument("--memory-limit", metavar="BYTES", help=limit)
    parser.add_argument("--threads", metavar="N", help="blocks to process at once (default: one per core)")
    chunks = "the shape of chunks of a new zarr array, such as 64,64,64 (default: the input's)"
    parser.add_argument("--chunks", metavar="N,N,...", help=chunks)


def add_pyramid(pyramid: argparse.ArgumentParser, axes: int) -> None:
    """Add the arguments of `tenter pyramid`. axes: how many follow --axes."""
    pyramid.add_argument("input", metavar="IN", help="an OME-Zarr group, a zarr array, a .npy file or a TIFF stack")
    output = (
        "a new group, with a copy of the array (default: IN itself; if it is not a group, NAME.ome.zarr next to it); "
    )
    output += "IMAGE.zarr/labels/NAME stores labels with their image"
    pyramid.add_argument("output", metavar="OUT.zarr", nargs="?", help=output)
    modes = "area: means of the pixels that an output covers (default); linear: antialiased linear"
    pyramid.add_argument("--mode", choices=("area", "linear"), help=modes)
    labels = "the values are labels: choose the one at the center of each block, or with --mode area the most "
    labels += "frequent, and of equally frequent ones the smallest"
    pyramid.add_argument("--labels", action="store_true", help=labels)
    factor = "how many times smaller each level is, or one number per axis, such as 1,2,2 (default: see above)"
    pyramid.add_argument("--factor", metavar="N", help=factor)
    add_nan(pyramid)
    add_voxels(pyramid)
    pyramid.add_argument("--levels", metavar="N", help="levels to make (default: until one fits one chunk)")
    which = "the axes to make smaller, by names or numbers, such as y,x (default: those of space)"
    pyramid.add_argument("--axes", nargs=axes or 1, metavar="AXIS", help=which)
    pyramid.add_argument("--force", action="store_true", help="replace levels or an OUT that exist")
    add_reports(pyramid)
    add_bounds(pyramid)


def join_lists(argv: list[str]) -> list[str]:
    """The arguments with the numbers of one option as one word with commas: argparse would take more for names."""
    joined: list[str] = []
    for word in argv:
        previous = joined[-1] if joined else ""
        several = len(joined) > 1 and joined[-2] in LISTS and (joined[-2] != "--scale" or AXES & set(argv))
        if several and _all_numbers(previous) and _all_numbers(word) and not os.path.exists(word):
            joined[-1] = f"{previous},{word}"
        else:
            joined.append(word)
    return joined


def _all_numbers(text: str) -> bool:
    return all(re.fullmatch(r"\+?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?", part) for part in text.split(","))


def split_axes(argv: list[str]) -> tuple[list[str], int]:
    """The arguments with `--axes z,y,x` as one argument for each axis, and how many these are; 0 where they are apart
    already."""
    for k, text in enumerate(argv):
        joined = argv[k + 1 : k + 2] if text == "--axes" else [text[7:]] if text.startswith("--axes=") else []
        if joined and not joined[0].lstrip("-").isdecimal():
            axes = split(joined)
            return [*argv[:k], "--axes", *axes, *argv[k + 1 + (text == "--axes") :]], len(axes)
    return argv, 0
