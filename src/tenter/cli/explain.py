"""The command `tenter explain`: a call in words, read by a parser and never evaluated as code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import BinaryIO

import tenter
from tenter._arrays import errors
from tenter._explain.call_text import read_call
from tenter.cli.output import check_output, write_beside
from tenter.cli.refusal import Refusal

TEXT = """Explain a call without computing its result: which outputs read which inputs, what is copied, which kernel
runs, and how PyTorch, NumPy, einops and JAX spell it.

CALL is a call of repeat_interleave, repeat, tile, expand, interpolate, resize, numpy.repeat or numpy.tile, in quotes:

  tenter explain "repeat_interleave([[1, 2], [3, 4]], [1, 2], dim=0)"
  tenter explain "resize(shape(1080, 1920, 3), (540, 960), axes=(0, 1))"

Its arguments are numbers, strings, lists and tuples; x may be shape(3, 4) or zeros(3, 4), which allocate nothing.
It is parsed, and never run as code."""


def explain_command(args: argparse.Namespace) -> int:
    """Carry out `tenter explain`."""
    try:
        operation, values, named = read_call(args.call)
    except errors.Refusal as refused:
        raise Refusal(str(refused.args[1]).replace("call", "CALL", 1)) from None  # the name of the argument here
    asked = [(path, kind) for path, kind in ((args.svg, "svg"), (args.html, "html")) if path is not None]
    targets = [check_output(path, None, args.force) for path, _ in asked]
    found = tenter.explain(operation, *values, **named)
    for target, (_, kind) in zip(targets, asked):
        _write(target, args.force, found.svg() if kind == "svg" else found.html())
    if not asked:
        print(found)
    return 0


def _write(target: Path, force: bool, text: str) -> None:
    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_beside(target, force, write)


def add_arguments(explain: argparse.ArgumentParser) -> None:
    """Add the arguments of `tenter explain` to its parser."""
    explain.add_argument("call", metavar="CALL", help='such as "tile([1, 2, 3], 2)"')
    explain.add_argument("--svg", metavar="FILE.svg", help="write a figure instead of text")
    explain.add_argument("--html", metavar="FILE.html", help="write a page instead of text")
    explain.add_argument("--force", action="store_true", help="overwrite existing files")
