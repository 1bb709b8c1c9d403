"""The options of arrays on disk."""

from __future__ import annotations

import argparse

from tenter.cli.volumes.axes import split

PYRAMID = """Make smaller and smaller levels of an array, as OME-Zarr, which viewers of large volumes read.

IN is an OME-Zarr group: its first array gets levels 1, 2 and so on beside it, and the metadata of its axes, units and
pixel sizes is kept. Or IN is a zarr array or a .npy file: OUT is a new group of the array itself and its levels. Each
level is made of the one before it. Its metadata says exactly where its pixels lie, so that viewers line the levels up.
Zarr format 2 gets metadata of OME-Zarr 0.4, format 3 of 0.5.

Arrays may be larger than memory. A run that was ended at any moment is continued by the same command."""


def add_bounds(parser: argparse._ActionsContainer) -> None:
    """Add what bounds work block by block."""
    limit = "memory to take at most, such as 2GiB (default: half of the machine's); for arrays in blocks"
    parser.add_argument("--memory-limit", metavar="BYTES", help=limit)
    parser.add_argument("--threads", metavar="N", help="blocks to make at once (default: one per core)")
    chunks = "the shape of chunks of a new zarr array, such as 64,64,64 (default: the input's)"
    parser.add_argument("--chunks", metavar="N,N,...", help=chunks)


def add_pyramid(pyramid: argparse.ArgumentParser, axes: int) -> None:
    """Add the arguments of `tenter pyramid`. axes: how many follow --axes."""
    pyramid.add_argument("input", metavar="IN", help="an OME-Zarr group, a zarr array or a .npy file")
    output = "a new group, with a copy of the array (default: IN itself; if it is no group, NAME.ome.zarr beside it)"
    pyramid.add_argument("output", metavar="OUT.zarr", nargs="?", help=output)
    how = pyramid.add_mutually_exclusive_group()
    modes = "area: means of the pixels that one covers (default); linear: antialiased linear"
    how.add_argument("--mode", choices=("area", "linear"), help=modes)
    labels = "the values are labels: take the one at the center of the pixels that one covers"
    how.add_argument("--labels", action="store_true", help=labels)
    pyramid.add_argument("--factor", default="2", metavar="N", help="how many times smaller each level is (default: 2)")
    pyramid.add_argument("--levels", metavar="N", help="levels to make (default: until one fits one chunk)")
    which = "the axes to make smaller, by names or numbers, such as y,x (default: those of space)"
    pyramid.add_argument("--axes", nargs=axes or 1, metavar="AXIS", help=which)
    pyramid.add_argument("--force", action="store_true", help="replace levels or an OUT that exist")
    add_bounds(pyramid)


def split_axes(argv: list[str]) -> tuple[list[str], int]:
    """The arguments with `--axes z,y,x` as one argument for each axis, and how many these are; 0 where they are apart
    already."""
    for k, text in enumerate(argv):
        joined = argv[k + 1 : k + 2] if text == "--axes" else [text[7:]] if text.startswith("--axes=") else []
        if joined and not joined[0].lstrip("-").isdecimal():
            axes = split(joined)
            return [*argv[:k], "--axes", *axes, *argv[k + 1 + (text == "--axes") :]], len(axes)
    return argv, 0
