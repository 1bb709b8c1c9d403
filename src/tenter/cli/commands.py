"""The commands `tenter resize` and `tenter repeat`. Each takes the parsed arguments and returns the exit code."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tenter
from tenter.cli.arrays import read_npy, write_npy
from tenter.cli.dry import is_current, planned_sizes
from tenter.cli.first_bytes import ending_of_output, type_of_input
from tenter.cli.folders import SUFFIXES, Task, is_many
from tenter.cli.formats import is_npy
from tenter.cli.interrupts import interruptible
from tenter.cli.many import resize_many
from tenter.cli.naming import check_names, template_of
from tenter.cli.not_read import check_known
from tenter.cli.options import Options, read_options
from tenter.cli.output import check_input, check_output, remove_leftovers, write_beside
from tenter.cli.pipes import PIPE, STDOUT, Input, opened, write_stdout
from tenter.cli.refusal import Exists, Refusal
from tenter.cli.resize import resize_file
from tenter.cli.sizes import check_fits
from tenter.cli.streams import say
from tenter.cli.summary import Outcome, as_json, line_of
from tenter.cli.volumes import commands as volumes


def resize_command(args: argparse.Namespace) -> int:
    """Carry out `tenter resize`."""
    if volumes.concerns(args.paths, args):
        return volumes.resize_volume(args)
    options = read_options(args)
    if len(args.paths) < 2:
        raise Refusal(f"expected IN and OUT, got {args.paths[0]} alone (see tenter resize --help-all)")
    *inputs, output = args.paths
    if PIPE in inputs and len(inputs) > 1:
        raise Refusal(f"{PIPE}: standard input is one file, got {len(inputs)} inputs")
    if PIPE not in args.paths and is_many(inputs, output):
        return resize_many(inputs, output, args, options)
    if PIPE in args.paths and len(options.asked) > 1:
        raise Refusal(f"{options.asked[0].option}: expected one size, as {PIPE} is one file, got {len(options.asked)}")
    check_names(output, options.asked, None)
    if template_of(output).parts:
        raise Refusal(f"{output}: expected a name without fields, as {PIPE} has no name")
    return _resize_one(inputs[0], output, args, options)


def _resize_one(name: str, output: str, args: argparse.Namespace, options: Options) -> int:
    if args.format and output != PIPE:
        raise Refusal("--format: goes with a folder, {format} or - as OUT; the ending of a file's name says its type")
    if args.format and len(args.format) > 1:
        raise Refusal(f"--format: expected one type, as {PIPE} is one file, got {', '.join(args.format)}")
    if output == PIPE and args.json:
        raise Refusal("--json: goes to standard output, where - puts the image")
    if PIPE in (name, output) and args.dry_run:
        raise Refusal("--dry-run: goes with names of files")
    if output != PIPE:
        is_npy(output)
    with opened(name) as source:
        type_of_input(source.path, source.name)
        outcome = interruptible(lambda: _carried_out(source, output, args, options))
    if args.json:
        print(as_json([outcome], Counter(), options))
    elif output == PIPE:
        say(line_of(outcome, options))
    else:
        print(line_of(outcome, options))
    return 0


def _carried_out(source: Input, output: str, args: argparse.Namespace, options: Options) -> Outcome:
    if output == PIPE:
        ending = SUFFIXES[args.format[0]] if args.format else ending_of_output(source.path, source.name)
        name = f"{STDOUT}{ending}"
        done = resize_file(source.path, name, options, source.name, write_stdout)
        return Outcome(Task(source.name, name), "done", *done)
    task = Task(source.name, output, options.wanted)
    if args.update and os.path.lexists(output):
        if os.path.exists(output) and os.path.samefile(source.path, output):
            raise Refusal(f"{output}: is the input itself; --force overwrites it")
        if is_current(task._replace(source=str(source.path)), options):
            return Outcome(task, "skipped")
        options = options._replace(force=True)
    if args.dry_run:
        check_output(output, source.path, options.force or args.skip_existing, options.follow_links)
    else:
        remove_leftovers(Path(os.path.realpath(output)).parent)
    if args.skip_existing and Path(output).is_file():
        return Outcome(task, "skipped")
    if args.dry_run:
        return Outcome(task, "planned", planned_sizes(source.path, output, options))
    try:
        return Outcome(task, "done", *resize_file(source.path, output, options, source.name))
    except Exists:
        if not args.skip_existing:
            raise
        return Outcome(task, "skipped")


def repeat_command(args: argparse.Namespace) -> int:
    """Carry out `tenter repeat`."""
    if volumes.concerns([args.input, args.output], args):
        return volumes.repeat_volume(args, _read_counts(args.repeats))
    for path in (args.input, args.output):
        if path != PIPE and Path(path).suffix.lower() != ".npy":
            check_known(path)
            raise Refusal(f"{path}: expected a file name that ends in .npy, or -")
    with opened(args.input) as source:
        target = None
        if args.output != PIPE:
            target = check_output(args.output, source.path, args.force, args.follow_links)
        array = read_npy(source.path)
    counts = _read_counts(args.repeats)
    _check_total(array, counts, args.dim)
    result = tenter.repeat_interleave(array, counts, dim=args.dim)
    if target is None:
        write_stdout(lambda file: write_npy(file, result))
        return 0
    remove_leftovers(target.parent)
    write_beside(target, args.force, lambda file: write_npy(file, result))
    return 0


def _read_counts(text: str) -> int | npt.NDArray[Any]:
    if text.lower().endswith(".npy"):
        return read_npy(check_input(text))
    try:
        if "," not in text:
            return int(text)
        return np.array([int(part) for part in text.split(",")], np.int64)
    except (ValueError, OverflowError):
        what = "a whole number, several with commas between them, or a .npy file"
        raise Refusal(f"--repeats: expected {what}, got {text!r}") from None


def _check_total(array: npt.NDArray[Any], counts: int | npt.NDArray[Any], dim: int | None) -> None:
    """Refuse a result that memory cannot hold. The library checks everything else about the counts."""
    if not array.size or np.asarray(counts).dtype.kind not in "iu":
        return
    if np.size(counts) == 1:
        total = int(np.asarray(counts).item()) * array.nbytes
    else:
        length = array.size if dim is None else array.shape[dim] if -array.ndim <= dim < array.ndim else 1
        # Sums of floats do not overflow, and are exact enough here.
        total = int(np.sum(counts, dtype=np.float64)) * (array.nbytes // max(length, 1))
    check_fits(total, "the repeated array")
